package conversation

import "github.com/rocecap/rocecap/internal/wire"

// hole is a run of PSNs that were to be seen and were not.
type hole struct {
	from, to wire.PSN // the first, and one past the last
	packet   int      // the one that showed it
	time     int64
	// again says that the packets had been seen once, and are missing where they
	// were sent again.
	again bool
	// asked says that the responder asks for the first one: it has dropped all
	// the others that were sent before.
	asked bool
}

func (h *hole) len() int { return h.to.Diff(h.from) }

// maxHoles bounds how many holes of a direction are remembered; the oldest are
// judged when there are more.
const maxHoles = 64

// holes are those that are neither filled nor judged, in the order of their
// PSNs; they do not overlap.
type holes []hole

// insert adds a hole, but for what already is one.
func (list *holes) insert(h hole) {
	at := 0
	for at < len(*list) && (*list)[at].to.Diff(h.from) <= 0 {
		at++
	}
	for ; at < len(*list) && h.from.Less(h.to); at++ {
		next := (*list)[at]
		if next.from.Diff(h.to) >= 0 {
			break
		}
		if h.from.Less(next.from) {
			part := h
			part.to = next.from
			list.put(at, part)
			at++
		}
		h.from = next.to
	}
	if h.from.Less(h.to) {
		list.put(at, h)
	}
}

func (list *holes) put(at int, h hole) {
	*list = append(*list, hole{})
	copy((*list)[at+1:], (*list)[at:])
	(*list)[at] = h
}

// fill takes the PSNs of one request out of the hole that the first is in, and
// returns that hole with nothing else.
func (list *holes) fill(psn wire.PSN, n int) (h hole, ok bool) {
	for i := range *list {
		h = (*list)[i]
		if !psn.InRange(h.from, h.len()) {
			continue
		}
		before, behind := h, h
		before.to, behind.from = psn, psn.Add(n)
		behind.asked = false
		h.asked = h.asked && h.from == psn
		h.from = psn
		if behind.from.Less(h.to) {
			h.to = behind.from
		}
		*list = append((*list)[:i], (*list)[i+1:]...)
		if behind.from.Less(behind.to) {
			list.put(i, behind)
		}
		if before.len() > 0 {
			list.put(i, before)
		}
		return h, true
	}
	return hole{}, false
}

// find returns the hole that a PSN is in.
func (list holes) find(psn wire.PSN) *hole {
	for i := range list {
		if psn.InRange(list[i].from, list[i].len()) {
			return &list[i]
		}
	}
	return nil
}

// behind returns the first hole that is not wholly before a PSN.
func (list holes) behind(psn wire.PSN) *hole {
	for i := range list {
		if psn.Less(list[i].to) {
			return &list[i]
		}
	}
	return nil
}

// before takes out the first hole if it begins before a PSN, and of that hole
// what lies before.
func (list *holes) before(psn wire.PSN) (h hole, ok bool) {
	if len(*list) == 0 || !(*list)[0].from.Less(psn) {
		return hole{}, false
	}
	h = (*list)[0]
	if psn.Less(h.to) {
		(*list)[0].from = psn
		(*list)[0].asked = false
		h.to = psn
		return h, true
	}
	*list = append((*list)[:0], (*list)[1:]...)
	return h, true
}
