package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// maxSingles bounds how many findings are remembered one by one. Marks and
// notifications of congestion, of which there can be one for each packet, leave half
// of the room to others.
const maxSingles = 1 << 18

// Singles are the findings of a capture one by one.
type Singles struct {
	Dropped int // that there was no room for

	report *Report // which tells of whom findings are wanted

	of     map[*conversation.Conversation][]single
	others []single
	count  int
}

// single is a finding.
type single struct {
	kind   any
	packet int

	// Of a conversation: the event, and whose requests it is about.
	event conversation.Event
	end   int
	// Of anything else: to whom it happened, and what.
	where, text string
}

// ListFindings has what the trackers find told one by one. They have seen nothing yet;
// whoever listens already goes on to.
func (r *Report) ListFindings(t *survey.Tracker) {
	l := &Singles{report: r}
	r.Singles = l
	c := t.Conversations
	report, united := c.Report, c.United
	c.Report = func(of *conversation.Conversation, end int, e conversation.Event) {
		if report != nil {
			report(of, end, e)
		}
		l.add(of, end, e)
	}
	c.United = func(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
		if united != nil {
			united(kept, end, gone)
		}
		l.unite(kept, end, gone)
	}
	l.listenOthers(t)
}

func (l *Singles) listenOthers(t *survey.Tracker) {
	connects, streams, pauses := t.Connections.Report, t.Streams.Report, t.Pauses.Report
	t.Connections.Report = func(c *connect.Connection, e connect.Event) {
		if connects != nil {
			connects(c, e)
		}
		if l.report.chosenConnection(c) {
			l.other(e.Kind, e.Packet, connectionTitle(c), describeConnect(e))
		}
	}
	t.Streams.Report = func(c *rdmap.Connection, end int, e rdmap.Event) {
		if streams != nil {
			streams(c, end, e)
		}
		if l.report.chosenStream(c) {
			l.other(e.Kind, e.Packet, streamRoute(c, end), describeStream(e))
		}
	}
	t.Pauses.Report = func(link *pause.Link, e pause.Event) {
		if pauses != nil {
			pauses(link, e)
		}
		l.other(e.Kind, e.Packet, linkRoute(link), describePause(e))
	}
}

func (l *Singles) add(c *conversation.Conversation, end int, e conversation.Event) {
	congestion := e.Kind == conversation.CongestionCE || e.Kind == conversation.CongestionCNP
	if l.count == maxSingles || congestion && l.count >= maxSingles/2 {
		l.Dropped++
		return
	}
	if l.of == nil {
		l.of = make(map[*conversation.Conversation][]single)
	}
	l.count++
	l.of[c] = append(l.of[c], single{kind: e.Kind, packet: e.Packet, event: e, end: end})
}

// unite takes it that gone is what an end of another conversation sends.
func (l *Singles) unite(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
	for _, s := range l.of[gone] {
		if end == 1 {
			s.end = 1 - s.end
		}
		l.of[kept] = append(l.of[kept], s)
	}
	delete(l.of, gone)
}

func (l *Singles) other(kind any, packet int, where, text string) {
	if l.count == maxSingles {
		l.Dropped++
		return
	}
	l.count++
	_, what, _ := strings.Cut(text, ": ") // the code in front has a place of its own
	l.others = append(l.others, single{kind: kind, packet: packet, where: where, text: what})
}

// placed is a finding with the number of its conversation, 0 when it is about none.
type placed struct {
	single
	conversation int
}

// singles lists the findings of what is listed in the order of their packets.
func (r *Report) singles() (list []placed) {
	if r.Singles == nil {
		return nil
	}
	for i, c := range r.list() {
		for _, s := range r.Singles.of[c] {
			s.where = Route(c, s.end)
			list = append(list, placed{s, i + 1})
		}
	}
	for _, s := range r.Singles.others {
		list = append(list, placed{s, 0})
	}
	for _, f := range r.versionFindings() {
		list = append(list, placed{single{kind: f.Code.Kind, packet: f.Tally.First()[0], where: f.Where, text: f.Code.Title}, 0})
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.packet, b.packet) })
	return list
}

// singles writes a line for each finding.
func (t *Text) singles(b *strings.Builder, r *Report) {
	if r.Singles == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n", t.Style.strong.Render("findings one by one"))
	for _, s := range r.singles() {
		code := CodeOf(s.kind)
		where, what := s.where, s.text
		if s.conversation > 0 {
			where, what = fmt.Sprintf("%d %s", s.conversation, [...]string{"->", "<-"}[s.end]), details(s.event)
		}
		fmt.Fprintf(b, "   %8d  %s  %s: %s\n", s.packet, t.Style.grades[code.Grade].Render(fmt.Sprintf("%-15s", code.Name)), where, what)
	}
	if n := r.Singles.Dropped; n > 0 {
		fmt.Fprintf(b, "   not listed: %s behind the first\n", count(n, "finding"))
	}
}

// jsonSingle is one of `events`.
type jsonSingle struct {
	Packet       int     `json:"packet"`
	Code         string  `json:"code"`
	Grade        string  `json:"grade"`
	Conversation int     `json:"conversation"`
	End          int     `json:"end"`
	Where        string  `json:"where"`
	PSN          *uint32 `json:"psn,omitempty"`
	Packets      int     `json:"packets,omitempty"`
	Cause        int     `json:"cause_packet,omitempty"`
	Waited       int64   `json:"waited_ns,omitempty"`
	Text         string  `json:"text,omitempty"`
}

// jsonSingles are nil when they were not asked for.
func (r *Report) jsonSingles() []jsonSingle {
	if r.Singles == nil {
		return nil
	}
	all := []jsonSingle{}
	for _, s := range r.singles() {
		code := CodeOf(s.kind)
		one := jsonSingle{Packet: s.packet, Code: code.Name, Grade: code.Grade.String(), Conversation: s.conversation, End: s.end, Where: s.where, Text: s.text}
		if s.conversation > 0 {
			psn := uint32(s.event.PSN)
			one.PSN, one.Packets, one.Cause, one.Waited = &psn, s.event.N, s.event.Cause, int64(s.event.Waited/time.Nanosecond)
		}
		all = append(all, one)
	}
	return all
}
