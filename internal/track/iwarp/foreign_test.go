package iwarp

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// dialogue is a TCP connection that carries the given bytes, with a capture
// that has its start or begins in the middle.
func dialogue(r *rand.Rand, sent, answered []byte, fromStart bool) []Packet {
	x := &session{isnC: r.Uint32(), isnS: r.Uint32()}
	x.c.stream, x.s.stream = sent, answered
	packets := interleave(r, x.cut(r, true, 0, 2896), x.cut(r, false, 0, 2896))
	if fromStart {
		packets = append(x.syn(), packets...)
	}
	return numbered(packets)
}

func TestOtherProtocolsAreNotClaimed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	nvme := func() []byte { // NVMe/TCP: ICReq, then command capsules and data
		b := append([]byte{0, 0, 0x80, 0, 0x80, 0, 0, 0}, make([]byte, 120)...)
		for i := range 400 {
			capsule := make([]byte, 72)
			copy(capsule, []byte{4, 0, 72, 0, 72, 0, 0, 0, 2, 0x40, byte(i), 0, 1})
			b = append(b, capsule...)
			b = append(b, 7, 0, 24, 24, 0x18, 2, 0, 0)
			b = append(b, make([]byte, 528)...)
		}
		return b
	}
	counter := func() (b []byte) {
		for i := range uint32(60000) {
			b = binary.BigEndian.AppendUint32(b, i*0x10001)
		}
		return b
	}
	tests := map[string][]byte{
		"HTTP":                    []byte(strings.Repeat("GET /MPA ID Req Frame HTTP/1.1\r\nHost: example.net\r\nAccept: */*\r\n\r\n", 2000)),
		"SSH":                     append([]byte("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), noise(r, 300000)...),
		"encrypted":               noise(r, 3000000),
		"zeros":                   make([]byte, 500000),
		"letters":                 bytes.Repeat([]byte("AC"), 100000),
		"NVMe/TCP":                nvme(),
		"perftest":                []byte(strings.Repeat("0000:0011:54cb63:00000000:00007fee260fb000:00000000000000000000ffff0a4d0002\x00", 5)),
		"counter":                 counter(),
		"tagged headers, no CRCs": bytes.Repeat([]byte{0x00, 0x40, 0xc1, 0x41, 0, 0, 0, 0}, 20000),
	}
	for name, b := range tests {
		for _, fromStart := range []bool{true, false} {
			start := time.Now()
			for _, p := range track(dialogue(r, b, b[:len(b)/3], fromStart)) {
				t.Fatalf("%s: %s of %d bytes at %d", name, line(&p), p.Len, p.Stream)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s took %v", name, took)
			}
		}
	}
}

func TestPingpongExchangeOfTheSampleIsNotClaimed(t *testing.T) {
	packets := capture(t, "rc_vlan.pcap")
	for _, p := range track(packets) {
		t.Errorf("packet %d: %s", p.in, line(&p))
	}
}

func TestHostileStreamsTakeLinearTime(t *testing.T) {
	// Every second byte begins what looks like a long tagged FPDU.
	b := bytes.Repeat([]byte{0xc1, 0x40}, 1<<19)
	tr := NewTracker(DefaultLimits())
	x := &session{}
	x.c.stream = b
	for i := range 6 { // known to be iWARP, so that it is never given up
		lo, hi := i*len(b)/6, (i+1)*len(b)/6
		tr.Segment(x.segment(true, lo, hi))
	}
	var s *stream
	for _, c := range tr.conns {
		for dir := range c.streams {
			if c.streams[dir].win.end() > 0 {
				s = &c.streams[dir]
			}
		}
	}
	if limit := int64(crcFree + (crcShare+1)*len(b)); s.probe.work > limit {
		t.Errorf("%d bytes went through the CRC, for %d bytes of stream", s.probe.work, len(b))
	}
	if s.win.size() > maxProbe+len(b)/6 {
		t.Errorf("the window has %d bytes", s.win.size())
	}
}

func TestALongForeignConnectionIsGivenUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	tr := NewTracker(DefaultLimits())
	x := &session{}
	x.c.stream = noise(r, 1<<20)
	seq := uint32(0)
	for range maxVain>>20 + 2 {
		for _, dir := range []bool{true, false} {
			p := x.segment(true, 0, len(x.c.stream))
			p.Seq = seq
			if !dir {
				p.Src, p.Dst = server, client
			}
			tr.Segment(p)
		}
		seq += 1 << 20
	}
	for _, c := range tr.conns {
		if !c.hopeless() {
			t.Error("a connection without iWARP is still followed")
		}
	}
	// A new connection on its ports is followed again.
	y := newSession(false, true)
	y.c.fpdu(send(1, []byte("hello")))
	n := 0
	for _, p := range append(y.handshake(), y.segment(true, y.c.origin, len(y.c.stream))) {
		n += len(tr.Segment(p))
	}
	if n != 3 {
		t.Errorf("%d PDUs of the new connection, want 3", n)
	}
}

// A capture of junk headers, and of FPDUs in pieces, must not panic, loop or
// claim more bytes than there were.
func FuzzTracker(f *testing.F) {
	x := newSession(true, true)
	x.c.fpdu(send(1, make([]byte, 600)))
	f.Add(x.c.stream, x.s.stream, uint16(100), uint64(1))
	f.Add([]byte("MPA ID Req Frame\x50\x02\x00\x04\x80\x01\x40\x01"), []byte("MPA ID Rep Frame\x20\x01\x00\x00"), uint16(3), uint64(2))
	f.Add(bytes.Repeat([]byte{0, 14, 0xc1, 0x40, 0, 0, 0, 0}, 20), []byte{}, uint16(30), uint64(3))
	f.Fuzz(func(t *testing.T, sent, answered []byte, size uint16, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 10))
		y := &session{isnC: uint32(seed), isnS: ^uint32(seed)}
		y.c.stream, y.s.stream = sent, answered
		step := 1 + int(size)%3000
		if len(sent)+len(answered) > 200*step {
			return
		}
		packets := interleave(r, y.cut(r, true, 0, step), y.cut(r, false, 0, step))
		shuffle(r, packets, 3)
		packets = append(y.syn(), duplicate(r, packets)...)
		for i := range packets {
			p := &packets[i]
			switch r.IntN(8) {
			case 0:
				p.Payload = p.Payload[:len(p.Payload)/2] // cut
			case 1:
				p.WireLen, p.Payload = 0, nil // lost
			case 2:
				p.Ack += uint32(r.IntN(2000))
			case 3:
				p.Flags |= tcpstream.Flags(r.IntN(64)) &^ (tcpstream.SYN | tcpstream.RST)
			}
		}
		all := track(numbered(packets))
		if n := total(all, true); n > int64(len(sent)) {
			t.Fatalf("PDUs of %d bytes from a stream of %d", n, len(sent))
		}
		for i := range all {
			p := &all[i]
			if p.Kind == FPDU && int64(len(p.Stack.Data)) > p.Len-p.Missing {
				t.Fatalf("%s has %d bytes of data, %d of stream, %d missing", line(p), len(p.Stack.Data), p.Len, p.Missing)
			}
		}
	})
}
