package gencap

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/testneed"
)

func capture(t *testing.T, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// frames cuts a capture into its frames.
func frames(t *testing.T, capture []byte) [][]byte {
	t.Helper()
	var all [][]byte
	for rest := capture[pcapHeader:]; len(rest) > 0; {
		n := int(binary.LittleEndian.Uint32(rest[8:]))
		if wire := int(binary.LittleEndian.Uint32(rest[12:])); wire != n {
			t.Fatalf("record %d: captured %d bytes of %d", len(all), n, wire)
		}
		all = append(all, rest[pcapRecord:pcapRecord+n])
		rest = rest[pcapRecord+n:]
	}
	return all
}

// referenceICRC computes the ICRC of a frame in the plainest way, apart from
// package icrc: CRC-32 over eight bytes of ones and the masked packet (IBTA
// A17.3.3).
func referenceICRC(frame []byte) uint32 {
	const dummy, ethernet = 8, 14
	m := bytes.Repeat([]byte{0xff}, dummy)
	m = append(m, frame[ethernet:len(frame)-icrcLen]...)
	masks := []int{1, 8, 10, 11, ipv4Len + 6, ipv4Len + 7, ipv4Len + udpLen + 4}
	if m[dummy]>>4 == 6 {
		m[dummy] |= 0x0f
		masks = []int{1, 2, 3, 7, ipv6Len + 6, ipv6Len + 7, ipv6Len + udpLen + 4}
	}
	for _, at := range masks {
		m[dummy+at] = 0xff
	}
	return crc32.ChecksumIEEE(m)
}

func frameICRC(frame []byte) uint32 {
	return binary.LittleEndian.Uint32(frame[len(frame)-icrcLen:])
}

// The reference is right for packets from elsewhere.
func TestReferenceICRCOfKnownPackets(t *testing.T) {
	for name, digits := range map[string]string{
		"RC ACK over IPv4":                          "02000000000b02000000000a080045620030123440004011a408c000020ac0000214c35112b7001c00001140ffff000001230000a1b21f00000722aa69ef",
		"RC ACK over IPv6, recorded from Linux rxe": "52540077000252540077000386dd60000000001c1140fd770000000000000000000000000003fd770000000000000000000000000002c24012b7001c00001100ffff00000018005a86341f000001b917388a",
	} {
		frame, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := referenceICRC(frame), frameICRC(frame); got != want {
			t.Errorf("%s: ICRC %08x, want %08x", name, got, want)
		}
	}
}

func TestEveryICRCIsRight(t *testing.T) {
	for _, o := range []Options{
		{Packets: 50, Payload: 1024, Message: 4, QPs: 2},
		{Packets: 50, Payload: 1024, Message: 4, QPs: 2, IPv6: true},
		{Packets: 50, Payload: 0, Message: 1, QPs: 2},
		{Packets: 50, Payload: 13, Message: 1, QPs: 2, IPv6: true},
	} {
		for i, f := range frames(t, capture(t, o)) {
			if got, want := frameICRC(f), referenceICRC(f); got != want {
				t.Errorf("%+v: frame %d: ICRC %08x, want %08x", o, i, got, want)
			}
		}
	}
}

// TestWholeMessageOfOneQueuePair pins the order of the packets, their PSNs and
// their sizes.
func TestWholeMessageOfOneQueuePair(t *testing.T) {
	type seen struct {
		opcode byte
		psn    uint32 // from the first packet on
		size   int
	}
	const bth = 14 + ipv4Len + udpLen
	var got []seen
	var first uint32
	for i, f := range frames(t, capture(t, Options{Packets: 6, Payload: 256, Message: 4, QPs: 1})) {
		psn := binary.BigEndian.Uint32(f[bth+8:]) & 0xffffff
		if i == 0 {
			first = psn
		}
		got = append(got, seen{f[bth], (psn - first) & 0xffffff, len(f)})
	}
	const data = bth + bthLen + 256 + icrcLen
	want := []seen{
		{opWriteFirst, 0, data + 16},
		{opWriteMiddle, 1, data},
		{opWriteMiddle, 2, data},
		{opWriteLast, 3, data},
		{opAcknowledge, 3, bth + bthLen + 4 + icrcLen},
		{opWriteFirst, 4, data + 16},
	}
	if !slices.Equal(got, want) {
		t.Errorf("packets %v, want %v", got, want)
	}
}

// TestLifeEndsWithItsMessages pins that a queue pair is never heard of again
// after so many messages, and that all before it had as many.
func TestLifeEndsWithItsMessages(t *testing.T) {
	const life, packets = 3, 600
	acks := make(map[uint32]int)
	const bth = 14 + ipv4Len + udpLen
	for _, f := range frames(t, capture(t, Options{Packets: packets, Payload: 16, Message: 1, QPs: 2, Life: life})) {
		if f[bth] == opAcknowledge {
			acks[binary.BigEndian.Uint32(f[bth+4:])]++
		}
	}
	short := 0
	for qp, n := range acks {
		if n > life {
			t.Errorf("queue pair %#x: %d messages", qp, n)
		}
		if n < life {
			short++
		}
	}
	if want := packets / (2 * life); len(acks) < want || short > 2 {
		t.Errorf("%d queue pairs, %d of them with fewer messages; want %d or more, and at most 2", len(acks), short, want)
	}
}

func TestIPv4ChecksumsSumToOnes(t *testing.T) {
	for i, f := range frames(t, capture(t, Options{Packets: 100, Payload: 17, Message: 1, QPs: 3})) {
		var sum uint32
		for at := 14; at < 14+ipv4Len; at += 2 {
			sum += uint32(binary.BigEndian.Uint16(f[at:]))
		}
		if sum = sum>>16 + sum&0xffff; sum != 0xffff {
			t.Errorf("frame %d: the header sums to %04x", i, sum)
		}
	}
}

func TestSameOptionsGiveTheSameBytes(t *testing.T) {
	o := Options{Packets: 500, Payload: 16, Message: 1, QPs: 7, Seed: 3}
	one, two := capture(t, o), capture(t, o)
	if !bytes.Equal(one, two) {
		t.Error("two captures of the same options differ")
	}
	o.Seed = 4
	if bytes.Equal(one, capture(t, o)) {
		t.Error("another seed gave the same capture")
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	good := Options{Packets: 1, Payload: 256, Message: 2, QPs: 1}
	if err := Write(io.Discard, good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(o *Options){
		"negative count":      func(o *Options) { o.Packets = -1 },
		"negative payload":    func(o *Options) { o.Payload = -1 },
		"payload over MTU":    func(o *Options) { o.Payload, o.Message = 4097, 1 },
		"no queue pair":       func(o *Options) { o.QPs = 0 },
		"no packet a message": func(o *Options) { o.Message = 0 },
		"negative life":       func(o *Options) { o.Life = -1 },
		"payload is no MTU":   func(o *Options) { o.Payload = 300 },
	} {
		o := good
		spoil(&o)
		if Write(io.Discard, o) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("disk full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorIsReturned(t *testing.T) {
	err := Write(brokenWriter{}, Options{Packets: 1, Payload: 16, Message: 1, QPs: 1})
	if !errors.Is(err, errBroken) {
		t.Errorf("error = %v, want %v", err, errBroken)
	}
}

func TestRecordsAreMadeWithoutAllocation(t *testing.T) {
	g := newGenerator(Options{Payload: 1024, Message: 4, QPs: 2})
	for range 20 {
		g.record() // lets the buffers grow
	}
	if n := testing.AllocsPerRun(100, func() { g.record() }); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func TestTsharkReadsTheCapture(t *testing.T) {
	tshark := testneed.Tool(t, "tshark")
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"WRITE over IPv4", Options{Packets: 4, Payload: 256, Message: 3, QPs: 1}, "6 7 8 17"},
		{"padded SEND over IPv6", Options{Packets: 2, Payload: 17, Message: 1, QPs: 1, IPv6: true}, "4 17"},
	} {
		file := filepath.Join(t.TempDir(), "c.pcap")
		if err := os.WriteFile(file, capture(t, c.o), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) string {
			out, err := exec.Command(tshark, append([]string{"-r", file, "-o", "ip.check_checksum:TRUE"}, args...)...).Output()
			if err != nil {
				t.Fatalf("%s: tshark: %v", c.name, err)
			}
			return strings.Join(strings.Fields(string(out)), " ")
		}
		if got := run("-T", "fields", "-e", "infiniband.bth.opcode"); got != c.want {
			t.Errorf("%s: opcodes %q, want %q", c.name, got, c.want)
		}
		if got := run("-Y", "_ws.malformed || ip.checksum.status == 0"); got != "" {
			t.Errorf("%s: tshark objects to %s", c.name, got)
		}
	}
}
