package rocecap

import (
	"strings"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// streamFocus remembers the last packets of the iWARP connection that somebody
// looks at, each as a line of decode.
type streamFocus struct {
	connection *rdmap.Connection
	units      *iwarp.Tracker
	line       text.Line
	lines      []string // the oldest first
}

func newStreamFocus(c *rdmap.Connection) *streamFocus {
	return &streamFocus{
		connection: c, units: iwarp.NewTracker(liveLimits().Streams), line: text.Line{Time: text.Absolute, Palette: text.NewPalette(false)},
	}
}

// has reports whether a segment belongs to the connection.
func (f *streamFocus) has(s *rdmap.Segment) bool {
	a, b := f.connection.Ends[0].Addr, f.connection.Ends[1].Addr
	return s.Src == a && s.Dst == b || s.Src == b && s.Dst == a
}

// note remembers a packet, of which a segment is known, if it belongs to the
// connection.
func (f *streamFocus) note(p *packet.Packet, segments []rdmap.Segment) {
	if len(segments) != 1 || !f.has(&segments[0]) {
		return
	}
	before := p.PDUs
	p.PDUs = f.units.Segment(segments[0].Packet)
	f.lines = remember(f.lines, strings.TrimSuffix(string(f.line.Append(nil, p)), "\n"), maxFocus)
	p.PDUs = before
}

// focusStream remembers the packets of an iWARP connection, unless it does already.
// What an FPDU is depends on those before it, so that all of them are gone through
// in their order: most while others go on, the last ones while they do not.
func (v *viewer) focusStream(c *rdmap.Connection) {
	f := newStreamFocus(c)
	known := false
	var parts [][]capfile.Record
	var number int
	v.monitor.look(func(*survey.Tracker) {
		m := v.monitor
		known, parts, number = m.stream != nil, m.backlog.lend(), m.number
	})
	if known {
		return
	}
	f.recall(parts, 0, number)
	v.monitor.look(func(*survey.Tracker) {
		m := v.monitor
		f.recall(m.backlog.lend(), number, m.number)
		m.stream = f
	})
}

// recall notes the packets, behind the one of a number, of records that end with
// the one of another.
func (f *streamFocus) recall(parts [][]capfile.Record, behind, number int) {
	var p packet.Packet
	var facts survey.Facts
	at := number
	for _, part := range parts {
		at -= len(part)
	}
	for _, part := range parts {
		for i := range part {
			at++
			rec := &part[i]
			if at < f.connection.First || at <= behind {
				continue
			}
			p.Number, p.Time, p.HasTime = at, rec.Time, true
			p.Parse(rec.Link, rec.Data, rec.WireLen)
			facts.Reset()
			facts.Read(&p.Frame, survey.Stamp{Number: at, Time: rec.Time})
			f.note(&p, facts.Segments)
		}
	}
}

// streamDetail copies what is known of an iWARP connection.
func (w *watch) streamDetail(c *rdmap.Connection) *live.Detail {
	d := &live.Detail{Stream: true, Analysis: w.tellStream(c)}
	if f := w.monitor.stream; f != nil && f.connection == c {
		d.Lines = append(d.Lines, f.lines[max(0, len(f.lines)-maxFocus):]...)
	}
	return d
}

// tellStream tells what is known so far, as analyze does of a capture that has
// nothing else.
func (w *watch) tellStream(c *rdmap.Connection) string {
	r := &analysis.Report{}
	r.AddStream(c.Copy())
	b := &strings.Builder{}
	_ = (&analysis.Text{Style: analysis.NewStyle(w.coloured), Conversations: 1}).Write(b, r) // a Builder takes everything
	_, part, _ := strings.Cut(b.String(), "\n\n")                                            // behind the summary
	_, part, _ = strings.Cut(part, "\n")                                                     // and the title
	return strings.TrimRight(part, "\n")
}
