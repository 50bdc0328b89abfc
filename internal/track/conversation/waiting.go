package conversation

import (
	"math/bits"

	"github.com/rocecap/rocecap/internal/wire"
)

// An RC answer does not name the queue pair that it comes from. What it is to is
// found by its PSN, among the streams of the other way that wait for their other
// half: each has a window, the PSNs that an answer to it can carry. There may be
// thousands between two addresses, with windows anywhere or, where all queue pairs
// begin with the same PSN, nearly alike.
//
// The PSNs are cut into cells of each power of two, and a window is filed in the
// cell of its first PSN that is the largest not longer than the window. It ends
// before two cells more. Of the windows that are filed
//
//   - in the cell of a PSN, those that begin at or before it contain it;
//   - in the two cells before, those that end behind it do.
//
// A cell therefore has its windows in two heaps, by begin and by end: those that
// contain a PSN are on top.

// windowSizes is how many sizes of cells there are: a window is shorter than half
// of all PSNs.
const windowSizes = 23

const psns = 1 << 24

// crowd is the halves from one address to another that wait for their other half.
type crowd struct {
	cells  map[cellID]*cell
	sizes  [windowSizes]int // how many windows are filed in cells of each size
	halves int
	marked []*half // those that may wait for a CNP
}

// cellID is a cell by its size, as a power of two, and its place.
type cellID struct {
	size   uint8
	number uint32
}

// cell has the windows that are filed in it, by begin and by end.
type cell struct {
	id    cellID
	heaps [2]heap
}

const (
	byBegin = iota
	byEnd
)

// place is where a half is filed.
type place struct {
	crowd *crowd // nil when it does not wait
	cell  *cell  // nil when its window is empty
	ranks [2]int // the first PSN, and the end of the window with its sign changed
	at    [2]int // in the heaps of the cell
	mark  int    // in the marked ones of the crowd, from 1 on; 0 for not there
}

// wait files a half to be compared with answers that belong to none yet. There
// are no more of these than conversations are open.
func (t *Tracker) wait(h *half) {
	if h.crowd == nil {
		t.enter(h)
	}
	h.crowd.file(h)
}

func (t *Tracker) enter(h *half) {
	way := pair{h.key.src, h.key.dst}
	c := t.waiting[way]
	if c == nil {
		c = &crowd{cells: make(map[cellID]*cell)}
		t.waiting[way] = c
	}
	c.halves++
	h.crowd = c
	if h.sender().Congestion.waiting {
		h.expectCNP()
	}
}

func (t *Tracker) stopWaiting(h *half) {
	c := h.crowd
	if c == nil {
		return
	}
	c.remove(h)
	h.expectNone()
	h.crowd = nil
	if c.halves--; c.halves == 0 {
		delete(t.waiting, pair{h.key.src, h.key.dst})
	}
}

// file notes the window of a half, which may have changed.
func (c *crowd) file(h *half) {
	first, n := h.sender().Asks.outstanding()
	ranks := [2]int{int(first), -(int(first) + n)}
	if h.cell != nil && h.ranks == ranks {
		return
	}
	if n <= 0 {
		c.remove(h)
		return
	}
	size := uint8(bits.Len(uint(n)) - 1)
	id := cellID{size, uint32(first) >> size}
	if h.cell != nil && h.cell.id == id {
		h.ranks = ranks
		for by := range h.cell.heaps {
			h.cell.heaps[by].settle(by, h.at[by])
		}
		return
	}
	c.remove(h)
	into := c.cells[id]
	if into == nil {
		into = &cell{id: id}
		c.cells[id] = into
	}
	c.sizes[size]++
	h.cell, h.ranks = into, ranks
	for by := range into.heaps {
		into.heaps[by].add(by, h)
	}
}

func (c *crowd) remove(h *half) {
	from := h.cell
	if from == nil {
		return
	}
	h.cell = nil
	c.sizes[from.id.size]--
	for by := range from.heaps {
		from.heaps[by].take(by, h.at[by])
	}
	if len(from.heaps[byBegin]) == 0 {
		delete(c.cells, from.id)
	}
}

// search is for the one half that an answer can be to.
type search struct {
	answers key // a stream is no answer to itself
	found   *half
	several bool
}

// asker finds the one half that an answer of a stream can be to: it goes the
// other way, and has a request of that PSN outstanding. When there are several,
// it is none: a later answer may tell.
func (t *Tracker) asker(answers key, psn wire.PSN) *half {
	c := t.waiting[pair{answers.dst, answers.src}]
	if c == nil {
		return nil
	}
	s := search{answers: answers}
	for size, n := range c.sizes {
		if n > 0 {
			s.look(c, uint8(size), int(psn))
		}
		if s.several {
			return nil
		}
	}
	return s.found
}

// look looks through the windows that are filed in cells of one size.
func (s *search) look(c *crowd, size uint8, psn int) {
	number := psn >> size
	if here := c.cells[cellID{size, uint32(number)}]; here != nil {
		s.walk(byBegin, here.heaps[byBegin], 0, psn)
	}
	for back := 1; back <= 2; back++ {
		at, seen := number-back, psn
		if at < 0 { // the windows there run over
			at += psns >> size
			seen += psns
		}
		if before := c.cells[cellID{size, uint32(at)}]; before != nil {
			s.walk(byEnd, before.heaps[byEnd], 0, -seen-1)
		}
	}
}

// walk takes the halves that rank up to a limit, at a place of a heap and below.
func (s *search) walk(by int, list heap, i, limit int) {
	if i >= len(list) || list[i].ranks[by] > limit || s.several {
		return
	}
	if list[i].key != s.answers {
		s.several = s.found != nil
		s.found = list[i]
	}
	s.walk(by, list, 2*i+1, limit)
	s.walk(by, list, 2*i+2, limit)
}

// heap has the half of the lowest rank in front. Each knows its place.
type heap []*half

func (l *heap) add(by int, h *half) {
	*l = append(*l, h)
	l.settle(by, len(*l)-1)
}

func (l *heap) take(by, i int) {
	last := len(*l) - 1
	moved := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	if i < last {
		(*l)[i] = moved
		l.settle(by, i)
	}
}

// settle moves a half to where its rank belongs.
func (l *heap) settle(by, i int) {
	list := *l
	h := list[i]
	for i > 0 {
		up := (i - 1) / 2
		if list[up].ranks[by] <= h.ranks[by] {
			break
		}
		list[i], list[up].at[by] = list[up], i
		i = up
	}
	for {
		down := 2*i + 1
		if next := down + 1; next < len(list) && list[next].ranks[by] < list[down].ranks[by] {
			down = next
		}
		if down >= len(list) || h.ranks[by] <= list[down].ranks[by] {
			break
		}
		list[i], list[down].at[by] = list[down], i
		i = down
	}
	list[i], h.at[by] = h, i
}

// expectCNP notes that a CNP may come for what a half that waits has sent.
func (h *half) expectCNP() {
	if h.crowd != nil && h.mark == 0 {
		h.crowd.marked = append(h.crowd.marked, h)
		h.mark = len(h.crowd.marked)
	}
}

func (h *half) expectNone() {
	if h.mark == 0 {
		return
	}
	list := h.crowd.marked
	last := len(list) - 1
	list[h.mark-1] = list[last]
	list[h.mark-1].mark = h.mark
	list[last] = nil
	h.crowd.marked, h.mark = list[:last], 0
}

// notified is the only half from one address to another that waits for a CNP,
// nil when there are several.
func (t *Tracker) notified(way pair) *half {
	c := t.waiting[way]
	if c == nil {
		return nil
	}
	for i := 0; i < len(c.marked); {
		if h := c.marked[i]; !h.sender().Congestion.waiting {
			h.expectNone()
			continue
		}
		if i++; i == 2 {
			return nil
		}
	}
	if len(c.marked) == 0 {
		return nil
	}
	return c.marked[0]
}
