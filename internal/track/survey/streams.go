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
	id, hops := identity(frame)
	f.segments = append(f.segments, sightOfSegment(&f.Segments[len(f.Segments)-1], &f.ways, id, hops))
}

// identity is what the IP header of a frame says that only that packet has.
func identity(frame *wire.Frame) (id uint16, hops uint8) {
	if ip := wire.IPv4Header(frame.View(wire.HdrIPv4)); ip != nil {
		return ip.ID(), ip.TTL()
	}
	if ip := wire.IPv6Header(frame.View(wire.HdrIPv6)); ip != nil {
		return 0, ip.HopLimit()
	}
	return 0, 0
}

// streams follows the TCP segments of some facts.
func (t *Tracker) streams(f *Facts) {
	for i := range f.Segments {
		g := &f.Segments[i]
		if i < len(f.segments) && t.copies.twice(&f.segments[i], int(g.Number), g.Time) {
			t.Counts.Copies++
			t.Counts.CopiesTCP++
			continue
		}
		t.Streams.Segment(g)
	}
}
