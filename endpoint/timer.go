package endpoint

import (
	"container/heap"
	"time"
)

// timers are the queue pairs that wait for a point in time, as a heap, and the
// clock that rings at the earliest.
type timers struct {
	pairs []*QP
	clock *time.Timer
	armed time.Time // when it will ring, zero for never
}

func (t *timers) Len() int { return len(t.pairs) }

func (t *timers) Less(i, j int) bool { return t.pairs[i].due.Before(t.pairs[j].due) }

func (t *timers) Swap(i, j int) {
	t.pairs[i], t.pairs[j] = t.pairs[j], t.pairs[i]
	t.pairs[i].timerAt, t.pairs[j].timerAt = i+1, j+1
}

// Push is heap.Interface's.
func (t *timers) Push(x any) {
	q := x.(*QP)
	t.pairs = append(t.pairs, q)
	q.timerAt = len(t.pairs)
}

// Pop is heap.Interface's.
func (t *timers) Pop() any {
	last := len(t.pairs) - 1
	q := t.pairs[last]
	t.pairs[last] = nil
	t.pairs = t.pairs[:last]
	q.timerAt = 0
	return q
}

// set notes when a queue pair wants to be called. A later time than the one
// that is noted is left for when that has come: an acknowledgement moves the
// deadline of a busy queue pair with every packet.
func (t *timers) set(q *QP, at time.Time) {
	switch {
	case at.IsZero():
	case q.timerAt == 0:
		q.due = at
		heap.Push(t, q)
	case at.Before(q.due):
		q.due = at
		heap.Fix(t, q.timerAt-1)
	}
}

func (t *timers) drop(q *QP) {
	if q.timerAt > 0 {
		heap.Remove(t, q.timerAt-1)
	}
}

// due takes a queue pair whose time has come.
func (t *timers) due(now time.Time) *QP {
	if len(t.pairs) == 0 || t.pairs[0].due.After(now) {
		return nil
	}
	return heap.Pop(t).(*QP)
}

// arm sets the clock, if it is not to ring early enough.
func (d *Device) arm() {
	t := &d.timers
	if len(t.pairs) == 0 {
		return
	}
	if next := t.pairs[0].due; t.armed.IsZero() || next.Before(t.armed) {
		t.armed = next
		t.clock.Reset(next.Sub(d.now))
	}
}

// keep is the goroutine that does what is due, and sends what is too much for
// whoever made it ready.
func (d *Device) keep() {
	defer d.workers.Done()
	r := newReceiver(d)
	for {
		select {
		case <-d.timers.clock.C:
			d.lock()
			d.timers.armed = time.Time{}
			d.advance()
			d.unlock()
		case <-d.kick:
			d.loop(r)
			d.lock()
			d.unlock()
		case <-d.done:
			d.timers.clock.Stop()
			return
		}
	}
}

func (d *Device) advance() {
	for q := d.timers.due(d.now); q != nil; q = d.timers.due(d.now) {
		if at := q.engine.Deadline(); !at.IsZero() && !at.After(d.now) {
			q.engine.Advance(d.now)
		}
		if q.agent != nil {
			q.agent.advance(d.now)
		}
		d.ready(q) // settle notes what it waits for next
	}
}

func (d *Device) wakeKeeper() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}
