package conversation

import "math/bits"

// recent finds the streams of late without hashing their addresses: it has the
// last one of each few queue pair numbers, and room for twice as many as there are.
type recent struct {
	slots []*half
	shift uint8
}

// How much room there is.
const (
	minRecent = 1 << 8
	maxRecent = 1 << 16
)

// make makes room for a power of two of streams, and forgets all.
func (r *recent) make(n int) {
	r.slots, r.shift = make([]*half, n), uint8(33-bits.Len(uint(n)))
}

// slot is where a stream may be. A multiplication spreads the numbers, because the
// two queue pairs of a conversation are often alike in their low bits.
func (r *recent) slot(qpn uint32) **half {
	return &r.slots[qpn*0x9e3779b1>>r.shift]
}

func (r *recent) find(p *Packet) *half {
	h := *r.slot(p.DestQP)
	if h == nil || h.key.qpn != p.DestQP || h.key.src != p.Src || h.key.dst != p.Dst {
		return nil
	}
	return h
}

func (r *recent) note(h *half) { *r.slot(h.key.qpn) = h }

func (r *recent) forget(h *half) {
	if last := r.slot(h.key.qpn); *last == h {
		*last = nil
	}
}

// keep has a stream be found.
func (t *Tracker) keep(h *half) {
	t.halves[h.key] = h
	if n := len(t.recent.slots); 2*len(t.halves) > n && n < maxRecent {
		t.recent.make(2 * n)
	}
}
