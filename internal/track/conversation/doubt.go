package conversation

import "slices"

// A late packet, a copy and one that was sent again look alike; what follows
// tells them apart, as long as only one thing goes wrong within a round trip.
// Verdicts therefore wait for a while. When signs of disorder come close
// together, all verdicts around them are withdrawn: nothing tells which packets
// were late and which were sent again.

// doubt holds the verdicts that may still be withdrawn.
type doubt struct {
	waiting []doubted
	late    int64 // when the last sign came that packets are late, 0 for never
	other   int64 // when the last sign came that means it only beside the first kind
	until   int64 // verdicts are withdrawn up to here
}

// doubted is a verdict of which it is not sure yet that it stands.
type doubted struct {
	event Event
	time  int64
}

// maxDoubted bounds how many verdicts wait.
const maxDoubted = 256

// doubtful reports whether lateness can be the reason for what a kind says.
func (k Kind) doubtful() bool {
	switch k {
	case Lost, LostBehind, Missed, Reordered, Unresolved, Duplicate, RetransmitNak, RetransmitUnseen:
		return true
	}
	return false
}

// settled is how long after a verdict nothing can change it: two round trips,
// and at least the shortest timeout that there is.
func (d *Direction) settled() int64 { return max(minTimeout, 2*d.answers.ample()) }

// judge takes a verdict, which was found at a time; it is told when it is sure.
func (d *Direction) judge(e Event, now int64) {
	if !d.reliable || !e.Kind.doubtful() {
		d.tell(e)
		return
	}
	d.disorder(e.Kind, now)
	if now <= d.doubt.until {
		d.withdraw(e)
		return
	}
	d.doubt.waiting = append(d.doubt.waiting, doubted{e, now})
	if len(d.doubt.waiting) > maxDoubted {
		d.tell(d.doubt.waiting[0].event)
		d.doubt.waiting = slices.Delete(d.doubt.waiting, 0, 1)
	}
}

// disorder notes a sign that packets are late. Two that come close together
// withdraw what was found around them.
func (d *Direction) disorder(k Kind, now int64) {
	x, near := &d.doubt, d.settled()
	follows := func(last int64) bool { return last != 0 && now-last <= near }
	trouble := false
	switch k {
	case Reordered:
		trouble = follows(x.late) || follows(x.other)
		x.late = now
	case RetransmitUnseen:
		// With a NAK just before, it is rather the late packet that came again.
		if trouble = follows(d.naks[0].time) || follows(x.late); trouble {
			x.late = now
		}
	case Duplicate:
		// What was asked for came twice: one of them was the late one.
		trouble = follows(x.other)
	case LostBehind:
		trouble = follows(x.late)
		x.other = now
	}
	if !trouble {
		return
	}
	x.until = now + near
	for _, w := range x.waiting {
		d.withdraw(w.event)
	}
	x.waiting = x.waiting[:0]
}

// withdraw tells that what was found is not sure.
func (d *Direction) withdraw(e Event) {
	d.tell(Event{Kind: Disordered, Packet: e.Packet, Cause: e.Cause, PSN: e.PSN, N: e.N})
}

// sure tells the verdicts that nothing can change any more.
func (d *Direction) sure(now int64) {
	if len(d.singles) > 0 {
		d.single(now - d.settled())
	}
	if len(d.doubt.waiting) == 0 {
		return
	}
	n, near := 0, d.settled()
	for n < len(d.doubt.waiting) && now-d.doubt.waiting[n].time > near {
		d.tell(d.doubt.waiting[n].event)
		n++
	}
	d.doubt.waiting = slices.Delete(d.doubt.waiting, 0, n)
}

// allSure tells the verdicts that wait, at the end.
func (d *Direction) allSure() {
	for _, w := range d.doubt.waiting {
		d.tell(w.event)
	}
	d.doubt.waiting = nil
}

// troubled reports whether packets are known to be late around a time.
func (d *Direction) troubled(now int64) bool {
	if !d.reliable {
		return false
	}
	return now <= d.doubt.until || d.doubt.late != 0 && now-d.doubt.late <= d.settled()
}
