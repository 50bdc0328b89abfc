package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Source is what a capture tells of its own making, beside its packets.
type Source struct {
	Fault string // why it could not be read to its end, "" when it could
	Drops []Drops
}

// Drops is how many packets the capture lacks of an interface, by its own count.
type Drops struct {
	Interface string // "" when it has no name
	Packets   uint64
}

// dropped is how many packets the capture lacks by its own count; known is false
// when it does not say.
func (s *Source) dropped() (n uint64, known bool) {
	for _, d := range s.Drops {
		n += d.Packets
	}
	return n, len(s.Drops) > 0
}

// severalQueues is less than what the clock has to go back for it to have been set
// back: a capture from several queues or interfaces mixes packets by less.
const severalQueues = time.Millisecond

// Notes are what there is to know before one believes what is told of a capture:
// a line each.
func (r *Report) Notes() (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if r.Source.Fault != "" {
		note("damaged, and followed up to there: %s", r.Source.Fault)
	}
	if rest := leftOut(r); rest != "" {
		note("not followed: %s", rest)
	}
	if n := r.Counts.Copies; n > 0 {
		note("there twice, and followed once: %s", count(n, "packet"))
	}
	notes = append(notes, r.givenUp()...)
	if n, known := r.Source.dropped(); n > 0 {
		note("dropped by the capture, by its own count: %s", r.Source.dropList())
	} else if known && r.misses() {
		note("dropped by the capture, by its own count: nothing")
	}
	if n := r.Counts.Cut; n > 0 {
		note("cut, to %d B at most: %s; nothing is judged that was cut off", r.Counts.CutTo, count(n, "packet"))
	}
	s := &r.Span
	if r.Counts.Seen > 2 && s.First == s.Last && s.Back == 0 {
		note("all packets have the same time: nothing can be judged by it")
	}
	switch {
	case s.Back == 0:
	case s.Most < severalQueues:
		note("not in the order of their times: %s, by %s at most, in packet %d; reordercap sorts them", count(s.Back, "packet"), Duration(s.Most), s.MostAt)
	default:
		note("the clock goes back %s, by %s at most, in packet %d: times across that are wrong", times(s.Back), Duration(s.Most), s.MostAt)
	}
	if chosen := len(r.QPs)+len(r.Hosts) > 0; r.Counts.Seen > 0 && !chosen && len(r.pairs.of) == 0 && len(r.links()) == 0 {
		note("no RDMA was found; -d takes another UDP port than 4791 as RoCEv2's")
	}
	return notes
}

// givenUp says what there was no room for.
func (r *Report) givenUp() (notes []string) {
	for _, g := range []struct {
		n          int
		what, when string
	}{
		{r.Evicted, "conversation", "their end, because too many were open"},
		{r.Requests, "CM request", "a reply, because too many were pending"},
		{r.connections.evicted, "connection", "their end, because too many were open"},
		{r.streams.evicted, "iWARP connection", "their end, because too many were open"},
	} {
		if g.n > 0 {
			notes = append(notes, "given up before "+g.when+": "+count(g.n, g.what))
		}
	}
	return notes
}

// dropList is how many packets the capture lacks of which interface.
func (s *Source) dropList() string {
	var parts []string
	for _, d := range s.Drops {
		if d.Packets == 0 {
			continue
		}
		text := count(int(d.Packets), "packet")
		if d.Interface != "" {
			text += " of " + d.Interface
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// misses reports whether something was found that packets which the capture lacks
// would explain.
func (r *Report) misses() bool {
	for _, c := range r.list() {
		for end := range c.Ends {
			for _, k := range []conversation.Kind{conversation.Unresolved, conversation.Missed, conversation.ResponseGap} {
				if c.Ends[end].Asks.Tallies.Of(k).Count > 0 {
					return true
				}
			}
		}
	}
	return false
}
