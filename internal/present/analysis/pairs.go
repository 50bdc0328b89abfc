package analysis

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rdmap"
)

// pair is all that two hosts ask of each other over one service.
type pair struct {
	hosts
	first         int // packet
	conversations int
	packets       int
	messages      int
	bytes         int64
	requests      int // packets; of iWARP, TCP segments
	again         int // of which sent again
	failed, slow  int // conversations with an error, and others with a warning
}

type hosts struct {
	service string
	a, b    netip.Addr
}

// pairs are those of a capture. There is room for maxPairs.
type pairs struct {
	of   map[hosts]*pair
	more int // conversations for which there was no room
}

const maxPairs = 1 << 12

// overTCP is the service of iWARP connections.
const overTCP = "iWARP"

// between returns what is counted for two hosts, nil when there is no room.
func (l *pairs) between(service string, a, b netip.Addr, first int) *pair {
	key := hosts{service, a, b}
	if b.Less(a) {
		key = hosts{service, b, a}
	}
	p := l.of[key]
	if p == nil {
		if len(l.of) == maxPairs {
			l.more++
			return nil
		}
		if l.of == nil {
			l.of = make(map[hosts]*pair)
		}
		p = &pair{hosts: hosts{service, a, b}, first: first}
		l.of[key] = p
	}
	p.conversations++
	return p
}

func (p *pair) worst(g Grade) {
	switch g {
	case Error:
		p.failed++
	case Warning:
		p.slow++
	}
}

func (l *pairs) add(c *conversation.Conversation) {
	p := l.between(c.Service.String(), c.Ends[0].Addr, c.Ends[1].Addr, c.First)
	if p == nil {
		return
	}
	for i := range c.Ends {
		e := &c.Ends[i]
		p.packets += e.Packets
		p.requests += e.Asks.Requests
		p.again += e.Asks.Again
		for op := range conversation.Ops {
			p.messages += e.Asks.Operations[op].Messages
			p.bytes += e.Asks.Operations[op].Bytes
		}
	}
	p.worst(Gravest(c))
}

func (l *pairs) addStream(c *rdmap.Connection) {
	p := l.between(overTCP, c.Ends[0].Addr.Addr(), c.Ends[1].Addr.Addr(), c.First)
	if p == nil {
		return
	}
	var grade Grade
	for i := range c.Ends {
		e := &c.Ends[i]
		p.packets += e.TCP.Segments
		p.requests += e.TCP.Segments
		p.again += e.TCP.ResentSegments
		for op := range rdmap.Ops {
			p.messages += e.Operations[op].Messages
			p.bytes += e.Operations[op].Bytes
		}
		for _, found := range e.Tallies {
			grade = max(grade, CodeOf(found.Kind).Grade)
		}
	}
	p.worst(grade)
}

// list has those with the most bytes first.
func (l *pairs) list() []*pair {
	list := make([]*pair, 0, len(l.of))
	for _, p := range l.of {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pair) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.packets, a.packets), cmp.Compare(a.first, b.first), cmp.Compare(a.service, b.service))
	})
	return list
}

// shownPairs is how many lines say who talks to whom.
const shownPairs = 5

// who writes who talks to whom, how much, and how well that goes.
func (t *Text) who(b *strings.Builder, r *Report) {
	list := r.pairs.list()
	if len(list) == 0 {
		return
	}
	b.WriteString("who talks to whom:\n")
	for _, one := range list[:min(shownPairs, len(list))] {
		fmt.Fprintf(b, "  %-6s %s\n", one.service, one.say())
	}
	if rest := len(list) - shownPairs; rest > 0 {
		fmt.Fprintf(b, "  and %s\n", count(rest, "other pair"))
	}
	if r.pairs.more > 0 {
		fmt.Fprintf(b, "  and %s of pairs beyond %d\n", count(r.pairs.more, "conversation"), maxPairs)
	}
}

func (p *pair) say() string {
	text := Address(p.a) + " and " + Address(p.b)
	if p.conversations > 1 {
		text += fmt.Sprintf(" in %d conversations", p.conversations)
	}
	if p.messages > 0 {
		text += fmt.Sprintf(": %s, %s", count(p.messages, "message"), size(p.bytes))
	} else {
		text += ": " + count(p.packets, "packet")
	}
	var health []string
	if p.again > 0 {
		what := "request packets"
		if p.service == overTCP {
			what = "TCP segments"
		}
		health = append(health, fmt.Sprintf("%s of the %s sent again", percent(int64(p.again), int64(p.requests)), what))
	}
	if p.conversations > 1 && p.failed > 0 {
		health = append(health, fmt.Sprintf("errors in %d", p.failed))
	}
	if p.conversations > 1 && p.slow > 0 {
		health = append(health, fmt.Sprintf("warnings in %d", p.slow))
	}
	if len(health) > 0 {
		text += "; " + strings.Join(health, ", ")
	}
	return text
}

// size writes a number of bytes with three digits that matter.
func size(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1000, next
	}
	return strconv.FormatFloat(value, 'g', 3, 64) + " " + unit
}

// jsonPair is a pair for programs.
type jsonPair struct {
	Service       string   `json:"service"`
	Addresses     []string `json:"addresses"`
	Conversations int      `json:"conversations"`
	Packets       int      `json:"packets"`
	Messages      int      `json:"messages"`
	Bytes         int64    `json:"bytes"`
	Requests      int      `json:"request_packets"`
	Again         int      `json:"packets_sent_again"`
	Failed        int      `json:"with_errors"`
	Slow          int      `json:"with_warnings"`
}

func (l *pairs) json() []jsonPair {
	list := []jsonPair{}
	for _, p := range l.list() {
		list = append(list, jsonPair{
			p.service, []string{Address(p.a), Address(p.b)}, p.conversations, p.packets, p.messages, p.bytes, p.requests, p.again, p.failed, p.slow,
		})
	}
	return list
}
