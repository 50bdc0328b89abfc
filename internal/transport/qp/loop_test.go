package qp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// A side's memory: where messages come from, what peers read, what they write,
// counters for atomics, where READs and RECEIVEs put things.
const (
	loopSource   = 0
	loopReadable = 64 << 10
	loopWritable = 128 << 10
	loopCounters = 144 << 10
	loopResults  = 160 << 10
	loopBuffers  = loopResults + loopSlots*loopSlot
	loopMemory   = loopBuffers + loopSlots*loopSlot

	loopSlots   = 64
	loopSlot    = 2048
	loopLongest = 2000
	loopVA      = 1 << 20
	loopMTU     = 256
	loopSeeds   = 5
	loopSRQ     = 7
)

// side is a queue pair with both halves at work, and what its peer's work will
// have done to it when it is done.
type side struct {
	name   string
	q      *QP
	key    uint32
	mem    []byte
	want   []byte // writable memory and counters, in the end
	srq    *SRQ
	posted int
	recvs  int
	// Completions that are to come, in order.
	requests []func(c Completion) error
	arrivals []func(c Completion, buf []byte) error
	peer     *side
	in       []flight
}

// flight is a packet under way.
type flight struct {
	at     time.Time
	packet []byte
}

// loopNet is what happens to packets, in chances of a thousand.
type loopNet struct {
	drop, duplicate, corrupt, reorder int
	// late is by how much a reordered packet is late at most, 0 for less than the
	// local ACK timeout.
	late time.Duration
}

// loop is two sides and what is between them, in virtual time.
type loop struct {
	t     *testing.T
	rng   *rand.Rand
	now   time.Time
	net   loopNet
	sides [2]*side
	// tell, when not nil, takes the completions instead of the checks.
	tell func(s *side, c Completion)
}

func newLoop(t *testing.T, seed uint64, net loopNet, change func(c *Config, a *Attributes)) *loop {
	l := &loop{t: t, rng: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(0, 0), net: net}
	for i := range l.sides {
		s := &side{name: string(rune('A' + i)), mem: make([]byte, loopMemory)}
		for j := range s.mem[:loopWritable] {
			s.mem[j] = byte(l.rng.Uint32())
		}
		s.want = make([]byte, loopResults-loopWritable)
		table := mr.NewTable(seed)
		pd := table.AllocPD()
		region, err := table.Register(pd, s.mem, loopVA, mr.LocalWrite|mr.RemoteRead|mr.RemoteWrite|mr.RemoteAtomic|mr.FlushGlobal)
		l.check(err)
		s.key = region.RKey()
		c := Config{
			Number: uint32(i + 1), Type: RC, PD: pd, Memory: table, MaxSend: 32, MaxRecv: 32, MaxSGE: 2, SignalAll: true,
			Policy: Policy{InfiniteRetry7: true},
		}
		a := Attributes{
			Access: mr.RemoteRead | mr.RemoteWrite | mr.RemoteAtomic | mr.FlushGlobal, DestQP: uint32(2 - i), PathMTU: loopMTU,
			Address: &Address{}, SQPSN: wire.PSN(0xFFFFF0).Add(i), RQPSN: wire.PSN(0xFFFFF0).Add(1 - i),
			MaxRdAtomic: 4, MaxDestRdAtomic: 4, MinRNRTimer: 1, Timeout: 4, RetryCount: 7, RNRRetry: 7,
		}
		if change != nil {
			change(&c, &a)
		}
		s.srq = c.SRQ
		if c.FindSRQ != nil {
			s.srq = c.FindSRQ(loopSRQ)
		}
		s.q, err = New(c)
		l.check(err)
		for _, to := range []State{Init, RTR, RTS} {
			l.check(s.q.Modify(l.now, to, a))
		}
		l.sides[i] = s
	}
	l.sides[0].peer, l.sides[1].peer = l.sides[1], l.sides[0]
	return l
}

func (l *loop) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *loop) chance(of int) bool { return l.rng.IntN(1000) < of }

// size is a message's length, often one at a border of packets.
func (l *loop) size() int {
	if l.chance(300) {
		return l.rng.IntN(8) * loopMTU
	}
	return l.rng.IntN(loopLongest)
}

// sgl is n bytes of a side's memory, sometimes in two pieces.
func (l *loop) sgl(s *side, at, n int) []SGE {
	piece := func(at, n int) SGE { return SGE{Addr: loopVA + uint64(at), Length: uint32(n), LKey: s.key} }
	if cut := l.rng.IntN(n + 1); l.chance(300) {
		return []SGE{piece(at, cut), piece(at+cut, n-cut)}
	}
	return []SGE{piece(at, n)}
}

// post posts a random request and notes what it must lead to.
func (l *loop) post(s *side) {
	id := s.posted
	s.posted++
	n := l.size()
	wr := WorkRequest{ID: uint64(id), RKey: s.peer.key, RemoteAddr: loopVA, SRQ: loopSRQ}
	if l.chance(100) {
		wr.Flags = Fence
	}
	result := loopResults + id%loopSlots*loopSlot
	source := loopSource + l.rng.IntN(loopReadable-loopLongest)
	message := s.mem[source : source+n]
	check := equal(nil)
	switch l.rng.IntN(9) {
	case 0, 1:
		wr.Op, wr.SGL = Send, l.sgl(s, source, n)
		s.peer.expect(message, nil)
	case 2:
		wr.Op, wr.SGL, wr.Immediate = SendImmediate, l.sgl(s, source, n), l.rng.Uint32()
		s.peer.expect(message, &wr.Immediate)
	case 3, 4:
		wr.Op, wr.SGL = Write, l.sgl(s, source, n)
		at := l.rng.IntN(loopCounters - loopWritable - loopLongest)
		if l.chance(300) {
			wr.Op, wr.Immediate = WriteImmediate, l.rng.Uint32()
			s.peer.expect(nil, &wr.Immediate)
		}
		wr.RemoteAddr += uint64(loopWritable + at)
		copy(s.peer.want[at:], message)
	case 5:
		at := loopReadable + l.rng.IntN(loopWritable-loopReadable-loopLongest)
		wr.Op, wr.SGL = Read, l.sgl(s, result, n)
		wr.RemoteAddr += uint64(at)
		check = equal(s.peer.mem[at : at+n])
	case 6:
		wr.Op, wr.SGL, wr.SwapAdd = FetchAdd, l.sgl(s, result, 8), uint64(l.rng.Uint32())
		at := loopCounters + 8*l.rng.IntN(8)
		wr.RemoteAddr += uint64(at)
		counter := s.peer.want[at-loopWritable:]
		before := binary.NativeEndian.Uint64(counter)
		check = equal(binary.NativeEndian.AppendUint64(nil, before))
		binary.NativeEndian.PutUint64(counter, before+wr.SwapAdd)
	case 7:
		at := loopWritable + 8*l.rng.IntN(100)
		wr.Op, wr.SGL = AtomicWrite, l.sgl(s, source, 8)
		wr.RemoteAddr += uint64(at)
		copy(s.peer.want[at-loopWritable:], s.mem[source:source+8])
	case 8:
		wr.Op, wr.Length, wr.Placement = Flush, 100, wire.FlushGlobal
	}
	l.check(s.q.PostSend(l.now, wr))
	s.requests = append(s.requests, func(c Completion) error {
		if c.ID != uint64(id) || c.Status != Success || c.Op != wr.Op {
			return fmt.Errorf("request %d, %v ended as %+v", id, wr.Op, c)
		}
		return check(s.mem[result:])
	})
}

func equal(want []byte) func(got []byte) error {
	want = bytes.Clone(want)
	return func(got []byte) error {
		if !bytes.Equal(got[:len(want)], want) {
			return fmt.Errorf("%d bytes differ from what was to be read", len(want))
		}
		return nil
	}
}

// expect notes a message that is to arrive.
func (s *side) expect(message []byte, immediate *uint32) {
	s.arrivals = append(s.arrivals, func(c Completion, buf []byte) error {
		switch {
		case c.Status != Success, c.HasImmediate != (immediate != nil):
			return fmt.Errorf("received %+v", c)
		case immediate != nil && c.Immediate != *immediate:
			return fmt.Errorf("immediate %#x, want %#x", c.Immediate, *immediate)
		case message != nil && (int(c.Bytes) != len(message) || !bytes.Equal(buf[:c.Bytes], message)):
			return fmt.Errorf("wrong bytes in a message of %d", c.Bytes)
		}
		return nil
	})
}

// receive posts a receive request.
func (l *loop) receive(s *side) {
	slot := loopBuffers + s.recvs%loopSlots*loopSlot
	req := RecvRequest{ID: uint64(s.recvs), SGL: l.sgl(s, slot, loopSlot)}
	if s.srq != nil {
		l.check(s.srq.Post(req))
	} else {
		l.check(s.q.PostRecv(l.now, req))
	}
	s.recvs++
}

// collect checks the completions that are there.
func (l *loop) collect(s *side) {
	for c, ok := s.q.Completion(); ok; c, ok = s.q.Completion() {
		if l.tell != nil {
			l.tell(s, c)
			continue
		}
		var err error
		switch isRecv := c.Op == Receive || c.Op == ReceiveWrite; {
		case isRecv && len(s.arrivals) == 0, !isRecv && len(s.requests) == 0:
			err = fmt.Errorf("a completion too many: %+v", c)
		case isRecv:
			slot := loopBuffers + int(c.ID)%loopSlots*loopSlot
			err = s.arrivals[0](c, s.mem[slot:])
			s.arrivals = s.arrivals[1:]
		default:
			err = s.requests[0](c)
			s.requests = s.requests[1:]
		}
		if err != nil {
			l.t.Fatalf("side %s after %v: %v", s.name, l.now.Sub(time.Unix(0, 0)), err)
		}
	}
}

// send gives what a side has to send to the net.
func (l *loop) send(s *side) {
	dst := make([]byte, loopMTU+100)
	for n, _ := s.q.Emit(l.now, dst); n > 0; n, _ = s.q.Emit(l.now, dst) {
		copies := 1
		if l.chance(l.net.duplicate) {
			copies = 2
		}
		for range copies {
			// A corrupt packet does not come past the ICRC.
			if l.chance(l.net.drop) || l.chance(l.net.corrupt) {
				continue
			}
			delay := 2 * time.Microsecond
			if l.chance(l.net.reorder) {
				delay += time.Duration(l.rng.Int64N(int64(cmp.Or(l.net.late, 20*time.Microsecond))))
			}
			s.peer.arrive(flight{l.now.Add(delay), bytes.Clone(dst[:n])})
		}
	}
}

// arrive keeps the packets under way in the order of their arrival.
func (s *side) arrive(f flight) {
	s.in = append(s.in, f)
	for i := len(s.in) - 1; i > 0 && s.in[i].at.Before(s.in[i-1].at); i-- {
		s.in[i], s.in[i-1] = s.in[i-1], s.in[i]
	}
}

// next is when something happens, zero if nothing will.
func (l *loop) next() (at time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, s := range l.sides {
		sooner(s.q.Deadline())
		if len(s.in) > 0 {
			sooner(s.in[0].at)
		}
	}
	return at
}

// step lets time go on to the next event and does what is due.
func (l *loop) step() (more bool) {
	for _, s := range l.sides {
		l.send(s)
	}
	at := l.next()
	if at.IsZero() {
		return false
	}
	if at.After(l.now) {
		l.now = at
	}
	for _, s := range l.sides {
		s.q.Advance(l.now)
		for len(s.in) > 0 && !s.in[0].at.After(l.now) {
			p := wire.Packet(s.in[0].packet)
			s.in = s.in[1:]
			if !p.Valid() {
				l.t.Fatalf("invalid packet % x", []byte(p))
			}
			s.q.Receive(l.now, Inbound{Packet: p})
		}
		l.collect(s)
		if fault := unsound(s.q); fault != "" {
			l.t.Fatalf("side %s: %s", s.name, fault)
		}
	}
	return true
}

// run does n random requests on each side, and checks that all has happened.
func (l *loop) run(n int) {
	l.t.Helper()
	for steps := 0; ; steps++ {
		open := 0
		for _, s := range l.sides {
			for s.posted < s.goal(n) && len(s.requests) < 32 && l.chance(500) {
				l.post(s)
			}
			for s.q.Type() != XRCSend && s.recvs-s.taken() < 32 && l.chance(400) {
				l.receive(s)
			}
			open += s.goal(n) - s.posted + len(s.requests)
		}
		if open == 0 || steps > 1000*n {
			break
		}
		l.step()
	}
	l.settle(n)
}

// taken is how many receive requests are complete.
func (s *side) taken() int {
	if s.srq != nil {
		return s.recvs - s.srq.Len()
	}
	return s.recvs - s.q.responder.recv.n
}

// goal is how many of n requests a side posts.
func (s *side) goal(n int) int {
	if s.q.Type() == XRCRecv {
		return 0
	}
	return n
}

// settle checks what is there in the end.
func (l *loop) settle(n int) {
	l.t.Helper()
	for _, s := range l.sides {
		if s.posted != s.goal(n) || len(s.requests) > 0 || len(s.arrivals) > 0 {
			l.t.Fatalf("side %s stands still in %v: %d of %d requests posted, %d not complete, %d messages to come",
				s.name, s.q.State(), s.posted, n, len(s.requests), len(s.arrivals))
		}
		if !bytes.Equal(s.mem[loopWritable:loopResults], s.want) {
			l.t.Fatalf("side %s: wrong bytes in memory that was written", s.name)
		}
	}
}

// unsound says which of the things that hold between all calls of a requester
// does not.
func unsound(q *QP) string {
	r, reads, psn := &q.requester, 0, q.requester.unacked
	for i := range r.queue.n {
		req := r.queue.at(i)
		if !req.begun {
			continue
		}
		if i > 0 && req.first != psn || i == 0 && !psn.InRange(req.first, req.packets) {
			return fmt.Sprintf("request %d begins at %v, want %v", i, req.first, psn)
		}
		psn = req.end()
		if req.op.answer != noAnswer {
			reads++
		}
	}
	switch at := distance(r.unacked, r.next); {
	case r.reads != reads || q.state.sends() && reads > q.attr.MaxRdAtomic:
		return fmt.Sprintf("%d READs and atomics are counted, %d are open", r.reads, reads)
	case at > r.inFlight, r.inFlight > distance(r.unacked, psn):
		return fmt.Sprintf("cursor at %d of %d in flight, %d begun", at, r.inFlight, distance(r.unacked, psn))
	case r.cur < r.queue.n && r.queue.at(r.cur).begun && r.next != r.queue.at(r.cur).first.Add(r.packet):
		return fmt.Sprintf("cursor at request %d packet %d is not at %v", r.cur, r.packet, r.next)
	}
	return ""
}

func TestEverythingArrivesOnceWithoutLoss(t *testing.T) {
	for seed := range uint64(10) {
		again := 0
		l := newLoop(t, seed, loopNet{}, func(c *Config, _ *Attributes) {
			c.Trace = func(e Event) {
				switch e.Kind {
				case EventRetransmit, EventDuplicate, EventBadResponse, EventDropped, EventNakSent:
					again++
				}
			}
		})
		l.run(200)
		if again > 0 {
			t.Errorf("seed %d: %d packets were sent again or wrong", seed, again)
		}
	}
}

func TestEverythingArrivesOnceWithLoss(t *testing.T) {
	for _, test := range []struct {
		name string
		net  loopNet
	}{
		{"loss", loopNet{drop: 50}},
		{"heavy loss", loopNet{drop: 200}},
		{"duplicates", loopNet{duplicate: 200}},
		{"reordered", loopNet{reorder: 200}},
		{"later than the timeout", loopNet{reorder: 100, late: time.Millisecond}},
		{"corrupt", loopNet{corrupt: 100}},
		{"everything", loopNet{drop: 100, duplicate: 100, corrupt: 50, reorder: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(loopSeeds) {
				t.Logf("seed %d", seed)
				l := newLoop(t, seed, test.net, nil)
				l.run(100)
			}
		})
	}
}

func TestPoliciesKeepThePromise(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *Config, a *Attributes)
	}{
		{"silent duplicates", func(c *Config, _ *Attributes) { c.Policy.SilentDuplicates = true }},
		{"strict replay", func(c *Config, _ *Attributes) { c.Policy.StrictReplay = true }},
		{"recycled depth", func(c *Config, _ *Attributes) { c.Policy.RecycleDepth = true }},
		{"credits", func(c *Config, _ *Attributes) { c.Policy.Credits, c.Policy.HonourCredits = true, true }},
		{"a NAK for every packet", func(c *Config, _ *Attributes) { c.Policy.RepeatNak = true }},
		{"extra acknowledgements", func(c *Config, _ *Attributes) { c.Policy.ExtraAck = true }},
		{"rare acknowledgements", func(c *Config, _ *Attributes) { c.Policy.AckEvery = 1000 }},
		{"a small window", func(c *Config, _ *Attributes) { c.Policy.MaxUnacked = 2 }},
		{"a READ at a time", func(_ *Config, a *Attributes) { a.MaxRdAtomic = 1 }},
		{"gaps in READs wait for the timer", func(c *Config, _ *Attributes) { c.Policy.ReadGap = ReadGapWait }},
		{"the bits of rxe", func(c *Config, _ *Attributes) { c.Policy.ClearMigReq, c.Policy.DefaultPKey = true, true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(loopSeeds) {
				t.Logf("seed %d", seed)
				l := newLoop(t, seed, loopNet{drop: 50, duplicate: 50, reorder: 50}, test.change)
				l.run(60)
			}
		})
	}
}

func TestEverythingArrivesOrIsTold(t *testing.T) {
	died := 0
	for seed := range uint64(20) {
		l := newLoop(t, seed, loopNet{drop: 400}, func(c *Config, a *Attributes) {
			c.Policy, a.RetryCount = Policy{}, 1
		})
		l.runToDeath(50)
		if l.sides[0].q.State() == Error {
			died++
		}
	}
	if died == 0 {
		t.Error("no queue pair ran out of retries")
	}
}

// runToDeath does n requests on one side: those before the first failure have
// succeeded, those behind are flushed, and each ends once.
func (l *loop) runToDeath(n int) {
	s := l.sides[0]
	for range 32 {
		l.receive(s.peer)
	}
	for range min(n, 32) {
		l.post(s)
	}
	var got []Status
	l.tell = func(s *side, c Completion) {
		if s == l.sides[0] {
			got = append(got, c.Status)
		}
	}
	for l.step() {
	}
	if len(got) != min(n, 32) {
		l.t.Fatalf("%d completions", len(got))
	}
	for i, status := range got {
		switch {
		case i > 0 && got[i-1] != Success && status != FlushError:
			l.t.Fatalf("%v behind %v", status, got[i-1])
		case (i == 0 || got[i-1] == Success) && status != Success && status != RetryExceeded:
			l.t.Fatalf("failed with %v", status)
		}
	}
}
