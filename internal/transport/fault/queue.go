package fault

import "time"

// reorderPatience is how long a frame waits to be overtaken: long enough for
// the rest of a burst, shorter than the time-outs of transports.
const reorderPatience = 50 * time.Millisecond

// item is a frame that waits.
type item struct {
	out   Out
	at    time.Time
	order uint64 // of arrival, which decides between equal times
	after int    // frames of its direction that have still to go first
}

// queue holds frames until their time, as a binary heap.
type queue struct {
	items   []item
	arrived uint64
	waiting int // items with after > 0
}

func (q *queue) less(a, b int) bool {
	x, y := &q.items[a], &q.items[b]
	if x.at.Equal(y.at) {
		return x.order < y.order
	}
	return x.at.Before(y.at)
}

func (q *queue) add(it item) {
	if it.after > 0 {
		it.at = it.at.Add(reorderPatience)
		q.waiting++
	}
	it.order = q.arrived
	q.arrived++
	q.items = append(q.items, it)
	q.up(len(q.items) - 1)
}

// overtake says that a frame of the direction has left: those that were to let
// it go first may follow.
func (q *queue) overtake(d Direction, now time.Time) {
	if q.waiting == 0 {
		return
	}
	for i := 0; i < len(q.items); i++ {
		it := &q.items[i]
		if it.after == 0 || it.out.Direction != d {
			continue
		}
		if it.after--; it.after == 0 {
			q.waiting--
			if now.Before(it.at) {
				it.at = now
			}
			q.up(i) // what comes to i from above was looked at
		}
	}
}

func (q *queue) next(now time.Time) (Out, bool) {
	if len(q.items) == 0 || q.items[0].at.After(now) {
		return Out{}, false
	}
	first := q.items[0]
	last := len(q.items) - 1
	q.items[0], q.items[last] = q.items[last], item{}
	q.items = q.items[:last]
	q.down(0)
	if first.after > 0 {
		q.waiting--
	}
	q.overtake(first.out.Direction, now)
	return first.out, true
}

func (q *queue) deadline() (time.Time, bool) {
	if len(q.items) == 0 {
		return time.Time{}, false
	}
	return q.items[0].at, true
}

func (q *queue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(i, parent) {
			return
		}
		q.items[i], q.items[parent] = q.items[parent], q.items[i]
		i = parent
	}
}

func (q *queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.items) {
			return
		}
		if child+1 < len(q.items) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.items[i], q.items[child] = q.items[child], q.items[i]
		i = child
	}
}
