package conversation

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// answerTimes is how long answers take, smoothed as RFC 6298 does.
type answerTimes struct {
	mean, deviation int64
	least           int64
	guess           int64 // before any was measured: how long a NAK took at most
}

func (a *answerTimes) add(d int64) {
	if a.mean == 0 {
		a.mean, a.deviation, a.least = d, d/2, d
		return
	}
	a.least = min(a.least, d)
	a.deviation += (max(a.mean-d, d-a.mean) - a.deviation) / 4
	a.mean += (d - a.mean) / 8
}

// usual is how long an answer takes at most, 0 when none was seen.
func (a *answerTimes) usual() int64 { return a.mean + 4*a.deviation }

// ample is longer than an answer or a copy takes: usual, but for outliers.
func (a *answerTimes) ample() int64 {
	if a.mean == 0 {
		return a.guess
	}
	return min(a.usual(), 16*a.least)
}

// response takes what the other end answers.
func (d *Direction) response(p *Packet) {
	if !d.begun {
		return
	}
	d.heard = true
	d.now = p.Time
	if len(d.suspects) > 0 && d.answers.mean > 0 {
		d.convict(len(d.suspects))
	}
	d.sure(p.Time)
	d.age(p.Time)
	if p.Syndrome.Kind() == wire.Ack {
		d.outlives(p, d.answerWay())
	}
	if p.Untold && p.Opcode.Operation() == wire.OpAcknowledge {
		d.deaf = true
		return
	}
	if d.outruns(p) {
		d.hold(p)
		return
	}
	d.answered(p)
	d.window.note(p.Time, &d.messages.volume)
}

// answered takes an answer to what was sent.
func (d *Direction) answered(p *Packet) {
	if p.hasAETH() && p.Syndrome.Defined() {
		d.countAnswer(p)
	}
	d.reach(p)
	switch p.Opcode.Operation() {
	case wire.OpAcknowledge:
		d.acknowledge(p)
	default:
		d.respond(p)
	}
}

// refusedUnseen tells of a NAK to a request that the capture does not have, or that
// may be one of several.
func (d *Direction) refusedUnseen(p *Packet) {
	switch s := p.Syndrome; {
	case p.Opcode.Operation() != wire.OpAcknowledge || s.Kind() == wire.Ack && s.Defined():
	case !s.Defined():
		d.tell(Event{Kind: NakOther, Packet: p.Number, PSN: p.PSN, N: 1})
	case s.Kind() == wire.RNRNak:
		d.tell(Event{Kind: RNRNak, Packet: p.Number, PSN: p.PSN, N: 1, Waited: s.RNRTimer()})
	default:
		d.tell(Event{Kind: nakKinds[s.Code()], Packet: p.Number, PSN: p.PSN, N: 1})
	}
}

func (d *Direction) acknowledge(p *Packet) {
	s := p.Syndrome
	switch {
	case !s.Defined():
		d.tell(Event{Kind: NakOther, Packet: p.Number, PSN: p.PSN, N: 1})
	case s.Kind() == wire.Ack:
		d.Acks++
		d.positive(p)
	case s.Kind() == wire.RNRNak:
		d.guess(p)
		d.advance(p.PSN, p)
		d.complete(p.PSN, p)
		d.Pace.note(p)
		d.tell(Event{Kind: RNRNak, Packet: p.Number, PSN: p.PSN, N: 1, Waited: s.RNRTimer()})
		more := 0
		if d.rnr.set && d.rnr.psn == p.PSN {
			more = d.rnr.more + 1
		}
		d.storm(p)
		d.rnr = sign{true, p.PSN, p.Number, p.Time, int64(s.RNRTimer()), more}
	default:
		d.negative(p, s.Code())
	}
}

// positive takes an ACK: it acknowledges all SENDs and WRITEs up to its PSN, and
// shows that the response of a READ or atomic before is missing (C9-125).
func (d *Direction) positive(p *Packet) {
	d.reacknowledge(p)
	// While a request may have come again, it may be that which is acknowledged.
	if last := d.messages.covering(p.PSN); last != nil && !d.old.set && !last.again && !last.op.answered() && p.PSN.Add(1) == last.end {
		d.answers.add(p.Time - last.lastTime)
	}
	d.advance(p.PSN.Add(1), p)
	d.complete(p.PSN.Add(1), p)
}

// guess learns from a NAK how long answers take, as long as none was measured: in a
// capture that begins in the middle of losses, what is sent is sent again.
func (d *Direction) guess(p *Packet) {
	if d.answers.mean > 0 {
		return
	}
	from := d.began
	if h := d.holes.find(p.PSN); h != nil {
		from = h.time
	} else if at, ok := d.sentAt(p.PSN); ok {
		from = at
	} else if d.run.begun && d.run.start.Less(p.PSN) {
		// The responder has got on since the requester went back.
		from = d.run.time
	}
	d.answers.guess = max(d.answers.guess, p.Time-from)
}

// nakKinds are the NAKs that are defined.
var nakKinds = [...]Kind{
	wire.NakPSNSequence: NakSequence, wire.NakInvalidRequest: NakInvalid, wire.NakRemoteAccess: NakAccess,
	wire.NakRemoteOperation: NakOperation, wire.NakInvalidRDRequest: NakOther,
}

func (d *Direction) negative(p *Packet, code uint8) {
	d.guess(p)
	d.advance(p.PSN, p)
	d.complete(p.PSN, p)
	d.Pace.note(p)
	d.tell(Event{Kind: nakKinds[code], Packet: p.Number, PSN: p.PSN, N: 1})
	if code != wire.NakPSNSequence {
		d.Dead = true
		d.refuse(p)
		d.rules.fatal, d.rules.fatalAt = true, p.Time
		return
	}
	d.sequenceNak(p)
}

// sequenceNak judges the packet that the responder asks for.
func (d *Direction) sequenceNak(p *Packet) {
	repeated := d.naks.of(p.PSN).set || d.run.begun && d.run.start == p.PSN && d.acked == p.PSN && d.run.kind != RetransmitTimeout
	d.naks.add(sign{set: true, psn: p.PSN, packet: p.Number, time: p.Time})
	if h := d.holes.find(p.PSN); h != nil {
		if h.again && d.run.kind != RetransmitNak && p.Time-h.time < d.answers.least {
			// It speaks of the time before. When a NAK led to going back, the responder
			// had not got so far then.
			return
		}
		if !h.asked && !repeated {
			measure(&d.Pace.GapToNak, time.Duration(p.Time-h.time))
		}
		h.asked = true
		return
	}
	afterRNR := d.rnr.set && d.rnr.psn == p.PSN
	sent := p.PSN.Less(d.frontier) && !(d.leading && p.PSN.Less(d.origin))
	pending := d.old.set && (d.old.psn == p.PSN || d.old.ahead && d.old.resume == p.PSN)
	if !sent || repeated || afterRNR || pending || d.explained(p) || d.askedBefore(p) {
		return
	}
	kind := LostBehind
	if slices.Contains(d.corrupt, p.PSN) {
		kind = LostCorrupt
	} else if d.asksBehind(Event{Kind: kind, Packet: p.Number, PSN: p.PSN, N: 1}) {
		return
	} else if at, ok := d.sentAt(p.PSN); ok {
		measure(&d.Pace.GapToNak, time.Duration(p.Time-at))
	}
	d.sentTimes.begin()
	d.judge(Event{Kind: kind, Packet: p.Number, PSN: p.PSN, N: 1}, d.now)
}

// explained reports whether a NAK is no sign of a loss: what it asks for was
// sent again, or came late, so shortly before that the NAK speaks of the time
// before that; or it came before something late, and was dropped therefore.
func (d *Direction) explained(p *Packet) bool {
	if d.run.begun && !p.PSN.Less(d.run.start) && p.Time-d.run.time < d.answers.least {
		return true
	}
	if s := d.lateOnes.of(p.PSN); s.set && (d.answers.least == 0 || p.Time-s.time < d.answers.least) {
		return true
	}
	before := d.lateOnes.of(p.PSN.Add(-1))
	return before.set && !d.late(p.Time-before.time)
}

// askedBefore reports whether a NAK asks for what was missing, and has been sent again
// since: it speaks of the time before that, which was in doubt so far.
func (d *Direction) askedBefore(p *Packet) bool {
	for i := range d.refills {
		s := &d.refills[i]
		if !s.set || s.psn != p.PSN || p.Time-s.time > d.settled() {
			continue
		}
		s.set = false
		for i := range d.doubt.waiting {
			if e := &d.doubt.waiting[i].event; e.Kind == Unresolved && e.PSN == p.PSN && e.Packet == s.packet {
				e.Kind = Lost
			}
		}
		return true
	}
	return false
}

// advance notes that the responder has received all requests before a PSN.
func (d *Direction) advance(to wire.PSN, p *Packet) {
	if d.frontier.Less(to) {
		to = d.frontier
	}
	if !d.acked.Less(to) {
		return
	}
	d.selective(to)
	for h, ok := d.holes.before(to); ok; h, ok = d.holes.before(to) {
		d.acknowledged(h)
	}
	d.acked, d.leading = to, false
	d.since = p.Time
	if d.rnr.set && d.rnr.psn.Less(to) {
		d.rnr.set = false
	}
}

// reach notes what the requester has at most: all answers that passed, in their
// order, whenever they came. What came while it waited for an earlier response is of
// no use to it, but an answer to an earlier asking is.
func (d *Direction) reach(p *Packet) {
	last := p.PSN
	response := p.Opcode.Operation() != wire.OpAcknowledge
	if !response && p.Syndrome.Kind() != wire.Ack {
		last = last.Add(-1)
	}
	if last.Less(d.most) || !last.Less(d.frontier) {
		return
	}
	open := d.messages.open()
	for i := max(0, d.messages.at(d.most)); i < len(open) && !last.Less(open[i].first); i++ {
		m := &open[i]
		if !m.op.answered() || !d.most.Less(m.end) {
			continue
		}
		want := m.first
		if want.Less(d.most) {
			want = d.most
		}
		if !response || last != want {
			return
		}
	}
	d.most = last.Add(1)
}

// acknowledged judges a hole whose packets the responder has.
func (d *Direction) acknowledged(h hole) {
	switch {
	case h.asked:
		first := h
		first.to = h.from.Add(1)
		d.verdict(Lost, first, first.len())
		if h.from = first.to; h.len() == 0 {
			return
		}
		h.asked = false
		d.acknowledged(h)
	case h.again:
		// The first copy may have arrived: the second may have been lost.
		d.verdict(Unresolved, h, h.len())
	default:
		d.verdict(Missed, h, h.len())
	}
}

// complete ends the SENDs and WRITEs before a PSN. What has a response of its
// own and none yet is a sign that it was lost.
func (d *Direction) complete(to wire.PSN, p *Packet) {
	asked := false
	for i := 0; i < len(d.messages.open()); i++ {
		m := &d.messages.open()[i]
		if !m.first.Less(to) {
			break
		}
		switch {
		case m.done:
		case d.reliable && m.op.answered():
			if !asked {
				d.imply(m, m.want(), p)
			}
			asked = true
		case m.tailed && !to.Less(m.end):
			d.endBy(m, p)
		case !m.tailed && m.end.Less(to):
			d.patch(i, to, p)
		}
	}
	d.messages.drop()
}

// patch deals with a message of which what follows was not captured, although
// it has arrived: its other packets, or those up to the next message.
func (d *Direction) patch(i int, to wire.PSN, p *Packet) {
	for {
		open := d.messages.open()
		if i+1 == len(open) || to.Less(open[i+1].first) {
			return
		}
		m, rest := &open[i], &open[i+1]
		m.partial = true
		if rest.headed || rest.op != m.op {
			d.endBy(m, p)
			return
		}
		d.messages.merge(i)
		if m.tailed {
			if !to.Less(m.end) {
				d.endBy(m, p)
			}
			return
		}
	}
}

// imply notes that a response of a message is missing, if that is not known yet.
func (d *Direction) imply(m *message, psn wire.PSN, p *Packet) {
	// Responses behind one that is asked for already are no further sign.
	asked := d.run.begun && d.run.start == psn
	if !d.implied.set && !asked {
		d.implied = sign{set: true, psn: psn, packet: p.Number, time: p.Time}
		d.lacking = 1
		if p.PSN.InRange(psn, m.end.Diff(psn)) {
			d.lacking = p.PSN.Diff(psn)
		}
	}
}

// endBy ends a SEND or WRITE by a packet that acknowledges it.
func (d *Direction) endBy(m *message, p *Packet) {
	if d.reliable {
		m.answeredBy(p)
	}
	d.finish(m, p.Time)
}

// finish counts a message that is complete.
func (d *Direction) finish(m *message, at int64) {
	m.done = true
	if d.most.Less(m.end) {
		d.most = m.end
	}
	if m.op == Read && m.bytes == 0 {
		// Its length was not captured, and it is all that came.
		m.bytes = m.got
		d.messages.volume.bytes += m.bytes
	}
	d.messages.volume.finish(m)
	if d.reliable && !m.untimed {
		m.ended = at
	}
	d.record(m, false)
	o := &d.Operations[m.op]
	o.Messages++
	o.Bytes += m.bytes
	if m.partial || !m.headed || !m.tailed {
		o.Partial++
	}
	if !d.reliable || !m.headed || m.untimed {
		return
	}
	if o.Latency == nil {
		o.Latency = &latency.Histogram{}
	}
	o.Latency.Add(time.Duration(at - m.time))
}

// respond takes a packet of a response that the operation has of its own. A
// requester accepts responses in the order of their PSNs: when one is missing,
// those behind it are worth nothing to it (C9-125), or it is the capture that
// misses one. Which it is, is told by where the requester begins to ask again.
func (d *Direction) respond(p *Packet) {
	d.Acks++
	d.Responses++
	place := p.Opcode.Info().Place
	if (place == wire.PlaceFirst || place == wire.PlaceMiddle) && isMTU(p.Payload) {
		d.learn(p.Payload)
	}
	m := d.messages.covering(p.PSN)
	if m == nil || m.cut() {
		d.stretch(p.PSN.Add(1), place == wire.PlaceLast || place == wire.PlaceOnly)
		m = d.messages.covering(p.PSN)
	}
	if m == nil && place == wire.PlaceLast {
		d.inferBy(p.PSN)
		m = d.messages.covering(p.PSN)
	}
	seen := d.count.known && !p.PSN.Less(d.count.since) && d.whole()
	over := m == nil && p.PSN.Less(d.acked) && seen && !d.messages.calls
	if over || m != nil && !m.op.answered() {
		d.tell(Event{Kind: ResponseUnasked, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	if m == nil || !m.op.answered() {
		d.advance(p.PSN.Add(1), p)
		d.complete(p.PSN.Add(1), p)
		return
	}
	if m.next == m.first && !m.again && p.PSN == m.first {
		d.answers.add(p.Time - m.lastTime)
	}
	d.advance(m.end, p)
	d.since = p.Time
	d.complete(m.first, p)
	first := d.messages.awaited()
	if m != first && first != nil && !m.done {
		d.imply(first, first.want(), p)
	}
	d.track(m, m == first, p)
}

// track follows the response of a message. first says that it is the one that
// the requester waits for.
func (d *Direction) track(m *message, first bool, p *Packet) {
	if first && p.PSN == m.base && m.base.Less(m.next) {
		// What was seen of it came while others were awaited.
		m.restart(p.PSN)
	}
	switch {
	case m.done || p.PSN.Less(m.next):
		return
	case m.next.Less(p.PSN):
		if first {
			d.imply(m, m.want(), p)
		}
		if m.lacking == 0 {
			m.lack, m.lacking = m.next, p.Number
		}
	}
	m.next = p.PSN.Add(1)
	if m.heard.Less(m.next) {
		m.heard = m.next
		d.messages.volume.payload += int64(p.Payload)
		m.got += int64(p.Payload)
	}
	if m.next != m.end || m.cut() {
		return
	}
	m.answered, m.answer = true, p.Time
	m.answeredBy(p)
	if !first || m.lacking > 0 {
		return
	}
	if d.implied.set && d.implied.psn.InRange(m.first, m.end.Diff(m.first)) {
		d.implied.set = false
	}
	d.accept(m)
	d.messages.drop()
}

// accept ends a message of which the last response was seen.
func (d *Direction) accept(m *message) {
	if m.lacking > 0 && !m.lack.Less(d.most) { // else it came in an answer to an earlier asking
		d.tell(Event{Kind: ResponseGap, Packet: m.lacking, PSN: m.lack, N: 1})
		m.partial = true
	}
	d.finish(m, m.answer)
}

// believe takes it that the responses which the capture lacks have arrived, up
// to the first message that lacks one at its end.
func (d *Direction) believe() {
	d.implied.set = false
	open := d.messages.open()
	for i := range open {
		m := &open[i]
		if m.done || !m.op.answered() {
			continue
		}
		if !m.answered {
			break
		}
		d.accept(m)
	}
}

// passed ends what the requester no longer waits for: it asks for a later
// response, without a sign that an earlier one is missing.
func (d *Direction) passed(psn wire.PSN) {
	open := d.messages.open()
	for i := range open {
		m := &open[i]
		if m.done || !m.op.answered() || psn.Less(m.end) {
			continue
		}
		if m.answer == 0 {
			d.tell(Event{Kind: ResponseGap, Packet: m.packet, PSN: m.want(), N: 1})
			m.untimed = true
		}
		// Else its answer has met the request on the way.
		d.finish(m, m.answer)
	}
	d.messages.drop()
}

// restart makes a message wait for its response again, from a PSN on.
func (m *message) restart(psn wire.PSN) {
	if !m.op.answered() || m.done {
		return
	}
	m.lacking, m.answered, m.base, m.next = 0, false, psn, psn
}
