// Package page writes what was found in a capture as one HTML file that needs
// nothing else: a diagram of each conversation's PSNs over time, throughput,
// latency, messages, and findings that lead to their packets. It holds its
// styles, its program and its data, and its content security policy keeps it from
// loading anything.
//
// A Collector keeps the packets of the conversations while a capture is passed
// over; Write makes the page of them and of an analysis.Report.
package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	pausetrack "github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// Limits bound what a Collector keeps, and so the page.
type Limits struct {
	Packets       int // in all
	Conversations int // that are over; up to twice as many meanwhile
	Events        int // of a kind, in a conversation
	AllEvents     int // in all
	Messages      int // of a conversation, the first ones
	AllMessages   int // in all
	Pauses        int // of links
}

// DefaultLimits keep the collector below about 128 MB and the page below about
// 20 MB.
func DefaultLimits() Limits {
	return Limits{
		Packets: 1 << 20, Conversations: 1000, Events: 500, AllEvents: 1 << 17, Messages: 2000, AllMessages: 1 << 17, Pauses: 10_000,
	}
}

// Collector keeps the packets and events of conversations. Where there are too
// many packets, every second one of those that nothing happened to is left out,
// evenly, and again when that is not enough; then of all.
type Collector struct {
	limits   Limits
	open     map[*conversation.Conversation]*series
	over     map[*conversation.Conversation]*series
	pauses   []pause
	unpaused int // pauses that were left out
	// What all series have together.
	marks, events, messages int
	// Of the packets of a kind every plain-th is kept where nothing happened, and
	// every marked-th of the others.
	plain, marked int
}

// series is what is kept of one conversation.
type series struct {
	marks  []mark
	events []event
	asks   []message
	found  int // the packet in which the last event showed

	asked    [2]front // what each end has asked for
	answered [2]front // and has got responses to
	mtu      uint32   // the path MTU as far as it is known, 0 when it is not

	count  [2][kinds]int // packets by class and kind
	left   [2]int        // packets of each class that were left out
	carry  [2]uint32     // bytes of those from each end, since the last packet that was kept
	told   [conversation.Kinds]int
	untold int // events that were left out
	unsaid int // messages that were left out
}

// front is one past the highest PSN that was seen.
type front struct {
	begun bool
	next  wire.PSN
}

func (f *front) join(other front) {
	if other.begun && (!f.begun || f.next.Less(other.next)) {
		*f = other
	}
}

// event is something found in a conversation.
type event struct {
	conversation.Event
	end int
}

// message is one that an end asked for.
type message struct {
	conversation.Message
	end int
}

// NewCollector returns a collector that keeps nothing yet.
func NewCollector(limits Limits) *Collector {
	return &Collector{
		limits: limits, plain: 1, marked: 1,
		open: make(map[*conversation.Conversation]*series), over: make(map[*conversation.Conversation]*series),
	}
}

func (l *Collector) of(c *conversation.Conversation) *series {
	s := l.open[c]
	if s == nil {
		s = &series{}
		l.open[c] = s
	}
	return s
}

// Placed takes a packet of a conversation, from one of its ends.
func (l *Collector) Placed(c *conversation.Conversation, end int, p conversation.Packet) {
	s := l.of(c)
	m := markOf(&p, end)
	s.age(&m)
	if s.found == p.Number {
		m.flags |= flagFound
	}
	if !s.take(m, l.plain, l.marked) {
		return
	}
	if l.marks++; l.marks >= l.limits.Packets {
		l.thin()
	}
}

// age marks a packet whose PSN is not the next one.
func (s *series) age(m *mark) {
	f := &s.asked[m.asker()]
	info := m.opcode.Info()
	switch {
	case m.flags&flagBad != 0 || info.Service == wire.UD:
		return
	case m.kind == kindResponse:
		f = &s.answered[m.asker()]
	case m.kind != kindRequest:
		return
	}
	if f.begun && m.psn.Less(f.next) {
		m.flags |= flagOld
		return
	}
	f.join(front{true, m.psn.Add(s.span(m))})
	if info.Place == wire.PlaceFirst || info.Place == wire.PlaceMiddle {
		s.mtu = max(s.mtu, m.size)
	}
}

// span is how many PSNs a packet takes: a READ as many as its response has packets.
func (s *series) span(m *mark) int {
	if m.opcode.Operation() != wire.OpReadRequest || s.mtu == 0 {
		return 1
	}
	return min(max(1, (int(m.size)+int(s.mtu)-1)/int(s.mtu)), far/2)
}

// take keeps a packet, or counts it.
func (s *series) take(m mark, plain, marked int) bool {
	class, end, every := m.class(), m.end(), plain
	if class == 1 {
		every = marked
	}
	nth := s.count[class][m.kind]
	s.count[class][m.kind]++
	if nth%every != 0 {
		s.left[class]++
		s.carry[end] += m.wire
		return false
	}
	m.wire += s.carry[end]
	s.carry[end] = 0
	s.marks = append(s.marks, m)
	return true
}

// thin leaves out every second packet of those that nothing happened to, and of
// the others too if that does not make enough room.
func (l *Collector) thin() {
	l.plain *= 2
	l.halve(0)
	if l.marks > l.limits.Packets/4*3 {
		l.marked *= 2
		l.halve(1)
	}
}

func (l *Collector) halve(class int) {
	l.marks = 0
	for _, all := range []map[*conversation.Conversation]*series{l.open, l.over} {
		for _, s := range all {
			s.halve(class)
			l.marks += len(s.marks)
		}
	}
}

func (s *series) halve(class int) {
	var nth [kinds]int
	var carry [2]uint32
	kept := s.marks[:0]
	for _, m := range s.marks {
		if m.class() == class {
			if nth[m.kind]++; nth[m.kind]%2 == 0 {
				s.left[class]++
				carry[m.end()] += m.wire
				continue
			}
		}
		m.wire += carry[m.end()]
		carry[m.end()] = 0
		kept = append(kept, m)
	}
	s.marks = slices.Clone(kept) // the memory of the others is free
	s.carry[0] += carry[0]
	s.carry[1] += carry[1]
}

// Report takes an event of a conversation. Packets marked by congestion, and
// notifications of it, are in the diagram and are no events of their own.
func (l *Collector) Report(c *conversation.Conversation, end int, e conversation.Event) {
	if e.Kind == conversation.CongestionCE || e.Kind == conversation.CongestionCNP {
		return
	}
	s := l.of(c)
	s.found = e.Packet
	if i, ok := s.at(e.Packet); ok {
		s.marks[i].flags |= flagFound
	}
	if s.told[e.Kind]++; s.told[e.Kind] > l.limits.Events || l.events == l.limits.AllEvents {
		s.untold++
		return
	}
	l.events++
	s.events = append(s.events, event{e, end})
}

// Message takes a message of a conversation that has ended.
func (l *Collector) Message(c *conversation.Conversation, end int, m *conversation.Message) {
	s := l.of(c)
	if len(s.asks) >= l.limits.Messages || l.messages >= l.limits.AllMessages {
		s.unsaid++
		return
	}
	l.messages++
	s.asks = append(s.asks, message{*m, end})
}

// Pause takes a pause of a link that is over.
func (l *Collector) Pause(link *pausetrack.Link, class int, from, to int64) {
	if len(l.pauses) >= l.limits.Pauses {
		l.unpaused++
		return
	}
	what := "all priorities, by " + link.Src.String()
	if class >= 0 {
		what = fmt.Sprintf("priority %d, by %s", class, link.Src)
	}
	l.pauses = append(l.pauses, pause{from, to, what})
}

// at finds a packet by its number.
func (s *series) at(number int) (int, bool) {
	return slices.BinarySearchFunc(s.marks, int32(number), func(m mark, n int32) int { return cmp.Compare(m.number, n) })
}

// United takes over what was kept of a conversation that was one stream, and is
// now what an end of another sends.
func (l *Collector) United(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
	from := l.open[gone]
	if from == nil {
		return
	}
	delete(l.open, gone)
	if end == 1 {
		from.turn()
	}
	l.of(kept).join(from)
}

// turn makes end 0 end 1.
func (s *series) turn() {
	for i := range s.marks {
		s.marks[i].flags ^= flagEnd
	}
	for i := range s.events {
		s.events[i].end = 1 - s.events[i].end
	}
	for i := range s.asks {
		s.asks[i].end = 1 - s.asks[i].end
	}
	s.asked[0], s.asked[1] = s.asked[1], s.asked[0]
	s.answered[0], s.answered[1] = s.answered[1], s.answered[0]
	s.carry[0], s.carry[1] = s.carry[1], s.carry[0]
}

// join takes over what another series has.
func (s *series) join(from *series) {
	s.marks = append(s.marks, from.marks...)
	slices.SortStableFunc(s.marks, func(a, b mark) int { return cmp.Compare(a.number, b.number) })
	s.events = append(s.events, from.events...)
	s.asks = append(s.asks, from.asks...)
	s.mtu = max(s.mtu, from.mtu)
	for i := range s.asked {
		s.asked[i].join(from.asked[i])
		s.answered[i].join(from.answered[i])
		s.left[i] += from.left[i]
		s.carry[i] += from.carry[i]
	}
	for i, n := range from.told {
		s.told[i] += n
	}
	s.untold += from.untold
	s.unsaid += from.unsaid
	s.found = max(s.found, from.found)
}

// Drop forgets a conversation.
func (l *Collector) Drop(c *conversation.Conversation) {
	if s := l.open[c]; s != nil {
		delete(l.open, c)
		l.forget(s)
	}
}

func (l *Collector) forget(s *series) {
	l.marks -= len(s.marks)
	l.events -= len(s.events)
	l.messages -= len(s.asks)
}

// Closed takes a conversation that is over. When there are too many, those in
// which the least was found are forgotten.
func (l *Collector) Closed(c *conversation.Conversation) {
	l.over[c] = l.of(c)
	delete(l.open, c)
	if len(l.over) > 2*l.limits.Conversations {
		l.choose()
	}
}

// choose forgets all but the conversations that are likeliest to be looked at.
func (l *Collector) choose() {
	all := slices.Collect(maps.Keys(l.over))
	slices.SortFunc(all, func(a, b *conversation.Conversation) int {
		return cmp.Or(cmp.Compare(analysis.Gravest(b), analysis.Gravest(a)), cmp.Compare(b.Packets(), a.Packets()), cmp.Compare(a.First, b.First))
	})
	for _, c := range all[min(len(all), l.limits.Conversations):] {
		l.forget(l.over[c])
		delete(l.over, c)
	}
}
