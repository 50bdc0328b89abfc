package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

// streams are the iWARP connections of a report.
type streams struct {
	seen, evicted int
	segments      int // TCP segments that belong to them
	list          []*rdmap.Connection
	unlisted      int
}

// chosenStream reports whether an iWARP connection is one that the report is about.
func (r *Report) chosenStream(c *rdmap.Connection) bool {
	host := len(r.Hosts) == 0 || slices.ContainsFunc(c.Ends[:], func(e rdmap.End) bool {
		return slices.Contains(r.Hosts, e.Addr.Addr().Unmap())
	})
	return host && len(r.QPs) == 0
}

// AddStream takes an iWARP connection that is over.
func (r *Report) AddStream(c *rdmap.Connection) {
	if !r.chosenStream(c) {
		return
	}
	r.pairs.addStream(c)
	room := maxListed
	if len(c.Ends[0].Tallies)+len(c.Ends[1].Tallies) > 0 {
		room = maxFindings
	}
	if len(r.streams.list) < room {
		r.streams.list = append(r.streams.list, c)
		return
	}
	r.streams.unlisted++
	for i := range c.Ends {
		for _, t := range c.Ends[i].Tallies {
			r.pass(t.Kind, &t.Tally)
		}
	}
}

func (s *streams) finish(t *rdmap.Tracker) {
	s.seen, s.evicted, s.segments = t.Seen(), t.Evicted(), t.Segments()
	slices.SortStableFunc(s.list, func(a, b *rdmap.Connection) int { return cmp.Compare(a.First, b.First) })
}

func (r *Report) streamFindings() (all []Finding) {
	for i, c := range r.streams.list {
		for end := range c.Ends {
			for _, t := range c.Ends[end].Tallies {
				all = append(all, Finding{Code: CodeOf(t.Kind), Tally: t.Tally, Where: streamRoute(c, end), Stream: i + 1, End: end})
			}
		}
	}
	return all
}

// streamRoute says from where to where an end's stream goes.
func streamRoute(c *rdmap.Connection, end int) string {
	return c.Ends[end].Addr.String() + " to " + c.Ends[1-end].Addr.String()
}

// AddStream takes an event of an iWARP connection.
func (l *Events) AddStream(_ *rdmap.Connection, _ int, e rdmap.Event) {
	if l.count == maxEvents {
		l.Dropped++
		return
	}
	if l.streams == nil {
		l.streams = make(map[int][]rdmap.Event)
	}
	l.count++
	l.streams[e.Packet] = append(l.streams[e.Packet], e)
}

// Comments says in a line each what was found in a packet.
func (l *Events) Comments(packet int) (lines []string) {
	for _, e := range l.of[packet] {
		lines = append(lines, Describe(e))
	}
	for _, e := range l.streams[packet] {
		lines = append(lines, describeStream(e))
	}
	for _, e := range l.pauses[packet] {
		lines = append(lines, describePause(e))
	}
	for _, e := range l.connect[packet] {
		lines = append(lines, describeConnect(e))
	}
	return append(lines, l.ofVersions(packet)...)
}

func describeStream(e rdmap.Event) string {
	code := CodeOf(e.Kind)
	var parts []string
	switch e.Kind {
	case rdmap.MsnOrder:
		parts = append(parts, fmt.Sprintf("MSN %d instead of %d on queue %d", e.Got, e.Want, e.Queue))
	case rdmap.MoOrder:
		parts = append(parts, fmt.Sprintf("MO %d instead of %d on queue %d", e.Got, e.Want, e.Queue))
	case rdmap.TaggedOrder, rdmap.ReadSink:
		parts = append(parts, fmt.Sprintf("0x%x instead of 0x%x", e.Got, e.Want))
	case rdmap.ReadBounds, rdmap.ReadShort, rdmap.ReadDepth:
		parts = append(parts, fmt.Sprintf("%d instead of %d", e.Got, e.Want))
	case rdmap.InvalidSTag:
		parts = append(parts, fmt.Sprintf("STag 0x%08x", e.Got))
	case rdmap.Terminated:
		t := rdmap.Terminate{Head: [2]byte{byte(e.Got >> 8), byte(e.Got)}}
		parts = append(parts, t.Words())
	default:
	}
	if e.Bytes > 0 {
		parts = append(parts, fmt.Sprintf("%d B", e.Bytes))
	}
	if e.Cause > 0 {
		parts = append(parts, fmt.Sprintf("because of packet %d", e.Cause))
	}
	text := code.Name + ": " + code.Title
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// streamParts writes a part for each iWARP connection.
func (t *Text) streamParts(b *strings.Builder, r *Report) {
	list := r.streams.list
	for i, c := range list[:min(t.Conversations, len(list))] {
		t.streamPart(b, i+1, c)
	}
	if more := max(0, len(list)-t.Conversations) + r.streams.unlisted; t.Conversations > 0 && more > 0 {
		fmt.Fprintf(b, "\nnot listed: %s; -n tells how many are\n", count(more, "iWARP connection"))
	}
}

func (t *Text) streamPart(b *strings.Builder, number int, c *rdmap.Connection) {
	title := fmt.Sprintf("iWARP %d  %s and %s", number, c.Ends[0].Addr, c.Ends[1].Addr)
	fmt.Fprintf(b, "\n%s\n", t.Style.strong.Render(title))
	fmt.Fprintf(b, "   %s; %s\n", extent(c.First, c.Last, c.Began, c.Ended), setUp(c))
	for i := range c.Ends {
		t.streamEnd(b, &c.Ends[i])
	}
}

// setUp says what the start-up frames agreed on.
func setUp(c *rdmap.Connection) string {
	if c.Initiator < 0 {
		return "the start-up frames were not captured"
	}
	ask, answer := &c.Ends[c.Initiator].Start, &c.Ends[1-c.Initiator].Start
	switch {
	case answer.Packet == 0:
		return fmt.Sprintf("MPA revision %d, the reply was not captured", ask.Revision)
	case answer.Reject:
		return fmt.Sprintf("MPA revision %d, rejected", answer.Revision)
	case ask.Packet == 0:
		return fmt.Sprintf("MPA revision %d, the request was not captured", answer.Revision)
	}
	crc := "without CRCs"
	if ask.CRC || answer.CRC {
		crc = "with CRCs"
	}
	marked := "without markers"
	switch {
	case ask.Markers && answer.Markers:
		marked = "with markers"
	case ask.Markers:
		marked = "with markers in what " + c.Ends[1-c.Initiator].Addr.String() + " sends"
	case answer.Markers:
		marked = "with markers in what " + c.Ends[c.Initiator].Addr.String() + " sends"
	}
	text := fmt.Sprintf("MPA revision %d, %s, %s", answer.Revision, crc, marked)
	if ask.Enhanced && answer.Enhanced {
		text += fmt.Sprintf("; IRD and ORD %d and %d, %d and %d", ask.IRD, ask.ORD, answer.IRD, answer.ORD)
	}
	return text
}

func (t *Text) streamEnd(b *strings.Builder, e *rdmap.End) {
	fmt.Fprintf(b, "   %s asks\n", e.Addr)
	for op := range rdmap.Ops {
		if o := &e.Operations[op]; o.Messages > 0 {
			operation(b, op, &conversation.Operation{Messages: o.Messages, Partial: o.Partial, Bytes: o.Bytes, Latency: o.Latency})
		}
	}
	if e.Unfinished > 0 {
		fmt.Fprintf(b, "     %s whose end was not seen\n", count(e.Unfinished, "message"))
	}
	fmt.Fprintf(b, "     sends %s in %s", count(e.FPDUs, "FPDU"), count(e.TCP.Segments, "TCP segment"))
	if n := e.CRCs[iwarp.CRCUnchecked]; n > 0 {
		fmt.Fprintf(b, "; the CRC of %d could not be checked", n)
	}
	b.WriteByte('\n')
	if n := e.TCP.ResentSegments; n > 0 {
		fmt.Fprintf(b, "     sent again %s, %d B\n", count(n, "TCP segment"), e.TCP.ResentBytes)
	}
	if n := e.TCP.ZeroWindows; n > 0 {
		fmt.Fprintf(b, "     had no room %s, for %s\n", times(n), Duration(e.TCP.Closed))
	}
	if e.Missing > 0 {
		fmt.Fprintf(b, "     the capture lacks %d B of what it sends\n", e.Missing)
	}
	if e.Unframed > 0 {
		fmt.Fprintf(b, "     in %d B no FPDU was found\n", e.Unframed)
	}
	memory(b, e)
	if e.Terminate != nil {
		fmt.Fprintf(b, "     gave up in packet %d: %s", e.Terminate.Packet, e.Terminate.Words())
		if e.Terminate.Cause > 0 {
			fmt.Fprintf(b, ", because of packet %d", e.Terminate.Cause)
		}
		b.WriteByte('\n')
	}
	writeTallies(t, b, e.Tallies)
}

// maxMemory is how many STags of an end the text names.
const maxMemory = 4

// memory writes which memory of the other end was used.
func memory(b *strings.Builder, e *rdmap.End) {
	for _, g := range e.Regions[:min(maxMemory, len(e.Regions))] {
		fmt.Fprintf(b, "     memory of the other end: STag %s, offsets 0x%x to 0x%x", wire.AppendHex(nil, uint64(g.STag), 8), g.Lowest, g.End)
		if g.Written > 0 {
			fmt.Fprintf(b, ", %d B written", g.Written)
		}
		if g.Read > 0 {
			fmt.Fprintf(b, ", %d B read", g.Read)
		}
		b.WriteByte('\n')
	}
	if more := len(e.Regions) - maxMemory; more > 0 {
		fmt.Fprintf(b, "     and under %s; --json has them\n", count(more, "other STag"))
	}
}

// found counts what has a part of its own, or would have.
func (r *Report) found() string {
	conversations, connections := len(r.conversations)+r.unlisted, len(r.streams.list)+r.streams.unlisted
	switch {
	case connections == 0:
		return count(conversations, "conversation")
	case conversations == 0:
		return count(connections, "iWARP connection")
	}
	return count(conversations, "conversation") + ", " + count(connections, "iWARP connection")
}
