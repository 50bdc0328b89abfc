package analysis

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/tally"
	"github.com/rocecap/rocecap/internal/wire"
)

// Text is how a report is written for people.
type Text struct {
	Style         *Style
	Conversations int // parts at most, 0 for the summary alone
}

// worst is how many findings the summary names.
const worst = 5

// Write writes the summary, and a part for each conversation.
func (t *Text) Write(w io.Writer, r *Report) error {
	b := &strings.Builder{}
	t.summary(b, r)
	if t.Conversations > 0 {
		t.flowControl(b, r)
	}
	t.dropped(b, r.Messages)
	t.parts(b, r)
	t.alone(b, r)
	t.streamParts(b, r)
	t.singles(b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// parts writes about as many conversations as were asked for: those with the worst
// findings, in the order of their first packets.
func (t *Text) parts(b *strings.Builder, r *Report) {
	list := r.list()
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	if t.Conversations < len(list) {
		slices.SortStableFunc(places, func(i, j int) int {
			return cmp.Or(cmp.Compare(Gravest(list[j]), Gravest(list[i])), cmp.Compare(troubles(list[j]), troubles(list[i])))
		})
		places = places[:t.Conversations]
		slices.Sort(places)
	}
	for _, i := range places {
		t.part(b, i+1, list[i], r.connections.of(list[i]))
		t.messages(b, r.Messages, list[i])
	}
	if rest := len(list) - len(places) + r.unlisted; rest > 0 && t.Conversations > 0 {
		fmt.Fprintf(b, "\nnot listed: %s; -n tells how many are\n", count(rest, "conversation"))
	}
}

func (t *Text) summary(b *strings.Builder, r *Report) {
	list := r.list()
	fmt.Fprintf(b, "%s: %s, %s\n", t.Style.strong.Render(r.File), count(r.Counts.Seen, "packet"), r.found())
	for _, note := range r.Notes() {
		b.WriteString(note + "\n")
	}
	t.who(b, r)
	sums := r.sums(Error, Warning)
	if len(sums) > 0 {
		b.WriteString("the worst findings:\n")
	} else if len(list)+len(r.streams.list) > 0 {
		b.WriteString("nothing is wrong with what was followed\n")
	}
	shown := min(worst, len(sums))
	for _, s := range sums[:shown] {
		t.finding(b, &s, len(list) > 1)
	}
	t.others(b, sums[shown:], r.sums(Note))
	if command := closer(r.File, sums[:shown]); command != "" {
		fmt.Fprintf(b, "  look closer      %s\n", command)
	}
}

// closer is the command that shows where the worst finding shows that is about a
// conversation, "" when there is none.
func closer(file string, sums []sum) string {
	if file == "-" { // it cannot be read again
		return ""
	}
	for _, s := range sums {
		if s.worst.Conversation > 0 && s.worst.Tally.Count > 0 {
			return fmt.Sprintf("rocecap flow --around %d %s", s.worst.Tally.First()[0], quoted(file))
		}
	}
	return ""
}

// quoted writes the name of a file so that a shell takes it for one word.
func quoted(name string) string {
	if strings.ContainsAny(name, " \t\n'\"\\$&|;<>()*?[]{}#~`!") {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// others names what else was found: what there is no room for, and what harms
// nobody.
func (t *Text) others(b *strings.Builder, lists ...[]sum) {
	var parts []string
	for _, s := range slices.Concat(lists...) {
		parts = append(parts, fmt.Sprintf("%s %s", s.worst.Code.Name, times(s.count)))
	}
	if len(parts) > 0 {
		b.Write(appendWrapped(nil, 17, textWidth, "also", strings.Join(parts, ", ")))
	}
}

func leftOut(r *Report) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{r.Counts.TCP - r.Counts.CopiesTCP - r.streams.segments, "TCP segment"}, {r.unfollowedPauses(), "pause frame"}, {r.Counts.Other, "other packet"}, {r.Unplaced, "unplaced answer"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// finding writes what was found under a code, and what to look at next. Whose
// requests it is about is said when there is a choice.
func (t *Text) finding(b *strings.Builder, s *sum, several bool) {
	f := &s.worst
	name := t.Style.grades[f.Code.Grade].Render(fmt.Sprintf("%-15s", f.Code.Name))
	fmt.Fprintf(b, "  %s  %s: %s (%s)\n", name, times(s.count), f.Code.Title, packetNumbers(&f.Tally))
	if several || f.Conversation == 0 {
		more := ""
		if s.where > 1 {
			more = fmt.Sprintf(" (%d), and %d more", f.Tally.Count, s.where-1)
		}
		fmt.Fprintf(b, "  %15s  %s%s\n", "", f.Where, more)
	}
	b.Write(appendWrapped(nil, 17, textWidth, "", "look at "+f.Code.Next))
}

// packetNumbers lists the packets in which a finding shows.
func packetNumbers(t *tally.Tally) string {
	first := t.First()
	if t.Count == 1 {
		return "packet " + strconv.Itoa(first[0])
	}
	text := "packets " + strings.Trim(strings.ReplaceAll(fmt.Sprint(first), " ", ", "), "[]")
	if t.Count > len(first) {
		text += ", ..."
	}
	return text
}

// Route says from where to where the requests of an end go.
func Route(c *conversation.Conversation, end int) string {
	return Name(&c.Ends[end]) + " to " + Name(&c.Ends[1-end])
}

// Title names a conversation.
func Title(c *conversation.Conversation) string {
	return fmt.Sprintf("%s  %s and %s", c.Service, Name(&c.Ends[0]), Name(&c.Ends[1]))
}

// Address writes an IP address, a GID, or a LID.
func Address(a netip.Addr) string {
	if lid, ok := wire.LID(a); ok {
		return "LID " + strconv.Itoa(int(lid))
	}
	return a.String()
}

// Name says where an end is, and which queue pair it has there, if that is known.
func Name(e *conversation.End) string {
	if !e.Known {
		return Address(e.Addr)
	}
	return Address(e.Addr) + " QP " + string(wire.AppendHex(nil, uint64(e.QPN), 6))
}

func (t *Text) part(b *strings.Builder, number int, c *conversation.Conversation, made *connect.Connection) {
	fmt.Fprintf(b, "\n%s\n", t.Style.strong.Render(fmt.Sprintf("%d  %s", number, Title(c))))
	fmt.Fprintf(b, "   %s; %s\n", extent(c.First, c.Last, c.Began, c.Ended), JoinedBy(c))
	if made != nil {
		t.timeline(b, made, textWidth)
	} else if c.AckTimeout > 0 {
		fmt.Fprintf(b, "   the CM request asks for a local ACK timeout of %d, %s\n", c.AckTimeout, Duration(ackTimeout(int(c.AckTimeout))))
	}
	for i := range c.Ends {
		t.direction(b, c, i)
	}
}

// extent says from which packet to which something goes, and for how long.
func extent(first, last int, began, ended int64) string {
	if first == last {
		return "packet " + strconv.Itoa(first)
	}
	if ended < began {
		return fmt.Sprintf("packets %d to %d, between which the clock goes back", first, last)
	}
	return fmt.Sprintf("packets %d to %d in %s", first, last, Duration(time.Duration(ended-began)))
}

// JoinedBy says why the two directions of a conversation belong together.
func JoinedBy(c *conversation.Conversation) string {
	switch {
	case c.Joined == conversation.ByCM:
		return "the two directions belong together by the CM exchange"
	case c.Joined == conversation.ByAgreement:
		return "the two directions belong together by " + count(c.Agreements, "answer")
	case c.Service == wire.UD:
		return "datagrams, one direction"
	case c.Service == wire.CNP:
		return "notifications of congestion, to a queue pair of which nothing else was captured"
	case c.Service == wire.UC:
		return "one direction, which has no answers"
	case c.Service == wire.RD:
		return "reliable datagrams, one direction"
	}
	return "one direction, no answer was seen"
}

func (t *Text) direction(b *strings.Builder, c *conversation.Conversation, i int) {
	e := &c.Ends[i]
	d := &e.Asks
	if d.Requests == 0 && len(d.Tallies) == 0 && e.Strange == 0 {
		return
	}
	does := ""
	if d.Requests > 0 {
		does = " asks"
	}
	fmt.Fprintf(b, "   %s%s\n", Name(e), does)
	for op := range conversation.Ops {
		if o := &d.Operations[op]; o.Messages > 0 {
			operation(b, op, o)
		}
	}
	if d.Unfinished > 0 {
		fmt.Fprintf(b, "     %s without a good answer\n", count(d.Unfinished, "message"))
	}
	if d.Again > 0 {
		fmt.Fprintf(b, "     sent again %d of %s", d.Again, count(d.Requests, "request packet"))
		if d.Wasted > 0 {
			fmt.Fprintf(b, ", %d B of them for nothing", d.Wasted)
		}
		b.WriteByte('\n')
	}
	t.volume(b, d)
	t.memory(b, d)
	t.pace(b, d)
	if d.ShortestTimeout > 0 {
		most := setting(d.ShortestTimeout)
		fmt.Fprintf(b, "     waited %s before the shortest timeout: the setting is at most %d, %s\n",
			Duration(d.ShortestTimeout), most, Duration(ackTimeout(most)))
	}
	if e.Strange > 0 {
		fmt.Fprintf(b, "     sent %s that nothing captured explains\n", count(e.Strange, "packet"))
	}
	if e.Mistake != "" {
		fmt.Fprintf(b, "     its wrong ICRCs are explained: %s\n", e.Mistake)
	}
	t.congestion(b, e)
	writeTallies(t, b, d.Tallies)
	writeCounters(b, "counters", Counters(c, i))
}

func operation(b *strings.Builder, op fmt.Stringer, o *conversation.Operation) {
	messages := "messages"
	if o.Messages == 1 {
		messages = "message "
	}
	fmt.Fprintf(b, "     %-12s %6d %s %12d B", op, o.Messages, messages, o.Bytes)
	if h := o.Latency; h != nil {
		fmt.Fprintf(b, "  50%% in %s, 99%% in %s, all in %s", Duration(h.Quantile(0.5)), Duration(h.Quantile(0.99)), Duration(h.Max()))
	}
	if o.Partial > 0 {
		fmt.Fprintf(b, "; %d not captured whole", o.Partial)
	}
	b.WriteByte('\n')
}

// writeTallies writes what was found of each kind, in the order of the codes.
func writeTallies[K comparable](t *Text, b *strings.Builder, list tally.List[K]) {
	for _, code := range Codes() {
		for i := range list {
			if e := &list[i]; any(e.Kind) == code.Kind {
				fmt.Fprintf(b, "     %s %6d  %s\n", t.Style.grades[code.Grade].Render(fmt.Sprintf("%-20s", code.Name)), e.Count, packetNumbers(&e.Tally))
			}
		}
	}
}

func writeCounters(b *strings.Builder, head string, list []Counter) {
	var parts []string
	for _, n := range list {
		if n.Value > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", n.Name, n.Value))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "     %s: %s\n", head, strings.Join(parts, ", "))
	}
}

// ackTimeout is what a setting of the local ACK timeout means (C9-140).
func ackTimeout(setting int) time.Duration { return 4096 * time.Nanosecond << setting }

// setting is the longest local ACK timeout that is not longer than a wait.
func setting(wait time.Duration) int { return max(0, bits.Len64(uint64(wait/4096))-1) }

// Duration writes three digits that matter.
func Duration(d time.Duration) string {
	if d < 0 { // the clock of the capture was set back
		return "-" + Duration(-d)
	}
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d >= unit.size {
			value := float64(d) / float64(unit.size)
			return strconv.FormatFloat(value, 'f', max(0, 2-len(strconv.Itoa(int(value)))+1), 64) + " " + unit.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
