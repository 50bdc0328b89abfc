package conversation

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// A request with an old PSN is a stray until the next one tells what it was:
// where the requester goes on behind it, it began to send again (go-back-N,
// IBTA vol. 1, 9.7.5.1.1); where it goes on as if nothing had been, the stray
// was late or came twice.

// stray is a request with an old PSN of which it is not known yet what it is.
type stray struct {
	set     bool
	psn     wire.PSN
	end     wire.PSN
	resume  wire.PSN // where the requester goes on if the stray means nothing
	hole    hole
	unseen  bool // it fills the hole
	packet  int
	time    int64
	bytes   int
	because reason
	lost    sign // a missing response that it asks for
	missed  bool // a missing response was none: it asks for a later one
	unheard bool // it asks for what was answered
	met     bool // a missing response was none: it had passed in an answer to an earlier asking
	certain bool // it was sent again, whatever else comes late
	idle    bool // the requester was not sending again
	read    bool // it is a READ
	oldest  bool // nothing before it was outstanding when it came
	ahead   bool // it was, and had not come to this yet
	fresh   bool // it was sent behind all before it, as its number tells or what it asks for
	onward  bool // the next request lies between it and where it would go on otherwise
}

// reason is why something is sent again.
type reason struct {
	kind   Kind
	sign   sign  // that led to it, and says where it begins
	waited int64 // since the last progress
	early  int64 // RNR: how much of the wait was left
}

// run is the present, or the last, sending again.
type run struct {
	begun bool
	start wire.PSN
	kind  Kind
	time  int64
	last  int64 // when it last went on
	// Where it begins again and again without progress:
	packet int
	times  int // in a row
	waited int64
}

// minTimeout is the shortest local ACK timeout that can be set: 4.096 us times
// two (C9-140).
const minTimeout = 2 * 4096

// timedOut reports whether a wait is long enough for the local ACK timeout. A
// capture that misses packets may have missed a NAK too, and a last packet that
// comes twice may be a copy: then only a wait that is longer than answers take
// is one.
func (d *Direction) timedOut(waited int64, last bool) bool {
	if waited < minTimeout || d.deaf {
		return false
	}
	return !last && d.whole() || waited > d.answers.ample()
}

// whole reports whether the capture is not known to miss packets.
func (d *Direction) whole() bool {
	return d.Tallies.Of(Missed).Count == 0 && d.Tallies.Of(ResponseGap).Count == 0
}

// why finds the reason for going back to a packet. last says that there is
// nothing behind it.
func (d *Direction) why(p *Packet, last bool) reason {
	psn, at, waited := p.PSN, p.Time, p.Time-d.since
	switch {
	case d.rnr.set && d.heeds(d.rnr, psn) && !d.unheardRefusal(at, waited):
		return reason{RetransmitRNR, d.rnr, at - d.rnr.time, d.rnr.wait - (at - d.rnr.time)}
	}
	if nak := d.asking(psn, at); nak.set {
		return reason{kind: RetransmitNak, sign: nak, waited: waited}
	}
	switch {
	case d.implied.set && !psn.Less(d.implied.psn) && !d.passes(psn) && !d.late(at-d.implied.time):
		return reason{kind: RetransmitImplied, sign: d.implied, waited: waited}
	case psn.Less(d.acked) && opOf(p.Opcode).answered() && !d.late(waited):
		// The response was seen, and those behind it: it did not arrive.
		by := sign{psn: psn}
		if d.implied.set && d.implied.psn == psn {
			by = d.implied
		}
		return reason{kind: RetransmitImplied, sign: by, waited: waited}
	case d.timedOut(waited, last):
		from := d.acked
		if m := d.messages.covering(psn); !d.heard && d.requests(from, psn) > maxSupposed || m != nil && m.op == Read && m.first.Less(psn) {
			from = psn // nothing tells what was acknowledged, or it has what is before
		}
		return reason{kind: RetransmitTimeout, sign: sign{psn: from}, waited: waited}
	}
	return reason{kind: RetransmitUnseen, sign: sign{psn: psn}, waited: waited}
}

// asking returns the NAK to which going back to a PSN can be the answer.
func (d *Direction) asking(psn wire.PSN, at int64) sign {
	if nak := d.naks.of(psn); nak.set && !d.late(at-nak.time) {
		return nak
	}
	for _, nak := range d.naks {
		if nak.set && d.heeds(nak, psn) && !d.late(at-nak.time) {
			return nak
		}
	}
	return sign{}
}

// heeds reports whether going back to a PSN can be the answer to a sign: it
// begins with what was asked for, with a later one if the capture has not seen
// the first, or with what has no response yet.
func (d *Direction) heeds(s sign, psn wire.PSN) bool {
	if !psn.Less(s.psn) {
		return true
	}
	m := d.messages.covering(psn)
	return m != nil && m.op.answered()
}

// late reports whether so long after a sign the timer is the likelier reason:
// the requester did not get what the capture shows.
func (d *Direction) late(passed int64) bool {
	if d.ShortestTimeout == 0 && passed <= d.outlasted {
		return false
	}
	return passed >= max(minTimeout, 3*d.answers.ample(), int64(d.ShortestTimeout)*3/4)
}

// backward takes a request whose PSN is not beyond all others.
func (d *Direction) backward(p *Packet, n int, sized bool) {
	d.past.repeat(p.PSN)
	d.precede(p.PSN, p.Number, p.Time)
	if d.cursor != d.frontier && !p.PSN.Less(d.cursor) && d.paused(p) {
		// After such a wait it does not go on: the rest was sent, and not seen.
		d.endRun(p)
	}
	h, unseen := d.holes.fill(p.PSN, n)
	if unseen && !h.again {
		d.messages.add(p, n, sized)
	} else {
		d.DuplicateReqs++
	}
	if !d.reliable {
		d.lone(stray{psn: p.PSN, packet: p.Number, hole: h, unseen: unseen})
		return
	}
	if d.cursor != d.frontier && !p.PSN.Less(d.cursor) {
		s := stray{
			psn: p.PSN, end: p.PSN.Add(n), resume: d.cursor, hole: h, unseen: unseen,
			packet: p.Number, time: p.Time, bytes: p.Payload, ahead: true,
		}
		if s.set = unseen && !h.again && p.PSN != d.cursor; s.set {
			d.old = s
		} else {
			d.goesOn(s)
		}
		return
	}
	d.old = stray{
		set: true, psn: p.PSN, end: p.PSN.Add(n), resume: d.cursor, hole: h, unseen: unseen,
		packet: p.Number, time: p.Time, bytes: p.Payload, idle: d.cursor == d.frontier, oldest: p.PSN == d.acked,
		read: p.Opcode.Operation() == wire.OpReadRequest, fresh: d.idents.fresh(p) || d.asksForRest(p),
	}
	last := d.old.end == d.cursor && d.cursor == d.frontier
	d.old.because = d.why(p, last && !d.old.fresh)
	d.old.ask(d)
	if d.old.justified() {
		// Its response may come before the next request.
		d.rewait(p.PSN)
	}
	if last {
		d.settle(nil)
	}
}

// maxSupposed is how many packets in a row are supposed to be lost, and not rather
// the requester to be slow, where their numbers do not tell.
const maxSupposed = 4

// paused reports whether a packet that would go on sending again comes so late
// that it rather begins once more. As long as no answer was measured a requester may
// as well be slow, unless the begin was seen with a wrong ICRC. Where the sender
// numbers its packets, what would have been sent meanwhile and not been seen has to
// fit between the numbers.
func (d *Direction) paused(p *Packet) bool {
	known := d.acked == p.PSN || d.answers.mean > 0 || d.answers.guess > 0 && d.spoiltBack()
	if !known || !d.late(p.Time-max(d.since, d.run.last)) {
		return false
	}
	lost := d.requests(d.cursor, d.frontier)
	if d.acked.Less(p.PSN) {
		lost += d.requests(d.acked, p.PSN)
	}
	if n, numbered := d.idents.between(p); numbered {
		return n >= lost
	}
	return lost <= maxSupposed
}

// requests is how many packets at least ask for the PSNs from one to another: a READ
// asks for many. Which of them there were in messages that are complete is not known
// any more.
func (d *Direction) requests(from, to wire.PSN) (n int) {
	switch {
	case !from.Less(to):
		return 0
	case !d.messages.reads:
		return to.Diff(from)
	}
	open := d.messages.open()
	for i := max(0, d.messages.at(from)); i < len(open) && open[i].first.Less(to); i++ {
		m := &open[i]
		if m.op == Read {
			n++
			continue
		}
		n += min(to.Diff(m.first), m.end.Diff(m.first)) - max(0, min(from.Diff(m.first), m.end.Diff(m.first)))
	}
	return max(n, 1)
}

// asksForRest reports whether a request is a READ that asks for what is left of an
// earlier one: none was sent like that before.
func (d *Direction) asksForRest(p *Packet) bool {
	m := d.messages.covering(p.PSN)
	return m != nil && p.Opcode.Operation() == wire.OpReadRequest && m.op == Read && m.base.Less(p.PSN)
}

// goesOn takes a packet with which the requester goes on sending again.
func (d *Direction) goesOn(s stray) {
	if s.psn == s.resume {
		d.outlasted = max(d.outlasted, s.time-d.since)
	} else {
		nak := d.naks.of(s.resume)
		d.miss(hole{
			from: s.resume, to: s.psn, packet: s.packet, time: s.time, again: true, asked: nak.set && nak.time >= s.time,
		})
	}
	if s.unseen {
		d.refilled(s.hole)
	}
	d.repeat(s.psn, s.bytes, s.unseen && !s.hole.again)
	d.rewait(s.psn)
	d.cursor = s.end
	d.run.last = s.time
}

// precede notes that there was something before the first request that was seen.
func (d *Direction) precede(psn wire.PSN, packet int, at int64) {
	if !d.leading || !psn.Less(d.origin) {
		return
	}
	d.miss(hole{from: psn, to: d.origin, packet: packet, time: at, asked: d.naks.of(psn).set})
	d.origin, d.acked = psn, psn
}

// repeat counts a packet that was sent again.
func (d *Direction) repeat(psn wire.PSN, bytes int, unseen bool) {
	d.Again++
	if !unseen {
		d.Wasted += int64(bytes)
	}
	if m := d.messages.covering(psn); m != nil {
		m.again = true
	}
}

// rewait makes a message wait for its response again, from a PSN on.
func (d *Direction) rewait(psn wire.PSN) {
	if m := d.messages.covering(psn); m != nil {
		m.restart(psn)
	}
}

// minReaction is the time within which no requester answers a NAK.
const minReaction = 500 // ns

// obeys reports whether a stray is what a NAK asks for, and not before the
// requester can have heard it.
func (s *stray) obeys() bool {
	return s.hole.asked && s.psn == s.because.sign.psn && s.time-s.because.sign.time >= minReaction
}

// obeyed reports whether a stray is what a NAK asks for, whether or not it had
// been seen before.
func (s *stray) obeyed(d *Direction) bool {
	nak := d.naks.of(s.psn)
	return nak.set && s.time-nak.time >= minReaction
}

// renewed reports whether the next request answers a NAK that came behind a
// stray: the requester did not go on by itself.
func (d *Direction) renewed(s stray, p *Packet) bool {
	nak := d.naks.of(p.PSN)
	return nak.set && nak.time > s.time && p.Time-nak.time >= minReaction
}

// missed reports whether a PSN was never seen.
func (d *Direction) missed(psn wire.PSN) bool {
	h := d.holes.find(psn)
	return h != nil && !h.again
}

// lacks reports whether a PSN is missing, also before all that were captured.
func (d *Direction) lacks(psn wire.PSN) bool {
	return d.holes.find(psn) != nil || d.leading && psn.Less(d.origin)
}

// straggles reports whether a stray without a reason is one of several that come
// late, and not the begin of sending again after a NAK that was not captured.
func (d *Direction) straggles(s stray) bool {
	return !s.justified() && (s.unseen || d.troubled(s.time)) && d.Tallies.Of(Missed).Count == 0 && !d.deaf
}

// expired reports whether a stray that came while the requester was sending
// again is rather the begin of doing so once more, after the timer.
func (d *Direction) expired(s stray) bool {
	if s.end == s.resume {
		return s.justified()
	}
	return s.because.kind == RetransmitTimeout && s.resume != d.frontier && d.late(s.because.waited) || d.due(s)
}

// due reports whether a stray is what the timer sends again, the first that is
// not acknowledged, after such a wait that nothing else does.
func (d *Direction) due(s stray) bool {
	return s.because.kind == RetransmitTimeout && s.oldest && d.late(s.because.waited)
}

// stranger reports whether a stray has nothing to do with what was asked for,
// which was seen: it is one of several that come late.
func (d *Direction) stranger(s stray) bool {
	asked := s.because.kind == RetransmitNak || s.because.kind == RetransmitImplied
	if !asked || s.psn == s.because.sign.psn || s.hole.asked {
		return false
	}
	return !d.lacks(s.because.sign.psn)
}

// tooSoon reports whether a stray came right behind the NAK that asks for it, so
// that it was late: no requester is so fast.
func (s *stray) tooSoon() bool {
	return s.because.kind == RetransmitNak && s.time-s.because.sign.time < minReaction
}

// preempted reports whether the next request begins with what an earlier NAK
// asks for than the one that a stray may answer. NAKs are answered in their
// order, so that the stray was late.
func (d *Direction) preempted(s stray, next wire.PSN) bool {
	nak := d.naks.of(next)
	return s.because.kind == RetransmitNak && nak.set && nak.packet < s.because.sign.packet
}

func (s *stray) justified() bool { return s.because.kind != RetransmitUnseen }

// settle decides what a stray was, by the next request, nil when none follows
// or it does not matter.
func (d *Direction) settle(p *Packet) {
	s, known, next, after := d.old, p != nil, wire.PSN(0), int64(0)
	if known {
		next, after = p.PSN, p.Time-d.old.time
	}
	d.old.set = false
	s.onward = known && !next.Less(s.end) && next.Less(s.resume)
	switch {
	case s.ahead && known && next == s.resume && !d.renewed(s, p):
		d.tardy(s)
	case s.ahead:
		d.goesOn(s)
	case known && s.psn.Less(next) && s.obeyed(d) && d.renewed(s, p):
		d.resumes(s, p)
	case known && next == s.end && s.end != s.resume && !d.straggles(s):
		s.certain = s.because.kind == RetransmitNak && s.psn == s.because.sign.psn && !(d.run.begun && d.run.start == s.psn)
		d.begins(s)
	case !known && d.acked == d.frontier && s.end != s.resume && s.obeyed(d):
		// Nothing else had to be sent again.
		d.resumes(s, p)
	case known && !next.Less(s.resume) && !d.expired(s) && !d.swept(s, p):
		d.resumes(s, p)
	case s.fresh && !(known && s.psn == next):
		d.begins(s)
	case known && next == s.psn && s.unseen && !(s.obeys() && d.late(after)) && !d.due(s):
		// Once late and once again, or twice sent again.
		d.verdict(Unresolved, s.hole, 1)
	case known && s.unseen && d.missed(next) && !s.obeys() && !d.lacks(s.because.sign.psn) && !d.due(s):
		// Both fill holes: neither is sent again, both come late.
		d.apart(s)
	case known && d.preempted(s, next):
		d.lone(s)
	case s.justified() && !d.stranger(s) && !s.tooSoon():
		d.begins(s)
	case known && next != s.end && s.unseen:
		d.apart(s)
	default:
		d.lone(s)
	}
}

// swept reports whether a stray is the begin of sending again, although the next
// request is beyond: what lies between was sent and lost, as the numbers of the
// packets tell, or nothing asked for this packet alone.
func (d *Direction) swept(s stray, next *Packet) bool {
	if !s.fresh {
		return false
	}
	if n, known := d.idents.between(next); known && s.end.Less(s.resume) && n >= d.requests(s.end, s.resume) {
		return true
	}
	return !s.obeyed(d)
}

// begins starts to send again with a stray.
func (d *Direction) begins(s stray) {
	for i := range d.singles {
		c := &d.singles[i]
		// The responder has got on since: the candidate was sent for it.
		c.acked = s.because.kind == RetransmitNak && c.stray.psn.Less(s.because.sign.psn) && c.stray.time < s.because.sign.time
		c.back = c.acked && c.asked && s.onward && s.psn == c.behind.PSN
	}
	d.confirm(len(d.singles))
	kind := s.because.kind
	if s.unseen {
		d.refilled(s.hole)
	}
	if !s.justified() {
		d.rewait(s.psn)
	}
	if s.lost.set {
		d.tell(Event{Kind: ResponseLost, Packet: s.lost.packet, Cause: s.packet, PSN: s.psn, N: d.lacking})
	}
	if s.missed {
		d.believe()
	}
	if s.met {
		d.passed(s.psn)
	}
	if kind == RetransmitImplied && !s.because.sign.set {
		d.passed(s.psn)
	}
	d.cursor = s.end
	start := s.psn
	if from := s.because.sign.psn; from.Less(start) && !s.missed {
		// The requester has begun earlier, which was not seen.
		start = from
		d.precede(from, s.packet, s.time)
		d.miss(hole{from: start, to: s.psn, packet: s.packet, time: s.time, again: true})
	}
	times := 1
	if d.run.begun && d.run.start == start && d.since <= d.run.time {
		times += d.run.times
	}
	d.run = run{true, start, kind, s.time, s.time, s.packet, times, s.because.waited}
	d.repeat(s.psn, s.bytes, s.unseen && !s.hole.again)
	waited := time.Duration(s.because.waited)
	d.clock(&s)
	back := Event{Kind: kind, Packet: s.packet, Cause: s.because.sign.packet, PSN: start, N: d.frontier.Diff(start), Waited: waited}
	suspect := kind == RetransmitTimeout && d.answers.mean == 0 && waited < unheard
	switch {
	case suspect:
		d.suspect(back)
	case s.certain || kind == RetransmitNak:
		d.tell(back)
	default:
		d.judge(back, d.now)
	}
	switch {
	case s.unheard && (kind == RetransmitTimeout || kind == RetransmitImplied):
		d.tell(Event{Kind: AckLost, Packet: s.packet, PSN: s.psn, N: 1})
	case kind == RetransmitTimeout && !d.naks[0].set && !suspect:
		d.timer(waited)
	case kind == RetransmitRNR:
		d.punctual(&s)
	}
	if kind == RetransmitNak {
		d.naks.heed(s.because.sign.packet)
	} else {
		d.naks.heed(s.packet)
	}
	d.rnr.heed(s.packet)
	d.implied.heed(s.packet)
	d.since = max(d.since, s.time)
}

// timer notes for how long the requester waited for its timer.
func (d *Direction) timer(waited time.Duration) {
	if d.ShortestTimeout == 0 || waited < d.ShortestTimeout {
		d.ShortestTimeout = waited
	}
}

// passes reports whether the response that seems to be missing before a PSN is none:
// all before it can have reached the requester.
func (d *Direction) passes(psn wire.PSN) bool {
	return d.implied.set && d.implied.psn.Less(psn) && !d.most.Less(psn)
}

// ask finds out which response a stray asks for again, if it begins to send
// again.
func (s *stray) ask(d *Direction) {
	if d.passes(s.psn) {
		s.met = true
		s.unheard = s.psn.Less(d.most)
		return
	}
	if d.implied.set {
		switch at := d.implied.psn; {
		case at == s.psn:
			s.lost = d.implied
			return
		case at.Less(s.psn):
			m := d.messages.covering(s.psn)
			s.missed = m != nil && at.InRange(m.first, m.end.Diff(m.first))
		}
	}
	if s.psn.Less(d.acked) {
		m := d.messages.covering(s.psn)
		s.unheard = m == nil || m.done || m == d.messages.awaited() && s.psn.Less(m.want())
	}
}

// refilled judges a hole that what is sent again has filled.
func (d *Direction) refilled(h hole) {
	kind := Unresolved
	switch {
	case slices.Contains(d.corrupt, h.from):
		kind = LostCorrupt
	case h.asked:
		kind = Lost
	default:
		d.refills.add(sign{set: true, psn: h.from, packet: h.packet, time: d.now})
	}
	d.verdict(kind, h, 1)
}

// endRun looks at what of the last sending again was not seen, when the
// requester goes on with new packets.
func (d *Direction) endRun(p *Packet) {
	d.miss(hole{from: d.cursor, to: d.frontier, packet: p.Number, time: p.Time, again: true})
	d.cursor = d.frontier
}
