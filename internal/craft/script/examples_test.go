package script

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// example builds the packets of a file in docs/examples/wf.
func example(t *testing.T, name string) []wire.Frame {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testneed.ModuleRoot(t), "docs", "examples", "wf", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return build(t, string(text))
}

func crcOf(f *wire.Frame) icrc.Verdict {
	var h icrc.Hasher
	v, _, _ := h.Judge(f)
	return v
}

// value reads a field of the innermost header that has it, as a number.
func value(t *testing.T, f *wire.Frame, name string) uint64 {
	t.Helper()
	hdrs := f.Headers()
	for i := len(hdrs) - 1; i >= 0; i-- {
		b := f.Bytes(hdrs[i])
		if field := wire.SpecOf(hdrs[i].ID).Field(name, b); field != nil {
			return field.Value(b)
		}
	}
	t.Fatalf("no field %s", name)
	return 0
}

// A wfExample says what the packets of an example are like: the problems that a
// parser sees, whether the ICRC is right, and what else is told by check.
type wfExample struct {
	packets  int
	problems wire.Problem
	icrc     icrc.Verdict
	check    func(t *testing.T, f []wire.Frame)
}

// each wants a field to have these values, one a packet.
func each(name string, want ...uint64) func(t *testing.T, f []wire.Frame) {
	return func(t *testing.T, f []wire.Frame) {
		t.Helper()
		var got []uint64
		for i := range f {
			got = append(got, value(t, &f[i], name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
}

func upTo(first, last uint64) (list []uint64) {
	for v := first; v <= last; v++ {
		list = append(list, v)
	}
	return list
}

// WF-35 to WF-37 of the catalogue look at what a device sends; there is nothing
// to craft for them.
func wfExamples() map[string]wfExample {
	return map[string]wfExample{
		"wf01": {1, 0, icrc.Good, each("infiniband.bth.psn", 0)},
		"wf02": {1, 0, icrc.Bad, bitFlip},
		"wf03": {3, 0, icrc.Bad, wrongStores},
		"wf04": {2, 0, icrc.Good, sameICRC},
		"wf05": {2, 0, icrc.Good, sameICRC},
		"wf06": {4, anyProblem, icrc.Bad, changedOnTheWay},
		"wf07": {4, anyProblem, icrc.Good, sameICRC},
		"wf08": {1, wire.ProblemReserved, icrc.Good, each("infiniband.bth.reserved7", 0x7F)},
		"wf09": {3, 0, icrc.Good, each("infiniband.bth.padcnt", 3, 2, 1)},
		"wf10": {1, 0, icrc.Good, padIs(0xA5)},
		"wf11": {1, wire.ProblemPad, icrc.Good, each("infiniband.bth.padcnt", 3)},
		"wf12": {15, wire.ProblemTVer, icrc.Good, each("infiniband.bth.tver", upTo(1, 15)...)},
		"wf13": {7, wire.ProblemUnknownOpcode, icrc.Good, each("infiniband.bth.opcode", 0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F)},
		"wf14": {3, 0, icrc.Good, each("infiniband.bth.opcode", 0x24, 0x64, 0xA4)},
		"wf15": {128, wire.ProblemUnknownOpcode, icrc.Good, each("infiniband.bth.opcode", append(upTo(0xC0, 0xFF), upTo(0xC0, 0xFF)...)...)},
		"wf16": {1, 0, icrc.Good, each("infiniband.bth.destqp", 0xABCDEF)},
		"wf17": {2, 0, icrc.Good, each("infiniband.bth.destqp", 0, 0)},
		"wf18": {3, 0, icrc.Good, each("infiniband.bth.opcode", 0x04, 0x0A, 0x0C)},
		"wf19": {1, 0, icrc.Good, addresses("192.0.2.1", "192.0.2.99")},
		"wf20": {1, 0, icrc.Good, addresses("192.0.2.77", "192.0.2.2")},
		"wf21": {9, wire.ProblemShort, anyVerdict, goodBut(7, 8)},
		"wf22": {2, wire.ProblemLength, anyVerdict, each("udp.length", 32, 400)},
		"wf23": {1, 0, icrc.Good, padded},
		"wf24": {1, wire.ProblemOptions, icrc.NotCheckable, each("ip.hdr_len", 24)},
		"wf25": {2, wire.ProblemFragment, anyVerdict, reassembled},
		"wf26": {2, wire.ProblemOptions, icrc.NotCheckable, each("ipv6.nxt", 0, 60)},
		"wf27": {4, 0, icrc.Good, each("vlan.id", 100, 101, 0, 100)},
		"wf28": {7, 0, icrc.Good, each("udp.srcport", 0, 1, 49152, 65535, 50001, 50002, 50003)},
		"wf29": {2, 0, icrc.NotApplicable, each("udp.dstport", 4790, 4792)},
		"wf30": {3, 0, icrc.Good, udpChecksums},
		"wf31": {3, 0, icrc.Good, udpChecksums},
		"wf32": {1, 0, icrc.Good, each("infiniband.grh.nxthdr", 0x1B)},
		"wf33": {3, anyProblem, anyVerdict, grhFaults},
		"wf34": {1, 0, icrc.Good, each("infiniband.grh.nxthdr", 0x1B)},
		"wf38": {1, 0, icrc.Good, each("infiniband.bth.m", 0)},
		"wf39": {1, 0, icrc.Good, each("infiniband.bth.destqp", 0xFFFFFF)},
	}
}

// The check tells.
const (
	anyProblem = ^wire.Problem(0)
	anyVerdict = ^icrc.Verdict(0)
)

func TestEachExampleIsWrongInItsWayOnly(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testneed.ModuleRoot(t), "docs", "examples", "wf", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	examples := wfExamples()
	if len(files) != len(examples) {
		t.Errorf("%d files, %d examples", len(files), len(examples))
	}
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			frames := example(t, name)
			if len(frames) != e.packets {
				t.Fatalf("%d packets, want %d", len(frames), e.packets)
			}
			for i := range frames {
				if f := &frames[i]; e.problems != anyProblem && f.Problems != e.problems {
					t.Errorf("packet %d: problems %v, want %v", i+1, f.Problems, e.problems)
				} else if v := crcOf(f); e.icrc != anyVerdict && v != e.icrc {
					t.Errorf("packet %d: ICRC %v, want %v", i+1, v, e.icrc)
				}
			}
			e.check(t, frames)
		})
	}
}

func bitFlip(t *testing.T, f []wire.Frame) {
	var h icrc.Hasher
	if e := h.Explain(&f[0]); e.Cause != icrc.CauseBitFlip || e.Offset != f[0].ICRC || e.Bit != 0 {
		t.Errorf("%+v", e)
	}
}

func wrongStores(t *testing.T, f []wire.Frame) {
	var h icrc.Hasher
	for i, want := range []icrc.Cause{icrc.CauseNotFilled, icrc.CauseNotFilled, icrc.CauseByteOrder} {
		if e := h.Explain(&f[i]); e.Cause != want {
			t.Errorf("packet %d: %+v", i+1, e)
		}
	}
	for i, want := range []string{"00000000", "ffffffff"} {
		if got := fmt.Sprintf("%x", f[i].Data[f[i].ICRC:]); got != want {
			t.Errorf("ICRC %s, want %s", got, want)
		}
	}
	right := bytes.Clone(f[2].Data)
	slices.Reverse(right[f[2].ICRC:])
	if v, _, _ := icrc.Verify(right); v != icrc.Good {
		t.Errorf("the bytes turned round: ICRC %v", v)
	}
}

// sameICRC wants packets that differ and have one ICRC.
func sameICRC(t *testing.T, f []wire.Frame) {
	for i := range f[1:] {
		a, b := f[0].Data, f[i+1].Data
		if bytes.Equal(a, b) || !bytes.Equal(a[f[0].ICRC:], b[f[i+1].ICRC:]) {
			t.Errorf("packet %d:\n%x\n%x", i+2, a, b)
		}
	}
}

// changedOnTheWay wants packets that the named change explains.
func changedOnTheWay(t *testing.T, f []wire.Frame) {
	for i := range f {
		if ip := wire.IPv4Header(f[i].View(wire.HdrIPv4)); ip.Checksum() != wire.IPv4Checksum(ip) {
			t.Errorf("packet %d: IP checksum %#x", i+1, ip.Checksum())
		}
	}
	each("ip.id", 1, 0, 0, 0)(t, f)
	each("udp.srcport", 49152, 0xC123, 49152, 49152)(t, f)
	each("udp.length", 24, 24, 28, 24)(t, f)
	each("infiniband.bth.a", 1, 1, 1, 1)(t, f)
	each("infiniband.bth.reserved7", 0, 0, 0, 0x7F)(t, f)
}

func padIs(b byte) func(t *testing.T, f []wire.Frame) {
	return func(t *testing.T, f []wire.Frame) {
		if pad := f[0].View(wire.HdrPad); !bytes.Equal(pad, bytes.Repeat([]byte{b}, 3)) {
			t.Errorf("pad %x", pad)
		}
	}
}

func addresses(src, dst string) func(t *testing.T, f []wire.Frame) {
	return func(t *testing.T, f []wire.Frame) {
		if s, d := f[0].Addresses(); s.String() != src || d.String() != dst {
			t.Errorf("%v to %v", s, d)
		}
	}
}

// goodBut wants a good ICRC in all packets but the ones counted from 0.
func goodBut(bad ...int) func(t *testing.T, f []wire.Frame) {
	return func(t *testing.T, f []wire.Frame) {
		for i := range f {
			if good := crcOf(&f[i]) == icrc.Good; good == slices.Contains(bad, i) {
				t.Errorf("packet %d: ICRC %v", i+1, crcOf(&f[i]))
			}
		}
	}
}

func padded(t *testing.T, f []wire.Frame) {
	if len(f[0].Data) != 60 || f[0].ICRC != 54 || len(f[0].View(wire.HdrTrailer)) != 2 {
		t.Errorf("%d bytes, ICRC at %d", len(f[0].Data), f[0].ICRC)
	}
}

// reassembled puts the fragments together, as a receiver does.
func reassembled(t *testing.T, f []wire.Frame) {
	const headers = wire.EthernetLen + wire.IPv4MinLen
	whole := bytes.Clone(f[0].Data)
	second := wire.IPv4Header(f[1].Data[wire.EthernetLen:])
	if first := wire.IPv4Header(f[0].Data[wire.EthernetLen:]); first.ID() != second.ID() || len(whole)-headers != 8*4 {
		t.Errorf("identifications %d and %d, %d bytes", first.ID(), second.ID(), len(whole)-headers)
	}
	whole = append(whole, f[1].Data[headers:]...)
	ip := wire.IPv4Header(whole[wire.EthernetLen:])
	ip.SetTotalLen(len(whole) - wire.EthernetLen)
	binary.BigEndian.PutUint16(ip[6:], 0) // flags and offset
	if v, _, _ := icrc.Verify(whole); v != icrc.Good {
		t.Errorf("ICRC of both %v", v)
	}
}

// udpChecksums wants no checksum, the right one, and a wrong one.
func udpChecksums(t *testing.T, f []wire.Frame) {
	right := func(f *wire.Frame) uint16 {
		segment := bytes.Clone(f.Data[f.L4:f.End])
		wire.UDP(segment).SetChecksum(0)
		if ip := f.View(wire.HdrIPv6); ip != nil {
			return wire.UDPChecksum(ip[8:24], ip[24:40], segment)
		}
		ip := f.View(wire.HdrIPv4)
		return wire.UDPChecksum(ip[12:16], ip[16:20], segment)
	}
	each("udp.checksum", 0, uint64(right(&f[1])), 0x0BAD)(t, f)
	if right(&f[2]) == 0x0BAD {
		t.Error("the wrong checksum is right")
	}
}

func grhFaults(t *testing.T, f []wire.Frame) {
	each("infiniband.grh.ipver", 4, 6, 6)(t, f)
	each("infiniband.grh.nxthdr", 0x1B, 17, 0x1B)(t, f)
	each("infiniband.grh.paylen", 16, 16, 500)(t, f)
	for i, want := range []wire.Problem{wire.ProblemVersion, wire.ProblemVersion, wire.ProblemLength} {
		if f[i].Problems != want {
			t.Errorf("packet %d: problems %v, want %v", i+1, f[i].Problems, want)
		}
	}
}
