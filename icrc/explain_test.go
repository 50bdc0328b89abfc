package icrc_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

func explain(frame []byte) icrc.Explanation {
	return new(icrc.Hasher).Explain(parse(wire.LinkEthernet, frame))
}

// The values that a person who computed the ICRC of ackFrame with a CRC
// generator could get, in wire order.
func TestEachKnownMistakeIsNamed(t *testing.T) {
	for _, c := range []struct {
		icrc   string
		cause  icrc.Cause
		detail string
	}{
		{"22aa69ef", icrc.CauseNone, ""},
		{"ab7fc59e", icrc.CausePrefix, "eight bytes of ones (0xff) before the packet left out"},
		{"dd559610", icrc.CauseInversion, "no final inversion"},
		{"ef69aa22", icrc.CauseByteOrder, "stored big-endian (byte-swapped)"},
		{"db9a12c1", icrc.CauseZeroMask, "masked fields set to zero instead of ones"},
		{"2e84cdc0", icrc.CauseNotMasked, "TOS not masked"},
		{"2493045c", icrc.CauseNotMasked, "TTL not masked"},
		{"77593056", icrc.CauseNotMasked, "IP header checksum not masked"},
		{"cd4aaf66", icrc.CauseNotMasked, "UDP checksum not masked"},
		{"47db70d9", icrc.CauseNotMasked, "BTH byte 4 (FECN, BECN, reserved) not masked"},
		{"d996aae2", icrc.CauseCoverage, "Ethernet II header included"},
		{"2f9eec0a", icrc.CausePolynomial, "computed with CRC32c (Castagnoli)"},
		{"00000000", icrc.CauseNotFilled, "not filled in: placeholder 0x00000000"},
		{"deadbeef", icrc.CauseNotFilled, "not filled in: placeholder 0xdeadbeef"},
		{"efbeadde", icrc.CauseNotFilled, "not filled in: placeholder 0xefbeadde"},
		{"12345678", icrc.CauseUnknown, "no known mistake reproduces it"},
	} {
		frame := unhex(t, ackFrame)
		copy(frame[len(frame)-icrc.Len:], unhex(t, c.icrc))
		want := icrc.Explanation{Cause: c.cause, Detail: c.detail, Offset: -1, Bit: -1}
		if diff := cmp.Diff(want, explain(frame)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.icrc, diff)
		}
	}
}

// ones is what the ICRC of a RoCE packet is computed over first.
var ones = bytes.Repeat([]byte{0xFF}, 8)

// fed returns the bytes that the ICRC of an IPv4 frame is computed over.
func fed(frame []byte) []byte {
	b := append(bytes.Clone(ones), frame[14:len(frame)-icrc.Len]...)
	for _, off := range []int{1, 8, 10, 11, 26, 27, 32} {
		b[8+off] = 0xFF
	}
	return b
}

// TestMistakesInTheInput changes what the CRC is computed over.
func TestMistakesInTheInput(t *testing.T) {
	ip := 8 // where the IP header begins in the input
	for _, c := range []struct {
		name   string
		edit   func(b []byte) []byte
		cause  icrc.Cause
		detail string
	}{
		{"pad", func(b []byte) []byte { return b[:len(b)-3] }, icrc.CausePad, "3 pad bytes left out"},
		{"two fields", func(b []byte) []byte { b[ip+1], b[ip+8] = 2, 0x40; return b }, icrc.CauseNotMasked, "TOS, TTL not masked"},
		{"checksum zero", func(b []byte) []byte { b[ip+10], b[ip+11] = 0, 0; return b }, icrc.CauseZeroMask, "IP header checksum set to zero instead of ones"},
		{"total length", func(b []byte) []byte { b[ip+2], b[ip+3] = 0, 0; return b }, icrc.CauseLengthUnset, "computed before setting IPv4 total length"},
		{"UDP length", func(b []byte) []byte { b[ip+24], b[ip+25] = 0, 0; return b }, icrc.CauseLengthUnset, "computed before setting UDP length"},
		{"both lengths", func(b []byte) []byte {
			b[ip+2], b[ip+3], b[ip+24], b[ip+25] = 0, 0, 0, 0
			return b
		}, icrc.CauseLengthUnset, "computed before setting IPv4 total length and UDP length"},
		{"short lengths", func(b []byte) []byte { b[ip+3] -= 4; b[ip+25] -= 4; return b }, icrc.CauseLengthUnset, "computed before the ICRC was counted in IPv4 total length and UDP length"},
		{"no IP header", func(b []byte) []byte { return append(b[:8], b[ip+20:]...) }, icrc.CauseCoverage, "computed from the User Datagram Protocol on"},
		{"BTH alone", func(b []byte) []byte { return b[ip+28:] }, icrc.CauseCoverage, "computed from the Base Transport Header on"},
		{"P_Key", func(b []byte) []byte { b[ip+30], b[ip+31] = 0xFF, 0xFF; return b }, icrc.CauseOverMasked, "Partition Key (infiniband.bth.p_key) masked, though it is covered"},
		{"DestQP", func(b []byte) []byte { b[ip+33], b[ip+34], b[ip+35] = 255, 255, 255; return b }, icrc.CauseOverMasked, "Destination QP (infiniband.bth.destqp) masked, though it is covered"},
		{"PSN", func(b []byte) []byte { b[ip+37], b[ip+38], b[ip+39] = 0, 0, 0; return b }, icrc.CauseOverMasked, "Packet Sequence Number (infiniband.bth.psn) taken as zero"},
		{"source port", func(b []byte) []byte { b[ip+20], b[ip+21] = 255, 255; return b }, icrc.CauseOverMasked, "Source Port (udp.srcport) masked, though it is covered"},
		{"NAT of the port", func(b []byte) []byte { b[ip+20], b[ip+21] = 0xD9, 0x03; return b }, icrc.CauseRewritten, "Source Port (udp.srcport) rewritten: it was 55555"},
		{"headers twice", func(b []byte) []byte {
			return append(b[:ip+40], longFrame(9)[42:42+12+12]...)
		}, icrc.CauseHeadersTwice, "transport headers covered twice, the second time unmasked, as Linux rxe does for FLUSH"},
	} {
		frame := longFrame(9)
		icrc.Store(frame[len(frame)-icrc.Len:], crc32.ChecksumIEEE(c.edit(fed(frame))))
		if e := explain(frame); e.Cause != c.cause || e.Detail != c.detail {
			t.Errorf("%s: %v %q, want %v %q", c.name, e.Cause, e.Detail, c.cause, c.detail)
		}
	}
}

// A mistake in the value and one in storing it may come together.
func TestTwoMistakesAtOnce(t *testing.T) {
	frame := longFrame(9)
	input := fed(frame)
	crc := crc32.ChecksumIEEE(input[:len(input)-3])
	icrc.Store(frame[len(frame)-icrc.Len:], bits.ReverseBytes32(crc))
	if e := explain(frame); e.Cause != icrc.CausePad || e.Detail != "3 pad bytes left out, and stored big-endian (byte-swapped)" {
		t.Errorf("%+v", e)
	}
}

func TestVLANTagInTheCoverageIsNamed(t *testing.T) {
	frame := longFrame(16)
	input := fed(frame)
	frame = append(append(bytes.Clone(frame[:12]), 0x81, 0, 0, 5), frame[12:]...)
	crc := crc32.ChecksumIEEE(append(append(bytes.Clone(ones), frame[14:18]...), input[8:]...))
	icrc.Store(frame[len(frame)-icrc.Len:], crc)
	if e := explain(frame); e.Cause != icrc.CauseCoverage || !strings.HasSuffix(e.Detail, "Virtual LAN header included") {
		t.Errorf("%+v", e)
	}
}

// A tag is drawn as TPID and TCI; the header here begins with the TCI.
func TestVLANTagWithItsTPIDInTheCoverageIsNamed(t *testing.T) {
	for _, end := range []int{16, 18} { // without and with the EtherType behind it
		frame := longFrame(16)
		input := fed(frame)
		frame = append(append(bytes.Clone(frame[:12]), 0x81, 0, 0, 5), frame[12:]...)
		crc := crc32.ChecksumIEEE(append(append(bytes.Clone(ones), frame[12:end]...), input[8:]...))
		icrc.Store(frame[len(frame)-icrc.Len:], crc)
		if e := explain(frame); e.Cause != icrc.CauseCoverage || !strings.HasSuffix(e.Detail, "Virtual LAN header included") {
			t.Errorf("up to %d: %+v", end, e)
		}
	}
}

// The plainest mistake: a CRC-32 of the packet as it is.
func TestPlainCRCOfThePacketIsNamed(t *testing.T) {
	for _, c := range []struct {
		from   int
		cause  icrc.Cause
		detail string
	}{
		{14, icrc.CauseNotMasked, " not masked, and eight bytes of ones (0xff) before the packet left out"},
		{42, icrc.CauseCoverage, "computed from the Base Transport Header on, nothing masked"},
	} {
		frame := longFrame(200)
		end := len(frame) - icrc.Len
		icrc.Store(frame[end:], crc32.ChecksumIEEE(frame[c.from:end]))
		if e := explain(frame); e.Cause != c.cause || !strings.HasSuffix(e.Detail, c.detail) {
			t.Errorf("from %d: %+v", c.from, e)
		}
	}
}

func TestMasksOfEveryFormAreNamed(t *testing.T) {
	grh := ibFrame(t, true)
	for _, c := range []struct {
		name   string
		f      *wire.Frame
		cause  icrc.Cause
		detail string
		crc    func(packet []byte) uint32
	}{
		{
			"LRH masked as without a GRH", parse(wire.LinkIB, grh), icrc.CauseNotMasked, "LRH but its virtual lane not masked",
			func(p []byte) uint32 {
				p[0] |= 0xF0
				return maskGRH(p, 8)
			},
		},
		{
			"LRH not masked", parse(wire.LinkIB, grh), icrc.CauseNotMasked, "virtual lane, LRH but its virtual lane not masked",
			func(p []byte) uint32 { return maskGRH(p, 8) },
		},
		{
			"LRH left out", parse(wire.LinkIB, grh), icrc.CausePrefix, "eight bytes of ones (0xff) before the packet left out",
			func(p []byte) uint32 { return maskGRH(p[8:], 0) },
		},
		{
			"virtual lane", parse(wire.LinkIB, ibFrame(t, false)), icrc.CauseNotMasked, "virtual lane not masked",
			func(p []byte) uint32 {
				p[12] = 0xFF
				return crc32.ChecksumIEEE(p)
			},
		},
	} {
		icrc.Store(c.f.Data[c.f.ICRC:], c.crc(bytes.Clone(c.f.Data[c.f.Net:c.f.ICRC])))
		if e := new(icrc.Hasher).Explain(c.f); e.Cause != c.cause || e.Detail != c.detail {
			t.Errorf("%s: %v %q, want %v %q", c.name, e.Cause, e.Detail, c.cause, c.detail)
		}
	}
}

// maskGRH masks the GRH at off and the BTH behind it.
func maskGRH(p []byte, off int) uint32 {
	g := p[off:]
	g[0] |= 0x0F
	g[1], g[2], g[3], g[7], g[44] = 0xFF, 0xFF, 0xFF, 0xFF, 0xFF
	return crc32.ChecksumIEEE(p)
}

func TestLengthsThatLeaveTheICRCOutAreNamed(t *testing.T) {
	frame := longFrame(16)
	wire.IPv4Header(frame[14:]).SetTotalLen(len(frame) - 14 - 4)
	wire.UDP(frame[34:]).SetLength(len(frame) - 34 - 4)
	end := len(frame) - icrc.Len
	icrc.Store(frame[end:], icrc.Compute(icrc.RoCEv2IPv4, frame[14:end]))
	want := icrc.Explanation{Cause: icrc.CausePlace, Detail: "lengths do not include the ICRC: it follows the packet", Offset: end, Bit: -1}
	if diff := cmp.Diff(want, explain(frame)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLengthsThatCountTooMuchAreNamed(t *testing.T) {
	build := func() []byte {
		frame := append(longFrame(16), 1, 2, 3, 4)
		end := len(frame) - 4
		wire.IPv4Header(frame[14:]).SetTotalLen(len(frame) - 14)
		wire.UDP(frame[34:]).SetLength(len(frame) - 34)
		icrc.Store(frame[end-4:], icrc.Compute(icrc.RoCEv2IPv4, frame[14:end-4]))
		return frame
	}
	frame := build()
	end := len(frame) - 4
	want := icrc.Explanation{Cause: icrc.CausePlace, Detail: "lengths count four bytes too many: the ICRC is just before", Offset: end - 4, Bit: -1}
	if diff := cmp.Diff(want, explain(frame)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	icrc.Store(frame[end:], crc32.ChecksumIEEE(frame[:end])) // an FCS is stored like an ICRC
	want.Cause, want.Detail = icrc.CauseFCS, "the four bytes are the Ethernet FCS; the right ICRC is at byte 70"
	if diff := cmp.Diff(want, explain(frame)); diff != "" {
		t.Errorf("with FCS: (-want +got)\n%s", diff)
	}
}

// Every covered bit, and every bit of the ICRC, is found when it is flipped;
// a bit that is not covered changes nothing. Bits that change where the packet
// ends or what it is are left out: the frame is then another one.
func TestEveryFlippedBitIsFound(t *testing.T) {
	frames := map[wire.LinkType][][]byte{
		wire.LinkEthernet: {unhex(t, ackFrame), longFrame(150)},
		wire.LinkIB:       {ibFrame(t, false), ibFrame(t, true)},
	}
	found := 0
	for link, list := range frames {
		for _, frame := range list {
			whole := parse(link, frame)
			for at := whole.Net; at < whole.ICRC+icrc.Len; at++ {
				for bit := range 8 {
					broken := bytes.Clone(frame)
					broken[at] ^= 1 << bit
					f := parse(link, broken)
					if f.ICRC != whole.ICRC || f.Proto != whole.Proto || f.BTH != whole.BTH {
						continue
					}
					var h icrc.Hasher
					switch v, _, _ := h.Judge(f); v {
					case icrc.Good:
						if !uncovered(whole, at, bit) {
							t.Errorf("%v: bit %d of byte %d is not covered", whole.Proto, bit, at)
						}
					case icrc.Bad:
						found++
						if e := h.Explain(f); e.Cause != icrc.CauseBitFlip || e.Offset != at || e.Bit != bit {
							t.Errorf("%v: bit %d of byte %d: %+v", whole.Proto, bit, at, e)
						}
					}
				}
			}
		}
	}
	if found < 2000 {
		t.Errorf("only %d bits were tried", found)
	}
}

// uncovered reports whether a bit is one that the rule masks.
func uncovered(f *wire.Frame, at, bit int) bool {
	form := icrc.RoCEv2IPv4
	if f.Proto == wire.ProtoIB {
		form = icrc.IBLocal
		if _, global := f.Last(wire.HdrGRH); global {
			form = icrc.IBGlobal
		}
	}
	for _, rule := range forms {
		if rule.form == form {
			return rule.masks[at-f.Net]>>bit&1 != 0
		}
	}
	return false
}

func TestRewrittenAddressNeedsEvidence(t *testing.T) {
	now := [4]byte{10, 0, 0, 1}
	rewrite := func(fixIPChecksum, udpChecksum bool) []byte {
		frame := longFrame(40)
		ip, udp := wire.IPv4Header(frame[14:34]), wire.UDP(frame[34:])
		if udpChecksum {
			udp.SetChecksum(wire.UDPChecksum(ip[12:16], ip[16:20], udp))
		}
		ip.SetSrc(now)
		if fixIPChecksum {
			ip.SetChecksum(wire.IPv4Checksum(ip))
		}
		return frame
	}
	// elsewhere puts the destination into another network.
	elsewhere := func(frame []byte) []byte {
		now := bytes.Clone(frame[26:30])
		copy(frame[26:], unhex(t, "c000020a"))
		copy(frame[30:], unhex(t, "cb007114"))
		icrc.Put(icrc.RoCEv2IPv4, frame[14:])
		copy(frame[26:], now)
		ip := wire.IPv4Header(frame[14:34])
		ip.SetChecksum(wire.IPv4Checksum(ip))
		return frame
	}
	want := icrc.Explanation{Cause: icrc.CauseRewritten, Detail: "source address rewritten: it was 192.0.2.10", Offset: 26, Bit: -1}
	for _, c := range []struct {
		name       string
		frame      []byte
		candidates []netip.Addr
		want       icrc.Cause
	}{
		{"stale IP checksum", rewrite(false, false), nil, icrc.CauseRewritten},
		{"stale UDP checksum", rewrite(true, true), nil, icrc.CauseRewritten},
		{"of the destination's network", rewrite(true, false), nil, icrc.CauseRewritten},
		{"no evidence", elsewhere(rewrite(true, false)), nil, icrc.CauseUnknown},
		{"right candidate", elsewhere(rewrite(true, false)), addrs("192.0.2.9", "2001:db8::1", "192.0.2.10"), icrc.CauseRewritten},
		{"wrong candidates", elsewhere(rewrite(true, false)), addrs("192.0.2.9", "192.0.2.11"), icrc.CauseUnknown},
	} {
		e := new(icrc.Hasher).Explain(parse(wire.LinkEthernet, c.frame), c.candidates...)
		if e.Cause != c.want || e.Cause == icrc.CauseRewritten && e != want {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

func TestRewrittenIPv6AddressIsFoundAmongCandidates(t *testing.T) {
	packet := make([]byte, 40+8+12+4)
	ip := wire.IPv6Header(packet)
	ip.SetVersion(6)
	ip.SetPayloadLen(24)
	ip.SetNextHeader(wire.IPProtoUDP)
	packet[39] = 7
	udp := wire.UDP(packet[40:])
	udp.SetDstPort(wire.PortRoCEv2)
	udp.SetLength(24)
	icrc.Put(icrc.RoCEv2IPv6, packet)
	packet[39] = 8
	e := new(icrc.Hasher).Explain(parse(wire.LinkRawIP, packet), addrs("::9", "::7")...)
	// One flipped bit would be found first; 7 and 8 differ in four.
	if e.Cause != icrc.CauseRewritten || e.Detail != "destination address rewritten: it was ::7" || e.Offset != 24 {
		t.Errorf("%+v", e)
	}
}

// The vendor's CNP example fits no mistake: a wrong accusation is worse than
// none.
func TestPublishedCases(t *testing.T) {
	for _, c := range []struct {
		file   string
		causes []icrc.Cause
	}{
		{"01-icrc-recipe.hex", []icrc.Cause{icrc.CauseNone}},
		{"03-icrc-byte-order.hex", []icrc.Cause{icrc.CauseNone, icrc.CauseByteOrder}},
		{"05-vendor-cnp-example.hex", []icrc.Cause{icrc.CauseUnknown}},
		{"07-cnp.hex", []icrc.Cause{icrc.CauseNone}},
		{"33-icrc-outside-length.hex", []icrc.Cause{icrc.CausePlace, icrc.CauseNone}},
	} {
		frames := hexCase(t, c.file)
		if len(frames) != len(c.causes) {
			t.Errorf("%s: %d frames", c.file, len(frames))
			continue
		}
		for i, frame := range frames {
			v, _, _ := icrc.Verify(frame)
			if e := explain(frame); e.Cause != c.causes[i] || (v == icrc.Good) != (e.Cause == icrc.CauseNone) {
				t.Errorf("%s line %d: %q, %+v, want %v", c.file, i+1, v, e, c.causes[i])
			}
		}
	}
}

// With thousands of hypotheses some noise must fit one; how much is what the
// documentation of Explain promises.
func TestNoiseIsHardlyEverExplained(t *testing.T) {
	frame := longFrame(256)
	place := frame[len(frame)-icrc.Len:]
	const tries = 2000
	for i := range uint32(tries) {
		binary.LittleEndian.PutUint32(place, (i+1)*2654435769)
		if e := explain(frame); e.Cause != icrc.CauseUnknown {
			t.Errorf("noise %08x: %+v", binary.LittleEndian.Uint32(place), e)
		}
	}
}

// Zeros in place of ones are named for every form, so the names and places of
// masked fields agree with what is masked.
func TestZeroMaskOfEveryFormIsNamed(t *testing.T) {
	v6 := make([]byte, 40+8+12+8+4)
	copy(v6, "\x6A\xBC\xDE\xF1\x00\x20\x11\x40")
	copy(v6[42:], "\x12\xB7\x00\x20\xAB\xCD"+"\x04\x00\xFF\xFF\x40")
	v1 := append([]byte("\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x89\x15"), v6[:40]...)
	v1 = append(v1, v6[48:]...)
	v1[14+5], v1[14+6] = 24, wire.NextHeaderBTH
	for i, f := range []*wire.Frame{
		parse(wire.LinkEthernet, v1), parse(wire.LinkEthernet, longFrame(8)), parse(wire.LinkRawIP, v6),
		parse(wire.LinkIB, ibFrame(t, false)), parse(wire.LinkIB, ibFrame(t, true)),
	} {
		input := append(bytes.Repeat([]byte{0xFF}, forms[i].prefix), f.Data[f.Net:f.ICRC]...)
		for off, m := range forms[i].masks {
			input[forms[i].prefix+off] &^= m
		}
		icrc.Store(f.Data[f.ICRC:], crc32.ChecksumIEEE(input))
		e := new(icrc.Hasher).Explain(f)
		if e.Cause != icrc.CauseZeroMask || e.Detail != "masked fields set to zero instead of ones" {
			t.Errorf("%v: %+v", forms[i].form, e)
		}
	}
}
