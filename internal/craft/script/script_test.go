package script

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/wire"
)

// again writes a frame's description as text, reads it and builds it.
func again(t testing.TB, f *wire.Frame) (*craft.Image, string) {
	t.Helper()
	r, err := craft.Describe(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Append(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(text, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var img *craft.Image
	err = s.Each(func(r *craft.Recipe) error {
		img, err = craft.Build(r)
		return err
	})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return img, string(text)
}

func TestEveryCapturedFrameIsBuiltAgainFromItsText(t *testing.T) {
	var f wire.Frame
	frames := 0
	captest.Each(t, func(file string, number int, rec *capfile.Record) {
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		img, text := again(t, &f)
		if !bytes.Equal(img.Data, rec.Data) || img.WireLen != rec.WireLen {
			t.Errorf("%s %d: built\n%x\nwas\n%x\nfrom\n%s", file, number, img.Data, rec.Data, text)
		}
		frames++
	})
	t.Logf("%d frames", frames)
}

func build(t *testing.T, text string) []wire.Frame {
	t.Helper()
	s, err := Parse([]byte(text), func(string) ([]byte, error) { return []byte("file"), nil })
	if err != nil {
		t.Fatal(err)
	}
	var frames []wire.Frame
	err = s.Each(func(r *craft.Recipe) error {
		img, err := craft.Build(r)
		if err != nil {
			return err
		}
		var f wire.Frame
		f.Parse(r.Link, img.Data, img.WireLen)
		frames = append(frames, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

func TestCountersAndRepeats(t *testing.T) {
	frames := build(t, `
- sequence:
    - base: rocev2
      op: rc send-only
      set: {infiniband.bth.psn: {start: 0xfffffe, step: 1}}
      repeat: 2
    - op: rc ack
      set: {infiniband.aeth.msn: {start: 1}, infiniband.bth.psn: {start: 10, step: -4}}
  repeat: 2
`)
	var psns []uint32
	for i := range frames {
		psns = append(psns, uint32(wire.BTH(frames[i].View(wire.HdrBTH)).PSN()))
	}
	want := []uint32{0xfffffe, 0xffffff, 10, 0, 1, 6}
	for i := range want {
		if len(psns) != len(want) || psns[i] != want[i] {
			t.Fatalf("PSNs %v, want %v", psns, want)
		}
	}
}

func TestMistakesAreRefusedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"- layers: [eth, nonsense]":                                  `line 1, column 17: no header is called "nonsense"`,
		"- op: rc send-only\n  set: {infiniband.bth.pns: 1}":         "line 2, column 9: no header of the packet has a field infiniband.bth.pns",
		"- op: rc send-only\n  set: {infiniband.bth.psn: 0x1000000}": "line 2, column 29: 16777216 does not fit the 24 bits of infiniband.bth.psn",
		"- op: rc sendonly":                                          "line 1, column 7: no opcode \"rc sendonly\"; `rocecap opcodes` lists them",
		"- op: rc send-only\n  base: rocev3":                         "line 2, column 9: no base \"rocev3\"; there are rocev2, rocev2-ipv6, rocev1, ib, ib-grh",
		"- op: rc send-only\n  icrc: maybe":                          "line 2, column 9: icrc: \"maybe\": want auto, none, wrong, swapped, flip:BIT with a bit from 0 to 31, or a value of 32 bits",
		"- op: rc send-only\n  colour: red":                          "line 2, column 3: unknown key \"colour\"",
		"- op: rc send-only\n  payload: zz":                          "line 2, column 12: want bytes in hexadecimal",
		"- op: rc send-only\n  set: {ip.src: 1.2.3}":                 `line 2, column 17: "1.2.3" is no address for ip.src`,
		"- op: rc send-only\n  repeat: lots":                         "line 2, column 11: repeat: want a number",
		"- layers: [eth: {dst: 1}]":                                  `line 1, column 23: "1" is no hardware address`,
		"- {}":                                                       "line 1, column 3: want layers, or base and op, or a sequence",
		"- op: rc send-only\n  set: {ip.ttl: 1, ip.ttl: 2}":          `line 2, column 20: "ip.ttl" is here twice`,
		"- sequence: &s [{sequence: *s}]":                            "line 1, column 13: an alias cannot stand for a list of packets",
		"hello":                                                      "line 1, column 1: want a list of packets",
		"- op: iwarp send\n  base: rocev1":                           `line 2, column 9: base "rocev1" carries something else; there are iwarp, iwarp-ipv6`,
		"- op: iwarp send\n  set: {iwarp_rdma.opcode: {start: 1}}":   "line 2, column 28: iwarp_rdma.opcode cannot count",
		"- op: cnp\n  layers: [eth]":                                 "line 2, column 3: op and layers exclude each other",
		"- layers: [eth]\n  base: rocev2":                            "line 2, column 3: layers and base exclude each other",
		"- sequence: []\n  op: cnp":                                  "line 2, column 3: sequence and op exclude each other",
		"- op: cnp\n  icrc: [wrong]":                                 "line 2, column 9: icrc: want a value",
		"- op: cnp\n  raw: [{at: 5}]":                                "line 2, column 9: an edit has at and bytes",
		"- op: cnp\n  edits: [{bytes: \"00\"}]":                      "line 2, column 11: an edit has at and bytes",
		"- op: cnp\n  link: foo":                                     "line 2, column 9: link: want one of ethernet, ip, sll, sll2, erf, ipv4, ipv6, ipoib, infiniband, or a number",
		"- op: cnp\n  set: {infiniband.bth.psn: {start: 0x1000000}}": "line 2, column 37: 0x1000000 does not fit the 24 bits of infiniband.bth.psn",
		"- layers: [eth, {ip: {header_size: 3}}]":                    "line 1, column 36: header_size: the fields of ip alone take 20 bytes",
		"- op: cnp\n---\n- op: cnp":                                  "line 3, column 1: a second document; want one",
		"- &x {sequence: [*x]}":                                      "line 1, column 17: an alias cannot stand for a list of packets",
		"- op: iwarp send\n  crc: maybe":                             "line 2, column 8: crc: \"maybe\": want auto, none, wrong, swapped, flip:BIT with a bit from 0 to 31, or a value of 32 bits",
	} {
		if _, err := Parse([]byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestAnAliasStandsForAPacket(t *testing.T) {
	if frames := build(t, "- &x {op: cnp}\n- *x\n- sequence: [*x]"); len(frames) != 3 {
		t.Errorf("%d packets", len(frames))
	}
}

func TestWhatCannotBeBuiltIsToldWithThePlaceOfItsKey(t *testing.T) {
	for text, want := range map[string]string{
		"- op: rc send-only\n  raw: [{at: 900, bytes: \"01\"}]":       "line 2, column 8: raw: bytes 900 to 901 lie outside the packet",
		"- op: rc send-only\n  edits:\n    - {at: 58, bytes: \"01\"}": "line 3, column 5: edits: bytes 58 to 59 lie outside the packet",
		"- op: rc send-only\n  repeat: 2\n  pad: 70000":               "line 3, column 8: pad: 70000: want up to 65535 bytes",
		"- layers: [eth, infiniband.bth]\n  icrc: auto":               "line 2, column 9: icrc: no rule says what it covers here; give its value, or none",
		"- op: iwarp send\n  icrc: wrong":                             "line 2, column 9: icrc: the packet has none: it has no header infiniband.bth",
		"- op: cnp\n  vcrc: wrong":                                    "line 2, column 9: vcrc: the packet has none: it has no header infiniband.lrh",
		"- repeat: 1\n  layers: [eth, infiniband.bth]":                "line 1, column 3: icrc: no rule says what it covers here; give its value, or none",
	} {
		s, err := Parse([]byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Each(func(r *craft.Recipe) error {
			_, err := craft.Build(r)
			return err
		})
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		if _, compiled := Compile(s); compiled == nil || compiled.Error() != want {
			t.Errorf("compiled: %s\ngot  %v\nwant %s", text, compiled, want)
		}
	}
}

func TestAnAliasStandsForWhatItNames(t *testing.T) {
	frames := build(t, "- layers: [&eth {eth: {src: '02:00:00:00:00:07'}}, ip: &ip {ttl: 9}, udp]\n- layers: [*eth, ip: *ip]\n")
	f := &frames[1]
	if src := wire.Ethernet(f.View(wire.HdrEthernet)).Src(); src[5] != 7 || wire.IPv4Header(f.View(wire.HdrIPv4)).TTL() != 9 {
		t.Errorf("%x", f.Data)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("- op: rc write-only\n  set: {infiniband.bth.psn: {start: 1, step: 2}}\n  payload: {text: hi, size: 3}\n  edits: [{at: 1, bytes: \"00\"}]\n")
	f.Add("- op: iwarp send-invalidate\n  crc: flip:1\n  set: {iwarp_ddp.msn: {start: 1}, iwarp_rdma.inval_stag: 5}\n  payload: {text: hi}\n")
	f.Add("- layers:\n    - eth: {dst: \"02:00:00:00:00:01\"}\n    - ip: {src: 10.0.0.1, tail: \"01010101\"}\n    - udp\n    - infiniband.bth: {opcode: UD SEND Only}\n  icrc: flip:3\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text), nil)
		if err != nil {
			return
		}
		n := 0
		_ = s.Each(func(r *craft.Recipe) error {
			if n++; n > 100 {
				return io.EOF
			}
			_, _ = craft.Build(r)
			return nil
		})
	})
}

func TestPayloadForms(t *testing.T) {
	for text, want := range map[string]string{
		`"00ff"`:               "\x00\xff",
		"{text: hi}":           "hi",
		"{size: 3}":            "\x00\x00\x00",
		"{file: x}":            "file",
		`{hex: "41", size: 1}`: "A\x00",
	} {
		frames := build(t, "- op: rc send-only\n  payload: "+text)
		f := &frames[0]
		if got := string(f.Data[f.Payload : f.Payload+f.PayloadLen]); got != want {
			t.Errorf("%s: %q", text, got)
		}
		if strings.Contains(text, "hi") && f.Pad != 2 {
			t.Errorf("pad %d", f.Pad)
		}
	}
}
