package rocecap

import (
	"sort"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
)

// report is what `rocecap icrc` counts, of one job or of a whole capture.
type report struct {
	packets  int
	icrc     [icrc.NotCheckable + 1]int
	vcrc     [icrc.NotCheckable + 1]int
	mistakes map[mistake]*occurrence
}

// mistake is one way in which one sender's CRCs are wrong.
type mistake struct {
	sender string
	what   string
}

// occurrence says how often a mistake was seen, and in which packets first.
type occurrence struct {
	count int
	first []int
}

// firstKept is how many packet numbers of a mistake are listed.
const firstKept = 5

func (r *report) add(p *packet.Packet) {
	r.packets++
	crc := p.CRC()
	r.icrc[crc.ICRC]++
	r.vcrc[crc.VCRC]++
	if crc.VCRC == icrc.Bad {
		r.note(mistake{text.Source(&p.Frame), "wrong VCRC"}, 1, []int{p.Number})
	}
	if crc.ICRC != icrc.Bad {
		return
	}
	what := crc.Mistake
	switch {
	case crc.Untried:
		what = "not looked into, after many unexplained ones"
	case what == "":
		what = "no known mistake reproduces it"
	}
	r.note(mistake{text.Source(&p.Frame), what}, 1, []int{p.Number})
}

func (r *report) note(m mistake, count int, packets []int) {
	if r.mistakes == nil {
		r.mistakes = make(map[mistake]*occurrence)
	}
	o := r.mistakes[m]
	if o == nil {
		o = &occurrence{}
		r.mistakes[m] = o
	}
	o.count += count
	room := min(firstKept-len(o.first), len(packets))
	o.first = append(o.first, packets[:room]...)
}

// merge adds what a later job counted.
func (r *report) merge(later *report) {
	r.packets += later.packets
	for v := range r.icrc {
		r.icrc[v] += later.icrc[v]
		r.vcrc[v] += later.vcrc[v]
	}
	for m, o := range later.mistakes {
		r.note(m, o.count, o.first)
	}
}

// bad reports whether any CRC was wrong.
func (r *report) bad() bool { return r.icrc[icrc.Bad]+r.vcrc[icrc.Bad] > 0 }

// sorted returns the mistakes, the most frequent first.
func (r *report) sorted() []mistake {
	list := make([]mistake, 0, len(r.mistakes))
	for m := range r.mistakes {
		list = append(list, m)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := r.mistakes[list[i]], r.mistakes[list[j]]
		if a.count != b.count {
			return a.count > b.count
		}
		return a.first[0] < b.first[0]
	})
	return list
}
