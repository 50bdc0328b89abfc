package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// roce builds a RoCEv2 packet over IPv4 with a right ICRC from the bytes
// behind the UDP header, ICRC left out.
func roce(t testing.TB, body ...byte) *packet.Packet {
	t.Helper()
	udp := 8 + len(body) + icrc.Len
	f := []byte{
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
		0x45, 0, 0, byte(20 + udp), 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0xc0, 0, 0x12, 0xb7, 0, byte(udp), 0, 0,
	}
	f = append(append(f, body...), 0, 0, 0, 0)
	if err := icrc.Patch(f); err != nil {
		t.Fatal(err)
	}
	p := &packet.Packet{Number: 1, Interface: -1, HasTime: true}
	p.Parse(wire.LinkEthernet, f, 0)
	return p
}

func bth(op byte, rest ...byte) []byte {
	return append([]byte{op, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 5}, rest...)
}

func info(p *packet.Packet) string {
	seen := look(&p.Frame)
	seen.width = 0
	return string(seen.appendInfo(nil, p))
}

func TestInfoSaysWhatAPacketCarries(t *testing.T) {
	region := []byte{0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0xab, 0xcd, 0, 0, 0, 4}
	for want, body := range map[string][]byte{
		"RC SEND Only QP 0x000011 PSN 5 4 B":                                                              bth(0x04, 'A', 'B', 'C', 'D'),
		"RC Acknowledge QP 0x000011 PSN 5 ACK MSN 9 credits 4":                                            bth(0x11, 0x04, 0, 0, 9),
		"RC Acknowledge QP 0x000011 PSN 5 ACK MSN 9":                                                      bth(0x11, 0x1f, 0, 0, 9),
		"RC Acknowledge QP 0x000011 PSN 5 RNR NAK 1.28 ms MSN 9":                                          bth(0x11, 0x2e, 0, 0, 9),
		"RC Acknowledge QP 0x000011 PSN 5 RNR NAK 655.36 ms MSN 9":                                        bth(0x11, 0x20, 0, 0, 9),
		"RC Acknowledge QP 0x000011 PSN 5 NAK PSN Sequence Error MSN 9":                                   bth(0x11, 0x60, 0, 0, 9),
		"RC Acknowledge QP 0x000011 PSN 5 syndrome 0x66 MSN 9":                                            bth(0x11, 0x66, 0, 0, 9),
		"RC RDMA READ Request QP 0x000011 PSN 5 VA 0x0000000000001000 rkey 0x0000abcd len 4":              bth(0x0c, region...),
		"RC RDMA WRITE Only QP 0x000011 PSN 5 VA 0x0000000000001000 rkey 0x0000abcd len 4 4 B":            bth(0x0a, append(region[:16:16], 1, 2, 3, 4)...),
		"XRC SEND Only QP 0x000011 PSN 5 SRQ 0x000077 4 B":                                                bth(0xa4, 0, 0, 0, 0x77, 1, 2, 3, 4),
		"UD SEND Only QP 0x000011 PSN 5 from QP 0x000066 Q_Key 0x00000b1b 4 B":                            bth(0x64, 0, 0, 0xb, 0x1b, 0, 0, 0, 0x66, 1, 2, 3, 4),
		"RC SEND Only Invalidate QP 0x000011 PSN 5 inv rkey 0x00000099":                                   bth(0x17, 0, 0, 0, 0x99),
		"RC SEND Only Immediate QP 0x000011 PSN 5 imm 0xdeadbeef":                                         bth(0x05, 0xde, 0xad, 0xbe, 0xef),
		"RC FLUSH QP 0x000011 PSN 5 region global persistent VA 0x0000000000001000 rkey 0x0000abcd len 4": bth(0x1c, append([]byte{0, 0, 0, 0x13}, region...)...),
		"RC Fetch Add QP 0x000011 PSN 5 VA 0x0000000000001000 rkey 0x0000abcd add 0x4":                    bth(0x14, append(region[:12:12], 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0)...),
		"RC Compare Swap QP 0x000011 PSN 5 VA 0x0000000000001000 rkey 0x0000abcd swap 0x4 compare 0x2":    bth(0x13, append(region[:12:12], 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2)...),
		"RC ATOMIC Acknowledge QP 0x000011 PSN 5 ACK MSN 9 original 0x7":                                  bth(0x12, 0x1f, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 7),
		"CNP QP 0x000011 PSN 5":                          bth(0x81, make([]byte, 16)...),
		"Manufacturer opcode 0xe0 QP 0x000011 PSN 5 4 B": bth(0xe0, 1, 2, 3, 4),
		"Unknown UC opcode 0x36 QP 0x000011 PSN 5 4 B":   bth(0x36, 1, 2, 3, 4),
		"RC Acknowledge QP 0x000011 PSN 5 [too short]":   bth(0x11),
		"RC RDMA READ Request QP 0x000011 PSN 5 VA 0x0000000000001000 rkey 0x0000abcd len 4 4 B [unexpected payload]": bth(0x0c, append(region[:16:16], 1, 2, 3, 4)...),
	} {
		if got := info(roce(t, body...)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWrongICRCIsSaidWithItsMistake(t *testing.T) {
	p := roce(t, bth(0x04, 'A', 'B', 'C', 'D')...)
	crc := p.Frame.Data[p.Frame.ICRC:]
	crc[0], crc[1], crc[2], crc[3] = crc[3], crc[2], crc[1], crc[0]
	p.Parse(wire.LinkEthernet, p.Frame.Data, 0)
	if got := info(p); !strings.Contains(got, "[ICRC bad: ") {
		t.Error(got)
	}
}

func TestCutPacketIsShownAsFarAsItGoes(t *testing.T) {
	whole := roce(t, bth(0x11, 0x60, 0, 0, 9)...)
	p := &packet.Packet{}
	p.Parse(wire.LinkEthernet, whole.Frame.Data[:54], len(whole.Frame.Data))
	if got := info(p); got != "RC Acknowledge QP 0x000011 PSN 5 [cut]" {
		t.Error(got)
	}
	p.Parse(wire.LinkEthernet, whole.Frame.Data[:50], len(whole.Frame.Data))
	if got := info(p); got != "BTH cut off [cut]" {
		t.Error(got)
	}
}

func TestLineDoesNotAllocate(t *testing.T) {
	p := roce(t, bth(0x0a, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0xab, 0xcd, 0, 0, 0, 4, 1, 2, 3, 4)...)
	line := &Line{Palette: NewPalette(true)}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buf = line.Append(buf[:0], p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestColoursSurroundTheLineAndPlainHasNone(t *testing.T) {
	p := roce(t, bth(0x11, 0x60, 0, 0, 9)...)
	coloured := (&Line{Palette: NewPalette(true)}).Append(nil, p)
	plain := (&Line{Palette: NewPalette(false)}).Append(nil, p)
	if !bytes.HasPrefix(coloured, []byte("\x1b[")) || !bytes.HasSuffix(coloured, []byte("m\n")) {
		t.Errorf("%q", coloured)
	}
	if bytes.Contains(plain, []byte("\x1b")) {
		t.Errorf("%q", plain)
	}
}

func TestJSONIsValidForEveryKindOfPacket(t *testing.T) {
	for _, op := range []byte{0x04, 0x11, 0x0c, 0x1c, 0x64, 0x81, 0xa4, 0xff} {
		line := JSON{}.Append(nil, roce(t, bth(op, make([]byte, 40)...)...))
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Errorf("opcode %#x: %v\n%s", op, err, line)
		}
		if v["icrc"] != "good" || v["protocol"] != "RoCEv2" {
			t.Errorf("opcode %#x: %s", op, line)
		}
	}
}

func TestJSONStringsAreEscaped(t *testing.T) {
	in := "a\"b\\c\x01\xff→"
	var out string
	if err := json.Unmarshal(appendString(nil, in), &out); err != nil || out != "a\"b\\c\x01\ufffd→" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestTreePlacesBitsAndBytes(t *testing.T) {
	tree := string((&Tree{Palette: NewPalette(false)}).Append(nil, roce(t, bth(0x04, 'A', 'B', 'C', 'D')...)))
	for _, want := range []string{
		"    42          Opcode: RC SEND Only (4) ",
		"    43.2-3      Pad Count: 0 ",
		"    46.0        Forward Congestion Notification: 0 ",
		"    47-49       Destination QP: 0x000011 ",
		"    20.3-21.7   Fragment Offset: 0 ",
		"Verdict: good",
	} {
		if !strings.Contains(tree, want) {
			t.Errorf("no %q in\n%s", want, tree)
		}
	}
}

func TestHexShowsEachByteOnceAndItsField(t *testing.T) {
	p := roce(t, bth(0x04, 'A', 'B', 'C', 'D')...)
	dump := string((&Hex{Palette: NewPalette(false)}).Append(nil, p))
	if !strings.Contains(dump, "  002a  04 40 ff ff 00 00 00 11 00 00 00 05\n        op s+ p_key f+ destqp   a+ psn\n") {
		t.Error(dump)
	}
	count := 0
	for _, line := range strings.Split(dump, "\n") {
		if strings.HasPrefix(line, "  00") {
			count += len(strings.Fields(strings.SplitN(line[8:]+"   ", "   ", 2)[0]))
		}
	}
	if count != len(p.Frame.Data) {
		t.Errorf("%d bytes shown of %d:\n%s", count, len(p.Frame.Data), dump)
	}
}

func TestColumnsFollowTsharksOptions(t *testing.T) {
	p := roce(t, bth(0x04, 'A', 'B', 'C', 'D')...)
	for _, tc := range []struct {
		options []string
		want    string
	}{
		{nil, "49152,4791\t5\t\n"},
		{[]string{"separator=,", "aggregator=;"}, "49152;4791,5,\n"},
		{[]string{"occurrence=f"}, "49152\t5\t\n"},
		{[]string{"occurrence=l"}, "4791\t5\t\n"},
		{[]string{"quote=d"}, "\"49152,4791\"\t\"5\"\t\n"},
		{[]string{"separator=/s"}, "49152,4791 5 \n"},
	} {
		c, err := NewColumns([]string{"udp.port", "infiniband.bth.psn", "infiniband.aeth.msn"})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range tc.options {
			if err := c.Option(o); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(c.Append(nil, p)); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.options, got, tc.want)
		}
	}
}

func TestColumnsRefuseWhatTheyDoNotKnow(t *testing.T) {
	if _, err := NewColumns([]string{"infiniband.bth.pns"}); err == nil || !strings.Contains(err.Error(), "infiniband.bth.psn") {
		t.Error(err)
	}
	c, err := NewColumns([]string{"ip.src"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"colour=y", "occurrence=x", "quote=z", "header=maybe"} {
		if c.Option(bad) == nil {
			t.Errorf("-E %s was accepted", bad)
		}
	}
}

func TestNumbersAndTimesAreAlignedRight(t *testing.T) {
	for n, want := range map[uint64]string{0: "     0", 1: "     1", 42: "    42", 999999: "999999", 1234567: "1234567", 1<<64 - 1: "18446744073709551615"} {
		if got := string(appendRight(nil, n, 6)); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for ns, want := range map[int64]string{
		0: "  0.000000000", 1: "  0.000000001", 999_000_000_001: "999.000000001",
		1000_500_000_000: "1000.500000000", -1_500_000_000: "-1.500000000",
	} {
		if got := string(appendSpan(nil, ns)); got != want {
			t.Errorf("%d: %q", ns, got)
		}
	}
}

func TestRoutesAreRememberedByBothAddresses(t *testing.T) {
	line := &Line{Palette: NewPalette(false)}
	p := roce(t, bth(0x04)...)
	ip := wire.IPv4Header(p.Frame.View(wire.HdrIPv4))
	for host := range byte(12) {
		ip[15], ip[19] = host, host/2
		p.Parse(wire.LinkEthernet, p.Frame.Data, 0)
		got := string(line.Append(nil, p))
		if want := fmt.Sprintf(" 10.0.0.%d ", host); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
		if want := fmt.Sprintf("→ 10.0.0.%d ", host/2); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	line := &Line{Palette: NewPalette(false)}
	buf := make([]byte, 0, 1024)
	for name, body := range map[string][]byte{
		"ack":   bth(0x11, 0x1f, 0, 0, 9),
		"send":  bth(0x04, 'A', 'B', 'C', 'D'),
		"write": bth(0x0a, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0xab, 0xcd, 0, 0, 0, 4, 1, 2, 3, 4),
	} {
		p := roce(b, body...)
		p.Number, p.Time = 123456, 12_345_678_901
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				buf = line.Append(buf[:0], p)
			}
		})
	}
}
