package iwarp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// shuffle swaps packets with others at most window places away.
func shuffle(r *rand.Rand, packets []Packet, window int) {
	for i := range packets {
		j := min(len(packets)-1, i+r.IntN(window))
		packets[i], packets[j] = packets[j], packets[i]
	}
}

// duplicate repeats some packets a little later, some with other boundaries.
func duplicate(r *rand.Rand, packets []Packet) []Packet {
	var out []Packet
	for i, p := range packets {
		out = append(out, p)
		if r.IntN(4) == 0 {
			again := packets[r.IntN(i+1)]
			if n := len(again.Payload); n > 2 && r.IntN(2) == 0 {
				k := 1 + r.IntN(n-1)
				again.Payload, again.WireLen = again.Payload[k:], n-k
				again.Seq += uint32(k)
			}
			out = append(out, again)
		}
	}
	return out
}

// interleave merges two captures at random, each in its own order.
func interleave(r *rand.Rand, a, b []Packet) []Packet {
	var out []Packet
	for len(a) > 0 && len(b) > 0 {
		if r.IntN(len(a)+len(b)) < len(a) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func TestSegmentationDoesNotChangeThePDUs(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := newSession(seed&1 != 0, seed&2 != 0)
		x.isnC = -uint32(r.IntN(20000)) // wraps within the stream
		x.isnS = -uint32(r.IntN(3000))
		x.c.fill(r, 30, 1500)
		x.s.fill(r, 10, 300)
		size := []int{1, 7, 100, 1460, 9000}[r.IntN(5)]
		if size == 1 {
			x.c.stream = x.c.stream[:0]
			x.c.fpdus = nil
			x.c.start("MPA ID Req Frame", x.s.stream[16], 1, "")
			x.c.fill(r, 3, 700)
		}
		data := x.cut(r, true, x.c.origin, size)
		answers := x.cut(r, false, x.s.origin, size)
		shuffle(r, data, 6)
		shuffle(r, answers, 6)
		data = interleave(r, data, answers)
		packets := append(x.syn(), duplicate(r, append(x.handshake()[2:], data...))...)
		all := track(numbered(packets))
		name := fmt.Sprintf("seed %d, segments of %d", seed, size)
		if diff := cmp.Diff(x.c.fpdus, ulpdus(all, client)); diff != "" {
			t.Fatalf("%s: client FPDUs (-want +got):\n%.400s", name, diff)
		}
		if diff := cmp.Diff(x.s.fpdus, ulpdus(all, server)); diff != "" {
			t.Fatalf("%s: server FPDUs (-want +got):\n%.400s", name, diff)
		}
		for i := range all {
			p := &all[i]
			if p.Kind == Gap || p.Kind == Skipped {
				t.Fatalf("%s: %v of %d bytes", name, p.Kind, p.Len)
			}
			if want := map[bool]CRC{true: CRCGood, false: CRCUnused}[seed&2 != 0]; p.Kind == FPDU && p.CRC != want {
				t.Fatalf("%s: CRC %v, want %v", name, p.CRC, want)
			}
			if p.Has(IssueMarker) {
				t.Fatalf("%s: %v", name, p.Issues)
			}
		}
	}
}

func TestStartFramesInPieces(t *testing.T) {
	for size := 1; size < 24; size++ {
		x := newSession(false, true)
		x.c.fpdu(send(1, []byte("ping")))
		x.s.fpdu(send(1, []byte("pong")))
		packets := x.syn()
		for lo := 0; lo < x.c.origin; lo += size {
			packets = append(packets, x.segment(true, lo, min(lo+size, x.c.origin)))
		}
		for lo := 0; lo < len(x.s.stream); lo += size { // the FPDU follows in the same segments
			packets = append(packets, x.segment(false, lo, min(lo+size, len(x.s.stream))))
		}
		packets = append(packets, x.segment(true, x.c.origin, len(x.c.stream)))
		var kinds []Kind
		all := track(numbered(packets))
		for _, p := range all {
			kinds = append(kinds, p.Kind)
		}
		if diff := cmp.Diff([]Kind{MPARequest, MPAReply, FPDU, FPDU}, kinds); diff != "" {
			t.Fatalf("pieces of %d bytes (-want +got):\n%s", size, diff)
		}
		if all[2].CRC != CRCGood || all[3].CRC != CRCGood {
			t.Errorf("pieces of %d bytes: CRC %v and %v", size, all[2].CRC, all[3].CRC)
		}
	}
}

// subsequence reports whether got is want with elements left out.
func subsequence(got, want []string) bool {
	for _, g := range got {
		i := slices.Index(want, g)
		if i < 0 {
			return false
		}
		want = want[i+1:]
	}
	return true
}

func TestLossLeavesThePDUsAroundItRight(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		x := newSession(seed&1 != 0, seed&2 != 0)
		x.isnC = -uint32(r.IntN(60000))
		x.c.fill(r, 60, 1400)
		data := x.cut(r, true, x.c.origin, 1460)
		lost := 1 + r.IntN(len(data)-20) // with enough after it to find the way back
		n := 1 + r.IntN(3)
		packets := x.handshake()
		packets = append(packets, data[:lost]...)
		packets = append(packets, data[lost+n:]...)
		packets = append(packets, x.ack(false, len(x.c.stream)))
		all := track(numbered(packets))

		got := ulpdus(all, client)
		if !subsequence(got, x.c.fpdus) {
			t.Fatalf("seed %d: an FPDU that was not sent", seed)
		}
		if first, last := x.c.fpdus[0], x.c.fpdus[59]; lost > 1 && len(x.c.fpdus[0]) < 100 && got[0] != first || got[len(got)-1] != last {
			t.Errorf("seed %d: the first or the last FPDU is missing", seed)
		}
		// Three segments of up to 1460 bytes cannot take more than this with them.
		if len(got) < len(x.c.fpdus)-45 {
			t.Errorf("seed %d: %d of %d FPDUs", seed, len(got), len(x.c.fpdus))
		}
		checkAccounted(t, fmt.Sprintf("seed %d", seed), all, x)
		for _, p := range all {
			if p.Kind == FPDU && p.CRC == CRCBad {
				t.Errorf("seed %d: bad CRC at %d", seed, p.Stream)
			}
		}
	}
}

// checkAccounted checks that the client's PDUs cover its stream without overlap.
func checkAccounted(t *testing.T, name string, all []kept, x *session) {
	t.Helper()
	at := int64(0)
	for i := range all {
		p := &all[i]
		if p.Src != client || p.Kind == Gap || p.Kind == Skipped {
			continue
		}
		if p.Stream < at {
			t.Fatalf("%s: %v at %d overlaps the one before it", name, p.Kind, p.Stream)
		}
		at = p.Stream + p.Len
	}
	if got := total(all, true); got != int64(len(x.c.stream)) {
		t.Errorf("%s: PDUs and gaps have %d bytes, the stream has %d", name, got, len(x.c.stream))
	}
}

// total adds up the stream bytes of the client's PDUs, or of the server's.
func total(all []kept, fromClient bool) int64 {
	n := int64(0)
	for i := range all {
		if (all[i].Src == client) == fromClient {
			n += all[i].Len
		}
	}
	return n
}

func TestMidStreamStart(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		x := newSession(seed&1 != 0, seed&2 != 0)
		x.c.fill(r, 60, 1400)
		data := x.cut(r, true, x.c.origin, 1460)
		packets := data[1+r.IntN(10):]
		all := track(numbered(packets))
		got := ulpdus(all, client)
		if !subsequence(got, x.c.fpdus) {
			t.Fatalf("seed %d: an FPDU that was not sent", seed)
		}
		// Markers that cannot be seen at once cost an FPDU or two.
		if len(got) < 35 {
			t.Errorf("seed %d (markers %t, CRC %t): %d FPDUs", seed, seed&1 != 0, seed&2 != 0, len(got))
		}
		for i := range all {
			if p := &all[i]; p.CRC == CRCBad || p.Has(IssueMarker) {
				t.Errorf("seed %d: %v %v at %d", seed, p.CRC, p.Issues, p.Stream)
			}
		}
	}
}

func TestCutSegmentsStayInFrame(t *testing.T) {
	for _, handshake := range []bool{true, false} {
		x := newSession(false, true)
		r := rand.New(rand.NewPCG(1, 4))
		var packets []Packet
		if handshake {
			packets = x.handshake()
		}
		for i := range 10 {
			lo := len(x.c.stream)
			x.c.fpdu(write(uint64(i), noise(r, 1000)))
			p := x.segment(true, lo, len(x.c.stream))
			p.Payload = p.Payload[:30]
			packets = append(packets, p)
		}
		all := track(numbered(packets))
		n := 0
		for i := range all {
			p := &all[i]
			if p.Kind != FPDU {
				continue
			}
			op, ok := p.Opcode()
			if !ok || op != 0 || p.CRC != CRCUnchecked || p.Missing != p.Len-30 || p.Segments != 1 || len(p.Issues) > 0 {
				t.Errorf("handshake %t: FPDU %v, CRC %v, %d bytes missing, %d segments, %v", handshake, op, p.CRC, p.Missing, p.Segments, p.Issues)
			}
			n++
		}
		if n != 10 {
			t.Errorf("handshake %t: %d FPDUs, want 10", handshake, n)
		}
	}
}

func TestPortReuseBeginsANewConnection(t *testing.T) {
	x := newSession(true, true)
	x.c.fpdu(send(1, []byte("one")))
	y := newSession(false, false)
	y.isnC, y.isnS = 77, 78
	y.c.fpdu(send(1, []byte("two")))
	packets := append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)))
	packets = append(packets, y.handshake()...)
	packets = append(packets, y.segment(true, y.c.origin, len(y.c.stream)))
	got := ulpdus(track(numbered(packets)), client)
	if diff := cmp.Diff([]string{x.c.fpdus[0], y.c.fpdus[0]}, got); diff != "" {
		t.Errorf("FPDUs of both connections (-want +got):\n%s", diff)
	}
}

func TestMarkerFlagGovernsTheOtherDirection(t *testing.T) {
	x := newSession(false, true)
	x.c, x.s = writer{}, writer{markers: true}
	x.c.start("MPA ID Req Frame", 0xc0, 1, "") // the client wants markers, the server does not
	x.s.start("MPA ID Rep Frame", 0x00, 1, "")
	r := rand.New(rand.NewPCG(1, 5))
	x.c.fill(r, 5, 1000)
	x.s.fill(r, 5, 1000)
	packets := append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)), x.segment(false, x.s.origin, len(x.s.stream)))
	all := track(numbered(packets))
	if diff := cmp.Diff(x.c.fpdus, ulpdus(all, client)); diff != "" {
		t.Errorf("client (-want +got):\n%.300s", diff)
	}
	if diff := cmp.Diff(x.s.fpdus, ulpdus(all, server)); diff != "" {
		t.Errorf("server (-want +got):\n%.300s", diff)
	}
}

func TestTheTrackerKeepsNoCaptureMemory(t *testing.T) {
	x := newSession(false, true)
	r := rand.New(rand.NewPCG(1, 6))
	x.c.fill(r, 20, 1000)
	data := x.cut(r, true, x.c.origin, 300)
	shuffle(r, data, 5)
	tr := NewTracker(DefaultLimits())
	var all []kept
	for _, p := range numbered(append(x.handshake(), data...)) {
		p.Payload = bytes.Clone(p.Payload)
		all = append(all, keep(tr.Segment(p), p.Number)...)
		for i := range p.Payload {
			p.Payload[i] = 0xee
		}
	}
	if diff := cmp.Diff(x.c.fpdus, ulpdus(all, client)); diff != "" {
		t.Errorf("FPDUs (-want +got):\n%.300s", diff)
	}
}

// onPort moves a packet to another connection.
func onPort(p Packet, port uint16) Packet {
	c := netip.AddrPortFrom(client.Addr(), 1000+port)
	if p.Src == client {
		p.Src = c
	} else {
		p.Dst = c
	}
	return p
}

func TestMemoryIsBoundedAndGivenBack(t *testing.T) {
	limits := Limits{Limits: tcpstream.Limits{PerStream: 20000, Total: 50000}, Conns: 10}
	tr := NewTracker(limits)
	x := newSession(false, false)
	r := rand.New(rand.NewPCG(1, 7))
	x.c.fill(r, 300, 1400)
	data := x.cut(r, true, x.c.origin, 1460)
	for port := range uint16(50) {
		for i, p := range append(x.handshake(), data...) {
			if i == 6 || i == 40 { // never captured, never acknowledged
				continue
			}
			p.Number = uint64(i)
			p = onPort(p, port)
			tr.Segment(p)
			if used := tr.budget.Used(); used > 50000+2*70000 {
				t.Fatalf("%d bytes in use", used)
			}
			if len(tr.conns) > 10 {
				t.Fatalf("%d connections", len(tr.conns))
			}
		}
	}
	tr.Flush()
	if used := tr.budget.Used(); used != 0 || len(tr.conns) != 0 {
		t.Errorf("after Flush %d bytes and %d connections", used, len(tr.conns))
	}
}

func TestSteadyStreamDoesNotAllocate(t *testing.T) {
	x := newSession(false, true)
	x.c.fpdu(write(0, make([]byte, 1400)))
	tr := NewTracker(DefaultLimits())
	for _, p := range x.handshake() {
		tr.Segment(p)
	}
	p := x.segment(true, x.c.origin, len(x.c.stream))
	n := testing.AllocsPerRun(200, func() {
		if got := tr.Segment(p); len(got) != 1 || got[0].CRC != CRCGood {
			t.Fatalf("%d PDUs", len(got))
		}
		p.Seq += uint32(p.WireLen)
	})
	if n != 0 {
		t.Errorf("%v allocations for each FPDU", n)
	}
}

func TestTheReplyWasNotCaptured(t *testing.T) {
	for _, crc := range []bool{true, false} {
		for _, markers := range []bool{true, false} {
			x := newSession(markers, crc)
			r := rand.New(rand.NewPCG(1, 12))
			x.c.fill(r, 20, 1400)
			packets := append(x.syn(), x.segment(true, 0, x.c.origin))
			packets = append(packets, x.cut(r, true, x.c.origin, 2900)...)
			got := ulpdus(track(numbered(packets)), client)
			if diff := cmp.Diff(x.c.fpdus, got); diff != "" {
				t.Errorf("CRC %t, markers %t (-want +got):\n%.300s", crc, markers, diff)
			}
		}
	}
}

func TestTheReplyIsCapturedLate(t *testing.T) {
	for seed := range uint64(8) {
		x := newSession(seed&1 != 0, seed&2 != 0)
		r := rand.New(rand.NewPCG(seed, 13))
		x.c.fill(r, 20, 1400)
		data := x.cut(r, true, x.c.origin, 1460)
		packets := append(x.syn(), x.segment(true, 0, x.c.origin))
		packets = append(packets, data[:int(seed)]...)
		packets = append(packets, x.segment(false, 0, x.s.origin))
		packets = append(packets, data[int(seed):]...)
		got := ulpdus(track(numbered(packets)), client)
		if diff := cmp.Diff(x.c.fpdus, got); diff != "" {
			t.Errorf("seed %d (-want +got):\n%.300s", seed, diff)
		}
	}
}

func TestTheRequestWasNotCaptured(t *testing.T) {
	for seed := range uint64(4) {
		x := newSession(seed&1 != 0, seed&2 != 0)
		r := rand.New(rand.NewPCG(seed, 14))
		x.c.fill(r, 20, 1400)
		x.s.fill(r, 20, 1400)
		packets := []Packet{x.segment(false, 0, x.s.origin)}
		packets = append(packets, interleave(r, x.cut(r, true, x.c.origin, 1460), x.cut(r, false, x.s.origin, 1460))...)
		all := track(numbered(packets))
		if diff := cmp.Diff(x.c.fpdus, ulpdus(all, client)); diff != "" {
			t.Errorf("seed %d, client (-want +got):\n%.300s", seed, diff)
		}
		if diff := cmp.Diff(x.s.fpdus, ulpdus(all, server)); diff != "" {
			t.Errorf("seed %d, server (-want +got):\n%.300s", seed, diff)
		}
	}
}
