package live

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rates"
)

// Detail is all that is known of a row. Nobody changes it.
type Detail struct {
	// Conversation has what a ladder needs: the ends' names, the packets' numbers
	// and times.
	Conversation *conversation.Conversation
	Packets      []conversation.Packet     // the last ones of both ends
	Remarks      map[int][]analysis.Remark // by those packets
	Analysis     string                    // what is known so far, as analyze tells it
	Connections  []*connect.Connection     // between the two queue pairs

	// Stream says that it is an iWARP connection, of which there are Analysis and
	// Lines alone.
	Stream bool
	Lines  []string // its last packets, each as decode prints it
}

// part is one of the pages of a detail.
type part int

const (
	partOverview part = iota
	partPackets
	partAnalysis
	partCM
	parts
)

var partNames = [parts]string{"overview", "packets", "analysis", "CM"}

// detailView shows a row's detail.
type detailView struct {
	key     key
	row     *Row // nil when it has ended
	kept    Row  // as it was last
	data    *Detail
	part    part
	top     int // line; of the packets, from the end
	colours *palette
}

func (d *detailView) open(k key, row *Row, data *Detail) {
	*d = detailView{key: k, data: data, colours: d.colours}
	d.keep(row)
}

// keep takes the row as it is now, nil when it has ended.
func (d *detailView) keep(row *Row) {
	if d.row = row; row != nil {
		d.kept = *row
	}
}

// turn turns to a page.
func (d *detailView) turn(p part) { d.part, d.top = (p+parts)%parts, 0 }

// view draws the detail in so many lines.
func (d *detailView) view(width, height int) []string {
	lines := []string{d.head(width)}
	rest := max(0, height-1)
	switch {
	case d.data == nil:
		lines = append(lines, "", "  this conversation has ended")
	case d.data.Stream:
		lines = append(lines, d.stream(width, rest)...)
	case d.part == partPackets:
		lines = append(lines, d.packets(width, rest)...)
	case d.part == partAnalysis:
		lines = append(lines, d.scrolled(d.analysis(width), rest)...)
	case d.part == partCM:
		lines = append(lines, d.scrolled(d.connections(width), rest)...)
	default:
		lines = append(lines, d.overview(width, rest)...)
	}
	return fill(lines, height)
}

// head says whose detail it is, and which page.
func (d *detailView) head(width int) string {
	name := fmt.Sprintf("#%d %s ", d.key.id, d.kept.Service)
	if d.kept.ID == 0 {
		return cut(name, width)
	}
	if d.row == nil {
		name += "(ended) "
	}
	var tabs []string
	for p, text := range partNames {
		text = fmt.Sprintf("%d:%s", p+1, text)
		if part(p) == d.part {
			tabs = append(tabs, d.colours.bar.Render(text))
		} else {
			tabs = append(tabs, d.colours.faint.Render(text))
		}
	}
	pages := strings.Join(tabs, " ")
	room := width - ansi.StringWidth(name) - 2
	if with := room - ansi.StringWidth(pages); with >= leastNames {
		room = with
	} else {
		pages = ""
	}
	return spread(name+d.colours.strong.Render(d.kept.fitNames(true, max(3, room))), pages, width)
}

// overview is counts, graphs and the last packets.
func (d *detailView) overview(width, height int) (lines []string) {
	lines = append(lines, d.counts()...)
	lines = append(lines, d.speed())
	tall := max(2, (height-len(lines))/4)
	lines = append(lines, d.graph(width, tall)...)
	lines = append(lines, d.rule("PSNs of its requests", d.colours.legend(), width))
	from := &d.data.Conversation.Ends[d.key.end]
	lines = append(lines, strip(d.data.Packets, from, width, min(tall+1, 12), d.colours)...)
	if rest := height - len(lines) - 1; rest > 0 {
		lines = append(lines, d.rule("last packets", "", width))
		// One more, so that the first one that is seen has its delta.
		packets := d.data.Packets
		rungs := d.ladder(width, packets[max(0, len(packets)-rest-1):])
		lines = append(lines, rungs[max(0, len(rungs)-rest):]...)
	}
	return lines
}

// graph draws the throughput of the last intervals.
func (d *detailView) graph(width, tall int) []string {
	r := d.kept.Rates
	lines := []string{d.rule(fmt.Sprintf("%sbit/s at most, in the last %d intervals", Scaled(highest(r)), len(r)), "", width)}
	return append(lines, d.paint(graph(stretch(r, width), width, min(tall, 6)))...)
}

// rule is a line that begins a part.
func (d *detailView) rule(text, beside string, width int) string {
	line := "── " + text + " "
	if beside != "" {
		if rest := width - ansi.StringWidth(line) - ansi.StringWidth(beside) - 1; rest >= 0 {
			return d.colours.faint.Render(line+strings.Repeat("─", rest)) + " " + beside
		}
	}
	return d.colours.faint.Render(line + strings.Repeat("─", max(0, width-ansi.StringWidth(line))))
}

func (d *detailView) paint(lines []string) []string {
	for i := range lines {
		lines[i] = d.colours.accent.Render(lines[i])
	}
	return lines
}

func highest(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// stretch repeats values, so that those of all intervals fill a line.
func stretch(values []float64, width int) []float64 {
	times := max(1, width/maxSpark)
	wide := make([]float64, 0, times*len(values))
	for _, v := range values {
		for range times {
			wide = append(wide, v)
		}
	}
	return wide
}

// detailCounts are the counts of a row that the overview lists.
var detailCounts = [...]struct {
	name  string
	width int
	of    func(c *rates.Counts) string
}{
	{"packets", 9, func(c *rates.Counts) string { return counted(c.Packets) }},
	{"bytes", 8, func(c *rates.Counts) string { return scaled(float64(c.Bytes)) }},
	{"messages", 9, func(c *rates.Counts) string { return counted(c.Messages) }},
	{"again", 6, func(c *rates.Counts) string { return counted(c.Again) }},
	{"NAK", 6, func(c *rates.Counts) string { return counted(c.NAKs) }},
	{"RNR", 6, func(c *rates.Counts) string { return counted(c.RNRs) }},
	{"CNP", 6, func(c *rates.Counts) string { return counted(c.CNPs) }},
	{"CE", 6, func(c *rates.Counts) string { return counted(c.CE) }},
	{"ICRC", 6, func(c *rates.Counts) string { return counted(c.BadICRC) }},
	{"events", 7, func(c *rates.Counts) string { return counted(c.Findings) }},
}

func (d *detailView) counts() []string {
	head, fresh, all := left("", 9), left("interval", 9), left("in all", 9)
	for _, c := range detailCounts {
		head += right(c.name, c.width)
		fresh += right(c.of(&d.kept.New), c.width)
		all += right(c.of(&d.kept.Total), c.width)
	}
	return []string{d.colours.faint.Render(head), fresh, all}
}

// speed is how fast it goes now.
func (d *detailView) speed() string {
	r := &d.kept
	text := fmt.Sprintf("now      %sbit/s  %spkt/s  %smsg/s", Scaled(r.Bits), Scaled(r.Packets), Scaled(r.Messages))
	if r.P99 > 0 {
		text += fmt.Sprintf("  latency p50 %s  p99 %s", analysis.Duration(r.P50), analysis.Duration(r.P99))
	}
	return text
}

const noPackets = "none are remembered yet"

// ladder draws the last packets, and what was found in them.
func (d *detailView) ladder(width int, packets []conversation.Packet) []string {
	if len(packets) == 0 {
		return []string{d.colours.faint.Render(noPackets)}
	}
	b := &strings.Builder{}
	l := &analysis.Ladder{Style: d.colours.ladder, Lines: true, Conversation: d.data.Conversation, Remarks: d.data.Remarks, Width: width}
	for i := range packets {
		_ = l.Packet(b, &packets[i]) // a Builder takes everything
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// packets is the page of the ladder: its end, unless it is scrolled up.
func (d *detailView) packets(width, height int) []string {
	b := &strings.Builder{}
	l := &analysis.Ladder{Style: d.colours.ladder, Conversation: d.data.Conversation, Width: width}
	_ = l.Head(b)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	rungs := d.ladder(width, d.data.Packets)
	height = max(1, height-len(lines))
	d.top = max(min(0, height-len(rungs)), min(0, d.top))
	end := len(rungs) + d.top
	return append(lines, rungs[max(0, end-height):end]...)
}

// analysis is what analyze tells so far.
func (d *detailView) analysis(width int) (lines []string) {
	for line := range strings.Lines(d.data.Analysis) {
		lines = append(lines, hang(strings.TrimRight(line, "\n"), width)...)
	}
	return lines
}

// connections is what connection management said.
func (d *detailView) connections(width int) (lines []string) {
	if len(d.data.Connections) == 0 {
		return []string{"", "  no connection management of these queue pairs was captured"}
	}
	text := &analysis.Text{Style: d.colours.ladder}
	for _, c := range d.data.Connections {
		lines = append(lines, d.colours.strong.Render(fmt.Sprintf("%s and %s", c.Ends[0].Addr, c.Ends[1].Addr)))
		lines = append(lines, strings.Split(text.Timeline(c, width), "\n")...)
	}
	return lines
}

// hang breaks a line, and indents what follows.
func hang(line string, width int) []string {
	const indent = 8
	if ansi.StringWidth(line) <= width || width < 3*indent {
		return []string{line}
	}
	lines := wrap(line, width)
	for i := range lines[1:] {
		lines[i+1] = strings.Repeat(" ", indent) + lines[i+1]
	}
	return lines
}

// scrolled is the part of some lines that is to be seen.
func (d *detailView) scrolled(lines []string, height int) []string {
	d.top = max(0, min(d.top, len(lines)-height))
	return lines[d.top:min(len(lines), d.top+height)]
}
