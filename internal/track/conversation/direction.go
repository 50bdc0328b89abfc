package conversation

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Direction is what one end asks for, and how the other answers. Its exported
// fields are results.
type Direction struct {
	Again         int   // request packets that were sent again
	Wasted        int64 // bytes of those that had been seen before
	OutOfSequence int   // requests behind a hole
	DuplicateReqs int   // requests that were seen before
	DuplicateAcks int   // acknowledgements of what was acknowledged
	Unfinished    int   // messages that were open at the end
	// ShortestTimeout is the shortest time without progress after which the
	// requester tried again; the local ACK timeout is not longer.
	ShortestTimeout time.Duration
	Tallies         Tallies
	Operations      [Ops]Operation
	Terms           Terms
	Pace            Pace

	// What nearly every packet changes is together, also below.
	Requests        int   // request packets
	Payload         int64 // their bytes, also of what was sent again
	Frames          int64 // bytes of the whole frames
	Acks            int   // positive acknowledgements, also responses
	Responses       int   // of which responses to READs, atomics and the like
	MostOutstanding int   // messages at a time
	Dead            bool  // the last NAK was a fatal one
	Asking          Asking
	Credits         Credits
	Stalls          Stalls

	reliable  bool
	begun     bool
	heard     bool     // the other end has answered
	deaf      bool     // what it has answered was not captured whole
	began     int64    // when the first request came
	leading   bool     // nothing was acknowledged yet
	origin    wire.PSN // then: the lowest that was sent
	frontier  wire.PSN // one past the highest that was sent
	cursor    wire.PSN // one past what was sent last: behind the frontier while the requester sends again
	acked     wire.PSN // the responder has received what is before
	most      wire.PSN // all answers before may have reached the requester
	since     int64    // since when there was no progress, while something is outstanding
	now       int64    // when the last packet came
	mtu       int      // 0: not known
	idents    idents
	outlasted int64      // the longest time without progress behind which the requester went on: its timer had not run out
	early     []early    // answers to what was not seen
	other     *Direction // what the other end asks for
	report    func(Event)
	ended     func(*message)
	holes     holes
	messages  messages
	window    Window
	rules     rules
	count     count
	past      past
	answers   answerTimes
	singles   []candidate
	doubt     doubt
	suspects  []Event // that may be timeouts
	rnr       sign
	implied   sign
	lacking   int // the responses that are missing there, as far as they show
	keeping   keeping
	run       run
	old       stray
	corrupt   []wire.PSN // of the last corrupt requests
	spoiltAt  int64      // when the last of them came
	refusals  refusals
	naks      signs  // of PSN sequence errors
	lateOnes  lately // requests that came late
	sentTimes sentTimes
	refills   lately // holes that nothing had asked for when they were filled
}

// Operation is what is known of the messages of one kind.
type Operation struct {
	Messages int // complete ones
	Partial  int // of which not all packets were captured
	Bytes    int64
	Latency  *latency.Histogram // from the first packet to the last of the answer, nil when none was measured
}

// sign is something that may be the reason of what comes next.
type sign struct {
	set    bool
	psn    wire.PSN
	packet int
	time   int64
	wait   int64 // RNR NAK: for how long
	more   int   // RNR NAKs of the same PSN before it, each of which is obeyed
}

// heed notes that a packet was sent because of what came before it.
func (s *sign) heed(packet int) {
	switch {
	case s.packet > packet:
	case s.more > 0:
		s.more--
	default:
		s.set = false
	}
}

// signs are the last few of a kind, the newest first.
type signs [4]sign

func (list *signs) add(s sign) {
	copy(list[1:], list[:])
	list[0] = s
}

// of returns the sign of a PSN, or one that is not set.
func (list *signs) of(psn wire.PSN) sign {
	for _, s := range list {
		if s.set && s.psn == psn {
			return s
		}
	}
	return sign{}
}

// heed forgets a sign that was obeyed, and those before it.
func (list *signs) heed(packet int) {
	for i := range list {
		if list[i].packet <= packet {
			list[i].set = false
		}
	}
}

// lately are signs of which there may be many close together, the oldest first.
type lately []sign

// maxLately bounds how many are remembered.
const maxLately = 32

func (list *lately) add(s sign) {
	if len(*list) == maxLately {
		*list = append((*list)[:0], (*list)[1:]...)
	}
	*list = append(*list, s)
}

// of returns the newest sign of a PSN, or one that is not set.
func (list lately) of(psn wire.PSN) sign {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].set && list[i].psn == psn {
			return list[i]
		}
	}
	return sign{}
}

func (d *Direction) tell(e Event) {
	d.Tallies.Add(e.Kind, e.Packet, e.N)
	d.Pace.told(&e)
	if d.report != nil {
		d.report(e)
	}
	d.retried(&e)
}

// request takes the next request of the direction.
func (d *Direction) request(p *Packet) {
	d.now = p.Time
	d.sure(p.Time)
	d.Requests++
	d.Payload += int64(p.Payload)
	d.Frames += int64(p.WireLen)
	d.age(p.Time)
	d.Asking.add(p)
	d.outlives(p, d.requestWay())
	d.measure(p)
	place := p.Opcode.Info().Place
	if (place == wire.PlaceFirst || place == wire.PlaceMiddle) && isMTU(p.Payload) {
		d.learn(p.Payload)
	}
	if !d.begun {
		d.began = p.Time
		d.begin(d.start(p))
	}
	d.infer(p)
	d.stretch(p.PSN, true)
	n, sized := p.span(d.mtu)
	// What is beyond all that was sent last cannot have been sent before it.
	late := d.reliable && d.idents.overtaken(p) && (p.PSN.Less(d.frontier) || !d.idents.new) && !d.recycles(p)
	if d.old.set && !late {
		d.settle(p)
	}
	switch {
	case late:
		d.straggler(p, n, sized)
	case p.PSN.Less(d.frontier):
		d.goesBack(p)
		d.backward(p, n, sized)
		d.recall(p)
	default:
		if d.cursor != d.frontier {
			d.endRun(p)
		}
		d.forward(p, n, sized)
	}
	if !late {
		d.idents.new = !p.PSN.Add(n).Less(d.frontier) && d.run.last != p.Time
	}
	d.restarted()
	if d.sentTimes.list != nil {
		d.sentTimes.note(p)
	}
	d.outlast(p)
	d.idents.note(p)
	d.window.note(p.Time, &d.messages.volume)
}

// Asked is what its messages have in common.
func (d *Direction) Asked() *Asked { return &d.messages.asked }

// Window is what was outstanding over time.
func (d *Direction) Window() *Window { return &d.window }

// follows reports whether the PSNs of a service are followed.
func (d *Direction) follows(s wire.Service) bool { return d.reliable || s == wire.UC }

func (d *Direction) begin(psn wire.PSN) {
	d.begun, d.leading = true, true
	d.origin, d.frontier, d.cursor, d.acked, d.most = psn, psn, psn, psn, psn
}

// learn notes the path MTU; the READs that waited for it get their spans.
func (d *Direction) learn(mtu int) {
	if d.mtu == mtu {
		return
	}
	d.mtu = mtu
	open := d.messages.open()
	for i := range open {
		m := &open[i]
		if !m.unsized || m.cut() {
			continue
		}
		end := m.first.Add(packets(uint32(m.bytes), mtu))
		if m.end == d.frontier {
			d.frontier = end
			if d.cursor == m.end {
				d.cursor = end
			}
		} else if m.end.Less(end) {
			d.holes.fill(m.end, end.Diff(m.end))
		}
		m.unsized, m.end = false, end
	}
}

// infer learns the path MTU from the request behind a READ: it tells how many
// PSNs that took.
func (d *Direction) infer(p *Packet) {
	if d.mtu > 0 || !d.messages.reads {
		return
	}
	if i := d.messages.at(p.PSN); i >= 0 {
		d.part(&d.messages.open()[i], p)
	}
	if i := d.messages.at(d.cursor.Add(-1)); d.mtu == 0 && i >= 0 {
		d.fit(&d.messages.open()[i], p.PSN)
	}
}

// part learns it from a READ that asks for the rest of another one: how much it
// leaves out, and how many PSNs that took.
func (d *Direction) part(m *message, p *Packet) {
	left, n := p.VA-m.va, p.PSN.Diff(m.first)
	if !m.unsized || m.cut() || p.Opcode.Operation() != wire.OpReadRequest || p.RKey != m.rkey || n == 0 {
		return
	}
	mtu := int(left) / n
	if rest := left + uint64(p.DMALen); isMTU(mtu) && int(left) == n*mtu && rest == uint64(m.length) {
		d.learn(mtu)
	}
}

// inferBy learns it from the last response to a READ.
func (d *Direction) inferBy(last wire.PSN) {
	if i := d.messages.at(last); d.mtu == 0 && i >= 0 {
		d.fit(&d.messages.open()[i], last.Add(1))
	}
}

// fit learns the path MTU with which a READ takes the PSNs up to another.
func (d *Direction) fit(m *message, end wire.PSN) {
	for mtu := minMTU; m.unsized && mtu <= maxMTU; mtu *= 2 {
		if m.first.Add(packets(uint32(m.bytes), mtu)) == end {
			d.learn(mtu)
			return
		}
	}
}

// stretch gives the last READ the PSNs before another when its length was not
// captured: those up to the next request, or to the response that ends it.
func (d *Direction) stretch(to wire.PSN, ends bool) {
	open := d.messages.open()
	if len(open) == 0 {
		return
	}
	m := &open[len(open)-1]
	if !m.cut() || m.end != d.frontier || to.Less(m.end) || to.Diff(m.first) > maxSpan {
		return
	}
	if d.cursor == d.frontier {
		d.cursor = to
	}
	m.end, d.frontier, m.unsized = to, to, !ends
}

// forward takes a request that is beyond all others.
func (d *Direction) forward(p *Packet, n int, sized bool) {
	d.spend(p, n, sized)
	if p.PSN != d.frontier {
		d.miss(hole{from: d.frontier, to: p.PSN, packet: p.Number, time: p.Time})
	}
	if d.reliable && len(d.holes) > 0 || p.PSN != d.frontier {
		d.OutOfSequence++ // of UC a responder takes up what comes behind a gap (IBTA vol. 1, 9.8.2)
	}
	if d.acked == d.frontier {
		d.since = p.Time
	}
	d.order(p, n)
	d.frontier = p.PSN.Add(n)
	d.cursor = d.frontier
	d.messages.add(p, n, sized)
	d.keeps(p)
	d.MostOutstanding = max(d.MostOutstanding, len(d.messages.open()))
	if d.reliable {
		d.window.MostPackets = max(d.window.MostPackets, d.frontier.Diff(d.acked))
	}
	if len(d.early) > 0 {
		d.overtaken(p)
	}
	if !d.reliable {
		d.complete(d.frontier, p)
	}
	d.bound(maxOpen)
	d.slide()
}

// miss notes a hole, and judges the oldest when there are too many. What was
// missing already is missing for the second time: the first time is judged.
func (d *Direction) miss(h hole) {
	for at := h.from; h.again; {
		next := d.holes.behind(at)
		if next == nil || !next.from.Less(h.to) {
			break
		}
		if at.Less(next.from) {
			at = next.from
		}
		earlier, _ := d.holes.fill(at, h.to.Diff(at))
		at = earlier.to
		d.judgeUnfilled(earlier)
		earlier.packet, earlier.time, earlier.asked = h.packet, h.time, false
		d.holes.insert(earlier)
	}
	d.holes.insert(h)
	for len(d.holes) > maxHoles {
		oldest := d.holes[0]
		d.holes.before(oldest.to)
		d.judgeUnfilled(oldest)
	}
}

// bound gives up the oldest messages when more than so many are open.
func (d *Direction) bound(most int) {
	for len(d.messages.open()) > most {
		d.giveUp(&d.messages.open()[0])
		d.messages.drop()
	}
}

// maxWindow is how many PSNs behind the last are remembered. A requester has
// fewer outstanding, or what it gets is not captured.
const maxWindow = 1 << 22

// slide forgets what is too old.
func (d *Direction) slide() {
	if d.frontier.Diff(d.acked) <= maxWindow {
		return
	}
	floor := d.frontier.Add(-maxWindow)
	for h, ok := d.holes.before(floor); ok; h, ok = d.holes.before(floor) {
		d.judgeUnfilled(h)
	}
	for len(d.messages.open()) > 0 && d.messages.open()[0].first.Less(floor) {
		d.giveUp(&d.messages.open()[0])
		d.messages.drop()
	}
	d.acked, d.leading = floor, false
}

func (d *Direction) giveUp(m *message) {
	if m.answer > 0 {
		d.accept(m)
		return
	}
	m.done = true
	d.messages.volume.giveUp(m)
	d.Unfinished++
	d.record(m, true)
}

// end judges what is open when the capture or the conversation ends.
func (d *Direction) end(until int64) {
	if d.old.set {
		d.settle(nil)
	}
	d.confirm(len(d.singles))
	d.convict(len(d.suspects))
	d.spent(until)
	d.neverReached()
	for _, h := range d.holes {
		d.judgeUnfilled(h)
	}
	d.holes = nil
	d.allSure()
	d.neverAsked()
	for i := range d.messages.open() {
		if m := &d.messages.open()[i]; !m.done {
			d.giveUp(m)
		}
	}
	d.messages.list, d.messages.head = nil, 0
}

// judgeUnfilled judges a hole that nothing has filled.
func (d *Direction) judgeUnfilled(h hole) {
	kind := Unresolved
	if h.asked {
		kind = Lost
		if h.len() > 1 {
			rest := h
			rest.from, rest.asked = h.from.Add(1), false
			d.judgeUnfilled(rest)
			h.to = h.from.Add(1)
		}
	}
	d.verdict(kind, h, h.len())
}

// verdict tells what became of n packets of a hole.
func (d *Direction) verdict(kind Kind, h hole, n int) {
	if (kind == Lost || kind == Unresolved && h.len() == 1) && slices.Contains(d.corrupt, h.from) {
		kind = LostCorrupt
	}
	d.judge(Event{Kind: kind, Packet: h.packet, PSN: h.from, N: n}, d.now)
}
