package wire

import "net/netip"

// CMReqLen is the length of a REQ without its private data.
const CMReqLen = 140

// CMReq is a ConnectRequest (IBTA vol. 1, 12.6.5; the vendor ID is that of
// Linux's enhanced connection establishment, ib_cm: CM_REQ_VENDOR_ID).
//
//	  0 +---------------------------------------------------------------+
//	    |                    local communication ID                     |
//	  4 +---------------+-----------------------------------------------+
//	    |   reserved    |                   vendor ID                   |
//	  8 +---------------+-----------------------------------------------+
//	    |                          service ID                           |
//	 16 +---------------------------------------------------------------+
//	    |                         local CA GUID                         |
//	 24 +---------------------------------------------------------------+
//	    |                           reserved                            |
//	 28 +---------------------------------------------------------------+
//	    |                          local Q_Key                          |
//	 32 +-----------------------------------------------+---------------+
//	    |                   local QPN                   | resp. resour. |
//	 36 +-----------------------------------------------+---------------+
//	    |                  local EECN                   | init. depth   |
//	 40 +-----------------------------------------------+---------+---+-+
//	    |                  remote EECN                  | timeout |tst|F|
//	 44 +-----------------------------------------------+---------+---+-+
//	    |                 starting PSN                  | timeout |retry|
//	 48 +-------------------------------+-------+-+-----+-------+-+-----+
//	    |             P_Key             |  MTU  |R| RNR |retries|S| ext |
//	 52 +-------------------------------+-------+-+-----+-------+-+-----+
//	    |                  primary path (44 bytes)                      |
//	 96 +---------------------------------------------------------------+
//	    |                 alternate path (44 bytes)                     |
//	140 +---------------------------------------------------------------+
//	    |                  private data (92 bytes)                      |
//	    +---------------------------------------------------------------+
type CMReq []byte

const (
	cmReqLocalCommID           = 0
	cmReqVendorID              = 5
	cmReqServiceID             = 8
	cmReqLocalCAGUID           = 16
	cmReqLocalQKey             = 28
	cmReqLocalQPN              = 32
	cmReqResponderResources    = 35
	cmReqLocalEECN             = 36
	cmReqInitiatorDepth        = 39
	cmReqRemoteEECN            = 40
	cmReqRemoteResponseTimeout = 43
	cmReqTransportType         = 43
	cmReqFlowControl           = 43
	cmReqStartingPSN           = 44
	cmReqLocalResponseTimeout  = 47
	cmReqRetryCount            = 47
	cmReqPKey                  = 48
	cmReqPathMTU               = 50
	cmReqRDCExists             = 50
	cmReqRNRRetryCount         = 50
	cmReqMaxCMRetries          = 51
	cmReqSRQ                   = 51
	cmReqExtendedTransport     = 51
)

// LocalCommID is the sender's communication ID.
func (m CMReq) LocalCommID() uint32 { return be.Uint32(m[cmReqLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMReq) SetLocalCommID(v uint32) { be.PutUint32(m[cmReqLocalCommID:], v) }

// VendorID is the vendor ID, 0 for none.
func (m CMReq) VendorID() uint32 { return uint24(m[cmReqVendorID:]) }

// SetVendorID sets the vendor ID.
func (m CMReq) SetVendorID(v uint32) { putUint24(m[cmReqVendorID:], v) }

// ServiceID is the service that is asked for.
func (m CMReq) ServiceID() uint64 { return be.Uint64(m[cmReqServiceID:]) }

// SetServiceID sets the service that is asked for.
func (m CMReq) SetServiceID(v uint64) { be.PutUint64(m[cmReqServiceID:], v) }

// LocalCAGUID is the GUID of the sender's channel adapter.
func (m CMReq) LocalCAGUID() uint64 { return be.Uint64(m[cmReqLocalCAGUID:]) }

// SetLocalCAGUID sets the GUID of the sender's channel adapter.
func (m CMReq) SetLocalCAGUID(v uint64) { be.PutUint64(m[cmReqLocalCAGUID:], v) }

// LocalQKey is the sender's Q_Key, for RD only.
func (m CMReq) LocalQKey() uint32 { return be.Uint32(m[cmReqLocalQKey:]) }

// SetLocalQKey sets the sender's Q_Key.
func (m CMReq) SetLocalQKey(v uint32) { be.PutUint32(m[cmReqLocalQKey:], v) }

// LocalQPN is the sender's queue pair.
func (m CMReq) LocalQPN() uint32 { return uint24(m[cmReqLocalQPN:]) }

// SetLocalQPN sets the sender's queue pair.
func (m CMReq) SetLocalQPN(v uint32) { putUint24(m[cmReqLocalQPN:], v) }

// ResponderResources is the number of READs and atomics that the sender takes at a time.
func (m CMReq) ResponderResources() uint8 { return m[cmReqResponderResources] }

// SetResponderResources sets the number of READs and atomics that the sender takes at a time.
func (m CMReq) SetResponderResources(v uint8) { m[cmReqResponderResources] = v }

// LocalEECN is the sender's end-to-end context, for RD only.
func (m CMReq) LocalEECN() uint32 { return uint24(m[cmReqLocalEECN:]) }

// SetLocalEECN sets the sender's end-to-end context.
func (m CMReq) SetLocalEECN(v uint32) { putUint24(m[cmReqLocalEECN:], v) }

// InitiatorDepth is the number of READs and atomics that the sender wants to have outstanding.
func (m CMReq) InitiatorDepth() uint8 { return m[cmReqInitiatorDepth] }

// SetInitiatorDepth sets the number of READs and atomics that the sender wants to have outstanding.
func (m CMReq) SetInitiatorDepth(v uint8) { m[cmReqInitiatorDepth] = v }

// RemoteEECN is the receiver's end-to-end context, for RD only.
func (m CMReq) RemoteEECN() uint32 { return uint24(m[cmReqRemoteEECN:]) }

// SetRemoteEECN sets the receiver's end-to-end context.
func (m CMReq) SetRemoteEECN(v uint32) { putUint24(m[cmReqRemoteEECN:], v) }

// RemoteResponseTimeout is the time within which the receiver is to answer, 4.096 us times two to this power.
func (m CMReq) RemoteResponseTimeout() uint8 { return m[cmReqRemoteResponseTimeout] >> 3 }

// SetRemoteResponseTimeout sets the time within which the receiver is to answer.
func (m CMReq) SetRemoteResponseTimeout(v uint8) { putBits(&m[cmReqRemoteResponseTimeout], 0xF8, v<<3) }

// TransportType is the transport service type.
func (m CMReq) TransportType() uint8 { return m[cmReqTransportType] >> 1 & 0x03 }

// SetTransportType sets the transport service type.
func (m CMReq) SetTransportType(v uint8) { putBits(&m[cmReqTransportType], 0x06, v<<1) }

// FlowControl is the end-to-end flow control bit.
func (m CMReq) FlowControl() bool { return bit(m[cmReqFlowControl], 0x01) }

// SetFlowControl sets the end-to-end flow control bit.
func (m CMReq) SetFlowControl(on bool) { putBit(&m[cmReqFlowControl], 0x01, on) }

// StartingPSN is the first PSN that the receiver of the message will use (Linux
// cma.c fills in its own receive PSN; pcaps/rping_rxe.pcap shows it).
func (m CMReq) StartingPSN() PSN { return PSN(uint24(m[cmReqStartingPSN:])) }

// SetStartingPSN sets the first PSN that the receiver of the message will use.
func (m CMReq) SetStartingPSN(v PSN) { putUint24(m[cmReqStartingPSN:], uint32(v)) }

// LocalResponseTimeout is the time within which the sender answers, 4.096 us times two to this power.
func (m CMReq) LocalResponseTimeout() uint8 { return m[cmReqLocalResponseTimeout] >> 3 }

// SetLocalResponseTimeout sets the time within which the sender answers.
func (m CMReq) SetLocalResponseTimeout(v uint8) { putBits(&m[cmReqLocalResponseTimeout], 0xF8, v<<3) }

// RetryCount is the number of times that the receiver is to retry.
func (m CMReq) RetryCount() uint8 { return m[cmReqRetryCount] & 0x07 }

// SetRetryCount sets the number of times that the receiver is to retry.
func (m CMReq) SetRetryCount(v uint8) { putBits(&m[cmReqRetryCount], 0x07, v) }

// PKey is the partition key.
func (m CMReq) PKey() uint16 { return be.Uint16(m[cmReqPKey:]) }

// SetPKey sets the partition key.
func (m CMReq) SetPKey(v uint16) { be.PutUint16(m[cmReqPKey:], v) }

// PathMTU is the path MTU code, 1 for 256 to 5 for 4096 bytes.
func (m CMReq) PathMTU() uint8 { return m[cmReqPathMTU] >> 4 }

// SetPathMTU sets the path MTU code.
func (m CMReq) SetPathMTU(v uint8) { putBits(&m[cmReqPathMTU], 0xF0, v<<4) }

// RDCExists is the bit that says that an RD channel exists.
func (m CMReq) RDCExists() bool { return bit(m[cmReqRDCExists], 0x08) }

// SetRDCExists sets the bit that says that an RD channel exists.
func (m CMReq) SetRDCExists(on bool) { putBit(&m[cmReqRDCExists], 0x08, on) }

// RNRRetryCount is the number of times that the receiver is to retry after an RNR NAK, 7 for ever.
func (m CMReq) RNRRetryCount() uint8 { return m[cmReqRNRRetryCount] & 0x07 }

// SetRNRRetryCount sets the number of times that the receiver is to retry after an RNR NAK.
func (m CMReq) SetRNRRetryCount(v uint8) { putBits(&m[cmReqRNRRetryCount], 0x07, v) }

// MaxCMRetries is the number of times that the sender sends this message again.
func (m CMReq) MaxCMRetries() uint8 { return m[cmReqMaxCMRetries] >> 4 }

// SetMaxCMRetries sets the number of times that the sender sends this message again.
func (m CMReq) SetMaxCMRetries(v uint8) { putBits(&m[cmReqMaxCMRetries], 0xF0, v<<4) }

// SRQ is the bit that says that the sender's queue pair has a shared receive queue.
func (m CMReq) SRQ() bool { return bit(m[cmReqSRQ], 0x08) }

// SetSRQ sets the bit that says that the sender's queue pair has a shared receive queue.
func (m CMReq) SetSRQ(on bool) { putBit(&m[cmReqSRQ], 0x08, on) }

// ExtendedTransport is the extended transport type.
func (m CMReq) ExtendedTransport() uint8 { return m[cmReqExtendedTransport] & 0x07 }

// SetExtendedTransport sets the extended transport type.
func (m CMReq) SetExtendedTransport(v uint8) { putBits(&m[cmReqExtendedTransport], 0x07, v) }

const (
	cmReqPrimaryPath   = 52
	cmReqAlternatePath = 96
)

// PrimaryPath is the path that the connection begins with.
func (m CMReq) PrimaryPath() CMPath { return CMPath(m[cmReqPrimaryPath:cmReqAlternatePath]) }

// AlternatePath is the path that the connection may migrate to.
func (m CMReq) AlternatePath() CMPath { return CMPath(m[cmReqAlternatePath:CMReqLen]) }

// PrivateData is what the consumer sends along, behind the rdma_cm header
// when there is one.
func (m CMReq) PrivateData() []byte { return cmRest(m, CMReqLen) }

var cmReqSpec = Spec{ID: HdrCMReq, Name: "infiniband.cm.req.message", Title: "CM Connect Request", Len: CMReqLen, Fields: []Field{
	// Wireshark calls the communication ID by the name of the message.
	{Name: "infiniband.cm.req", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.req.vendorid", Title: "Vendor ID", Base: Hex, Bit: 40, Bits: 24},
	{Name: "infiniband.cm.req.serviceid", Title: "Service ID", Base: Hex, Bit: 64, Bits: 64},
	{Name: "infiniband.cm.req.serviceid.prefix", Title: "Service ID Prefix", Kind: Bytes, Bit: 64, Bits: 40, When: reqIsIPCM},
	{Name: "infiniband.cm.req.serviceid.protocol", Title: "Service ID Protocol", Base: Hex, Bit: 104, Bits: 8, When: reqIsIPCM},
	{Name: "infiniband.cm.req.serviceid.dport", Title: "Service ID Destination Port", Base: Hex, Bit: 112, Bits: 16, When: reqIsIPCM},
	{Name: "infiniband.cm.req.localcaguid", Title: "Local CA GUID", Base: Hex, Bit: 128, Bits: 64},
	{Name: "infiniband.cm.req.localqkey", Title: "Local Q_Key", Base: Hex, Bit: 224, Bits: 32},
	{Name: "infiniband.cm.req.localqpn", Title: "Local QPN", Base: Hex, Bit: 256, Bits: 24},
	{Name: "infiniband.cm.req.responderres", Title: "Responder Resources", Base: Hex, Bit: 280, Bits: 8},
	{Name: "infiniband.cm.req.localeecn", Title: "Local EECN", Base: Hex, Bit: 288, Bits: 24},
	{Name: "infiniband.cm.req.initdepth", Title: "Initiator Depth", Base: Hex, Bit: 312, Bits: 8},
	{Name: "infiniband.cm.req.remoteeecn", Title: "Remote EECN", Base: Hex, Bit: 320, Bits: 24},
	{Name: "infiniband.cm.req.remoteresptout", Title: "Remote CM Response Timeout", Base: Hex, Bit: 344, Bits: 5},
	{Name: "infiniband.cm.req.transpsvctype", Title: "Transport Service Type", Base: Hex, Bit: 349, Bits: 2, Names: transportName},
	{Name: "infiniband.cm.req.e2eflowctrl", Title: "End-to-End Flow Control", Base: Hex, Bit: 351, Bits: 1},
	{Name: "infiniband.cm.req.startpsn", Title: "Starting PSN", Base: Hex, Bit: 352, Bits: 24},
	{Name: "infiniband.cm.req.localresptout", Title: "Local CM Response Timeout", Base: Hex, Bit: 376, Bits: 5},
	{Name: "infiniband.cm.req.retrcount", Title: "Retry Count", Base: Hex, Bit: 381, Bits: 3},
	{Name: "infiniband.cm.req.pkey", Title: "Partition Key", Base: Hex, Bit: 384, Bits: 16},
	{Name: "infiniband.cm.req.pppmtu", Title: "Path Packet Payload MTU", Base: Hex, Bit: 400, Bits: 4, Names: mtuName},
	{Name: "infiniband.cm.req.rdcexist", Title: "RDC Exists", Base: Hex, Bit: 404, Bits: 1},
	{Name: "infiniband.cm.req.rnrretrcount", Title: "RNR Retry Count", Base: Hex, Bit: 405, Bits: 3},
	{Name: "infiniband.cm.req.maxcmretr", Title: "Maximum CM Retries", Base: Hex, Bit: 408, Bits: 4},
	{Name: "infiniband.cm.req.srq", Title: "SRQ", Base: Hex, Bit: 412, Bits: 1},
	{Name: "infiniband.cm.req.ext_transport", Title: "Extended Transport", Base: Hex, Bit: 413, Bits: 3, Names: extendedTransportName},

	{Name: "infiniband.cm.req.prim_locallid", Title: "Primary Local Port LID", Bit: 416, Bits: 16},
	{Name: "infiniband.cm.req.prim_remotelid", Title: "Primary Remote Port LID", Bit: 432, Bits: 16},
	{Name: "infiniband.cm.req.prim_localgid", Title: "Primary Local Port GID", Kind: IPv6, Bit: 448, Bits: 128, When: reqLocalGIDIsIPv6},
	{Name: "infiniband.cm.req.prim_localgid_ipv4", Title: "Primary Local Port GID", Kind: IPv4, Bit: 544, Bits: 32, When: reqLocalGIDIsIPv4},
	{Name: "infiniband.cm.req.prim_remotegid", Title: "Primary Remote Port GID", Kind: IPv6, Bit: 576, Bits: 128, When: reqRemoteGIDIsIPv6},
	{Name: "infiniband.cm.req.prim_remotegid_ipv4", Title: "Primary Remote Port GID", Kind: IPv4, Bit: 672, Bits: 32, When: reqRemoteGIDIsIPv4},
	{Name: "infiniband.cm.req.prim_flowlabel", Title: "Primary Flow Label", Base: Hex, Bit: 704, Bits: 20, Width: 32},
	{Name: "infiniband.cm.req.prim_reserved0", Title: "Reserved", Base: Hex, Bit: 724, Bits: 6, Width: 32},
	{Name: "infiniband.cm.req.prim_pktrate", Title: "Primary Packet Rate", Base: Hex, Bit: 730, Bits: 6, Width: 32, Names: rateName},
	{Name: "infiniband.cm.req.prim_tfcclass", Title: "Primary Traffic Class", Base: Hex, Bit: 736, Bits: 8},
	{Name: "infiniband.cm.req.prim_hoplim", Title: "Primary Hop Limit", Base: Hex, Bit: 744, Bits: 8},
	{Name: "infiniband.cm.req.prim_sl", Title: "Primary SL", Base: Hex, Bit: 752, Bits: 4},
	{Name: "infiniband.cm.req.prim_subnetlocal", Title: "Primary Subnet Local", Base: Hex, Bit: 756, Bits: 1},
	{Name: "infiniband.cm.req.prim_reserved1", Title: "Reserved", Base: Hex, Bit: 757, Bits: 3},
	{Name: "infiniband.cm.req.prim_localacktout", Title: "Primary Local ACK Timeout", Base: Hex, Bit: 760, Bits: 5},
	{Name: "infiniband.cm.req.prim_reserved2", Title: "Reserved", Base: Hex, Bit: 765, Bits: 3},

	{Name: "infiniband.cm.req.alt_locallid", Title: "Alternate Local Port LID", Bit: 768, Bits: 16},
	{Name: "infiniband.cm.req.alt_remotelid", Title: "Alternate Remote Port LID", Bit: 784, Bits: 16},
	{Name: "infiniband.cm.req.alt_localgid", Title: "Alternate Local Port GID", Kind: Bytes, Bit: 800, Bits: 128},
	{Name: "infiniband.cm.req.alt_remotegid", Title: "Alternate Remote Port GID", Kind: Bytes, Bit: 928, Bits: 128},
	{Name: "infiniband.cm.req.alt_flowlabel", Title: "Alternate Flow Label", Base: Hex, Bit: 1056, Bits: 20, Width: 32},
	{Name: "infiniband.cm.req.alt_reserved0", Title: "Reserved", Base: Hex, Bit: 1076, Bits: 6, Width: 32},
	{Name: "infiniband.cm.req.alt_pktrate", Title: "Alternate Packet Rate", Base: Hex, Bit: 1082, Bits: 6, Width: 32, Names: rateName},
	{Name: "infiniband.cm.req.alt_tfcclass", Title: "Alternate Traffic Class", Base: Hex, Bit: 1088, Bits: 8},
	{Name: "infiniband.cm.req.alt_hoplim", Title: "Alternate Hop Limit", Base: Hex, Bit: 1096, Bits: 8},
	{Name: "infiniband.cm.req.alt_sl", Title: "Alternate SL", Base: Hex, Bit: 1104, Bits: 4},
	{Name: "infiniband.cm.req.alt_subnetlocal", Title: "Alternate Subnet Local", Base: Hex, Bit: 1108, Bits: 1},
	{Name: "infiniband.cm.req.alt_reserved1", Title: "Reserved", Base: Hex, Bit: 1109, Bits: 3},
	{Name: "infiniband.cm.req.alt_localacktout", Title: "Alternate Local ACK Timeout", Base: Hex, Bit: 1112, Bits: 5},
	{Name: "infiniband.cm.req.sapsupported", Title: "SAP Supported", Base: Hex, Bit: 1117, Bits: 1},
	{Name: "infiniband.cm.req.private", Title: "Private Data", Kind: Bytes, Bit: 1120, When: reqIsPlain},
}}

func reqIsIPCM(h []byte) bool {
	if len(h) < cmReqServiceID+8 {
		return false
	}
	_, _, ok := ParseCMIPServiceID(CMReq(h).ServiceID())
	return ok
}

func reqIsPlain(h []byte) bool { return !reqIsIPCM(h) }

func reqLocalGIDIsIPv4(h []byte) bool { return gidMapsIPv4(h[cmReqPrimaryPath+cmPathLocalGID:]) }

func reqLocalGIDIsIPv6(h []byte) bool { return !reqLocalGIDIsIPv4(h) }

func reqRemoteGIDIsIPv4(h []byte) bool { return gidMapsIPv4(h[cmReqPrimaryPath+cmPathRemoteGID:]) }

func reqRemoteGIDIsIPv6(h []byte) bool { return !reqRemoteGIDIsIPv4(h) }

// CMPathLen is the length of a path of a REQ.
const CMPathLen = 44

// CMPath is one of the two paths of a REQ (IBTA vol. 1, 12.6.5). Local is the
// sender's end.
//
//	 0 +-------------------------------+-------------------------------+
//	   |           local LID           |          remote LID           |
//	 4 +-------------------------------+-------------------------------+
//	   |                     local GID (16 bytes)                      |
//	20 +---------------------------------------------------------------+
//	   |                    remote GID (16 bytes)                      |
//	36 +---------------------------------------+-----------+-----------+
//	   |              flow label               | reserved  |   rate    |
//	40 +---------------+---------------+-------+-+-----+---+-----+-----+
//	   | traffic class |   hop limit   |  SL   |L| rsv | timeout | rsv |
//	   +---------------+---------------+-------+-+-----+---------+-----+
type CMPath []byte

const (
	cmPathLocalLID        = 0
	cmPathRemoteLID       = 2
	cmPathLocalGID        = 4
	cmPathRemoteGID       = 20
	cmPathFlowLabel       = 36
	cmPathPacketRate      = 39
	cmPathTrafficClass    = 40
	cmPathHopLimit        = 41
	cmPathSL              = 42
	cmPathSubnetLocal     = 42
	cmPathLocalACKTimeout = 43
)

// LocalLID is the sender's LID.
func (p CMPath) LocalLID() uint16 { return be.Uint16(p[cmPathLocalLID:]) }

// SetLocalLID sets the sender's LID.
func (p CMPath) SetLocalLID(v uint16) { be.PutUint16(p[cmPathLocalLID:], v) }

// RemoteLID is the receiver's LID.
func (p CMPath) RemoteLID() uint16 { return be.Uint16(p[cmPathRemoteLID:]) }

// SetRemoteLID sets the receiver's LID.
func (p CMPath) SetRemoteLID(v uint16) { be.PutUint16(p[cmPathRemoteLID:], v) }

// LocalGID is the sender's GID.
func (p CMPath) LocalGID() netip.Addr { return gidAt(p[cmPathLocalGID:]) }

// SetLocalGID sets the sender's GID.
func (p CMPath) SetLocalGID(v netip.Addr) { putGID(p[cmPathLocalGID:], v) }

// RemoteGID is the receiver's GID.
func (p CMPath) RemoteGID() netip.Addr { return gidAt(p[cmPathRemoteGID:]) }

// SetRemoteGID sets the receiver's GID.
func (p CMPath) SetRemoteGID(v netip.Addr) { putGID(p[cmPathRemoteGID:], v) }

// FlowLabel is the flow label.
func (p CMPath) FlowLabel() uint32 { return uint24(p[cmPathFlowLabel:]) >> 4 }

// SetFlowLabel sets the flow label.
func (p CMPath) SetFlowLabel(v uint32) {
	putUint24(p[cmPathFlowLabel:], v<<4|uint32(p[cmPathFlowLabel+2]&0x0F))
}

// PacketRate is the static rate code.
func (p CMPath) PacketRate() uint8 { return p[cmPathPacketRate] & 0x3F }

// SetPacketRate sets the static rate code.
func (p CMPath) SetPacketRate(v uint8) { putBits(&p[cmPathPacketRate], 0x3F, v) }

// TrafficClass is the traffic class.
func (p CMPath) TrafficClass() uint8 { return p[cmPathTrafficClass] }

// SetTrafficClass sets the traffic class.
func (p CMPath) SetTrafficClass(v uint8) { p[cmPathTrafficClass] = v }

// HopLimit is the hop limit.
func (p CMPath) HopLimit() uint8 { return p[cmPathHopLimit] }

// SetHopLimit sets the hop limit.
func (p CMPath) SetHopLimit(v uint8) { p[cmPathHopLimit] = v }

// SL is the service level.
func (p CMPath) SL() uint8 { return p[cmPathSL] >> 4 }

// SetSL sets the service level.
func (p CMPath) SetSL(v uint8) { putBits(&p[cmPathSL], 0xF0, v<<4) }

// SubnetLocal is the bit that says that the path stays in one subnet.
func (p CMPath) SubnetLocal() bool { return bit(p[cmPathSubnetLocal], 0x08) }

// SetSubnetLocal sets the bit that says that the path stays in one subnet.
func (p CMPath) SetSubnetLocal(on bool) { putBit(&p[cmPathSubnetLocal], 0x08, on) }

// LocalACKTimeout is the sender's ACK timeout, 4.096 us times two to this power.
func (p CMPath) LocalACKTimeout() uint8 { return p[cmPathLocalACKTimeout] >> 3 }

// SetLocalACKTimeout sets the sender's ACK timeout.
func (p CMPath) SetLocalACKTimeout(v uint8) { putBits(&p[cmPathLocalACKTimeout], 0xF8, v<<3) }
