package tcpstream

import (
	"slices"
	"sort"
)

// maxOld is how far back a sequence number counts as old. TCP windows have at
// most 1 GiB (RFC 7323 section 2.3) and in practice far less; what lies further
// back is taken to lie ahead, after a part that the capture missed.
const maxOld = 64 << 20

// storedCost is what a stored segment is charged beside its bytes, so that
// empty and tiny segments are bounded too.
const storedCost = 128

// maxUnheard and minHeld are how many segments, of how many bytes, are kept
// behind a hole while the peer says nothing. A receiver acknowledges every
// segment that comes out of order at once (RFC 5681 section 4.2): one that is
// silent for so long is not in the capture, and no ACK will tell that the hole
// was filled.
const (
	maxUnheard = 64
	minHeld    = 64 << 10
)

// half is one direction. Offsets count from base, the sequence number of the
// first stream byte, and do not wrap.
type half struct {
	budget *Budget
	known  bool // base is set
	skip   bool // do not wait for holes
	isn    uint32
	base   uint32
	expect int64 // offset of the next byte to deliver
	acked  int64 // the peer has every byte before this offset

	unheard int   // segments stored since the peer was heard
	cut     piece // rest of a delivered segment that was not captured
	cur     piece // the segment just pushed, when it can be delivered
	stored  []piece
	held    int // bytes charged for stored
}

// piece is a segment, or what is left of it, at its place in the stream.
type piece struct {
	Segment
	off int64
}

func (p *piece) end() int64 { return p.off + int64(p.Len) }

func (h *half) reset() {
	h.budget.Take(-h.held)
	*h = half{budget: h.budget}
}

func (h *half) push(s Segment) {
	if s.Len < len(s.Payload) {
		s.Len = len(s.Payload)
	}
	if s.Flags&SYN != 0 {
		s.Seq++ // the SYN takes one number; data may ride on it (RFC 7413)
	}
	if !h.known {
		h.known = true
		h.base = s.Seq
		h.isn = s.Seq - 1
	}
	p := piece{Segment: s, off: h.offset(s.Seq)}
	switch {
	case p.end() <= h.expect || s.Len == 0: // seen before, or nothing in it
	case p.off <= h.expect:
		h.cur = p
	default:
		h.store(p)
	}
}

// offset turns a sequence number into the stream offset nearest to what is
// expected.
func (h *half) offset(seq uint32) int64 {
	delta := int64(seq - (h.base + uint32(h.expect)))
	if delta >= 1<<32-maxOld {
		delta -= 1 << 32
	}
	return h.expect + delta
}

func (h *half) acknowledge(ack uint32) {
	h.unheard = 0
	if h.known {
		h.acked = max(h.acked, h.offset(ack))
	}
}

// store keeps a copy of a segment that lies behind a hole.
func (h *half) store(p piece) {
	at := sort.Search(len(h.stored), func(i int) bool { return h.stored[i].off >= p.off })
	if at < len(h.stored) && h.stored[at].off == p.off && h.stored[at].Len >= p.Len {
		return // a copy is here already
	}
	p.Payload = slices.Clone(p.Payload)
	h.stored = slices.Insert(h.stored, at, p)
	h.charge(len(p.Payload) + storedCost)
	h.unheard++
	alone := h.unheard > maxUnheard && h.held > minHeld
	if alone || h.held > h.budget.limits.PerStream || h.budget.Full() {
		h.skip = true
	}
}

func (h *half) charge(n int) {
	h.held += n
	h.budget.Take(n)
}

// next delivers in order: the missing tail of a cut segment, the segment just
// pushed, stored segments that have become due, and a gap when it is certain
// that a hole will not be filled.
func (h *half) next() (Chunk, bool) {
	if h.cut.Len > 0 {
		p := h.cut
		h.cut = piece{}
		return h.deliver(p)
	}
	if h.cur.Len > 0 {
		p := h.cur
		h.cur = piece{}
		if p.end() > h.expect {
			return h.deliver(p)
		}
	}
	for len(h.stored) > 0 {
		p := h.stored[0]
		if p.off > h.expect {
			if !h.skip && h.acked < p.off {
				return Chunk{}, false
			}
			return h.gap(p.off), true
		}
		h.stored[0] = piece{} // give the payload back
		h.stored = h.stored[1:]
		h.charge(-len(p.Payload) - storedCost)
		if p.end() > h.expect {
			return h.deliver(p)
		}
	}
	h.stored = nil // however many there were
	h.skip, h.unheard = false, 0
	return Chunk{}, false
}

// gap jumps over a hole that ends at offset to.
func (h *half) gap(to int64) Chunk {
	c := Chunk{Off: h.expect, Gap: to - h.expect}
	h.expect = to
	return c
}

// deliver gives out what is new in a segment that begins at or before the
// expected offset and ends behind it.
func (h *half) deliver(p piece) (Chunk, bool) {
	skip := h.expect - p.off
	c := Chunk{Off: h.expect, Number: p.Number, SegLen: p.Len, Start: skip == 0}
	if skip >= int64(len(p.Payload)) {
		c.Gap, c.Cut, c.End = p.end()-h.expect, true, true
		h.expect = p.end()
		return c, true
	}
	c.Data = p.Payload[skip:]
	c.Offset = p.Offset + int(skip)
	c.End = len(p.Payload) == p.Len
	h.expect += int64(len(c.Data))
	if !c.End {
		p.Payload = nil
		h.cut = p
	}
	return c, true
}
