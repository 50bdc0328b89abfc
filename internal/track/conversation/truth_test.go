package conversation_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/transport/qp"
	"github.com/rocecap/rocecap/internal/wire"
)

// Two queue pairs talk through a net that the test makes faulty, in virtual
// time, and the tracker sees what passes the point in the middle. The test knows
// what really happened.

const (
	truthMTU    = 256
	truthVA     = 1 << 20
	truthMemory = 64 << 10
	truthHop    = time.Microsecond // from an end to the capture point
)

// faults are chances of a thousand, of a packet in one direction.
type faults struct {
	before, behind int // lost before or behind the capture point
	missed         int // not captured
	twice          int // there are two
	late           int // delayed before the capture point
}

// fate is what the net did to a packet.
type fate struct {
	kind conversation.Kind // Lost, LostBehind, Missed, Duplicate, Reordered
	psn  wire.PSN
	n    int // PSNs of the request
	at   time.Time
	sent int // its place among what was sent
}

// sighting is a request that was captured.
type sighting struct {
	sent int
	psn  wire.PSN
	end  wire.PSN
}

// again is that the requester went back.
type again struct {
	kind conversation.Kind
	psn  wire.PSN
	seen bool // what is sent again had been captured, or what is behind it
	sent int  // how many requests were sent before
}

// event is a packet at a place at a time.
type event struct {
	at     time.Time
	packet []byte
	from   int  // the end that sent it
	behind bool // it has passed the capture point
	sent   int
}

type truth struct {
	t       *testing.T
	rng     *rand.Rand
	now     time.Time
	ends    [2]*qp.QP
	keys    [2]uint32
	faults  [2]faults // of requests, of answers
	queue   []event
	tracker *conversation.Tracker
	number  int

	fates  [2][]fate
	agains []again
	told   []conversation.Event
	result *conversation.Conversation
	posted int
	bytes  [conversation.Ops]int64
	count  [conversation.Ops]int
	failed bool
	apart  time.Duration // between packets that are late
	tardy  time.Time     // the last one
	sent   int           // requests, also those that were lost
	seen   []sighting
}

func newTruth(t *testing.T, seed uint64, requests, answers faults) *truth {
	x := &truth{
		t: t, rng: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(1000, 0),
		faults: [2]faults{requests, answers}, tracker: conversation.NewTracker(conversation.DefaultLimits()),
	}
	first := wire.PSN(x.rng.Uint32()).Add(0)
	if seed%4 == 0 {
		first = 0xFFFFF0 // runs over
	}
	for i := range x.ends {
		table := mr.NewTable(seed)
		pd := table.AllocPD()
		region, err := table.Register(pd, make([]byte, truthMemory), truthVA, mr.LocalWrite|mr.RemoteRead|mr.RemoteWrite|mr.RemoteAtomic)
		x.check(err)
		x.keys[i] = region.RKey()
		c := qp.Config{
			Number: uint32(0x11 + i), Type: qp.RC, PD: pd, Memory: table, MaxSend: 64, MaxRecv: 64, SignalAll: true,
			Policy: qp.Policy{InfiniteRetry7: true},
		}
		if i == 0 {
			c.Trace = x.trace
		}
		x.ends[i], err = qp.New(c)
		x.check(err)
		a := qp.Attributes{
			Access: mr.RemoteRead | mr.RemoteWrite | mr.RemoteAtomic, DestQP: uint32(0x12 - i), PathMTU: truthMTU,
			Address: &qp.Address{}, SQPSN: first, RQPSN: first,
			MaxRdAtomic: 8, MaxDestRdAtomic: 8, MinRNRTimer: 8, Timeout: 6, RetryCount: 7, RNRRetry: 7,
		}
		for _, to := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
			x.check(x.ends[i].Modify(x.now, to, a))
		}
	}
	x.tracker.Report = func(_ *conversation.Conversation, _ int, e conversation.Event) { x.told = append(x.told, e) }
	x.tracker.Closed = func(c *conversation.Conversation) {
		if x.result == nil || c.Packets() > x.result.Packets() {
			x.result = c
		}
	}
	return x
}

func (x *truth) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *truth) trace(e qp.Event) {
	switch e.Kind {
	case qp.EventRetransmit:
		kind := map[string]conversation.Kind{
			"timeout": conversation.RetransmitTimeout, "implied NAK": conversation.RetransmitImplied,
			"NAK sequence": conversation.RetransmitNak,
		}[e.Cause]
		x.agains = append(x.agains, again{kind, e.PSN, x.captured(e.PSN), x.sent})
	case qp.EventRNRReceived:
		x.agains = append(x.agains, again{conversation.RetransmitRNR, e.PSN, true, x.sent})
	case qp.EventState:
		x.failed = x.failed || e.State == qp.Error
	}
}

// captured reports whether a PSN, or one behind it, was captured.
func (x *truth) captured(psn wire.PSN) bool {
	return slices.ContainsFunc(x.seen, func(s sighting) bool { return psn.Less(s.end) })
}

func (x *truth) chance(of int) bool { return x.rng.IntN(1000) < of }

// post posts a random request of some of the kinds.
func (x *truth) post(ops []qp.Op) {
	n := x.rng.IntN(8 * truthMTU)
	op := ops[x.rng.IntN(len(ops))]
	wr := qp.WorkRequest{ID: uint64(x.posted), Op: op, RKey: x.keys[1], RemoteAddr: truthVA}
	kind := map[qp.Op]conversation.Op{
		qp.Send: conversation.Send, qp.Write: conversation.Write, qp.Read: conversation.Read, qp.FetchAdd: conversation.Atomic,
	}[op]
	if op == qp.FetchAdd {
		n = 8
	}
	wr.SGL = []qp.SGE{{Addr: truthVA, Length: uint32(n), LKey: x.keys[0]}}
	x.check(x.ends[0].PostSend(x.now, wr))
	x.posted++
	x.bytes[kind] += int64(n)
	x.count[kind]++
}

// emit gives what an end has to send to the net.
func (x *truth) emit(end int) {
	dst := make([]byte, truthMTU+100)
	for n, _ := x.ends[end].Emit(x.now, dst); n > 0; n, _ = x.ends[end].Emit(x.now, dst) {
		x.depart(end, bytes.Clone(dst[:n]))
	}
}

func (x *truth) depart(end int, p wire.Packet) {
	f := x.faults[end]
	if end == 0 {
		x.sent++
	}
	copies := 1
	if x.chance(f.twice) {
		copies = 2
		x.note(end, conversation.Duplicate, p)
	}
	for range copies {
		at := x.now.Add(truthHop)
		if x.chance(f.before) {
			x.note(end, conversation.Lost, p)
			continue
		}
		if x.chance(f.late) && x.now.Sub(x.tardy) >= x.apart {
			x.tardy = x.now
			at = at.Add(time.Duration(1 + x.rng.IntN(3000)))
			x.note(end, conversation.Reordered, p)
		}
		x.schedule(event{at: at, packet: p, from: end, sent: x.sent})
	}
}

func (x *truth) note(end int, kind conversation.Kind, p wire.Packet) {
	x.fates[end] = append(x.fates[end], fate{kind, p.PSN(), span(p), x.now, x.sent})
}

// span is how many PSNs a request takes.
func span(p wire.Packet) int {
	if p.Opcode().Operation() != wire.OpReadRequest {
		return 1
	}
	return max(1, (int(wire.RETH(p.View(wire.HdrRETH)).DMALen())+truthMTU-1)/truthMTU)
}

func (x *truth) schedule(e event) {
	i, _ := slices.BinarySearchFunc(x.queue, e, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), -1) })
	x.queue = slices.Insert(x.queue, i, e)
}

// pass lets a packet come to the capture point, or behind it.
func (x *truth) pass(e event) {
	p := wire.Packet(e.packet)
	if e.behind {
		x.ends[1-e.from].Receive(x.now, qp.Inbound{Packet: p})
		return
	}
	f := x.faults[e.from]
	if x.chance(f.missed) {
		x.note(e.from, conversation.Missed, p)
		x.fates[e.from][len(x.fates[e.from])-1].sent = e.sent
	} else {
		if e.from == 0 {
			x.seen = append(x.seen, sighting{e.sent, p.PSN(), p.PSN().Add(span(p))})
		}
		x.capture(e.from, p)
	}
	if x.chance(f.behind) {
		x.note(e.from, conversation.LostBehind, p)
		return
	}
	e.at, e.behind = x.now.Add(truthHop), true
	x.schedule(e)
}

func (x *truth) capture(from int, p wire.Packet) {
	x.number++
	fact := packetOf(p, x.number, x.now, from)
	x.tracker.Packet(&fact)
}

// ends are the addresses of the requester and the responder.
func ends() [2]netip.Addr {
	return [2]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, 2})}
}

// packetOf is what a capture says about a packet.
func packetOf(p wire.Packet, number int, at time.Time, from int) conversation.Packet {
	addrs := ends()
	bth := p.BTH()
	f := conversation.Packet{
		Number: number, Time: at.UnixNano(), Src: addrs[from], Dst: addrs[1-from],
		DestQP: bth.DestQP(), PSN: bth.PSN(), Opcode: bth.Opcode(), Payload: len(p.Payload()), WireLen: len(p) + 46,
	}
	if h := wire.AETH(p.View(wire.HdrAETH)); h != nil {
		f.Syndrome = h.Syndrome()
	}
	if h := wire.RETH(p.View(wire.HdrRETH)); h != nil {
		f.DMALen = h.DMALen()
	}
	return f
}

// run does n requests and lets all of them end.
func (x *truth) run(n int, ops []qp.Op, receive int) {
	done := 0
	for steps := 0; done < n && !x.failed; steps++ {
		if steps > 20000 {
			x.t.Fatal("it does not end")
		}
		for x.posted < n && x.posted-done < 8 && x.chance(600) {
			x.post(ops)
		}
		for range 4 {
			if x.chance(receive) {
				_ = x.ends[1].PostRecv(x.now, qp.RecvRequest{SGL: []qp.SGE{{Addr: truthVA, Length: truthMemory, LKey: x.keys[1]}}})
			}
		}
		x.emit(0)
		x.emit(1)
		next := x.now.Add(time.Microsecond)
		if len(x.queue) > 0 {
			next = x.queue[0].at
		}
		for _, end := range x.ends {
			if d := end.Deadline(); !d.IsZero() && (len(x.queue) == 0 || d.Before(next)) {
				next = d
			}
		}
		x.now = next
		if len(x.queue) > 0 && !x.queue[0].at.After(x.now) {
			e := x.queue[0]
			x.queue = x.queue[1:]
			x.pass(e)
		}
		for _, end := range x.ends {
			end.Advance(x.now)
		}
		for c, ok := x.ends[0].Completion(); ok; c, ok = x.ends[0].Completion() {
			if c.Status != qp.Success {
				x.t.Fatalf("request ended with %v", c.Status)
			}
			done++
		}
		for _, ok := x.ends[1].Completion(); ok; _, ok = x.ends[1].Completion() {
		}
	}
	for len(x.queue) > 0 {
		e := x.queue[0]
		x.queue = x.queue[1:]
		x.now = e.at
		x.pass(e)
	}
	x.tracker.Finish()
}

// of lists the told events of some kinds.
func (x *truth) of(kinds ...conversation.Kind) (list []conversation.Event) {
	for _, e := range x.told {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, e)
		}
	}
	return list
}

// shows reports whether a request that was not captured left a hole: the next
// one that was is behind it.
func (x *truth) shows(f fate) bool {
	for _, s := range x.seen {
		if s.sent > f.sent {
			return f.psn.Less(s.psn)
		}
	}
	return false
}

// leads reports whether nothing was captured before.
func (x *truth) leads(f fate) bool { return f.sent < x.seen[0].sent }

// describe writes down what happened and what was told, for a failed test.
func (x *truth) describe() {
	x.t.Helper()
	for end, what := range []string{"request", "answer"} {
		for _, f := range x.fates[end] {
			x.t.Logf("%s %v %v..%d at %v", what, f.kind, f.psn, f.n, f.at.Sub(time.Unix(1000, 0)))
		}
	}
	x.t.Logf("sent again: %v", x.agains)
	for _, e := range x.told {
		x.t.Logf("told %+v", e)
	}
}

var (
	sendsAndWrites = []qp.Op{qp.Send, qp.Write}
	everything     = []qp.Op{qp.Send, qp.Write, qp.Read, qp.FetchAdd}
)

func isRetransmit(k conversation.Kind) bool {
	return k >= conversation.RetransmitNak && k <= conversation.RetransmitUnseen
}

// psns lists the PSNs that events of some kinds speak of, in order.
func (x *truth) psns(kinds ...conversation.Kind) (list []wire.PSN) {
	for _, e := range x.of(kinds...) {
		for i := range e.N {
			list = append(list, e.PSN.Add(i))
		}
	}
	slices.Sort(list)
	return list
}

// fated lists the PSNs of the fates of the requests that show.
func (x *truth) fated(kind conversation.Kind) (list []wire.PSN) {
	for _, f := range x.fates[0] {
		if f.kind != kind || !x.shows(f) || x.leads(f) {
			continue
		}
		for i := range f.n {
			list = append(list, f.psn.Add(i))
		}
	}
	slices.Sort(list)
	return list
}

// wantAgains compares what was sent again, and why.
func (x *truth) wantAgains() {
	x.t.Helper()
	var want, got []again
	for i, a := range x.agains {
		end := x.sent
		if i+1 < len(x.agains) {
			end = x.agains[i+1].sent
		}
		shows := slices.ContainsFunc(x.seen, func(s sighting) bool { return a.sent < s.sent && s.sent <= end })
		if a.seen && shows {
			want = append(want, again{kind: a.kind, psn: a.psn})
		}
	}
	for _, e := range x.told {
		if isRetransmit(e.Kind) {
			got = append(got, again{kind: e.Kind, psn: e.PSN})
		}
	}
	if !slices.Equal(got, want) {
		x.t.Errorf("told to be sent again %v, in truth %v", got, want)
	}
}

// asks is what the requester's end asked.
func (x *truth) asks() *conversation.Direction {
	for i := range x.result.Ends {
		if e := &x.result.Ends[i]; e.Addr == ends()[0] {
			return &e.Asks
		}
	}
	return nil
}

// wantOnly fails for events of other kinds.
func (x *truth) wantOnly(kinds ...conversation.Kind) {
	x.t.Helper()
	for _, e := range x.told {
		if !slices.Contains(kinds, e.Kind) && !isRetransmit(e.Kind) {
			x.t.Errorf("told %+v", e)
		}
	}
}

// wantMessages compares the messages and their bytes.
func (x *truth) wantMessages() {
	x.t.Helper()
	for op := range conversation.Ops {
		got := x.asks().Operations[op]
		if got.Messages != x.count[op] || got.Bytes != x.bytes[op] || got.Partial > 0 {
			x.t.Errorf("%v: %d messages of %d bytes, %d of them partial; in truth %d of %d",
				op, got.Messages, got.Bytes, got.Partial, x.count[op], x.bytes[op])
		}
	}
}

const truthSeeds = 1000

// TestEveryEventIsNamed lets one thing go wrong at a time; each event has to be
// told exactly, with its cause, and none else.
func TestEveryEventIsNamed(t *testing.T) {
	lost := []conversation.Kind{conversation.Lost, conversation.Unresolved}
	for _, test := range []struct {
		name              string
		requests, answers faults
		receive           int // chance of a thousand that a receive request is posted
		check             func(x *truth)
	}{
		{"nothing", faults{}, faults{}, 1000, func(x *truth) { x.wantOnly() }},
		{"lost before the capture", faults{before: 40}, faults{}, 1000, func(x *truth) {
			x.wantOnly(append(lost, conversation.NakSequence)...)
			x.wantLost(lost)
			if naks, named := x.of(conversation.NakSequence), x.of(conversation.Lost); len(naks) != len(named) {
				x.t.Errorf("%d NAKs, and %d packets are told to be lost", len(naks), len(named))
			}
		}},
		{"lost behind the capture", faults{behind: 40}, faults{}, 1000, func(x *truth) {
			x.wantOnly(conversation.NakSequence, conversation.LostBehind)
			named := x.psns(conversation.LostBehind)
			if naks := x.psns(conversation.NakSequence); !slices.Equal(naks, named) {
				x.t.Errorf("NAKs of %v, told to be lost %v", naks, named)
			}
		}},
		{"not captured", faults{missed: 40}, faults{missed: 40}, 1000, func(x *truth) {
			// Of the last ones the acknowledgement may be missed too.
			x.wantOnly(conversation.Missed, conversation.ResponseGap, conversation.Unresolved)
			if got, want := x.psns(conversation.Missed, conversation.Unresolved), x.fated(conversation.Missed); !slices.Equal(got, want) {
				x.t.Errorf("told to be missed %v, in truth %v", got, want)
			}
		}},
		{"twice", faults{twice: 40}, faults{}, 1000, func(x *truth) {
			x.wantOnly(conversation.Duplicate)
			if got, want := x.of(conversation.Duplicate), x.fates[0]; len(got) != len(want) {
				x.t.Errorf("%d duplicates are told, in truth %d", len(got), len(want))
			}
		}},
		{"answers lost", faults{}, faults{before: 30, behind: 30}, 1000, func(x *truth) {
			x.wantOnly(conversation.AckLost, conversation.ResponseLost)
		}},
		{"no receive requests", faults{}, faults{}, 20, func(x *truth) { x.wantOnly(conversation.RNRNak, conversation.NakSequence) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(truthSeeds) {
				ops := everything
				if seed%2 == 0 {
					ops = sendsAndWrites
				}
				x := newTruth(t, seed, test.requests, test.answers)
				x.run(60, ops, test.receive)
				test.check(x)
				x.wantAgains()
				if test.requests.missed == 0 {
					x.wantMessages()
				}
				if t.Failed() {
					t.Logf("seed %d", seed)
					x.describe()
					return
				}
			}
		})
	}
}

// wantLost compares the requests that were lost before the capture. Of a READ
// the first PSN is what counts.
func (x *truth) wantLost(kinds []conversation.Kind) {
	x.t.Helper()
	told := x.of(kinds...)
	// Those that show come first: what is told is theirs.
	fates := slices.Clone(x.fates[0])
	slices.SortStableFunc(fates, func(a, b fate) int { return cmp.Compare(hidden(x.shows(a)), hidden(x.shows(b))) })
	for _, f := range fates {
		i := slices.IndexFunc(told, func(e conversation.Event) bool { return f.psn.InRange(e.PSN, e.N) })
		if i < 0 && (x.leads(f) || !x.shows(f)) {
			continue // nothing tells
		}
		if i < 0 {
			x.t.Errorf("%v was lost, which is not told", f.psn)
			continue
		}
		// What is left of the event is for others.
		rest := told[i]
		rest.N -= f.psn.Add(f.n).Diff(rest.PSN)
		rest.PSN = f.psn.Add(f.n)
		told[i].N = f.psn.Diff(told[i].PSN)
		told = append(told, rest)
	}
	for _, e := range told {
		// Of a READ that was lost nobody knows that it was one.
		part := slices.ContainsFunc(fates, func(f fate) bool { return e.PSN.InRange(f.psn, f.n) })
		if e.N > 0 && !part {
			x.t.Errorf("told %+v, which is not so", e)
		}
	}
}

func hidden(shows bool) int {
	if shows {
		return 0
	}
	return 1
}

// TestReorderingIsNotTakenForLoss lets one request at a time be late, by less
// than a round trip and more: what several that are late together mean is not
// always told.
func TestReorderingIsNotTakenForLoss(t *testing.T) {
	late, named := 0, 0
	for seed := range uint64(truthSeeds) {
		x := newTruth(t, seed, faults{late: 20}, faults{})
		x.apart = 20 * time.Microsecond
		x.run(60, sendsAndWrites, 1000)
		wasLate := func(psn wire.PSN) bool {
			return slices.ContainsFunc(x.fates[0], func(f fate) bool { return f.psn == psn })
		}
		for _, e := range x.told {
			switch e.Kind {
			case conversation.Reordered, conversation.Duplicate, conversation.Unresolved, conversation.Lost:
				// Sent again before it came: told as lost, then as a duplicate.
				if named++; !wasLate(e.PSN) {
					t.Errorf("told %+v", e)
				}
			case conversation.NakSequence:
			default:
				if !isRetransmit(e.Kind) {
					t.Errorf("told %+v", e)
				}
			}
		}
		late += len(x.fates[0])
		x.wantAgains()
		x.wantMessages()
		if t.Failed() {
			t.Logf("seed %d", seed)
			x.describe()
			return
		}
	}
	if named < late*9/10 {
		t.Errorf("%d of %d late packets are told", named, late)
	}
}

// TestEverythingAtATime has all faults together: the counts of what was sent
// stay right, and no event is told that has nothing behind it.
func TestEverythingAtATime(t *testing.T) {
	f := faults{before: 20, behind: 20, missed: 20, twice: 20, late: 20}
	for seed := range uint64(truthSeeds) {
		x := newTruth(t, seed, f, f)
		x.run(60, everything, 300)
		d := x.asks()
		if captured := len(x.seen); d.Requests != captured {
			t.Fatalf("seed %d: %d requests, in truth %d", seed, d.Requests, captured)
		}
		messages := 0
		for _, o := range d.Operations {
			messages += o.Messages
		}
		if messages > x.posted || messages < x.posted/2 {
			t.Errorf("seed %d: %d messages of %d", seed, messages, x.posted)
		}
	}
}
