package wire

// CMRepLen is the length of a REP without its private data.
const CMRepLen = 36

// CMRep is a ConnectReply (IBTA vol. 1, 12.6.8). Linux splits a vendor ID over
// three bytes that the specification reserves (ib_cm: CM_REP_VENDOR_ID_H, _M
// and _L).
//
//	 0 +---------------------------------------------------------------+
//	   |                    local communication ID                     |
//	 4 +---------------------------------------------------------------+
//	   |                    remote communication ID                    |
//	 8 +---------------------------------------------------------------+
//	   |                          local Q_Key                          |
//	12 +-----------------------------------------------+---------------+
//	   |                   local QPN                   |  vendor ID H  |
//	16 +-----------------------------------------------+---------------+
//	   |                  local EECN                   |  vendor ID M  |
//	20 +-----------------------------------------------+---------------+
//	   |                 starting PSN                  |  vendor ID L  |
//	24 +---------------+---------------+---------+---+-+-----+-+-------+
//	   | resp. resour. | init. depth   |ACK delay| F |E| RNR |S|  rsv  |
//	28 +---------------+---------------+---------+---+-+-----+-+-------+
//	   |                         local CA GUID                         |
//	36 +---------------------------------------------------------------+
//	   |                  private data (196 bytes)                     |
//	   +---------------------------------------------------------------+
type CMRep []byte

const (
	cmRepLocalCommID        = 0
	cmRepRemoteCommID       = 4
	cmRepLocalQKey          = 8
	cmRepLocalQPN           = 12
	cmRepLocalEECN          = 16
	cmRepStartingPSN        = 20
	cmRepResponderResources = 24
	cmRepInitiatorDepth     = 25
	cmRepTargetACKDelay     = 26
	cmRepFailoverAccepted   = 26
	cmRepFlowControl        = 26
	cmRepRNRRetryCount      = 27
	cmRepSRQ                = 27
	cmRepLocalCAGUID        = 28
)

// LocalCommID is the sender's communication ID.
func (m CMRep) LocalCommID() uint32 { return be.Uint32(m[cmRepLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMRep) SetLocalCommID(v uint32) { be.PutUint32(m[cmRepLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMRep) RemoteCommID() uint32 { return be.Uint32(m[cmRepRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMRep) SetRemoteCommID(v uint32) { be.PutUint32(m[cmRepRemoteCommID:], v) }

// LocalQKey is the sender's Q_Key, for RD only.
func (m CMRep) LocalQKey() uint32 { return be.Uint32(m[cmRepLocalQKey:]) }

// SetLocalQKey sets the sender's Q_Key.
func (m CMRep) SetLocalQKey(v uint32) { be.PutUint32(m[cmRepLocalQKey:], v) }

// LocalQPN is the sender's queue pair.
func (m CMRep) LocalQPN() uint32 { return uint24(m[cmRepLocalQPN:]) }

// SetLocalQPN sets the sender's queue pair.
func (m CMRep) SetLocalQPN(v uint32) { putUint24(m[cmRepLocalQPN:], v) }

// LocalEECN is the sender's end-to-end context, for RD only.
func (m CMRep) LocalEECN() uint32 { return uint24(m[cmRepLocalEECN:]) }

// SetLocalEECN sets the sender's end-to-end context.
func (m CMRep) SetLocalEECN(v uint32) { putUint24(m[cmRepLocalEECN:], v) }

// StartingPSN is the first PSN that the receiver of the message will use (Linux
// cma.c fills in its own receive PSN; pcaps/rping_rxe.pcap shows it).
func (m CMRep) StartingPSN() PSN { return PSN(uint24(m[cmRepStartingPSN:])) }

// SetStartingPSN sets the first PSN that the receiver of the message will use.
func (m CMRep) SetStartingPSN(v PSN) { putUint24(m[cmRepStartingPSN:], uint32(v)) }

// ResponderResources is the number of READs and atomics that the sender takes at a time.
func (m CMRep) ResponderResources() uint8 { return m[cmRepResponderResources] }

// SetResponderResources sets the number of READs and atomics that the sender takes at a time.
func (m CMRep) SetResponderResources(v uint8) { m[cmRepResponderResources] = v }

// InitiatorDepth is the number of READs and atomics that the sender will have outstanding.
func (m CMRep) InitiatorDepth() uint8 { return m[cmRepInitiatorDepth] }

// SetInitiatorDepth sets the number of READs and atomics that the sender will have outstanding.
func (m CMRep) SetInitiatorDepth(v uint8) { m[cmRepInitiatorDepth] = v }

// TargetACKDelay is the time that the sender may take to acknowledge, 4.096 us times two to this power.
func (m CMRep) TargetACKDelay() uint8 { return m[cmRepTargetACKDelay] >> 3 }

// SetTargetACKDelay sets the time that the sender may take to acknowledge.
func (m CMRep) SetTargetACKDelay(v uint8) { putBits(&m[cmRepTargetACKDelay], 0xF8, v<<3) }

// FailoverAccepted is the answer to the alternate path, 0 for accepted.
func (m CMRep) FailoverAccepted() uint8 { return m[cmRepFailoverAccepted] >> 1 & 0x03 }

// SetFailoverAccepted sets the answer to the alternate path.
func (m CMRep) SetFailoverAccepted(v uint8) { putBits(&m[cmRepFailoverAccepted], 0x06, v<<1) }

// FlowControl is the end-to-end flow control bit.
func (m CMRep) FlowControl() bool { return bit(m[cmRepFlowControl], 0x01) }

// SetFlowControl sets the end-to-end flow control bit.
func (m CMRep) SetFlowControl(on bool) { putBit(&m[cmRepFlowControl], 0x01, on) }

// RNRRetryCount is the number of times that the receiver is to retry after an RNR NAK, 7 for ever.
func (m CMRep) RNRRetryCount() uint8 { return m[cmRepRNRRetryCount] >> 5 }

// SetRNRRetryCount sets the number of times that the receiver is to retry after an RNR NAK.
func (m CMRep) SetRNRRetryCount(v uint8) { putBits(&m[cmRepRNRRetryCount], 0xE0, v<<5) }

// SRQ is the bit that says that the sender's queue pair has a shared receive queue.
func (m CMRep) SRQ() bool { return bit(m[cmRepSRQ], 0x10) }

// SetSRQ sets the bit that says that the sender's queue pair has a shared receive queue.
func (m CMRep) SetSRQ(on bool) { putBit(&m[cmRepSRQ], 0x10, on) }

// LocalCAGUID is the GUID of the sender's channel adapter.
func (m CMRep) LocalCAGUID() uint64 { return be.Uint64(m[cmRepLocalCAGUID:]) }

// SetLocalCAGUID sets the GUID of the sender's channel adapter.
func (m CMRep) SetLocalCAGUID(v uint64) { be.PutUint64(m[cmRepLocalCAGUID:], v) }

const (
	cmRepVendorIDH = 15
	cmRepVendorIDM = 19
	cmRepVendorIDL = 23
)

// VendorID is the vendor ID, 0 for none.
func (m CMRep) VendorID() uint32 {
	return uint32(m[cmRepVendorIDH])<<16 | uint32(m[cmRepVendorIDM])<<8 | uint32(m[cmRepVendorIDL])
}

// SetVendorID sets the vendor ID.
func (m CMRep) SetVendorID(v uint32) {
	m[cmRepVendorIDH], m[cmRepVendorIDM], m[cmRepVendorIDL] = byte(v>>16), byte(v>>8), byte(v)
}

// PrivateData is what the consumer sends along.
func (m CMRep) PrivateData() []byte { return cmRest(m, CMRepLen) }

var cmRepSpec = Spec{ID: HdrCMRep, Name: "infiniband.cm.rep.message", Title: "CM Connect Reply", Len: CMRepLen, Fields: []Field{
	// Wireshark calls the communication ID by the name of the message.
	{Name: "infiniband.cm.rep", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.rep.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.rep.localqkey", Title: "Local Q_Key", Base: Hex, Bit: 64, Bits: 32},
	{Name: "infiniband.cm.rep.localqpn", Title: "Local QPN", Base: Hex, Bit: 96, Bits: 24},
	{Name: "infiniband.cm.rep.vendorid_h", Title: "Vendor ID, High Byte", Base: Hex, Bit: 120, Bits: 8},
	{Name: "infiniband.cm.rep.localeecn", Title: "Local EE Context Number", Base: Hex, Bit: 128, Bits: 24},
	{Name: "infiniband.cm.rep.vendorid_m", Title: "Vendor ID, Middle Byte", Base: Hex, Bit: 152, Bits: 8},
	{Name: "infiniband.cm.rep.startpsn", Title: "Starting PSN", Base: Hex, Bit: 160, Bits: 24},
	{Name: "infiniband.cm.rep.vendorid_l", Title: "Vendor ID, Low Byte", Base: Hex, Bit: 184, Bits: 8},
	{Name: "infiniband.cm.rep.respres", Title: "Responder Resources", Base: Hex, Bit: 192, Bits: 8},
	{Name: "infiniband.cm.rep.initdepth", Title: "Initiator Depth", Base: Hex, Bit: 200, Bits: 8},
	{Name: "infiniband.cm.rep.tgtackdelay", Title: "Target ACK Delay", Base: Hex, Bit: 208, Bits: 5},
	{Name: "infiniband.cm.rep.failoveracc", Title: "Failover Accepted", Base: Hex, Bit: 213, Bits: 2, Names: failoverName},
	{Name: "infiniband.cm.rep.e2eflowctrl", Title: "End-To-End Flow Control", Base: Hex, Bit: 215, Bits: 1},
	{Name: "infiniband.cm.rep.rnrretrcount", Title: "RNR Retry Count", Base: Hex, Bit: 216, Bits: 3},
	{Name: "infiniband.cm.rep.srq", Title: "SRQ", Base: Hex, Bit: 219, Bits: 1},
	{Name: "infiniband.cm.rep.reserved", Title: "Reserved", Base: Hex, Bit: 220, Bits: 4},
	{Name: "infiniband.cm.rep.localcaguid", Title: "Local CA GUID", Base: Hex, Bit: 224, Bits: 64},
	{Name: "infiniband.cm.rep.private", Title: "Private Data", Kind: Bytes, Bit: 288},
}}

// failoverName names the answer to a REQ's alternate path
// (IBTA vol. 1, 12.7.31).
func failoverName(v uint64) string {
	switch v {
	case 0:
		return "Accepted"
	case 1:
		return "Not Supported"
	case 2:
		return "Rejected"
	}
	return ""
}
