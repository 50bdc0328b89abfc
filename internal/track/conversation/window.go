package conversation

import "time"

// Window is what was outstanding of a direction over time: a bounded number of
// intervals of one length, which doubles when there are too many. Intervals
// without a packet are left out.
type Window struct {
	MostBytes   int64         // of messages that were not complete, at a time
	MostPackets int           // PSNs that were not acknowledged, at a time
	Busy        time.Duration // how long something was outstanding

	few    bool
	shift  uint8 // an interval is two to this power of nanoseconds
	began  int64
	last   int64
	volume volume
	points []point
}

// Interval is one of a Window.
type Interval struct {
	Start        time.Duration // since the first request
	Messages     int           // most that were not complete at a time
	Bytes        int64         // of those
	Acknowledged int64         // bytes of the messages that were completed
	Payload      int64         // bytes that passed, of requests and of responses to READs
}

// volume is how much there is, and was.
type volume struct {
	messages int   // that are not complete
	bytes    int64 // of those
	finished int64 // bytes of those that were completed
	payload  int64 // bytes that passed, but for what had been seen
}

// join makes one of two messages; what is left of a done one is done.
func (v *volume) join(m, rest *message) {
	switch {
	case m.done && !rest.done:
		v.bytes -= rest.bytes
		v.messages--
	case !m.done && rest.done:
		v.bytes += rest.bytes
	case !m.done:
		v.messages--
	}
}

// finish counts a message that was completed.
func (v *volume) finish(m *message) {
	v.giveUp(m)
	v.finished += m.bytes
}

func (v *volume) giveUp(m *message) {
	v.bytes -= m.bytes
	v.messages--
}

type point struct {
	slot           uint32
	messages       uint32
	bytes          int64
	acked, payload int64
}

// How many intervals there are at most: fewer for all but the first
// conversations of a capture, which bounds the memory.
const (
	maxPoints  = 256
	fewPoints  = 16
	richOnes   = 1024 // conversations
	firstShift = 13   // 8.2 us
)

// Length is how long the intervals are.
func (w *Window) Length() time.Duration { return 1 << w.shift }

// Len is how many intervals there are, At returns one.
func (w *Window) Len() int { return len(w.points) }

// At returns an interval by its place.
func (w *Window) At(i int) Interval {
	p := &w.points[i]
	return Interval{time.Duration(p.slot) << w.shift, int(p.messages), p.bytes, p.acked, p.payload}
}

// Span is from the first request to the last packet.
func (w *Window) Span() time.Duration { return time.Duration(w.last - w.began) }

// Payload is how many bytes passed.
func (w *Window) Payload() int64 { return w.volume.payload }

// note takes how much there is behind a packet.
func (w *Window) note(now int64, v *volume) {
	if w.points == nil {
		w.shift, w.began, w.last = firstShift, now, now
	}
	now = max(now, w.last)
	if w.volume.messages > 0 {
		w.Busy += time.Duration(now - w.last)
	}
	w.last = now
	w.MostBytes = max(w.MostBytes, v.bytes)
	p := w.point(now)
	p.messages = max(p.messages, uint32(v.messages))
	p.bytes = max(p.bytes, v.bytes)
	p.acked += v.finished - w.volume.finished
	p.payload += v.payload - w.volume.payload
	w.volume = *v
}

// point returns that of a time, which is not before the last one.
func (w *Window) point(now int64) *point {
	limit := maxPoints
	if w.few {
		limit = fewPoints
	}
	slot := (now - w.began) >> w.shift
	for slot >= int64(limit) {
		w.halve()
		slot >>= 1
	}
	n := len(w.points)
	if n == 0 || w.points[n-1].slot != uint32(slot) {
		// What was outstanding before is so in the beginning of an interval.
		w.points = append(w.points, point{slot: uint32(slot), messages: uint32(w.volume.messages), bytes: w.volume.bytes})
		n++
	}
	return &w.points[n-1]
}

// halve makes one of each pair of intervals.
func (w *Window) halve() {
	w.shift++
	kept := w.points[:0]
	for _, p := range w.points {
		p.slot >>= 1
		if n := len(kept); n > 0 && kept[n-1].slot == p.slot {
			q := &kept[n-1]
			q.messages, q.bytes = max(q.messages, p.messages), max(q.bytes, p.bytes)
			q.acked += p.acked
			q.payload += p.payload
			continue
		}
		kept = append(kept, p)
	}
	w.points = kept
}
