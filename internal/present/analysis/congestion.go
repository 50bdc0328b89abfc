package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/track/pause"
)

// links are the senders of flow control.
func (r *Report) links() []*pause.Link {
	if r.pauses == nil {
		return nil
	}
	return r.pauses.Links()
}

// unfollowedPauses is how many flow control frames were not read.
func (r *Report) unfollowedPauses() int {
	n := r.Counts.Pause
	for _, l := range r.links() {
		n -= l.Frames
	}
	return n
}

func (r *Report) pauseFindings() (all []Finding) {
	for _, l := range r.links() {
		for _, t := range l.Tallies {
			all = append(all, Finding{Code: CodeOf(t.Kind), Tally: t.Tally, Where: linkRoute(l)})
		}
	}
	return all
}

func linkRoute(l *pause.Link) string { return l.Src.String() + " to its peer" }

// channel is a priority of a link, or all of it.
type channel struct {
	*pause.Channel
	class int
}

// Name is what counters have.
func (c channel) name() string {
	if c.class == pause.All {
		return "global"
	}
	return "prio" + strconv.Itoa(c.class)
}

func (c channel) heading() string {
	if c.class == pause.All {
		return "all priorities"
	}
	return "priority " + strconv.Itoa(c.class)
}

func (c channel) priority() *int {
	if c.class == pause.All {
		return nil
	}
	return &c.class
}

// channels are those of which a frame speaks.
func channels(l *pause.Link) (list []channel) {
	for class := pause.All; class < len(l.Classes); class++ {
		if c := l.Channel(class); c.Frames() > 0 {
			list = append(list, channel{c, class})
		}
	}
	return list
}

// PauseCounters are those of flow control at the sender of the frames, "tx", or
// at its peer, "rx". Durations are in microseconds.
func PauseCounters(l *pause.Link, way string) (list []Counter) {
	for _, c := range channels(l) {
		name := way + "_" + c.name() + "_pause"
		list = append(
			list, Counter{name, c.Frames()}, Counter{name + "_duration", int(c.Paused / time.Microsecond)},
			Counter{name + "_transition", c.Ended},
		)
	}
	return list
}

// AddPause takes an event of a sender of flow control.
func (l *Events) AddPause(_ *pause.Link, e pause.Event) {
	if l.count == maxEvents {
		l.Dropped++
		return
	}
	if l.pauses == nil {
		l.pauses = make(map[int][]pause.Event)
	}
	l.count++
	l.pauses[e.Packet] = append(l.pauses[e.Packet], e)
}

func describePause(e pause.Event) string {
	code := CodeOf(e.Kind)
	if e.Kind == pause.Odd {
		return code.Name + ": " + code.Title
	}
	return code.Name + ": " + code.Title + " (" + channel{class: e.Class}.heading() + ")"
}

// flowControl writes who pauses its peer, and for how long.
func (t *Text) flowControl(b *strings.Builder, r *Report) {
	links := r.links()
	if len(links) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", t.Style.strong.Render("flow control, on links of "+speed(r.pauses.Speed)))
	for _, l := range links[:min(t.Conversations, len(links))] {
		t.link(b, l, r.Span.Length())
	}
	if more := len(links) - t.Conversations; more > 0 {
		fmt.Fprintf(b, "   not listed: %s; -n tells how many are\n", count(more, "sender"))
	}
	if n := r.pauses.Unlisted; n > 0 {
		fmt.Fprintf(b, "   not followed, because there are too many senders: %s\n", count(n, "frame"))
	}
	if n := r.pauses.Backwards; n > 0 {
		fmt.Fprintf(b, "   %s taken for no older than the one before, because the time went back\n", count(n, "frame"))
	}
}

func (t *Text) link(b *strings.Builder, l *pause.Link, span time.Duration) {
	fmt.Fprintf(b, "   %s pauses its peer, in %s\n", l.Src, count(l.Frames, "frame"))
	for _, c := range channels(l) {
		fmt.Fprintf(b, "     %-15s %6d XOFF %6d XON  paused %s for %s", c.heading(), c.XOFF, c.XON, times(c.Pauses), Duration(c.Paused))
		if c.Paused > 0 && span > 0 {
			fmt.Fprintf(b, ", %s of the time; longest %s, from packet %d", percent(c.Paused, span), Duration(c.Longest), c.LongestAt)
		}
		b.WriteByte('\n')
		if c.Ended > 0 {
			fmt.Fprintf(b, "     %15s %s from XOFF to XON, %s\n", "", times(c.Ended), Duration(c.Held))
		}
	}
	writeTallies(t, b, l.Tallies)
	writeCounters(b, "counters of the peer", PauseCounters(l, "rx"))
}

// speed writes bit/s.
func speed(bits int64) string {
	value, unit := float64(bits), "bit/s"
	for _, prefix := range []string{"k", "M", "G", "T", "P"} {
		if value < 999.5 { // more is written as 1000
			break
		}
		value, unit = value/1000, prefix+"bit/s"
	}
	return strconv.FormatFloat(value, 'g', 3, 64) + " " + unit
}

// percent writes a share of what is more than 0, with two digits that matter.
func percent[N ~int64](part, whole N) string {
	share := 100 * float64(part) / float64(whole)
	switch {
	case share >= 99.5: // another notation has an exponent from here on
		return strconv.FormatFloat(share, 'f', 0, 64) + "%"
	case share > 0 && share < 0.01:
		return "less than 0.01%"
	}
	return strconv.FormatFloat(share, 'g', 2, 64) + "%"
}

// congestion writes what marks and notifications did to what an end sends, and
// when nothing came.
func (t *Text) congestion(b *strings.Builder, e *conversation.End) {
	g := &e.Congestion
	if g.Marked > 0 || g.Notified > 0 {
		fmt.Fprintf(b, "     %s of it marked, %s came back\n", count(g.Marked, "packet"), count(g.Notified, "CNP"))
	}
	interval(b, "from the first mark to a CNP", g.Delay)
	interval(b, "from one CNP to the next", g.Interval)
	if g.Early > 0 {
		fmt.Fprintf(b, "     %s before any packet that was marked at the capture point\n", count(g.Early, "CNP"))
	}
	if r := &g.Reaction; r.CNPs > 0 {
		fmt.Fprintf(b, "     slower after %d of %s: %s in the %s before, %s behind, %s of it\n", r.Slower, count(r.CNPs, "CNP"),
			rate(r.Before, r.Windows), Duration(conversation.ReactionWindow), rate(r.After, r.Windows), percent(r.After, r.Before))
	}
	if g.Data.Seen && g.CNP.Seen {
		fmt.Fprintf(b, "     DSCP %s, of the CNPs %s\n", class(g.Data), class(g.CNP))
	}
	if s := &e.Asks.Stalls; s.Count > 0 && (s.Paused > 0 || g.Marked > 0 || g.Notified > 0) {
		fmt.Fprintf(b, "     nothing came %s while a message was outstanding, for %s, longest %s before packet %d\n",
			times(s.Count), Duration(s.Time), Duration(s.Longest), s.LongestAt)
		if s.Paused > 0 {
			fmt.Fprintf(b, "     meanwhile something was paused %s, for %s\n", times(s.Paused), Duration(s.PausedTime))
		}
	}
}

// interval writes how long something takes.
func interval(b *strings.Builder, what string, h *latency.Histogram) {
	if h != nil {
		fmt.Fprintf(b, "     %s: %s, at least %s, 50%% in %s\n", what, times(int(h.Count())), Duration(h.Min()), Duration(h.Quantile(0.5)))
	}
}

func class(c conversation.Class) string {
	text := strconv.Itoa(int(c.DSCP))
	if c.Mixed {
		text += " and others"
	}
	return text
}

// rate is the payload of a time as bit/s.
func rate(bytes int64, in time.Duration) string {
	return speed(int64(8 * float64(bytes) / in.Seconds()))
}
