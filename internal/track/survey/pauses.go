package survey

import (
	"math"
	"time"

	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// Span is the time from the first frame that was looked at to the last.
type Span struct {
	First, Last int64
	known       bool
}

// Length is how long it is; a clock that was set back leaves none.
func (s *Span) Length() time.Duration { return max(0, time.Duration(s.Last-s.First)) }

func (s *Span) note(at int64) {
	if !s.known {
		*s = Span{First: at, known: true}
	}
	s.Last = at
}

func (s *Span) add(more Span) {
	if !more.known {
		return
	}
	s.note(more.First)
	s.note(more.Last)
}

// pause takes the facts out of a flow control frame.
func (f *Facts) pause(frame *wire.Frame, at Stamp) {
	f.Counts.Pause++
	p := pause.Frame{Number: at.Number, Time: at.Time}
	if p.Read(frame) {
		f.Pauses = append(f.Pauses, p)
	}
}

// pause takes the flow control frames before a packet, and returns the others.
func (t *Tracker) pause(frames []pause.Frame, before int) []pause.Frame {
	for len(frames) > 0 && frames[0].Number < before {
		t.Pauses.Frame(&frames[0])
		frames = frames[1:]
	}
	return frames
}

// everything is a number that no packet has.
const everything = math.MaxInt
