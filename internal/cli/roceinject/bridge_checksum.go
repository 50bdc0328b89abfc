package roceinject

import "github.com/rocecap/rocecap/internal/wire"

// completer does what a network card does for a kernel that leaves checksums to
// it. A virtual interface (veth, tap) hands such frames on as they are, with
// the sum of the pseudo header alone where the checksum belongs
// (CHECKSUM_PARTIAL in the kernel's include/linux/skbuff.h), and whoever
// receives the frame from a bridge that does not complete it drops it.
type completer struct {
	frame wire.Frame
}

// complete is for frames of which the kernel says that a checksum is pending. It
// changes them only where they hold the sum of their pseudo header: the pending
// checksum can also be that of a packet inside a tunnel.
func (c *completer) complete(data []byte) {
	f := &c.frame
	f.Parse(wire.LinkEthernet, data, len(data))
	if (f.Proto != wire.ProtoTCP && f.Proto != wire.ProtoUDP) || f.Problems&wire.ProblemFragment != 0 || f.L4 < 0 || f.End > len(data) {
		return
	}
	src, dst := addresses(data[f.Net:])
	segment := data[f.L4:f.End]
	switch {
	case f.Proto == wire.ProtoTCP && len(segment) >= wire.TCPMinLen:
		tcp := wire.TCP(segment)
		if tcp.Checksum() == pseudoSum(wire.TCPChecksum(src, dst, nil), len(segment)) {
			tcp.SetChecksum(wire.TCPChecksum(src, dst, segment))
		}
	case f.Proto == wire.ProtoUDP && len(segment) >= wire.UDPLen:
		udp := wire.UDP(segment)
		if udp.Checksum() != 0 && udp.Checksum() == pseudoSum(wire.UDPChecksum(src, dst, nil), len(segment)) {
			udp.SetChecksum(wire.UDPChecksum(src, dst, segment))
		}
	}
}

// addresses are those of an IP header, which a checksum behind it covers.
func addresses(ip []byte) (src, dst []byte) {
	if h := wire.IPv4Header(ip); h.Version() == 4 {
		return h.Addresses()[:4], h.Addresses()[4:]
	}
	both := wire.IPv6Header(ip).Addresses()
	return both[:16], both[16:]
}

// pseudoSum adds the length of a segment to the pseudo header's sum, of which
// the checksum of no segment is the complement.
func pseudoSum(none uint16, length int) uint16 {
	sum := uint32(^none) + uint32(length)
	return uint16(sum&0xFFFF + sum>>16)
}
