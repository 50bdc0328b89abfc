package wire

// IPv6ExtMinLen is the length of the shortest extension header, and the unit of the
// length field.
const IPv6ExtMinLen = 8

const (
	ipv6ExtNext   = 0
	ipv6ExtLength = 1
)

// IPv6Ext is a hop-by-hop or a destination options header (RFC 8200, 4.3
// and 4.6).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+---------------+-------------------------------+
//	|  next header  |    length     |                               |
//	+---------------+---------------+     options, padded to a      |
//	|                               multiple of 8 bytes             |
//	+---------------------------------------------------------------+
type IPv6Ext []byte

// NextHeader is the number of the header that follows.
func (h IPv6Ext) NextHeader() uint8 { return h[ipv6ExtNext] }

// SetNextHeader sets the number of the header that follows.
func (h IPv6Ext) SetNextHeader(v uint8) { h[ipv6ExtNext] = v }

// Length is the length field: units of eight bytes, the first not counted.
func (h IPv6Ext) Length() uint8 { return h[ipv6ExtLength] }

// SetLength sets the length field.
func (h IPv6Ext) SetLength(v uint8) { h[ipv6ExtLength] = v }

// HeaderLen is the length in bytes that the header claims, 8 to 2048.
func (h IPv6Ext) HeaderLen() int { return (int(h[ipv6ExtLength]) + 1) * IPv6ExtMinLen }

const (
	ipv6RoutingType     = 2
	ipv6RoutingSegments = 3
	ipv6SRHLastEntry    = 4
	ipv6SRHFlags        = 5
	ipv6SRHTag          = 6

	ipv6RoutingSegment = 4 // the routing type of segment routing
)

// IPv6Routing is a routing header (RFC 8200, 4.4). The second word is that of
// a segment routing header (RFC 8754, 2); other types have other data there.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+---------------+---------------+---------------+
//	|  next header  |    length     |     type      | segments left |
//	+---------------+---------------+---------------+---------------+
//	|  last entry   |     flags     |              tag              |
//	+---------------+---------------+-------------------------------+
//	|                     addresses, type-specific                  |
//	+---------------------------------------------------------------+
type IPv6Routing []byte

// NextHeader is the number of the header that follows.
func (h IPv6Routing) NextHeader() uint8 { return h[ipv6ExtNext] }

// SetNextHeader sets the number of the header that follows.
func (h IPv6Routing) SetNextHeader(v uint8) { h[ipv6ExtNext] = v }

// Length is the length field: units of eight bytes, the first not counted.
func (h IPv6Routing) Length() uint8 { return h[ipv6ExtLength] }

// SetLength sets the length field.
func (h IPv6Routing) SetLength(v uint8) { h[ipv6ExtLength] = v }

// HeaderLen is the length in bytes that the header claims, 8 to 2048.
func (h IPv6Routing) HeaderLen() int { return (int(h[ipv6ExtLength]) + 1) * IPv6ExtMinLen }

// Type is the routing type.
func (h IPv6Routing) Type() uint8 { return h[ipv6RoutingType] }

// SetType sets the routing type.
func (h IPv6Routing) SetType(v uint8) { h[ipv6RoutingType] = v }

// SegmentsLeft is the number of nodes still to be visited. While it is not 0
// the destination address is not the final one.
func (h IPv6Routing) SegmentsLeft() uint8 { return h[ipv6RoutingSegments] }

// SetSegmentsLeft sets the number of nodes still to be visited.
func (h IPv6Routing) SetSegmentsLeft(v uint8) { h[ipv6RoutingSegments] = v }

// IPv6FragmentLen is the length of a fragment header.
const IPv6FragmentLen = 8

const (
	ipv6FragmentReserved   = 1
	ipv6FragmentOffset     = 2
	ipv6FragmentID         = 4
	ipv6FragmentOffsetMask = 0xFFF8
	ipv6FragmentMore       = 0x01 // of byte 3
)

// IPv6Fragment is a fragment header (RFC 8200, 4.5).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+---------------+-------------------------+---+-+
//	|  next header  |   reserved    |     fragment offset     |res|M|
//	+---------------+---------------+-------------------------+---+-+
//	|                        identification                         |
//	+---------------------------------------------------------------+
type IPv6Fragment []byte

// NextHeader is the number of the header that follows in the first fragment.
func (h IPv6Fragment) NextHeader() uint8 { return h[ipv6ExtNext] }

// SetNextHeader sets the number of the header that follows.
func (h IPv6Fragment) SetNextHeader(v uint8) { h[ipv6ExtNext] = v }

// Offset is the fragment's offset in units of eight bytes.
func (h IPv6Fragment) Offset() uint16 { return be.Uint16(h[ipv6FragmentOffset:]) >> 3 }

// SetOffset sets the fragment's offset in units of eight bytes.
func (h IPv6Fragment) SetOffset(v uint16) {
	old := be.Uint16(h[ipv6FragmentOffset:])
	be.PutUint16(h[ipv6FragmentOffset:], merge(old, v<<3, ipv6FragmentOffsetMask))
}

// More reports whether more fragments follow.
func (h IPv6Fragment) More() bool { return h[ipv6FragmentOffset+1]&ipv6FragmentMore != 0 }

// SetMore says whether more fragments follow.
func (h IPv6Fragment) SetMore(on bool) { putBit(&h[ipv6FragmentOffset+1], ipv6FragmentMore, on) }

// ID is the identification.
func (h IPv6Fragment) ID() uint32 { return be.Uint32(h[ipv6FragmentID:]) }

// SetID sets the identification.
func (h IPv6Fragment) SetID(v uint32) { be.PutUint32(h[ipv6FragmentID:], v) }

// IsFragment reports whether the packet is a part of a larger one; an atomic
// fragment is not (RFC 6946).
func (h IPv6Fragment) IsFragment() bool { return h.More() || h.Offset() != 0 }

var ipv6HopOptsSpec = Spec{
	ID: HdrIPv6HopOpts, Name: "ipv6.hopopts", Title: "IPv6 Hop-by-Hop Options", Len: IPv6ExtMinLen,
	Fields: []Field{
		{Name: "ipv6.hopopts.nxt", Title: "Next Header", Bit: ipv6ExtNext * 8, Bits: 8, Names: ipProtoName},
		{Name: "ipv6.hopopts.len", Title: "Length", Bit: ipv6ExtLength * 8, Bits: 8},
	},
}

var ipv6RoutingSpec = Spec{
	ID: HdrIPv6Routing, Name: "ipv6.routing", Title: "IPv6 Routing Header", Len: IPv6ExtMinLen,
	Fields: []Field{
		{Name: "ipv6.routing.nxt", Title: "Next Header", Bit: ipv6ExtNext * 8, Bits: 8, Names: ipProtoName},
		{Name: "ipv6.routing.len", Title: "Length", Bit: ipv6ExtLength * 8, Bits: 8},
		{Name: "ipv6.routing.type", Title: "Type", Bit: ipv6RoutingType * 8, Bits: 8},
		{Name: "ipv6.routing.segleft", Title: "Segments Left", Bit: ipv6RoutingSegments * 8, Bits: 8},
		{Name: "ipv6.routing.srh.last_entry", Title: "Last Entry", Bit: ipv6SRHLastEntry * 8, Bits: 8, When: ipv6IsSegmentRouting},
		{Name: "ipv6.routing.srh.flags", Title: "Flags", Base: Hex, Bit: ipv6SRHFlags * 8, Bits: 8, When: ipv6IsSegmentRouting},
		{Name: "ipv6.routing.srh.tag", Title: "Tag", Kind: Bytes, Bit: ipv6SRHTag * 8, Bits: 16, When: ipv6IsSegmentRouting},
	},
}

var ipv6FragmentSpec = Spec{
	ID: HdrIPv6Fragment, Name: "ipv6.fraghdr", Title: "IPv6 Fragment Header", Len: IPv6FragmentLen,
	Fields: []Field{
		{Name: "ipv6.fraghdr.nxt", Title: "Next header", Bit: ipv6ExtNext * 8, Bits: 8, Names: ipProtoName},
		{Name: "ipv6.fraghdr.reserved_octet", Title: "Reserved octet", Base: Hex, Bit: ipv6FragmentReserved * 8, Bits: 8},
		{Name: "ipv6.fraghdr.offset", Title: "Offset", Bit: ipv6FragmentOffset * 8, Bits: 13, Width: 16},
		{Name: "ipv6.fraghdr.reserved_bits", Title: "Reserved bits", Bit: ipv6FragmentOffset*8 + 13, Bits: 2, Width: 16},
		{Name: "ipv6.fraghdr.more", Title: "More Fragments", Kind: Bool, Bit: ipv6FragmentOffset*8 + 15, Bits: 1},
		{Name: "ipv6.fraghdr.ident", Title: "Identification", Base: Hex, Bit: ipv6FragmentID * 8, Bits: 32},
	},
}

var ipv6DestOptsSpec = Spec{
	ID: HdrIPv6DestOpts, Name: "ipv6.dstopts", Title: "IPv6 Destination Options", Len: IPv6ExtMinLen,
	Fields: []Field{
		{Name: "ipv6.dstopts.nxt", Title: "Next Header", Bit: ipv6ExtNext * 8, Bits: 8, Names: ipProtoName},
		{Name: "ipv6.dstopts.len", Title: "Length", Bit: ipv6ExtLength * 8, Bits: 8},
	},
}

func ipv6IsSegmentRouting(h []byte) bool { return IPv6Routing(h).Type() == ipv6RoutingSegment }
