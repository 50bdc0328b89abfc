package survey

import (
	"math"

	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

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
