package wire

import "net/netip"

// CMLapLen is the length of a LAP without its private data.
const CMLapLen = 64

// CMLap is a LoadAlternatePath (IBTA vol. 1, 12.8.1).
//
//	 0 +---------------------------------------------------------------+
//	   |                    local communication ID                     |
//	 4 +---------------------------------------------------------------+
//	   |                    remote communication ID                    |
//	 8 +---------------------------------------------------------------+
//	   |                           reserved                            |
//	12 +-----------------------------------------------+---------+-----+
//	   |              remote QPN or EECN               | timeout | rsv |
//	16 +-----------------------------------------------+---------+-----+
//	   |                           reserved                            |
//	20 +-------------------------------+-------------------------------+
//	   |           local LID           |          remote LID           |
//	24 +-------------------------------+-------------------------------+
//	   |                     local GID (16 bytes)                      |
//	40 +---------------------------------------------------------------+
//	   |                    remote GID (16 bytes)                      |
//	56 +---------------------------------------+-------+---------------+
//	   |              flow label               |  rsv  | traffic class |
//	60 +---------------+---+-----------+-------+-+-----+---------+-----+
//	   |   hop limit   |rsv|   rate    |  SL   |L| rsv | timeout | rsv |
//	64 +---------------+---+-----------+-------+-+-----+---------+-----+
//	   |                  private data (168 bytes)                     |
//	   +---------------------------------------------------------------+
type CMLap []byte

const (
	cmLapLocalCommID           = 0
	cmLapRemoteCommID          = 4
	cmLapRemoteQPN             = 12
	cmLapRemoteResponseTimeout = 15
	cmLapLocalLID              = 20
	cmLapRemoteLID             = 22
	cmLapLocalGID              = 24
	cmLapRemoteGID             = 40
	cmLapFlowLabel             = 56
	cmLapTrafficClass          = 59
	cmLapHopLimit              = 60
	cmLapPacketRate            = 61
	cmLapSL                    = 62
	cmLapSubnetLocal           = 62
	cmLapLocalACKTimeout       = 63
)

// LocalCommID is the sender's communication ID.
func (m CMLap) LocalCommID() uint32 { return be.Uint32(m[cmLapLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMLap) SetLocalCommID(v uint32) { be.PutUint32(m[cmLapLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMLap) RemoteCommID() uint32 { return be.Uint32(m[cmLapRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMLap) SetRemoteCommID(v uint32) { be.PutUint32(m[cmLapRemoteCommID:], v) }

// RemoteQPN is the receiver's queue pair, or its end-to-end context.
func (m CMLap) RemoteQPN() uint32 { return uint24(m[cmLapRemoteQPN:]) }

// SetRemoteQPN sets the receiver's queue pair.
func (m CMLap) SetRemoteQPN(v uint32) { putUint24(m[cmLapRemoteQPN:], v) }

// RemoteResponseTimeout is the time within which the receiver is to answer, 4.096 us times two to this power.
func (m CMLap) RemoteResponseTimeout() uint8 { return m[cmLapRemoteResponseTimeout] >> 3 }

// SetRemoteResponseTimeout sets the time within which the receiver is to answer.
func (m CMLap) SetRemoteResponseTimeout(v uint8) { putBits(&m[cmLapRemoteResponseTimeout], 0xF8, v<<3) }

// LocalLID is the sender's LID on the alternate path.
func (m CMLap) LocalLID() uint16 { return be.Uint16(m[cmLapLocalLID:]) }

// SetLocalLID sets the sender's LID on the alternate path.
func (m CMLap) SetLocalLID(v uint16) { be.PutUint16(m[cmLapLocalLID:], v) }

// RemoteLID is the receiver's LID on the alternate path.
func (m CMLap) RemoteLID() uint16 { return be.Uint16(m[cmLapRemoteLID:]) }

// SetRemoteLID sets the receiver's LID on the alternate path.
func (m CMLap) SetRemoteLID(v uint16) { be.PutUint16(m[cmLapRemoteLID:], v) }

// LocalGID is the sender's GID on the alternate path.
func (m CMLap) LocalGID() netip.Addr { return gidAt(m[cmLapLocalGID:]) }

// SetLocalGID sets the sender's GID on the alternate path.
func (m CMLap) SetLocalGID(v netip.Addr) { putGID(m[cmLapLocalGID:], v) }

// RemoteGID is the receiver's GID on the alternate path.
func (m CMLap) RemoteGID() netip.Addr { return gidAt(m[cmLapRemoteGID:]) }

// SetRemoteGID sets the receiver's GID on the alternate path.
func (m CMLap) SetRemoteGID(v netip.Addr) { putGID(m[cmLapRemoteGID:], v) }

// FlowLabel is the flow label.
func (m CMLap) FlowLabel() uint32 { return uint24(m[cmLapFlowLabel:]) >> 4 }

// SetFlowLabel sets the flow label.
func (m CMLap) SetFlowLabel(v uint32) {
	putUint24(m[cmLapFlowLabel:], v<<4|uint32(m[cmLapFlowLabel+2]&0x0F))
}

// TrafficClass is the traffic class.
func (m CMLap) TrafficClass() uint8 { return m[cmLapTrafficClass] }

// SetTrafficClass sets the traffic class.
func (m CMLap) SetTrafficClass(v uint8) { m[cmLapTrafficClass] = v }

// HopLimit is the hop limit.
func (m CMLap) HopLimit() uint8 { return m[cmLapHopLimit] }

// SetHopLimit sets the hop limit.
func (m CMLap) SetHopLimit(v uint8) { m[cmLapHopLimit] = v }

// PacketRate is the static rate code.
func (m CMLap) PacketRate() uint8 { return m[cmLapPacketRate] & 0x3F }

// SetPacketRate sets the static rate code.
func (m CMLap) SetPacketRate(v uint8) { putBits(&m[cmLapPacketRate], 0x3F, v) }

// SL is the service level.
func (m CMLap) SL() uint8 { return m[cmLapSL] >> 4 }

// SetSL sets the service level.
func (m CMLap) SetSL(v uint8) { putBits(&m[cmLapSL], 0xF0, v<<4) }

// SubnetLocal is the bit that says that the path stays in one subnet.
func (m CMLap) SubnetLocal() bool { return bit(m[cmLapSubnetLocal], 0x08) }

// SetSubnetLocal sets the bit that says that the path stays in one subnet.
func (m CMLap) SetSubnetLocal(on bool) { putBit(&m[cmLapSubnetLocal], 0x08, on) }

// LocalACKTimeout is the sender's ACK timeout, 4.096 us times two to this power.
func (m CMLap) LocalACKTimeout() uint8 { return m[cmLapLocalACKTimeout] >> 3 }

// SetLocalACKTimeout sets the sender's ACK timeout.
func (m CMLap) SetLocalACKTimeout(v uint8) { putBits(&m[cmLapLocalACKTimeout], 0xF8, v<<3) }

// PrivateData is what the consumer sends along.
func (m CMLap) PrivateData() []byte { return cmRest(m, CMLapLen) }

var cmLapSpec = Spec{ID: HdrCMLap, Name: "infiniband.cm.lap", Title: "CM Load Alternate Path", Len: CMLapLen, Fields: []Field{
	{Name: "infiniband.cm.lap.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.lap.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.lap.remoteqpneecn", Title: "Remote QPN/EECN", Base: Hex, Bit: 96, Bits: 24},
	{Name: "infiniband.cm.lap.remoteresptout", Title: "Remote CM Response Timeout", Base: Hex, Bit: 120, Bits: 5},
	{Name: "infiniband.cm.lap.alt_locallid", Title: "Alternate Local Port LID", Bit: 160, Bits: 16},
	{Name: "infiniband.cm.lap.alt_remotelid", Title: "Alternate Remote Port LID", Bit: 176, Bits: 16},
	{Name: "infiniband.cm.lap.alt_localgid", Title: "Alternate Local Port GID", Kind: IPv6, Bit: 192, Bits: 128},
	{Name: "infiniband.cm.lap.alt_remotegid", Title: "Alternate Remote Port GID", Kind: IPv6, Bit: 320, Bits: 128},
	{Name: "infiniband.cm.lap.alt_flowlabel", Title: "Alternate Flow Label", Base: Hex, Bit: 448, Bits: 20, Width: 32},
	{Name: "infiniband.cm.lap.alt_tfcclass", Title: "Alternate Traffic Class", Base: Hex, Bit: 472, Bits: 8},
	{Name: "infiniband.cm.lap.alt_hoplim", Title: "Alternate Hop Limit", Base: Hex, Bit: 480, Bits: 8},
	{Name: "infiniband.cm.lap.alt_pktrate", Title: "Alternate Packet Rate", Base: Hex, Bit: 490, Bits: 6, Names: rateName},
	{Name: "infiniband.cm.lap.alt_sl", Title: "Alternate SL", Base: Hex, Bit: 496, Bits: 4},
	{Name: "infiniband.cm.lap.alt_subnetlocal", Title: "Alternate Subnet Local", Base: Hex, Bit: 500, Bits: 1},
	{Name: "infiniband.cm.lap.alt_localacktout", Title: "Alternate Local ACK Timeout", Base: Hex, Bit: 504, Bits: 5},
	{Name: "infiniband.cm.lap.private", Title: "Private Data", Kind: Bytes, Bit: 512},
}}
