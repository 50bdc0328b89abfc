package survey

import (
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

// segment takes the facts out of a TCP segment. Its payload stays where it is:
// the frame's bytes have to be there until Tracker.Take.
func (f *Facts) segment(frame *wire.Frame, at Stamp) {
	f.Counts.TCP++
	p, ok := iwarp.PacketOf(frame, uint64(at.Number))
	if !ok {
		return
	}
	window := wire.TCP(frame.View(wire.HdrTCP)).Window()
	f.Segments = append(f.Segments, rdmap.Segment{Packet: p, Time: at.Time, Window: window})
}

// streams follows the TCP segments of some facts.
func (t *Tracker) streams(segments []rdmap.Segment) {
	for i := range segments {
		t.Streams.Segment(&segments[i])
	}
}
