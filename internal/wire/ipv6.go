package wire

import "net/netip"

// IPv6Len is the length of an IPv6 header.
const IPv6Len = 40

const (
	ipv6Word        = 0
	ipv6PayloadLen  = 4
	ipv6Next        = 6
	ipv6HopLimit    = 7
	ipv6Src         = 8
	ipv6Dst         = 24
	ipv6VersionMask = 0xF0000000
	ipv6ClassMask   = 0x0FF00000
	ipv6DSCPMask    = 0x0FC00000
	ipv6ECNMask     = 0x00300000
	ipv6FlowMask    = 0x000FFFFF
)

// IPv6Header is an IPv6 header (RFC 8200, 3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-----------+---+---------------------------------------+
//	|version|   DSCP    |ECN|              flow label               |
//	+-------+-----------+---+-------+---------------+---------------+
//	|        payload length         |  next header  |   hop limit   |
//	+-------------------------------+---------------+---------------+
//	|                   source address, 16 bytes                    |
//	|                             ...                               |
//	+---------------------------------------------------------------+
//	|                 destination address, 16 bytes                 |
//	|                             ...                               |
//	+---------------------------------------------------------------+
type IPv6Header []byte

func (h IPv6Header) word() uint32 { return be.Uint32(h[ipv6Word:]) }

func (h IPv6Header) setWord(v, mask uint32) {
	be.PutUint32(h[ipv6Word:], merge(h.word(), v, mask))
}

// Version is the IP version, 6.
func (h IPv6Header) Version() uint8 { return uint8(h.word() >> 28) }

// SetVersion sets the IP version.
func (h IPv6Header) SetVersion(v uint8) { h.setWord(uint32(v)<<28, ipv6VersionMask) }

// TrafficClass is the whole byte of DSCP and ECN.
func (h IPv6Header) TrafficClass() uint8 { return uint8(h.word() >> 20) }

// SetTrafficClass sets the whole byte of DSCP and ECN.
func (h IPv6Header) SetTrafficClass(v uint8) { h.setWord(uint32(v)<<20, ipv6ClassMask) }

// DSCP is the differentiated services codepoint.
func (h IPv6Header) DSCP() uint8 { return uint8(h.word() & ipv6DSCPMask >> 22) }

// SetDSCP sets the differentiated services codepoint.
func (h IPv6Header) SetDSCP(v uint8) { h.setWord(uint32(v)<<22, ipv6DSCPMask) }

// ECN is the congestion notification codepoint.
func (h IPv6Header) ECN() uint8 { return uint8(h.word() & ipv6ECNMask >> 20) }

// SetECN sets the congestion notification codepoint.
func (h IPv6Header) SetECN(v uint8) { h.setWord(uint32(v)<<20, ipv6ECNMask) }

// FlowLabel is the flow label.
func (h IPv6Header) FlowLabel() uint32 { return h.word() & ipv6FlowMask }

// SetFlowLabel sets the flow label.
func (h IPv6Header) SetFlowLabel(v uint32) { h.setWord(v, ipv6FlowMask) }

// PayloadLen is the length of what follows, extension headers included.
func (h IPv6Header) PayloadLen() int { return int(be.Uint16(h[ipv6PayloadLen:])) }

// SetPayloadLen sets the length of what follows.
func (h IPv6Header) SetPayloadLen(n int) { be.PutUint16(h[ipv6PayloadLen:], uint16(n)) }

// NextHeader is the number of the header that follows.
func (h IPv6Header) NextHeader() uint8 { return h[ipv6Next] }

// SetNextHeader sets the number of the header that follows.
func (h IPv6Header) SetNextHeader(v uint8) { h[ipv6Next] = v }

// HopLimit is the hop limit.
func (h IPv6Header) HopLimit() uint8 { return h[ipv6HopLimit] }

// SetHopLimit sets the hop limit.
func (h IPv6Header) SetHopLimit(v uint8) { h[ipv6HopLimit] = v }

// Src is the source address.
func (h IPv6Header) Src() netip.Addr { return netip.AddrFrom16([16]byte(h[ipv6Src:ipv6Dst])) }

// SetSrc sets the source address.
func (h IPv6Header) SetSrc(a [16]byte) { copy(h[ipv6Src:ipv6Dst], a[:]) }

// Dst is the destination address.
func (h IPv6Header) Dst() netip.Addr { return netip.AddrFrom16([16]byte(h[ipv6Dst:IPv6Len])) }

// Addresses is the bytes of both addresses, source first.
func (h IPv6Header) Addresses() []byte { return h[ipv6Src : ipv6Dst+16] }

// SetDst sets the destination address.
func (h IPv6Header) SetDst(a [16]byte) { copy(h[ipv6Dst:IPv6Len], a[:]) }

var ipv6Spec = Spec{
	ID: HdrIPv6, Name: "ipv6", Title: "Internet Protocol Version 6", Len: IPv6Len,
	Fields: []Field{
		{Name: "ipv6.version", Title: "Version", Bit: 0, Bits: 4},
		{Name: "ipv6.tclass", Title: "Traffic Class", Base: Hex, Bit: 4, Bits: 8, Width: 32},
		{Name: "ipv6.tclass.dscp", Title: "Differentiated Services Codepoint", Bit: 4, Bits: 6, Width: 32, Names: dscpName},
		{Name: "ipv6.tclass.ecn", Title: "Explicit Congestion Notification", Bit: 10, Bits: 2, Width: 32, Names: ecnName},
		{Name: "ipv6.flow", Title: "Flow Label", Base: Hex, Bit: 12, Bits: 20, Width: 24},
		{Name: "ipv6.plen", Title: "Payload Length", Bit: ipv6PayloadLen * 8, Bits: 16},
		{Name: "ipv6.nxt", Title: "Next Header", Bit: ipv6Next * 8, Bits: 8, Names: ipProtoName},
		{Name: "ipv6.hlim", Title: "Hop Limit", Bit: ipv6HopLimit * 8, Bits: 8},
		{Name: "ipv6.src", Title: "Source Address", Kind: IPv6, Bit: ipv6Src * 8, Bits: 128},
		{Name: "ipv6.dst", Title: "Destination Address", Kind: IPv6, Bit: ipv6Dst * 8, Bits: 128},
	},
}
