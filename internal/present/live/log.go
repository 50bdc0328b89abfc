package live

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// maxLog is how many findings the log remembers.
const maxLog = 2000

// eventLog is what was found, the oldest first.
type eventLog struct {
	list    []Finding
	waiting []Finding // those that are not shown yet: the display is paused
	lost    int       // that there was no room for
	back    int       // how many entries the cursor is before the last
	top     int
	colours *palette
}

// add takes the findings of a snapshot.
func (g *eventLog) add(s *Snapshot, wait bool) {
	g.waiting = append(g.waiting, s.Findings...)
	g.lost += s.Unlisted
	if more := len(g.waiting) - maxLog; more > 0 {
		g.lost += more
		g.waiting = append(g.waiting[:0], g.waiting[more:]...)
	}
	if !wait {
		g.show()
	}
}

// show shows what waits. The cursor stays where it is, or at the end.
func (g *eventLog) show() {
	if g.back > 0 {
		g.back += len(g.waiting)
	}
	g.list = append(g.list, g.waiting...)
	g.waiting = g.waiting[:0]
	if more := len(g.list) - maxLog; more > 0 {
		g.lost += more
		g.list = append(g.list[:0], g.list[more:]...)
	}
	g.move(0)
}

// move moves the cursor, towards the end.
func (g *eventLog) move(by int) { g.back = max(0, min(g.back-by, len(g.list)-1)) }

// cursor is the place of the entry under the cursor; -1 when there is none.
func (g *eventLog) cursor() int { return len(g.list) - 1 - g.back }

// chosen is the finding under the cursor, nil when there is none.
func (g *eventLog) chosen() *Finding {
	if len(g.list) == 0 {
		return nil
	}
	return &g.list[g.cursor()]
}

// view draws the head and so many entries.
func (g *eventLog) view(width, height int, focus bool) []string {
	text := fmt.Sprintf("%d events", len(g.list))
	if len(g.list) == 1 {
		text = "1 event"
	}
	if g.lost > 0 {
		text += fmt.Sprintf(", %d not listed", g.lost)
	}
	style, dash := g.colours.faint, "─"
	if focus {
		style = g.colours.bar
	}
	head := "── " + text + " "
	for range width - len([]rune(head)) {
		head += dash
	}
	lines := []string{style.Render(cut(head, width))}
	g.top = scroll(g.top, g.cursor(), len(g.list), height)
	for i := g.top; i < min(len(g.list), g.top+height); i++ {
		lines = append(lines, g.line(&g.list[i], width, focus && i == g.cursor()))
	}
	return lines
}

// line is a finding: when, how bad, about which row, what.
func (g *eventLog) line(f *Finding, width int, chosen bool) string {
	mark := " "
	if chosen {
		mark = ">"
	}
	grade := analysis.Grade(min(max(0, f.Grade), len(gradeMarks)-1))
	row := ""
	if f.ID > 0 {
		row = fmt.Sprintf("#%d", f.ID)
	}
	head := fmt.Sprintf("%s%s %s %-4s ", mark, f.Time.Format("15:04:05.000"), gradeMarks[grade], row)
	text := shorten(printable(f.Text), width-len(head))
	where := printable(f.Where)
	if chosen {
		return g.colours.chosen.Render(left(spread(head+text, where, width), width))
	}
	return spread(g.colours.faint.Render(head)+g.colours.grades[grade].Render(text), g.colours.faint.Render(where), width)
}

// shorten makes a finding's text fit: its title is cut, or left out, and what it
// is about is kept.
func shorten(text string, width int) string {
	at := strings.LastIndex(text, " (")
	if ansi.StringWidth(text) <= width || at < 0 {
		return cut(text, width)
	}
	title, about := text[:at], text[at:]
	if room := width - ansi.StringWidth(about); room >= leastTitle {
		return cut(title, room) + about
	}
	code, _, _ := strings.Cut(title, ": ")
	return cut(code+about, width)
}

// leastTitle is how much of a title with its code is worth while.
const leastTitle = 24
