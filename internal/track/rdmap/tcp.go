package rdmap

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// Segment is a TCP segment of the capture.
type Segment struct {
	iwarp.Packet
	Time   int64 // nanoseconds since the epoch
	Window uint16
}

// TCP is what was seen of the segments that an end sends.
type TCP struct {
	Segments       int
	Bytes          int64 // payload, also of what was sent again
	Frames         int64 // bytes of whole frames
	CE             int   // segments that were marked by congestion
	ResentSegments int
	ResentBytes    int64
	LateSegments   int
	ZeroWindows    int           // times that the end had no room
	Closed         time.Duration // for how long it had none
	FIN, RST       bool
}

const (
	// maxHoles bounds what is remembered of bytes that were not seen.
	maxHoles = 64
	// maxOld is how far back a sequence number counts as old.
	maxOld = 64 << 20
)

// span is a range of stream offsets, hi excluded.
type span struct{ lo, hi int64 }

// half is one direction of a TCP connection. Offsets count from base, the
// sequence number of the first stream byte, as package tcpstream counts them.
type half struct {
	TCP
	known  bool
	base   uint32
	next   int64 // one past the highest byte that was seen
	acked  int64 // the other end has what is before
	holes  []span
	since  int64 // the window is closed since then
	closed bool
}

// restarts reports that the segment begins a new connection.
func (h *half) restarts(s *Segment) bool {
	return s.Flags&tcpstream.SYN != 0 && h.known && h.base-1 != s.Seq
}

func (h *half) offset(seq uint32) int64 {
	delta := int64(seq - (h.base + uint32(h.next)))
	if delta >= 1<<32-maxOld {
		delta -= 1 << 32
	}
	return h.next + delta
}

// push takes a segment of the direction and says what kind of news it is, if
// any.
func (h *half) push(s *Segment) (kind Kind, bytes int64, told bool) {
	h.Segments++
	h.Bytes += int64(s.WireLen)
	h.Frames += int64(s.FrameLen)
	if s.CE {
		h.CE++
	}
	if s.Flags&tcpstream.RST != 0 {
		told = !h.RST
		h.RST = true
		return Reset, 0, told
	}
	h.FIN = h.FIN || s.Flags&tcpstream.FIN != 0
	seq := s.Seq
	if s.Flags&tcpstream.SYN != 0 {
		seq++
	}
	if !h.known {
		h.known, h.base = true, seq
	}
	at := span{lo: h.offset(seq)}
	at.hi = at.lo + int64(s.WireLen)
	if s.WireLen == 0 || s.WireLen == 1 && at.hi == h.next { // nothing, or a keep-alive
		return 0, 0, false
	}
	if at.lo >= h.next {
		if at.lo > h.next {
			h.miss(span{h.next, at.lo})
		}
		h.next = at.hi
		return 0, 0, false
	}
	return h.again(at)
}

// again takes bytes of which some are not beyond all others: they fill holes, or
// were seen before.
func (h *half) again(at span) (kind Kind, bytes int64, told bool) {
	old := span{max(at.lo, 0), min(at.hi, h.next)}
	filled := h.fill(old)
	h.next = max(h.next, at.hi)
	if filled > 0 {
		h.LateSegments++
		return Late, filled, true
	}
	seen := old.hi - old.lo
	if seen <= 0 {
		return 0, 0, false // from before the capture
	}
	h.ResentSegments++
	h.ResentBytes += seen
	return Resent, seen, true
}

func (h *half) miss(s span) {
	if len(h.holes) == maxHoles {
		h.holes = slices.Delete(h.holes, 0, 1)
	}
	h.holes = append(h.holes, s)
}

// fill takes the bytes of s out of the holes, and counts those that were in one.
func (h *half) fill(s span) (n int64) {
	for i := 0; i < len(h.holes); i++ {
		hole := h.holes[i]
		lo, hi := max(hole.lo, s.lo), min(hole.hi, s.hi)
		if lo >= hi {
			continue
		}
		n += hi - lo
		switch {
		case lo > hole.lo && hi < hole.hi:
			h.holes[i].hi = lo
			if len(h.holes) < maxHoles {
				h.holes = slices.Insert(h.holes, i+1, span{hi, hole.hi})
			}
			return n
		case lo > hole.lo:
			h.holes[i].hi = lo
		case hi < hole.hi:
			h.holes[i].lo = hi
		default:
			h.holes = slices.Delete(h.holes, i, i+1)
			i--
		}
	}
	return n
}

// acknowledge takes the acknowledgement number of a segment of the other end.
// What it has cannot come late any more.
func (h *half) acknowledge(ack uint32) {
	if !h.known {
		return
	}
	h.acked = max(h.acked, h.offset(ack))
	for len(h.holes) > 0 && h.holes[0].hi <= h.acked {
		h.holes = slices.Delete(h.holes, 0, 1)
	}
}

// window takes the window that a segment offers, and reports whether it has just
// been closed.
func (h *half) window(s *Segment) bool {
	if s.Flags&(tcpstream.SYN|tcpstream.RST|tcpstream.ACK) != tcpstream.ACK {
		return false
	}
	switch {
	case s.Window == 0 && !h.closed:
		h.closed, h.since = true, s.Time
		h.ZeroWindows++
		return true
	case s.Window != 0:
		h.close(s.Time)
	}
	return false
}

// close ends the time without room.
func (h *half) close(now int64) {
	if h.closed {
		h.Closed += time.Duration(max(now-h.since, 0))
		h.closed = false
	}
}
