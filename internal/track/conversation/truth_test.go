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
	corrupt        int // with a wrong ICRC at the capture point and behind it
}

// fate is what the net did to a packet.
type fate struct {
	kind conversation.Kind // Lost, LostBehind, LostCorrupt, Missed, Duplicate, Reordered
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
	id     uint16 // of its IPv4 header
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
	wrong  []string // what was told and is not so, or the other way round
	failed bool
	apart  time.Duration // between packets that are late
	tardy  time.Time     // the last one
	sent   int           // requests, also those that were lost

	xrc      bool // the packets are those of XRC
	numbered bool // the senders give each packet the next identification
	ids      [2]uint16

	withdrawn int // times that something was sent again and not told, for nothing tells
	seen      []sighting

	requests requests
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
	x.numbered, x.xrc = seed%5 < 2, seed%7 == 3
	x.ids = [2]uint16{uint16(seed * 40503), uint16(seed * 52711)}
	for i := range x.ends {
		table := mr.NewTable(seed)
		pd := table.AllocPD()
		region, err := table.Register(pd, make([]byte, truthMemory), truthVA, mr.LocalWrite|mr.RemoteRead|mr.RemoteWrite|mr.RemoteAtomic)
		x.check(err)
		x.keys[i] = region.RKey()
		c := qp.Config{
			Number: uint32(0x11 + i), Type: qp.RC, PD: pd, Memory: table, MaxSend: 64, MaxRecv: 64, SignalAll: true,
			Policy: qp.Policy{InfiniteRetry7: true, Credits: seed%3 == 0, HonourCredits: seed%3 == 0},
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
	x.tracker.Message = func(_ *conversation.Conversation, end int, m *conversation.Message) { x.requests.told(end, m) }
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
	x.requests.vary(&wr)
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
	if x.numbered {
		x.ids[end]++
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
		x.schedule(event{at: at, packet: p, from: end, sent: x.sent, id: x.ids[end]})
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
	if f.corrupt > 0 && x.chance(f.corrupt) {
		x.note(e.from, conversation.LostCorrupt, p)
		x.fates[e.from][len(x.fates[e.from])-1].sent = e.sent
		x.spoilt(e)
		return
	}
	if x.chance(f.missed) {
		x.note(e.from, conversation.Missed, p)
		x.fates[e.from][len(x.fates[e.from])-1].sent = e.sent
	} else {
		if e.from == 0 {
			x.seen = append(x.seen, sighting{e.sent, p.PSN(), p.PSN().Add(span(p))})
		}
		x.capture(e)
	}
	if x.chance(f.behind) {
		x.note(e.from, conversation.LostBehind, p)
		return
	}
	e.at, e.behind = x.now.Add(truthHop), true
	x.schedule(e)
}

func (x *truth) capture(e event) {
	fact := x.fact(e)
	x.requests.captured(&fact, e.from)
	x.tracker.Packet(&fact)
}

func (x *truth) fact(e event) conversation.Packet {
	x.number++
	fact := packetOf(e.packet, x.number, x.now, e.from)
	if x.numbered {
		fact.IPID = e.id
	}
	if x.xrc {
		fact.Opcode += wire.BaseXRC
	}
	return fact
}

// ends are the addresses of the requester and the responder.
func ends() [2]netip.Addr {
	return [2]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, 2})}
}

// spoilt lets a packet be captured that its receiver drops.
func (x *truth) spoilt(e event) {
	fact := x.fact(e)
	fact.Trust = conversation.Corrupt
	x.tracker.Packet(&fact)
}

// packetOf is what a capture says about a packet.
func packetOf(p wire.Packet, number int, at time.Time, from int) conversation.Packet {
	addrs := ends()
	bth := p.BTH()
	f := conversation.Packet{
		Number: number, Time: at.UnixNano(), Src: addrs[from], Dst: addrs[1-from],
		DestQP: bth.DestQP(), PSN: bth.PSN(), Opcode: bth.Opcode(), Payload: len(p.Payload()), WireLen: len(p) + 46,
	}
	f.AckReq = bth.AckReq()
	if h := wire.AETH(p.View(wire.HdrAETH)); h != nil {
		f.Syndrome, f.MSN = h.Syndrome(), h.MSN()
	}
	if h := wire.RETH(p.View(wire.HdrRETH)); h != nil {
		f.DMALen, f.RKey, f.VA = h.DMALen(), h.RKey(), h.VA()
	}
	carried(&f, p)
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
			x.requests.completed(c.ID, x.now)
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
	for i, s := range x.seen {
		if s.sent <= f.sent {
			continue
		}
		had := func(psn wire.PSN) bool {
			return slices.ContainsFunc(x.seen[:i], func(before sighting) bool { return psn.Less(before.end) })
		}
		// Sent again and lost again, and then goes on beyond all: no hole.
		return f.psn.Less(s.psn) && (had(s.psn) || !had(f.psn))
	}
	return false
}

// leads reports whether nothing was captured before.
func (x *truth) leads(f fate) bool { return f.sent < x.seen[0].sent }

// leading is how many requests something happened to before any was captured.
func (x *truth) leading() (n int) {
	for _, f := range x.fates[0] {
		if x.leads(f) {
			n++
		}
	}
	return n
}

// describe writes down what happened and what was told, for a failed test.
func (x *truth) describe() {
	x.t.Helper()
	for end, what := range []string{"request", "answer"} {
		for _, f := range x.fates[end] {
			x.t.Logf("%s %v %v..%d at %v", what, f.kind, f.psn, f.n, f.at.Sub(time.Unix(1000, 0)))
		}
	}
	x.t.Logf("sent again: %v", x.agains)
	for i := range x.requests.packets {
		p := &x.requests.packets[i]
		x.t.Logf("packet %d at %v from %d: %v %v, syndrome %v", p.Number, time.Duration(p.Time-time.Unix(1000, 0).UnixNano()), x.requests.senders[i], p.Opcode, p.PSN, p.Syndrome)
	}
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

// wantAgains compares what was sent again, and why. What is withdrawn need not
// be told, and is not told otherwise.
func (x *truth) wantAgains() {
	var want, got []again
	for i, a := range x.agains {
		end := x.sent
		if i+1 < len(x.agains) {
			end = x.agains[i+1].sent
		}
		if a.seen && x.returns(a.sent, end) {
			want = append(want, again{kind: a.kind, psn: a.psn})
		}
	}
	for _, e := range slices.SortedStableFunc(slices.Values(x.told), func(a, b conversation.Event) int { return cmp.Compare(a.Packet, b.Packet) }) {
		if isRetransmit(e.Kind) {
			got = append(got, again{kind: e.Kind, psn: e.PSN})
		}
	}
	rest := want
	for _, a := range got {
		i := slices.Index(rest, a)
		if i < 0 {
			x.errorf("told to be sent again %v, in truth %v", got, want)
			return
		}
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	x.withdrawn += len(rest)
	if len(rest) > 0 && len(x.of(conversation.Disordered)) == 0 {
		x.errorf("not told to be sent again %v", rest)
	}
}

// returns reports whether of the requests from a place to another the first that
// was captured is not beyond all that were captured before: else nothing shows
// that the requester went back.
func (x *truth) returns(from, to int) bool {
	for i, s := range x.seen {
		if from < s.sent && s.sent <= to {
			return slices.ContainsFunc(x.seen[:i], func(before sighting) bool { return s.psn.Less(before.end) })
		}
	}
	return false
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
			x.errorf("told %+v", e)
		}
	}
}

// wantMessages compares the messages and their bytes.
func (x *truth) wantMessages() {
	x.t.Helper()
	for op := range conversation.Ops {
		got := x.asks().Operations[op]
		if got.Messages != x.count[op] || got.Bytes != x.bytes[op] || got.Partial > 0 {
			x.errorf("%v: %d messages of %d bytes, %d of them partial; in truth %d of %d",
				op, got.Messages, got.Bytes, got.Partial, x.count[op], x.bytes[op])
		}
	}
}
