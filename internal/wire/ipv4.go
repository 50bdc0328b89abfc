package wire

import "net/netip"

// IP protocol and IPv6 next-header numbers (IANA).
const (
	IPProtoHopOpts  = 0
	IPProtoICMP     = 1
	IPProtoIPv4     = 4
	IPProtoTCP      = 6
	IPProtoUDP      = 17
	IPProtoGRH      = 0x1B // in a GRH: a BTH follows (IBTA 8.3)
	IPProtoIPv6     = 41
	IPProtoRouting  = 43
	IPProtoFragment = 44
	IPProtoGRE      = 47
	IPProtoICMPv6   = 58
	IPProtoNone     = 59
	IPProtoDestOpts = 60
	IPProtoMPLS     = 137
)

// ECN codepoints (RFC 3168, 5).
const (
	ECNNotECT = 0
	ECNECT1   = 1
	ECNECT0   = 2
	ECNCE     = 3
)

// IPv4MinLen is the length of an IPv4 header without options.
const IPv4MinLen = 20

const (
	ipv4VersionIHL = 0
	ipv4TOS        = 1
	ipv4TotalLen   = 2
	ipv4ID         = 4
	ipv4Fragment   = 6
	ipv4TTL        = 8
	ipv4Protocol   = 9
	ipv4Checksum   = 10
	ipv4Src        = 12
	ipv4Dst        = 16
	ipDSCPMask     = 0xFC
	ipECNMask      = 0x03

	ipv4FlagReserved = 0x80
	ipv4FlagDF       = 0x40
	ipv4FlagMF       = 0x20
	ipv4OffsetMask   = 0x1FFF
)

// IPv4Header is an IPv4 header (RFC 791, 3.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-------+-----------+---+-------------------------------+
//	|version|  IHL  |   DSCP    |ECN|         total length          |
//	+-------+-------+-----------+---+-+-+-+-------------------------+
//	|        identification         |R|D|M|     fragment offset     |
//	+---------------+---------------+-+-+-+-------------------------+
//	|      TTL      |   protocol    |        header checksum        |
//	+---------------+---------------+-------------------------------+
//	|                        source address                         |
//	+---------------------------------------------------------------+
//	|                      destination address                      |
//	+---------------------------------------------------------------+
//	|                       options, 0 to 40 bytes                  |
//	+---------------------------------------------------------------+
type IPv4Header []byte

// Version is the IP version, 4.
func (h IPv4Header) Version() uint8 { return h[ipv4VersionIHL] >> 4 }

// SetVersion sets the IP version.
func (h IPv4Header) SetVersion(v uint8) {
	putBits(&h[ipv4VersionIHL], 0xF0, v<<4)
}

// HeaderLen is the length of the header that its IHL claims, 0 to 60.
func (h IPv4Header) HeaderLen() int { return int(h[ipv4VersionIHL]&0x0F) * 4 }

// SetHeaderLen sets the IHL to a length in bytes, a multiple of 4.
func (h IPv4Header) SetHeaderLen(n int) {
	putBits(&h[ipv4VersionIHL], 0x0F, uint8(n/4))
}

// TOS is the whole byte of DSCP and ECN.
func (h IPv4Header) TOS() uint8 { return h[ipv4TOS] }

// SetTOS sets the whole byte of DSCP and ECN.
func (h IPv4Header) SetTOS(v uint8) { h[ipv4TOS] = v }

// DSCP is the differentiated services codepoint.
func (h IPv4Header) DSCP() uint8 { return h[ipv4TOS] >> 2 }

// SetDSCP sets the differentiated services codepoint.
func (h IPv4Header) SetDSCP(v uint8) { putBits(&h[ipv4TOS], ipDSCPMask, v<<2) }

// ECN is the congestion notification codepoint.
func (h IPv4Header) ECN() uint8 { return h[ipv4TOS] & ipECNMask }

// SetECN sets the congestion notification codepoint.
func (h IPv4Header) SetECN(v uint8) { putBits(&h[ipv4TOS], ipECNMask, v) }

// TotalLen is the length of header and data. 0 is what a segmentation offload
// leaves in a capture on the sending host.
func (h IPv4Header) TotalLen() int { return int(be.Uint16(h[ipv4TotalLen:])) }

// SetTotalLen sets the length of header and data.
func (h IPv4Header) SetTotalLen(n int) { be.PutUint16(h[ipv4TotalLen:], uint16(n)) }

// ID is the identification.
func (h IPv4Header) ID() uint16 { return be.Uint16(h[ipv4ID:]) }

// SetID sets the identification.
func (h IPv4Header) SetID(v uint16) { be.PutUint16(h[ipv4ID:], v) }

// Reserved is the reserved flag.
func (h IPv4Header) Reserved() bool { return h[ipv4Fragment]&ipv4FlagReserved != 0 }

// SetReserved sets the reserved flag.
func (h IPv4Header) SetReserved(on bool) { putBit(&h[ipv4Fragment], ipv4FlagReserved, on) }

// DontFragment is the DF flag.
func (h IPv4Header) DontFragment() bool { return h[ipv4Fragment]&ipv4FlagDF != 0 }

// SetDontFragment sets the DF flag.
func (h IPv4Header) SetDontFragment(on bool) { putBit(&h[ipv4Fragment], ipv4FlagDF, on) }

// MoreFragments is the MF flag.
func (h IPv4Header) MoreFragments() bool { return h[ipv4Fragment]&ipv4FlagMF != 0 }

// SetMoreFragments sets the MF flag.
func (h IPv4Header) SetMoreFragments(on bool) { putBit(&h[ipv4Fragment], ipv4FlagMF, on) }

// FragmentOffset is the fragment's offset in units of eight bytes.
func (h IPv4Header) FragmentOffset() uint16 {
	return be.Uint16(h[ipv4Fragment:]) & ipv4OffsetMask
}

// SetFragmentOffset sets the fragment's offset in units of eight bytes.
func (h IPv4Header) SetFragmentOffset(v uint16) {
	old := be.Uint16(h[ipv4Fragment:])
	be.PutUint16(h[ipv4Fragment:], merge(old, v, ipv4OffsetMask))
}

// IsFragment reports whether the packet is a part of a larger one.
func (h IPv4Header) IsFragment() bool { return h.MoreFragments() || h.FragmentOffset() != 0 }

// TTL is the time to live.
func (h IPv4Header) TTL() uint8 { return h[ipv4TTL] }

// SetTTL sets the time to live.
func (h IPv4Header) SetTTL(v uint8) { h[ipv4TTL] = v }

// Protocol is the number of the protocol that follows.
func (h IPv4Header) Protocol() uint8 { return h[ipv4Protocol] }

// SetProtocol sets the number of the protocol that follows.
func (h IPv4Header) SetProtocol(v uint8) { h[ipv4Protocol] = v }

// Checksum is the header checksum.
func (h IPv4Header) Checksum() uint16 { return be.Uint16(h[ipv4Checksum:]) }

// SetChecksum sets the header checksum; IPv4Checksum computes it.
func (h IPv4Header) SetChecksum(v uint16) { be.PutUint16(h[ipv4Checksum:], v) }

// Src is the source address.
func (h IPv4Header) Src() netip.Addr { return netip.AddrFrom4([4]byte(h[ipv4Src:ipv4Dst])) }

// SetSrc sets the source address.
func (h IPv4Header) SetSrc(a [4]byte) { copy(h[ipv4Src:ipv4Dst], a[:]) }

// Dst is the destination address.
func (h IPv4Header) Dst() netip.Addr { return netip.AddrFrom4([4]byte(h[ipv4Dst:IPv4MinLen])) }

// SetDst sets the destination address.
func (h IPv4Header) SetDst(a [4]byte) { copy(h[ipv4Dst:IPv4MinLen], a[:]) }

// Addresses is the bytes of both addresses, source first.
func (h IPv4Header) Addresses() []byte { return h[ipv4Src : ipv4Dst+4] }

// Options is the part of the claimed header behind the fixed 20 bytes, as much
// of it as was captured.
func (h IPv4Header) Options() []byte { return optionBytes(h, IPv4MinLen, h.HeaderLen()) }

// optionBytes returns h[fixed:claimed], cut to the bytes there are.
func optionBytes(h []byte, fixed, claimed int) []byte {
	claimed = min(claimed, len(h))
	if claimed <= fixed {
		return nil
	}
	return h[fixed:claimed]
}

// IPv4Checksum computes the checksum of a header, options included, as if its
// checksum field were zero (RFC 791, 3.1).
func IPv4Checksum(header []byte) uint16 {
	sum := onesSum(0, header)
	if len(header) >= ipv4Checksum+2 {
		sum += uint64(^be.Uint16(header[ipv4Checksum:]))
	}
	return ^foldSum(sum)
}

// onesSum adds the 16-bit words of b to a one's complement sum, an odd last
// byte as the high half of a word (RFC 1071, 1).
func onesSum(sum uint64, b []byte) uint64 {
	for len(b) >= 2 {
		sum += uint64(be.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// foldSum adds the carries of a one's complement sum back into 16 bits.
func foldSum(sum uint64) uint16 {
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	return uint16(sum)
}

var ipv4Spec = Spec{
	ID: HdrIPv4, Name: "ip", Title: "Internet Protocol Version 4", Len: IPv4MinLen,
	Fields: []Field{
		{Name: "ip.version", Title: "Version", Bit: 0, Bits: 4},
		{Name: "ip.hdr_len", Title: "Header Length", Bit: 4, Bits: 4, Scale: 4},
		{Name: "ip.dsfield", Title: "Differentiated Services Field", Base: Hex, Bit: ipv4TOS * 8, Bits: 8},
		{Name: "ip.dsfield.dscp", Title: "Differentiated Services Codepoint", Bit: ipv4TOS * 8, Bits: 6, Names: dscpName},
		{Name: "ip.dsfield.ecn", Title: "Explicit Congestion Notification", Bit: ipv4TOS*8 + 6, Bits: 2, Names: ecnName},
		{Name: "ip.len", Title: "Total Length", Bit: ipv4TotalLen * 8, Bits: 16},
		{Name: "ip.id", Title: "Identification", Base: Hex, Bit: ipv4ID * 8, Bits: 16},
		{Name: "ip.flags", Title: "Flags", Base: Hex, Bit: ipv4Fragment * 8, Bits: 3},
		{Name: "ip.flags.rb", Title: "Reserved bit", Kind: Bool, Bit: ipv4Fragment * 8, Bits: 1},
		{Name: "ip.flags.df", Title: "Don't fragment", Kind: Bool, Bit: ipv4Fragment*8 + 1, Bits: 1},
		{Name: "ip.flags.mf", Title: "More fragments", Kind: Bool, Bit: ipv4Fragment*8 + 2, Bits: 1},
		{Name: "ip.frag_offset", Title: "Fragment Offset", Bit: ipv4Fragment*8 + 3, Bits: 13},
		{Name: "ip.ttl", Title: "Time to Live", Bit: ipv4TTL * 8, Bits: 8},
		{Name: "ip.proto", Title: "Protocol", Bit: ipv4Protocol * 8, Bits: 8, Names: ipProtoName},
		{Name: "ip.checksum", Title: "Header Checksum", Base: Hex, Bit: ipv4Checksum * 8, Bits: 16},
		{Name: "ip.src", Title: "Source Address", Kind: IPv4, Bit: ipv4Src * 8, Bits: 32},
		{Name: "ip.dst", Title: "Destination Address", Kind: IPv4, Bit: ipv4Dst * 8, Bits: 32},
	},
}

func ipProtoName(v uint64) string {
	switch v {
	case IPProtoHopOpts:
		return "Hop-by-Hop Options"
	case IPProtoICMP:
		return "ICMP"
	case IPProtoIPv4:
		return "IPv4"
	case IPProtoTCP:
		return "TCP"
	case IPProtoUDP:
		return "UDP"
	case IPProtoGRH:
		return "IBA transport"
	case IPProtoIPv6:
		return "IPv6"
	case IPProtoRouting:
		return "IPv6 Routing"
	case IPProtoFragment:
		return "IPv6 Fragment"
	case IPProtoGRE:
		return "GRE"
	case IPProtoICMPv6:
		return "ICMPv6"
	case IPProtoNone:
		return "No Next Header"
	case IPProtoDestOpts:
		return "IPv6 Destination Options"
	case IPProtoMPLS:
		return "MPLS"
	}
	return ""
}

// dscpName names the standard codepoints (RFC 2474, 2597, 3246, 5865, 8622).
func dscpName(v uint64) string {
	const classSelectors = "CS0CS1CS2CS3CS4CS5CS6CS7"
	switch v {
	case 0, 8, 16, 24, 32, 40, 48, 56:
		return classSelectors[v/8*3 : v/8*3+3]
	case 1:
		return "LE"
	case 10:
		return "AF11"
	case 12:
		return "AF12"
	case 14:
		return "AF13"
	case 18:
		return "AF21"
	case 20:
		return "AF22"
	case 22:
		return "AF23"
	case 26:
		return "AF31"
	case 28:
		return "AF32"
	case 30:
		return "AF33"
	case 34:
		return "AF41"
	case 36:
		return "AF42"
	case 38:
		return "AF43"
	case 44:
		return "VA"
	case 46:
		return "EF"
	}
	return ""
}

func ecnName(v uint64) string {
	switch v {
	case ECNNotECT:
		return "Not-ECT"
	case ECNECT1:
		return "ECT(1)"
	case ECNECT0:
		return "ECT(0)"
	case ECNCE:
		return "CE"
	}
	return ""
}
