package icrc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// longFrame is an RC SEND Only over IPv4 with n bytes of payload and its right
// ICRC; the payload is padded to four bytes.
func longFrame(n int) []byte {
	pad := -n & 3
	length := 20 + 8 + 12 + n + pad + 4
	frame := []byte("\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x08\x00" +
		"\x45\x02\x00\x00\x12\x34\x40\x00\x40\x11\x00\x00\xc0\x00\x02\x0a\xc0\x00\x02\x14" +
		"\xc0\x30\x12\xb7\x00\x00\x00\x00" + "\x04\x40\x7f\xfe\x00\x00\x01\x23\x80\x00\xa1\xb2")
	frame[43] |= byte(pad << 4)
	for i := range n {
		frame = append(frame, byte(i*7+1))
	}
	frame = append(frame, make([]byte, pad+icrc.Len)...)
	ip := wire.IPv4Header(frame[14:34])
	ip.SetTotalLen(length)
	ip.SetChecksum(wire.IPv4Checksum(ip))
	wire.UDP(frame[34:]).SetLength(length - 20)
	icrc.Put(icrc.RoCEv2IPv4, frame[14:])
	return frame
}

// ibFrame is a native SEND Only with ICRC and VCRC, with a GRH or without.
func ibFrame(t *testing.T, global bool) []byte {
	t.Helper()
	bth := "\x04\x40\xff\xff\x00\x00\x00\x11\x00\x00\x00\x05" + "payload!"
	grh := "\x60\x00\x00\x00\x00\x18\x1b\x40" + "\xfe\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\xfe\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02"
	lnh := "\x02"
	if global {
		bth, lnh = grh+bth, "\x03"
	}
	frame := []byte("\x20" + lnh + "\x00\x07\x00\x00\x00\x09" + bth + "......")
	frame[5] = byte((len(frame) - 2) / 4)
	if err := icrc.PatchIB(frame); err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestVerdicts(t *testing.T) {
	ack := unhex(t, ackFrame)
	edit := func(frame []byte, edits ...func(b []byte)) []byte {
		frame = bytes.Clone(frame)
		for _, e := range edits {
			e(frame)
		}
		return frame
	}
	options := append(bytes.Clone(ack[:34]), 1, 1, 1, 1)
	options = append(options, ack[34:]...)
	options[14], options[17] = 0x46, 0x34
	v6 := append([]byte("\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x86\xdd"+
		"\x60\x00\x00\x00\x00\x24\x00\x40"), make([]byte, 32)...)
	v6 = append(v6, "\x11\x00\x00\x00\x00\x00\x00\x00"...) // hop-by-hop options
	v6 = append(v6, ack[34:]...)

	for _, c := range []struct {
		name  string
		link  wire.LinkType
		frame []byte
		want  icrc.Verdict
	}{
		{"good", wire.LinkEthernet, ack, icrc.Good},
		{"good, padded and with FCS", wire.LinkEthernet, append(bytes.Clone(ack), "pad..fcs."...), icrc.Good},
		{"bad", wire.LinkEthernet, edit(ack, func(b []byte) { b[len(b)-1]++ }), icrc.Bad},
		{"cut", wire.LinkEthernet, ack[:len(ack)-1], icrc.Cut},
		{"IP options", wire.LinkEthernet, options, icrc.NotCheckable},
		{"IPv6 extension header", wire.LinkEthernet, v6, icrc.NotCheckable},
		{"first fragment", wire.LinkEthernet, edit(ack, func(b []byte) { b[20] |= 0x20 }), icrc.NotCheckable},
		{"later fragment", wire.LinkEthernet, edit(ack, func(b []byte) { b[21] |= 1 }), icrc.NotApplicable},
		{"no room for a BTH", wire.LinkEthernet, edit(ack, func(b []byte) { b[39] = 8 + 15 }), icrc.NotCheckable},
		{"other UDP port", wire.LinkEthernet, edit(ack, func(b []byte) { b[37]++ }), icrc.NotApplicable},
		{"ARP", wire.LinkEthernet, edit(ack, func(b []byte) { b[13] = 6 }), icrc.NotApplicable},
		{"nothing", wire.LinkEthernet, nil, icrc.NotApplicable},
		{"IB local", wire.LinkIB, ibFrame(t, false), icrc.Good},
		{"IB global", wire.LinkIB, ibFrame(t, true), icrc.Good},
		{"IB without VCRC", wire.LinkIB, ibFrame(t, false)[:32], icrc.Good},
	} {
		f := parse(c.link, c.frame)
		v, computed, received := new(icrc.Hasher).Judge(f)
		if v != c.want || (v == icrc.Good) != (computed == received && v != icrc.NotApplicable && computed != 0) {
			t.Errorf("%s: %q (computed %08x, received %08x), want %q", c.name, v, computed, received, c.want)
		}
	}
}

func TestVerdictsOfTheVCRC(t *testing.T) {
	whole := ibFrame(t, true)
	bad := bytes.Clone(whole)
	bad[0] ^= 0x10 // the virtual lane: not covered by the ICRC
	cut := parse(wire.LinkIB, whole)
	cut.Parse(wire.LinkIB, whole[:len(whole)-1], len(whole))
	short := bytes.Clone(whole)
	short[4], short[5] = 0, 1 // LRH.PktLen of one word
	for _, c := range []struct {
		name string
		f    *wire.Frame
		want icrc.Verdict
	}{
		{"good", parse(wire.LinkIB, whole), icrc.Good},
		{"bad", parse(wire.LinkIB, bad), icrc.Bad},
		{"cut", cut, icrc.Cut},
		{"left out", parse(wire.LinkIB, whole[:len(whole)-2]), icrc.NotApplicable},
		{"no room", parse(wire.LinkIB, short), icrc.NotCheckable},
		{"Ethernet", parse(wire.LinkEthernet, unhex(t, ackFrame)), icrc.NotApplicable},
	} {
		if v, _, _ := icrc.JudgeVCRC(c.f); v != c.want {
			t.Errorf("%s: %q, want %q", c.name, v, c.want)
		}
	}
	if v, _, _ := icrc.VerifyIB(bad); v != icrc.Good {
		t.Errorf("ICRC after a change of the virtual lane: %q", v)
	}
}

func TestNoPrefixOfAPacketIsJudgedGoodOrBad(t *testing.T) {
	for name, frame := range map[string][]byte{"ACK": unhex(t, ackFrame), "SEND": longFrame(77)} {
		for n := range len(frame) {
			var f wire.Frame
			for _, wireLen := range []int{0, len(frame)} {
				f.Parse(wire.LinkEthernet, frame[:n:n], wireLen)
				if v, _, _ := new(icrc.Hasher).Judge(&f); v == icrc.Good || v == icrc.Bad {
					t.Errorf("%s, %d of %d bytes: %q", name, n, len(frame), v)
				}
			}
		}
	}
	for _, global := range []bool{false, true} {
		frame := ibFrame(t, global)
		for n := range len(frame) - 2 {
			var f wire.Frame
			f.Parse(wire.LinkIB, frame[:n:n], len(frame))
			if v, _, _ := new(icrc.Hasher).Judge(&f); v == icrc.Good || v == icrc.Bad {
				t.Errorf("IB global=%t, %d of %d bytes: %q", global, n, len(frame), v)
			}
		}
	}
}

func TestPatchMakesAFrameGoodAndChangesNothingElse(t *testing.T) {
	want := longFrame(33)
	tagged := append(append(bytes.Clone(want[:12]), 0x81, 0, 0, 5), want[12:]...)
	for name, want := range map[string][]byte{"plain": want, "VLAN tag": tagged} {
		frame := bytes.Clone(want)
		binary.BigEndian.PutUint32(frame[len(frame)-4:], 0)
		frame = append(frame, "fcs."...)
		if err := icrc.Patch(frame); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(frame, append(bytes.Clone(want), "fcs."...)) {
			t.Errorf("%s: %x, want %x", name, frame, want)
		}
		if v, _, _ := icrc.Verify(frame); v != icrc.Good {
			t.Errorf("%s: %q after Patch", name, v)
		}
	}
	for _, global := range []bool{false, true} {
		want := ibFrame(t, global)
		frame := bytes.Clone(want)
		copy(frame[len(frame)-6:], "......")
		if err := icrc.PatchIB(frame); err != nil || !bytes.Equal(frame, want) {
			t.Errorf("IB global=%t: %x, %v; want %x", global, frame, err, want)
		}
		f := parse(wire.LinkIB, frame)
		if v, _, _ := icrc.JudgeVCRC(f); v != icrc.Good {
			t.Errorf("IB global=%t: VCRC %q after PatchIB", global, v)
		}
	}
}

func TestPatchGivesARawPacketItsVCRC(t *testing.T) {
	raw := []byte("\x20\x00\x00\x07\x00\x04\x00\x09" + "\x00\x00\x88\xb5" + "data" + "..")
	if v, _, _ := icrc.VerifyVCRC(raw); v != icrc.Bad {
		t.Fatalf("before: %q", v)
	}
	if err := icrc.PatchIB(raw); err != nil {
		t.Fatal(err)
	}
	if v, computed, received := icrc.VerifyVCRC(raw); v != icrc.Good || computed != received {
		t.Errorf("after: %q, %04x, %04x", v, computed, received)
	}
	if v, _, _ := icrc.VerifyIB(raw); v != icrc.NotApplicable {
		t.Errorf("a raw packet has an ICRC: %q", v)
	}
}

func TestExplainIBFindsAFlippedBit(t *testing.T) {
	frame := ibFrame(t, true)
	frame[len(frame)-8] ^= 0x04 // in the payload
	if e := icrc.ExplainIB(frame); e.Cause != icrc.CauseBitFlip || e.Offset != len(frame)-8 || e.Bit != 2 {
		t.Errorf("%+v", e)
	}
}

func TestPatchLeavesAloneWhatItCannotSeal(t *testing.T) {
	ack := unhex(t, ackFrame)
	fragment := bytes.Clone(ack)
	fragment[20] |= 0x20
	for _, c := range []struct {
		name  string
		frame []byte
		want  error
	}{
		{"cut", ack[:len(ack)-2], icrc.ErrCut},
		{"fragment", fragment, icrc.ErrNotCheckable},
		{"no RDMA", ack[:20], icrc.ErrNoPacket},
	} {
		before := bytes.Clone(c.frame)
		if err := icrc.Patch(c.frame); !errors.Is(err, c.want) || !bytes.Equal(before, c.frame) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestJudgeAllocatesNothing(t *testing.T) {
	var h icrc.Hasher
	roce := parse(wire.LinkEthernet, longFrame(1024))
	ib := parse(wire.LinkIB, ibFrame(t, true))
	packet := roce.Data[14:]
	if n := testing.AllocsPerRun(100, func() {
		h.Judge(roce)
		h.Judge(ib)
		icrc.JudgeVCRC(ib)
		h.Sum(icrc.RoCEv2IPv4, packet)
		h.Put(icrc.RoCEv2IPv4, packet)
		icrc.CRC32C(packet)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzJudge: no frame of any link type may panic, and a verdict that compares
// must agree with a second parse after Patch.
func FuzzJudge(f *testing.F) {
	ack := unhex(f, ackFrame)
	f.Add(uint16(wire.LinkEthernet), ack, uint16(0))
	f.Add(uint16(wire.LinkEthernet), ack[:50], uint16(len(ack)))
	f.Add(uint16(wire.LinkRawIP), ack[14:], uint16(0))
	f.Add(uint16(wire.LinkEthernet), longFrame(33), uint16(0))
	f.Add(uint16(wire.LinkIB), []byte("\x20\x02\x00\x07\x00\x06\x00\x09\x04\x40\xff\xff\x00\x00\x00\x11\x00\x00\x00\x05......"), uint16(0))
	f.Fuzz(func(t *testing.T, link uint16, data []byte, wireLen uint16) {
		var frame wire.Frame
		frame.Parse(wire.LinkType(link), bytes.Clone(data), int(wireLen)) // PatchFrame writes
		var h icrc.Hasher
		v, computed, received := h.Judge(&frame)
		vcrc, _, _ := icrc.JudgeVCRC(&frame)
		e := h.Explain(&frame)
		switch v {
		case icrc.Good, icrc.Bad:
			if (v == icrc.Good) != (computed == received) || (v == icrc.Bad) != (e.Cause != icrc.CauseNone) {
				t.Fatalf("%v, %08x, %08x, %+v", v, computed, received, e)
			}
			if err := h.PatchFrame(&frame); err != nil {
				t.Fatal(err)
			}
			if v, _, _ := h.Judge(&frame); v != icrc.Good {
				t.Fatalf("%q after PatchFrame", v)
			}
		default:
			raw := v == icrc.NotApplicable && (vcrc == icrc.Good || vcrc == icrc.Bad)
			if e.Cause != icrc.CauseNone || (h.PatchFrame(&frame) == nil) != raw {
				t.Fatalf("%q, but explained or patched: %+v", v, e)
			}
		}
	})
}
