// Package tally counts what was found in a capture, by kind, and remembers the
// packets in which the first of each kind showed.
package tally

import "slices"

// firstKept is how many packets are remembered of a kind.
const firstKept = 3

// Tally counts what was found of one kind.
type Tally struct {
	Count   int // findings
	Packets int // packets concerned
	first   [firstKept]int
}

// Add counts a finding that shows in a packet and concerns n. Findings may come
// later than others that show behind them.
func (t *Tally) Add(packet, n int) {
	kept := min(t.Count, firstKept)
	t.Count++
	t.Packets += n
	at := kept
	for at > 0 && t.first[at-1] > packet {
		at--
	}
	if at < firstKept {
		copy(t.first[at+1:], t.first[at:kept])
		t.first[at] = packet
	}
}

// First returns the first packets in which findings showed.
func (t *Tally) First() []int { return t.first[:min(t.Count, firstKept)] }

// List has a tally for each kind that was found, in the order in which they came.
type List[K comparable] []Entry[K]

// Entry is the tally of a kind.
type Entry[K comparable] struct {
	Kind K
	Tally
}

// Add counts a finding of a kind that shows in a packet and concerns n.
func (l *List[K]) Add(kind K, packet, n int) {
	for i := range *l {
		if (*l)[i].Kind == kind {
			(*l)[i].Add(packet, n)
			return
		}
	}
	*l = append(*l, Entry[K]{Kind: kind})
	(*l)[len(*l)-1].Add(packet, n)
}

// Join counts what another list has, which was found elsewhere.
func (l *List[K]) Join(other List[K]) {
	for _, e := range other {
		to := slices.IndexFunc(*l, func(known Entry[K]) bool { return known.Kind == e.Kind })
		if to < 0 {
			*l = append(*l, e)
			continue
		}
		(*l)[to].Tally.Join(&e.Tally)
	}
}

// Join counts what another tally has, and keeps the first packets of both.
func (t *Tally) Join(other *Tally) {
	first := slices.Sorted(slices.Values(slices.Concat(t.First(), other.First())))
	t.Count += other.Count
	t.Packets += other.Packets
	copy(t.first[:], first)
}

// Of returns the tally of a kind, an empty one when nothing was found.
func (l List[K]) Of(kind K) Tally {
	for _, e := range l {
		if e.Kind == kind {
			return e.Tally
		}
	}
	return Tally{}
}
