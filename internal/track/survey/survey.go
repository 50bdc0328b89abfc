// Package survey follows everything that a capture has of RDMA at once: it
// reads the facts out of each frame, and hands them to the trackers in the order
// of the capture.
//
// Reading costs most of the time and needs no memory of other frames, so that
// several goroutines can do it, each into Facts of its own; Tracker.Take is for
// one of them.
package survey

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

// Stamp is what the capture says about a frame.
type Stamp struct {
	Number int   // 1-based place in the capture
	Time   int64 // nanoseconds since the epoch
}

// Counts are frames that are not followed, by what they are.
type Counts struct {
	Seen  int // frames that were looked at
	TCP   int // of which TCP's
	Pause int // PAUSE and PFC frames
	Other int // without RDMA headers, or cut before their end

	// Copies are packets that are in the capture for the second time, and are not
	// followed; CopiesTCP the TCP segments among them.
	Copies, CopiesTCP int

	Cut   int // frames of which the capture has only the first bytes
	CutTo int // the most bytes of those that there are
}

func (c *Counts) add(more Counts) {
	c.Seen += more.Seen
	c.TCP += more.TCP
	c.Pause += more.Pause
	c.Other += more.Other
	c.Cut += more.Cut
	c.CutTo = max(c.CutTo, more.CutTo)
}

// measure counts a frame that was cut.
func (c *Counts) measure(frame *wire.Frame) {
	if captured := len(frame.Data); captured < frame.WireLen {
		c.Cut++
		c.CutTo = max(c.CutTo, captured)
	}
}

// Facts are what some frames of a capture say, in their order.
type Facts struct {
	Packets  []conversation.Packet
	Connects []connect.Message // those in Packets
	Pauses   []pause.Frame
	Segments []rdmap.Segment
	Counts   Counts
	Span     Span

	sights   []sight // of Packets
	segments []sight // of Segments
	ways     ways
	versions versions
}

// Reset forgets everything, and keeps the memory.
func (f *Facts) Reset() {
	*f = Facts{Packets: f.Packets[:0], Connects: f.Connects[:0], Pauses: f.Pauses[:0], Segments: f.Segments[:0], sights: f.sights[:0], segments: f.segments[:0], versions: versions{f.versions.ways[:0]}}
}

// Read takes the facts out of a frame. Of a packet to a queue pair it returns
// those, for the caller to say how far the ICRC lets it be trusted; they are
// valid until the next call.
func (f *Facts) Read(frame *wire.Frame, at Stamp) *conversation.Packet {
	f.Counts.Seen++
	f.Counts.measure(frame)
	f.Span.note(at)
	if p := f.packet(frame, at); p != nil {
		f.versions.note(frame, at.Number)
		f.connect(frame, p)
		return p
	}
	switch frame.Proto {
	case wire.ProtoTCP:
		f.segment(frame, at)
	case wire.ProtoPause, wire.ProtoPFC:
		f.pause(frame, at)
	default:
		f.Counts.Other++
	}
	return nil
}

func (f *Facts) packet(frame *wire.Frame, at Stamp) *conversation.Packet {
	if frame.BTH < 0 {
		return nil
	}
	n := len(f.Packets)
	if n < cap(f.Packets) {
		f.Packets = f.Packets[:n+1]
	} else {
		f.Packets = append(f.Packets, conversation.Packet{})
	}
	p := &f.Packets[n]
	p.Trust, p.Mistake, p.Copy = conversation.Trusted, "", false
	if !p.Read(frame) {
		f.Packets = f.Packets[:n]
		return nil
	}
	p.Number, p.Time = at.Number, at.Time
	f.sights = append(f.sights, sightOf(p, &f.ways))
	return p
}

// Tracker is everything that is followed in a capture.
type Tracker struct {
	Counts        Counts
	Span          Span
	Conversations *conversation.Tracker
	Connections   *connect.Tracker
	Pauses        *pause.Tracker
	Streams       *rdmap.Tracker

	copies   *copies
	versions versions
}

// Limits bound what a Tracker keeps.
type Limits struct {
	Conversations conversation.Limits
	Connections   int // of CM
	Streams       iwarp.Limits
}

// DefaultLimits are for a capture that is analyzed.
func DefaultLimits() Limits {
	return Limits{conversation.DefaultLimits(), connect.Limit, iwarp.DefaultLimits()}
}

// NewTracker returns a tracker that has seen nothing, with the default limits.
func NewTracker() *Tracker { return NewBounded(DefaultLimits()) }

// NewBounded returns a tracker that has seen nothing.
func NewBounded(l Limits) *Tracker {
	return &Tracker{
		Conversations: conversation.NewTracker(l.Conversations), Pauses: pause.NewTracker(),
		Connections: connect.NewTracker(l.Connections),
		Streams:     rdmap.NewTracker(l.Streams),
		copies:      newCopies(),
	}
}

// Take takes the next facts of the capture.
func (t *Tracker) Take(f *Facts) {
	t.Counts.add(f.Counts)
	t.Span.add(f.Span)
	for _, w := range f.versions.ways {
		t.versions.add(w)
	}
	pauses, connects := f.Pauses, f.Connects
	for i := range f.Packets {
		p := &f.Packets[i]
		pauses = t.pause(pauses, p.Number)
		p.Paused = t.Pauses.Clock(p.Time)
		// Facts that are not from a frame have nothing to compare.
		if i < len(f.sights) && p.Trust != conversation.Corrupt && t.copies.twice(&f.sights[i], p.Number, p.Time) {
			p.Copy = true
			t.Counts.Copies++
		}
		t.Conversations.Packet(p)
		connects = t.connect(connects, p)
	}
	t.pause(pauses, everything)
	t.streams(f)
}

// Expire ends what is silent for so long that no more is to come, so that a
// capture that never ends keeps only what goes on.
func (t *Tracker) Expire(now int64, silence time.Duration) {
	t.Conversations.Expire(now - int64(silence))
	t.Connections.Expire(now, silence)
	t.Streams.Expire(now, silence)
}

// Finish ends the capture.
func (t *Tracker) Finish() {
	t.Conversations.Until = t.Span.Last
	t.Conversations.Finish()
	t.Connections.Finish(t.Span.Last)
	t.Streams.Finish()
	t.Pauses.Finish(t.Span.Last)
}
