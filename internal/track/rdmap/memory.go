package rdmap

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/latency"
)

// What is remembered of a connection beyond a fixed part has a bound for each
// connection, and the sum over all of them another.

// The most that one of what there can be many of takes.
const (
	pendingBytes = 24
	requestBytes = 48
	placeBytes   = 32
	regionBytes  = 40
	tallyBytes   = 64
	spanBytes    = 16
)

// weighEvery is after how many segments a connection is weighed again. Until then
// it can only hold little more.
const weighEvery = 16

// few is how much of a kind is remembered when memory is short.
const few = 16

// weigh finds out what a connection holds. When all together hold half of what
// they may, it forgets what is for details; when they hold too much for all that,
// or the bytes of their streams do, those that were silent longest are given up.
func (t *Tracker) weigh(f *flow) {
	for t.cutter.Full() && t.order.newer != f {
		t.evict(t.order.newer)
	}
	if f.connection == nil || f.segments%weighEvery != 0 {
		return
	}
	t.hold(f)
	if t.limits.Messages == 0 || t.held <= t.limits.Messages/2 {
		return
	}
	for i := range f.connection.Ends {
		f.connection.Ends[i].stream.thin()
	}
	for t.hold(f); t.held > t.limits.Messages && t.order.newer != f; {
		t.evict(t.order.newer)
	}
}

// hold notes what a connection holds.
func (t *Tracker) hold(f *flow) {
	n := f.connection.Ends[0].held() + f.connection.Ends[1].held()
	t.held += n - f.held
	f.held = n
}

// evict gives up a connection.
func (t *Tracker) evict(f *flow) {
	t.take(t.cutter.End(f.addr[0], f.addr[1]), moment{}, true)
	if f.connection != nil {
		f.connection.Evicted = true
		t.evicted++
	}
	t.close(f)
}

// thin forgets what only makes results finer: messages that wait to be timed, and
// segments that a Terminate may be about.
func (s *stream) thin() {
	if cap(s.unacked.all) > 2*few {
		rest := s.unacked.items()
		s.unacked = list[pending]{all: slices.Clone(rest[max(0, len(rest)-few):])}
	}
	if cap(s.recent.all) > 2*few {
		s.recent = s.recent.newest(few)
	}
}

func (e *End) held() int {
	s := &e.stream
	n := cap(s.unacked.all)*pendingBytes + (cap(s.reads.all)+cap(s.atomics.all))*requestBytes + cap(s.recent.all)*placeBytes
	n += cap(s.invalid)*spanBytes + cap(e.tcp.holes)*spanBytes + cap(e.Regions)*regionBytes + cap(e.Tallies)*tallyBytes
	for op := range e.Operations {
		n += sizeOf(e.Operations[op].Latency)
	}
	return n
}

func sizeOf(h *latency.Histogram) int {
	if h == nil {
		return 0
	}
	return h.Bytes()
}
