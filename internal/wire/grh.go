package wire

import "net/netip"

// GRHLen is the length of a Global Route Header.
const GRHLen = 40

// NextHeaderBTH is the GRH's NxtHdr value for a transport header (IBTA 8.3).
const NextHeaderBTH = 0x1B

// GRH is a Global Route Header (IBTA vol. 1, 8.3); its layout is that of an
// IPv6 header.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+---------------+---------------------------------------+
//	| IPVer |    TClass     |               FlowLabel               |
//	+-------+---------------+-------+---------------+---------------+
//	|            PayLen             |    NxtHdr     |    HopLmt     |
//	+-------------------------------+---------------+---------------+
//	|                        SGID (16 bytes)                        |
//	|                        DGID (16 bytes)                        |
//	+---------------------------------------------------------------+
type GRH []byte

const (
	grhPayLen = 4
	grhNext   = 6
	grhHop    = 7
	grhSGID   = 8
	grhDGID   = 24
)

// Version is the IP version, 6.
func (h GRH) Version() uint8 { return h[0] >> 4 }

// SetVersion sets the IP version.
func (h GRH) SetVersion(v uint8) { putBits(&h[0], 0xF0, v<<4) }

// TClass is the traffic class.
func (h GRH) TClass() uint8 { return h[0]<<4 | h[1]>>4 }

// SetTClass sets the traffic class.
func (h GRH) SetTClass(v uint8) {
	putBits(&h[0], 0x0F, v>>4)
	putBits(&h[1], 0xF0, v<<4)
}

// ECN is the codepoint in the low two bits of the traffic class (IBTA A17.9.1
// for RoCEv2, whose IP header stands in the GRH's place).
func (h GRH) ECN() uint8 { return h.TClass() & 3 }

// FlowLabel is the 20-bit flow label.
func (h GRH) FlowLabel() uint32 { return uint24(h[1:]) & 0xFFFFF }

// SetFlowLabel sets the 20-bit flow label.
func (h GRH) SetFlowLabel(v uint32) { putUint24(h[1:], uint32(h[1]&0xF0)<<16|v&0xFFFFF) }

// PayLen counts the bytes from behind the GRH to the end of the ICRC.
func (h GRH) PayLen() int { return int(be.Uint16(h[grhPayLen:])) }

// SetPayLen sets the payload length.
func (h GRH) SetPayLen(n int) { be.PutUint16(h[grhPayLen:], uint16(n)) }

// NextHeader is NextHeaderBTH for RDMA traffic.
func (h GRH) NextHeader() uint8 { return h[grhNext] }

// SetNextHeader sets the next header.
func (h GRH) SetNextHeader(v uint8) { h[grhNext] = v }

// HopLimit is the hop limit.
func (h GRH) HopLimit() uint8 { return h[grhHop] }

// SetHopLimit sets the hop limit.
func (h GRH) SetHopLimit(v uint8) { h[grhHop] = v }

// SGID is the source global identifier.
func (h GRH) SGID() netip.Addr { return netip.AddrFrom16([16]byte(h[grhSGID:])) }

// SetSGID sets the source global identifier.
func (h GRH) SetSGID(a netip.Addr) { putGID(h[grhSGID:], a) }

// DGID is the destination global identifier.
func (h GRH) DGID() netip.Addr { return netip.AddrFrom16([16]byte(h[grhDGID:])) }

// SetDGID sets the destination global identifier.
func (h GRH) SetDGID(a netip.Addr) { putGID(h[grhDGID:], a) }

// GIDs is the bytes of both identifiers, source first.
func (h GRH) GIDs() []byte { return h[grhSGID:GRHLen] }

func putGID(b []byte, a netip.Addr) {
	gid := a.As16()
	copy(b, gid[:])
}

func grhNextName(v uint64) string {
	if v == NextHeaderBTH {
		return "IBA transport"
	}
	return ipProtoName(v)
}

var grhSpec = Spec{ID: HdrGRH, Name: "infiniband.grh", Title: "Global Route Header", Len: GRHLen, Fields: []Field{
	{Name: "infiniband.grh.ipver", Title: "IP Version", Bit: 0, Bits: 4},
	{Name: "infiniband.grh.tclass", Title: "Traffic Class", Bit: 4, Bits: 8, Width: 16},
	{Name: "infiniband.grh.flowlabel", Title: "Flow Label", Bit: 12, Bits: 20, Width: 32},
	{Name: "infiniband.grh.paylen", Title: "Payload Length", Bit: 32, Bits: 16},
	{Name: "infiniband.grh.nxthdr", Title: "Next Header", Bit: 48, Bits: 8, Names: grhNextName},
	{Name: "infiniband.grh.hoplmt", Title: "Hop Limit", Bit: 56, Bits: 8},
	{Name: "infiniband.grh.sgid", Title: "Source GID", Kind: IPv6, Bit: 64, Bits: 128},
	{Name: "infiniband.grh.dgid", Title: "Destination GID", Kind: IPv6, Bit: 192, Bits: 128},
}}
