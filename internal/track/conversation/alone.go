package conversation

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// A stray behind which the requester does not go on was late, is a copy, or is
// all that a requester sends again that repeats selectively.

// candidate is a packet that alone was sent again after a NAK: late, or by a
// requester that sends only what is missing.
type candidate struct {
	stray    stray
	frontier wire.PSN // what was sent before it
	acked    bool     // that is acknowledged: nothing else has to be sent again
	next     int      // the request behind it, 0 when there was none
	// behind is that the responder then asks for what follows it: that was lost behind
	// the capture point or, if the requester had gone back, where it was to come again.
	// Which it is shows in what the requester does about it.
	behind Event
	asked  bool
	back   bool
}

// maxCandidates bounds how many packets wait for what follows them.
const maxCandidates = 16

// resumes handles a stray behind which the requester goes on where it was.
func (d *Direction) resumes(s stray, next *Packet) {
	if nak := d.naks.of(s.psn); nak.set && s.time-nak.time >= minReaction {
		s.because.sign = nak
		if len(d.singles) == maxCandidates {
			d.confirm(1)
		}
		c := candidate{stray: s, frontier: d.frontier, acked: d.acked == d.frontier}
		if next != nil && !next.PSN.Less(d.frontier) {
			c.next = next.Number
		}
		d.singles = append(d.singles, c)
		return
	}
	d.apart(s)
}

// apart gives the verdict on a packet behind which the requester does not go on.
// When nothing has asked for anything that was not sent again yet, the requester
// had no reason to send it: it was late for sure, or is a copy. Behind another
// such packet it may be one of those that are sent again after all.
func (d *Direction) apart(s stray) {
	reason := s.justified() && !s.tooSoon() || d.lateOnes.of(s.psn.Add(-1)).set
	if !s.idle || reason || s.hole.again || d.asked(s.time) || !d.whole() {
		d.lone(s)
		return
	}
	d.tardy(s)
}

// asked reports whether something was asked for that the requester can have
// heard of and has not sent again yet.
func (d *Direction) asked(now int64) bool {
	for _, nak := range d.naks {
		if passed := now - nak.time; nak.set && passed >= minReaction && passed <= d.settled() {
			return true
		}
	}
	return d.rnr.set || d.implied.set
}

// tardy tells that a packet was late, or came twice, for sure.
func (d *Direction) tardy(s stray) {
	d.lateOnes.add(sign{set: true, psn: s.psn, packet: s.packet, time: s.time})
	e := Event{Kind: Duplicate, Packet: s.packet, PSN: s.psn, N: 1}
	if s.unseen {
		e.Kind, e.Packet = Reordered, s.hole.packet
	}
	d.disorder(e.Kind, d.now)
	d.tell(e)
}

// selective notes that what a candidate was sent behind is acknowledged, and was
// not sent again so far.
func (d *Direction) selective(to wire.PSN) {
	for i := range d.singles {
		c := &d.singles[i]
		c.acked = c.acked || !to.Less(c.frontier)
	}
}

// single ends the doubt about the candidates before a time: had the requester
// gone back, it would have been seen.
func (d *Direction) single(before int64) {
	n := 0
	for n < len(d.singles) && d.singles[n].acked && d.singles[n].stray.because.sign.time < before {
		n++
	}
	d.confirm(n)
}

// confirm takes it that each of the first candidates alone was sent again, if
// what was sent before it is acknowledged.
func (d *Direction) confirm(n int) {
	for i := range d.singles[:n] {
		c := &d.singles[i]
		s := c.stray
		d.follower(c)
		if !c.acked {
			d.lone(s)
			continue
		}
		if s.unseen {
			d.refilled(s.hole)
		}
		d.repeat(s.psn, s.bytes, s.unseen && !s.hole.again)
		back := Event{Kind: RetransmitNak, Packet: s.packet, Cause: s.because.sign.packet, PSN: s.psn, N: 1, Waited: time.Duration(s.because.waited)}
		if c.back {
			back.N = c.frontier.Diff(s.psn)
		}
		d.judge(back, d.now)
	}
	d.singles = slices.Delete(d.singles, 0, n)
}

// asksBehind reports whether a NAK asks for what a candidate may have left out.
func (d *Direction) asksBehind(e Event) bool {
	for i := range d.singles {
		c := &d.singles[i]
		// How far a READ reaches may have been learned since.
		follows := c.stray.end == e.PSN || c.stray.read && c.stray.end.Less(e.PSN)
		if c.next > 0 && follows && e.PSN.Less(c.frontier) {
			c.behind, c.asked = e, true
			return true
		}
	}
	return false
}

// follower gives the verdict on what was asked for behind a candidate.
func (d *Direction) follower(c *candidate) {
	switch {
	case !c.asked:
	case c.back:
		d.judgeUnfilled(hole{from: c.behind.PSN, to: c.frontier, packet: c.next, again: true, asked: true})
	default:
		d.judge(c.behind, d.now)
	}
}

// lone gives the verdict on a packet that was late or came twice.
func (d *Direction) lone(s stray) {
	d.lateOnes.add(sign{set: true, psn: s.psn, packet: s.packet, time: s.time})
	if s.unseen {
		d.verdict(Reordered, s.hole, 1)
		return
	}
	twice := Event{Kind: Duplicate, Packet: s.packet, PSN: s.psn, N: 1}
	if d.troubled(s.time) {
		d.withdraw(twice)
		return
	}
	d.judge(twice, d.now)
}
