package icrc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// fcs: lengths that count too much make the Ethernet FCS look like an ICRC.
func (s *suspect) fcs() (Explanation, bool) {
	for _, h := range s.f.Headers() {
		if h.ID != wire.HdrEthernet || crc32.ChecksumIEEE(s.f.Data[h.Off:s.f.ICRC]) != s.received {
			continue
		}
		e, _ := explained(CauseFCS, "the four bytes are the Ethernet FCS")
		if right, ok := s.place(); ok {
			e.Offset = right.Offset
			e.Detail += fmt.Sprintf("; the right ICRC is at byte %d", right.Offset)
		}
		return e, true
	}
	return Explanation{}, false
}

// place looks for the right ICRC at every other place behind the BTH.
func (s *suspect) place() (Explanation, bool) {
	data := s.f.Data
	begin := s.f.BTH + wire.BTHLen
	state := ^update(s.seed, s.head[:begin-s.f.Net])
	for at := begin; at+Len <= len(data); at++ {
		if ^state == Load(data[at:]) && at != s.f.ICRC {
			detail := fmt.Sprintf("the right ICRC is at byte %d", at)
			switch at {
			case s.f.End:
				detail = "lengths do not include the ICRC: it follows the packet"
			case s.f.ICRC - Len:
				detail = "lengths count four bytes too many: the ICRC is just before"
			}
			return Explanation{CausePlace, detail, at, -1}, true
		}
		state = crc32.IEEETable[byte(state)^data[at]] ^ state>>8
	}
	return Explanation{}, false
}

// bitFlip: one bit of the packet or of the ICRC itself differs.
func (s *suspect) bitFlip() (e Explanation, ok bool) {
	if d := s.computed ^ s.received; bits.OnesCount32(d) == 1 {
		bit := bits.TrailingZeros32(d)
		return flipped(s.f.ICRC+bit/8, bit%8), true
	}
	var masked [headRoom]byte
	mask(s.form, masked[:])
	changes := s.solve()
	for i, change := range changes[:len(changes)-1] {
		if change > 0xFF || bits.OnesCount32(change) != 1 || i < len(masked) && masked[i]&byte(change) != 0 {
			continue
		}
		return flipped(s.f.Net+i, bits.TrailingZeros32(change)), true
	}
	return Explanation{}, false
}

func flipped(at, bit int) Explanation {
	return Explanation{CauseBitFlip, fmt.Sprintf("bit %d of byte %d flipped", bit, at), at, bit}
}

// rewritten: one 16-bit field of IP or UDP differs. Of 2^32 values of the CRC
// 2^16 can be had so, which makes it strong evidence.
func (s *suspect) rewritten() (Explanation, bool) {
	for i, change := range s.solve()[:s.f.BTH-s.f.Net] {
		if change > 0xFFFF {
			continue
		}
		at := s.f.Net + i
		name, ok := s.shortFieldAt(at)
		if !ok {
			continue
		}
		was := binary.BigEndian.Uint16(s.f.Data[at:]) ^ bits.ReverseBytes16(uint16(change))
		detail := fmt.Sprintf("%s rewritten: it was %d", name, was)
		return Explanation{CauseRewritten, detail, at, -1}, true
	}
	return Explanation{}, false
}

// shortFieldAt names the covered 16-bit field of IP or UDP that begins at a
// byte of the frame.
func (s *suspect) shortFieldAt(at int) (name string, ok bool) {
	for _, h := range s.f.Headers() {
		if h.ID != wire.HdrIPv4 && h.ID != wire.HdrIPv6 && h.ID != wire.HdrUDP || int(h.Off) < s.f.Net {
			continue
		}
		spec := wire.SpecOf(h.ID)
		for i := range spec.Fields {
			field := &spec.Fields[i]
			if field.Bits == 16 && int(h.Off)*8+field.Bit == at*8 && !s.masked(at) {
				return label(field), true
			}
		}
	}
	return "", false
}

// masked reports whether all of a byte is masked.
func (s *suspect) masked(at int) bool {
	var m [headRoom]byte
	mask(s.form, m[:])
	i := at - s.f.Net
	return i < len(m) && m[i] == 0xFF
}

// Where the addresses of an IPv4 header are.
const (
	ipv4Src = 12
	ipv4Dst = 16
)

// addressConfirmed solves for the IPv4 address that fits, and believes it only
// when a checksum that is wrong now is right with it, or when it is of the same
// network (/24) as the packet's other address. A translator repairs the IP
// checksum, and most senders leave the UDP checksum out.
func (s *suspect) addressConfirmed() (Explanation, bool) {
	if s.form != RoCEv2IPv4 {
		return Explanation{}, false
	}
	for _, i := range [...]int{ipv4Dst, ipv4Src} {
		at := s.f.Net + i
		was := binary.BigEndian.Uint32(s.f.Data[at:]) ^ bits.ReverseBytes32(s.solve()[i])
		other := binary.BigEndian.Uint32(s.head[ipv4Src+ipv4Dst-i:])
		if was>>8 == other>>8 || s.confirms(at, was) {
			return s.address(at, netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, was)))), true
		}
	}
	return Explanation{}, false
}

// confirms reports whether the IPv4 header or UDP checksum is wrong, and right
// with another value of the address at a place.
func (s *suspect) confirms(at int, was uint32) bool {
	ip := bytes.Clone(s.f.Data[s.f.Net:s.f.L4])
	udp := s.f.Data[s.f.L4:s.f.End]
	headerNow, datagramNow := checksumsRight(ip, udp)
	binary.BigEndian.PutUint32(ip[at-s.f.Net:], was)
	headerThen, datagramThen := checksumsRight(ip, udp)
	return !headerNow && headerThen || !datagramNow && datagramThen
}

// checksumsRight judges the checksums of a datagram; none is a right one.
func checksumsRight(ip, udp []byte) (header, datagram bool) {
	sum := wire.UDP(udp).Checksum()
	both := wire.IPv4Header(ip).Addresses()
	return wire.IPv4Header(ip).Checksum() == wire.IPv4Checksum(ip),
		sum == 0 || sum == wire.UDPChecksum(both[:4], both[4:], udp)
}

// addressOneOf tries each address as the source and as the destination.
func (s *suspect) addressOneOf(seen []netip.Addr) (Explanation, bool) {
	src, size := ipv4Src, 4
	switch s.form {
	case RoCEv1, RoCEv2IPv6:
		src, size = 8, 16
	case IBGlobal:
		src, size = wire.LRHLen+8, 16
	case IBLocal:
		return Explanation{}, false
	}
	for _, a := range seen {
		b := a.AsSlice()
		if len(b) != size {
			continue
		}
		for _, at := range [...]int{src, src + size} {
			if s.with(func(head []byte) { copy(head[at:], b) }) == s.wanted() {
				return s.address(s.f.Net+at, a), true
			}
		}
	}
	return Explanation{}, false
}

// address words the finding that an address of the packet was another one. The
// source comes first in every network header.
func (s *suspect) address(at int, was netip.Addr) Explanation {
	which := "source"
	if next := at + len(was.AsSlice()); next == s.f.Net+bthAt[s.form] || next == s.f.L4 {
		which = "destination"
	}
	return Explanation{CauseRewritten, fmt.Sprintf("%s address rewritten: it was %s", which, was), at, -1}
}
