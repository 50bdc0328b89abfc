package icrc

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// notFilled knows the values that programs leave in place of an ICRC.
func (s *suspect) notFilled() (Explanation, bool) {
	switch s.received {
	case 0x00000000, 0xFFFFFFFF, 0xDEADBEEF, 0xEFBEADDE:
		return explained(CauseNotFilled, fmt.Sprintf("not filled in: placeholder 0x%08x", bits.ReverseBytes32(s.received)))
	}
	return Explanation{}, false
}

// pad: Linux rxe left the pad bytes out until 5.5.
func (s *suspect) pad() (Explanation, bool) {
	covered := s.f.Data[s.f.Net : s.f.ICRC-s.f.Pad]
	if s.f.Pad == 0 || new(Hasher).Sum(s.form, covered) != s.received {
		return Explanation{}, false
	}
	return explained(CausePad, fmt.Sprintf("%d pad bytes left out", s.f.Pad))
}

const prefixLeftOut = "eight bytes of ones (0xff) before the packet left out"

// prefix: without the eight bytes of ones that stand in for the LRH.
func (s *suspect) prefix() (Explanation, bool) {
	switch {
	case s.form == IBLocal:
		return Explanation{}, false
	case s.form == IBGlobal:
		if update(update(0, s.head[maskedPrefix:]), s.tail) != s.received {
			return Explanation{}, false
		}
	case update(0, s.head) != s.wanted():
		return Explanation{}, false
	}
	return explained(CausePrefix, prefixLeftOut)
}

// polynomial: as CRC32c, with the right input.
func (s *suspect) polynomial() (Explanation, bool) {
	var crc uint32
	if s.form < IBLocal {
		crc = CRC32C([]byte("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"))
	}
	crc = crc32.Update(crc, castagnoli(), s.head)
	if crc32.Update(crc, castagnoli(), s.tail) != s.received {
		return Explanation{}, false
	}
	return explained(CausePolynomial, "computed with CRC32c (Castagnoli)")
}

// headersTwice: rxe takes the offset of the payload from a table that has none
// for FLUSH, so what it adds after the masked headers is not the payload but
// the packet from the BTH on, unmasked (Linux 6.12, rxe_icrc.c rxe_icrc_generate,
// rxe_hdr.h payload_addr, payload_size).
func (s *suspect) headersTwice() (Explanation, bool) {
	n := s.f.Payload - s.f.Net
	if n < bthAt[s.form]+wire.BTHLen || n > len(s.head) {
		return Explanation{}, false
	}
	if update(update(s.seed, s.head[:n]), s.f.Data[s.f.BTH:s.f.ICRC]) != s.received {
		return Explanation{}, false
	}
	return explained(CauseHeadersTwice, "transport headers covered twice, the second time unmasked, as Linux rxe does for FLUSH")
}

// area is a set of bits in the head of a packet.
type area struct {
	name string
	off  int
	bits string // one bit for each that belongs to the area
}

const (
	one  = "\xFF"
	two  = "\xFF\xFF"
	bth4 = "BTH byte 4 (FECN, BECN, reserved)"
)

// maskedAreas are the fields that mask replaces, by name.
var maskedAreas = [...][]area{
	RoCEv1: {{"traffic class", 0, "\x0F\xF0"}, {"flow label", 1, "\x0F\xFF\xFF"}, {"hop limit", 7, one}, {bth4, 44, one}},
	RoCEv2IPv4: {
		{"TOS", 1, one}, {"TTL", 8, one}, {"IP header checksum", 10, two}, {"UDP checksum", 26, two}, {bth4, 32, one},
	},
	RoCEv2IPv6: {
		{"traffic class", 0, "\x0F\xF0"},
		{"flow label", 1, "\x0F\xFF\xFF"},
		{"hop limit", 7, one},
		{"UDP checksum", 46, two},
		{bth4, 52, one},
	},
	IBLocal: {{"virtual lane", 0, "\xF0"}, {bth4, 12, one}},
	IBGlobal: {
		{"virtual lane", 0, "\xF0"},
		{"LRH but its virtual lane", 0, "\x0F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"},
		{"traffic class", 8, "\x0F\xF0"},
		{"flow label", 9, "\x0F\xFF\xFF"},
		{"hop limit", 15, one},
		{bth4, 52, one},
	},
}

// notMasked tries every set of fields that may have been left as they are.
func (s *suspect) notMasked() (Explanation, bool) {
	raw := s.f.Data[s.f.Net:]
	names, without, ok := s.anySet(func(head []byte, a area) {
		for i := range len(a.bits) {
			head[a.off+i] &= raw[a.off+i] | ^a.bits[i]
		}
	})
	if !ok {
		return Explanation{}, false
	}
	return explained(CauseNotMasked, strings.Join(names, ", ")+" not masked"+also(without))
}

// zeroMask tries every set of fields that may have been replaced by zeros.
func (s *suspect) zeroMask() (Explanation, bool) {
	names, without, ok := s.anySet(func(head []byte, a area) {
		for i := range len(a.bits) {
			head[a.off+i] &^= a.bits[i]
		}
	})
	switch {
	case !ok:
		return Explanation{}, false
	case len(names) == len(maskedAreas[s.form]):
		return explained(CauseZeroMask, "masked fields set to zero instead of ones"+also(without))
	}
	return explained(CauseZeroMask, strings.Join(names, ", ")+" set to zero instead of ones"+also(without))
}

// also adds the mistake that comes with others.
func also(without bool) string {
	if without {
		return ", and " + prefixLeftOut
	}
	return ""
}

// anySet looks for a smallest set of mistakes that together give the received
// value: masked areas that are edited, and, for RoCE, the eight bytes of ones
// left out. A CRC is linear: what each of them changes is computed once, and the
// changes of a set add up by exclusive or. without says that the set has the
// missing ones in it.
func (s *suspect) anySet(edit func(head []byte, a area)) (names []string, without, ok bool) {
	var areas [8]string
	var change [len(areas)]uint32
	n := 0
	for _, a := range maskedAreas[s.form] {
		if d := s.right ^ s.with(func(head []byte) { edit(head, a) }); d != 0 {
			areas[n], change[n] = a.name, d
			n++
		}
	}
	sets := 1 << n
	if s.form < IBLocal {
		change[n] = s.right ^ update(0, s.head)
		n++
	}
	var sum [1 << len(areas)]uint32 // of each set's changes
	want, best := s.wanted()^s.right, 0
	for set := 1; set < 1<<n; set++ {
		sum[set] = sum[set&(set-1)] ^ change[bits.TrailingZeros(uint(set))]
		if sum[set] == want && set != sets && (best == 0 || bits.OnesCount(uint(set)) < bits.OnesCount(uint(best))) {
			best = set
		}
	}
	for i := range n {
		if best&(sets-1)>>i&1 != 0 {
			names = append(names, areas[i])
		}
	}
	return names, best >= sets, best != 0
}

// lengths are length fields of the head, by place, that a sender may set late.
type lengths struct {
	names string
	offs  []int
}

var lengthsOf = [...][]lengths{
	RoCEv1:   {{"GRH payload length", []int{4}}},
	IBGlobal: {{"GRH payload length", []int{12}}},
	RoCEv2IPv4: {
		{"IPv4 total length", []int{2}},
		{"UDP length", []int{24}},
		{"IPv4 total length and UDP length", []int{2, 24}},
	},
	RoCEv2IPv6: {
		{"IPv6 payload length", []int{4}},
		{"UDP length", []int{44}},
		{"IPv6 payload length and UDP length", []int{4, 44}},
	},
}

// lengthUnset: computed while length fields were still zero (Linux 5.14-rc did
// that to the IPv4 total length), or did not yet count the ICRC. Lengths that
// contradict each other are not of the latter kind but damage.
func (s *suspect) lengthUnset() (Explanation, bool) {
	consistent := s.f.Problems&wire.ProblemLength == 0
	for _, l := range lengthsOf[s.form] {
		switch {
		case s.withLengths(l, func(uint16) uint16 { return 0 }) == s.wanted():
			return explained(CauseLengthUnset, "computed before setting "+l.names)
		case consistent && s.withLengths(l, func(v uint16) uint16 { return v - Len }) == s.wanted():
			return explained(CauseLengthUnset, "computed before the ICRC was counted in "+l.names)
		}
	}
	return Explanation{}, false
}

func (s *suspect) withLengths(l lengths, value func(uint16) uint16) uint32 {
	return s.with(func(head []byte) {
		for _, off := range l.offs {
			b := head[off:]
			binary.BigEndian.PutUint16(b, value(binary.BigEndian.Uint16(b)))
		}
	})
}

// coverage: computed from an earlier or later header on.
func (s *suspect) coverage() (Explanation, bool) {
	raw := s.f.Data[s.f.Net:][:len(s.head)]
	for _, h := range s.f.Headers() {
		off := int(h.Off)
		if off == s.f.Net || off > s.f.BTH {
			continue
		}
		for _, seed := range [...]uint32{^uint32(stateDummy), 0} {
			switch s.wanted() {
			case s.from(seed, off, s.head):
				return explained(CauseCoverage, s.covered(h))
			case s.from(seed, off, raw):
				if off > s.f.Net { // else it is an Ethernet FCS
					return explained(CauseCoverage, s.covered(h)+", nothing masked")
				}
			}
			if s.tagged(seed, h) {
				return explained(CauseCoverage, s.covered(h))
			}
		}
	}
	return Explanation{}, false
}

// from computes the CRC of everything from a byte of the frame to the end of
// the packet's head.
func (s *suspect) from(seed uint32, off int, head []byte) uint32 {
	if off < s.f.Net {
		return update(update(seed, s.f.Data[off:s.f.Net]), head)
	}
	return update(seed, head[off-s.f.Net:])
}

// tagged reports whether a VLAN tag as 802.1Q draws it, TPID and TCI, is
// covered: it begins two bytes before what is called its header here.
func (s *suspect) tagged(seed uint32, h wire.Header) bool {
	if h.ID != wire.HdrVLAN && h.ID != wire.HdrServiceVLAN || int(h.Off) > s.f.Net {
		return false
	}
	begin := int(h.Off) - 2
	tag := s.f.Data[begin : begin+wire.VLANLen]
	return s.from(seed, begin, s.head) == s.wanted() || update(update(seed, tag), s.head) == s.wanted()
}

func (s *suspect) covered(h wire.Header) string {
	title := wire.SpecOf(h.ID).Title
	if int(h.Off) < s.f.Net {
		return title + " header included"
	}
	return "computed from the " + title + " on"
}

// overMasked: one covered field replaced by ones or by zeros.
func (s *suspect) overMasked() (Explanation, bool) {
	for _, h := range s.f.Headers() {
		spec := wire.SpecOf(h.ID)
		from := int(h.Off) - s.f.Net
		if from < 0 || from+int(h.Len) > len(s.head) || spec == nil {
			continue
		}
		for i := range spec.Fields {
			field := &spec.Fields[i]
			if field.Bits == 0 || !field.Present(s.f.Bytes(h)) {
				continue
			}
			bit := from*8 + field.Bit
			if field.Bits <= 24 && s.solve()[bit/8]&^fieldMask(bit, field.Bits) != 0 {
				continue // the change is not confined to the field
			}
			switch s.wanted() {
			case s.with(func(head []byte) { fill(head, bit, field.Bits, true) }):
				return explained(CauseOverMasked, label(field)+" masked, though it is covered")
			case s.with(func(head []byte) { fill(head, bit, field.Bits, false) }):
				return explained(CauseOverMasked, label(field)+" taken as zero")
			}
		}
	}
	return Explanation{}, false
}

// fieldMask has the bits of a field in a change to the bytes from its first on.
func fieldMask(bit, n int) uint32 {
	var b [4]byte
	fill(b[:], bit%8, n, true)
	return binary.LittleEndian.Uint32(b[:])
}

// label names a field in words and as display filters do: "Length" alone could
// be one of several.
func label(f *wire.Field) string { return f.Title + " (" + f.Name + ")" }

// fill sets n bits of b to ones or zeros. Bit 0 is the most significant of the
// first byte.
func fill(b []byte, bit, n int, on bool) {
	for i := bit; i < bit+n; i++ {
		m := byte(0x80) >> (i % 8)
		b[i/8] &^= m
		if on {
			b[i/8] |= m
		}
	}
}
