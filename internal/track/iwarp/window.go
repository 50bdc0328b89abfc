package iwarp

import "github.com/rocecap/rocecap/internal/track/tcpstream"

// window is the part of a stream that is not yet cut into PDUs: bytes at
// consecutive offsets, some of which the capture does not have, and the packets
// that they came in. A missing byte reads as zero.
type window struct {
	budget *tcpstream.Budget
	held   int // bytes that the budget counts
	store  []byte
	head   int   // store[head:] are the bytes of the window
	off    int64 // stream offset of store[head]
	holes  []span
	parts  []part
}

// span is a range of stream offsets, hi excluded.
type span struct{ lo, hi int64 }

// part is a range of the window that came in one packet.
type part struct {
	span
	number     uint64
	start, end bool // the range begins or ends where its TCP segment does
	segLen     int
	offset     int // of lo in the frame
}

func (w *window) end() int64 { return w.off + int64(w.size()) }

func (w *window) size() int { return len(w.store) - w.head }

// bytes returns the bytes of [lo, hi), which lies in the window.
func (w *window) bytes(lo, hi int64) []byte {
	at := int64(w.head) - w.off
	return w.store[at+lo : at+hi]
}

// add appends a chunk with data.
func (w *window) add(c tcpstream.Chunk) {
	lo := w.end()
	w.room(len(c.Data))
	w.store = append(w.store, c.Data...)
	w.parts = append(w.parts, part{
		span: span{lo, w.end()}, number: c.Number,
		start: c.Start, end: c.End, segLen: c.SegLen, offset: c.Offset,
	})
	w.weigh()
}

// addHole appends n missing bytes of the gap c.
func (w *window) addHole(n int64, c tcpstream.Chunk) {
	lo := w.end()
	w.room(int(n))
	w.store = append(w.store, make([]byte, n)...)
	w.holes = append(w.holes, span{lo, w.end()})
	if c.Cut {
		w.parts = append(w.parts, part{
			span: span{lo, w.end()}, number: c.Number,
			start: c.Start, end: c.Off+c.Gap == w.end(), segLen: c.SegLen, offset: -1,
		})
	}
	w.weigh()
}

// What a part and a hole take.
const (
	partBytes = 48
	holeBytes = 16
)

// weigh tells the budget what the window takes: also the room that it has for
// more, and the places of its segments, of which each may have one byte.
func (w *window) weigh() {
	n := cap(w.store) + cap(w.parts)*partBytes + cap(w.holes)*holeBytes
	w.budget.Take(n - w.held)
	w.held = n
}

// room moves the bytes to the front of the store when n more would not fit.
func (w *window) room(n int) {
	if w.head > 0 && len(w.store)+n > cap(w.store) {
		w.store = w.store[:copy(w.store, w.store[w.head:])]
		w.head = 0
	}
}

// drop forgets what lies before offset to, which lies in the window.
func (w *window) drop(to int64) {
	n := int(to - w.off)
	if n <= 0 {
		return
	}
	w.head += n
	w.off = to
	if w.head == len(w.store) {
		w.empty()
		return
	}
	w.parts = trim(w.parts, func(p part) bool { return p.hi <= to })
	w.holes = trim(w.holes, func(h span) bool { return h.hi <= to })
}

// empty forgets all bytes, and gives their room back when it is scarce.
func (w *window) empty() {
	if w.budget.Scarce() {
		w.store, w.holes, w.parts = nil, nil, nil
	}
	w.store, w.head = w.store[:0], 0
	w.holes, w.parts = w.holes[:0], w.parts[:0]
	w.weigh()
}

// trim removes the leading elements that are gone, keeping the memory.
func trim[T any](list []T, gone func(T) bool) []T {
	n := 0
	for n < len(list) && gone(list[n]) {
		n++
	}
	if n == 0 {
		return list
	}
	return list[:copy(list, list[n:])]
}

// restart empties the window and moves it to offset to.
func (w *window) restart(to int64) {
	w.off = to
	w.empty()
}

// release is restart for a window that will not be used again.
func (w *window) release() {
	w.off, w.head = w.end(), 0
	w.store, w.holes, w.parts = nil, nil, nil
	w.weigh()
}

// missing counts the missing bytes in [lo, hi) and finds the first of them;
// first is hi when there is none.
func (w *window) missing(lo, hi int64) (n, first int64) {
	first = hi
	for _, h := range w.holes {
		a, b := max(lo, h.lo), min(hi, h.hi)
		if a < b {
			n += b - a
			first = min(first, a)
		}
	}
	return n, first
}

// startsSegment reports that a TCP segment begins at offset at.
func (w *window) startsSegment(at int64) bool {
	for _, p := range w.parts {
		if p.lo >= at {
			return p.lo == at && p.start
		}
	}
	return false
}

// endsSegment reports that a TCP segment ends at offset at.
func (w *window) endsSegment(at int64) bool {
	for _, p := range w.parts {
		if p.hi >= at {
			return p.hi == at && p.end
		}
	}
	return false
}
