// Package survey follows everything that a capture has of RDMA at once: it
// reads the facts out of each frame, and hands them to the trackers in the order
// of the capture.
//
// Reading costs most of the time and needs no memory of other frames, so that
// several goroutines can do it, each into Facts of its own; Tracker.Take is for
// one of them.
package survey

import (
	"github.com/rocecap/rocecap/internal/track/conversation"
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
}

func (c *Counts) add(more Counts) {
	c.Seen += more.Seen
	c.TCP += more.TCP
	c.Pause += more.Pause
	c.Other += more.Other
}

// Facts are what some frames of a capture say, in their order.
type Facts struct {
	Packets []conversation.Packet
	Counts  Counts
}

// Reset forgets everything, and keeps the memory.
func (f *Facts) Reset() { *f = Facts{Packets: f.Packets[:0]} }

// Read takes the facts out of a frame. Of a packet to a queue pair it returns
// those, for the caller to say how far the ICRC lets it be trusted; they are
// valid until the next call.
func (f *Facts) Read(frame *wire.Frame, at Stamp) *conversation.Packet {
	f.Counts.Seen++
	if p := f.packet(frame, at); p != nil {
		return p
	}
	switch frame.Proto {
	case wire.ProtoTCP:
		f.Counts.TCP++
	case wire.ProtoPause, wire.ProtoPFC:
		f.Counts.Pause++
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
	p.Trust, p.Mistake = conversation.Trusted, ""
	if !p.Read(frame) {
		f.Packets = f.Packets[:n]
		return nil
	}
	p.Number, p.Time = at.Number, at.Time
	return p
}

// Tracker is everything that is followed in a capture.
type Tracker struct {
	Counts        Counts
	Conversations *conversation.Tracker
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker() *Tracker {
	return &Tracker{Conversations: conversation.NewTracker(conversation.DefaultLimits())}
}

// Take takes the next facts of the capture.
func (t *Tracker) Take(f *Facts) {
	t.Counts.add(f.Counts)
	for i := range f.Packets {
		t.Conversations.Packet(&f.Packets[i])
	}
}

// Finish ends the capture.
func (t *Tracker) Finish() { t.Conversations.Finish() }
