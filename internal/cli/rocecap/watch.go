package rocecap

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// watch makes snapshots of what a monitor follows, one for each interval.
type watch struct {
	monitor  *monitor
	board    *rates.Board
	streams  *streamBoard
	last     int64
	ids      map[any]int // of conversations and iWARP connections, by their pointers
	next     int
	findings []live.Finding // since the last snapshot
	unlisted int
	coloured bool                  // what is told of one conversation
	recent   []remark              // the last ones, the oldest first
	closed   []*connect.Connection // the last ones that are over, likewise
}

// remark is what was found in a packet of a conversation.
type remark struct {
	id, packet int
	analysis.Remark
}

// maxRecent bounds how many remarks, and connections, are remembered for those
// who look at one conversation; at twice as many the older half is forgotten.
const (
	maxRecent = 4096
	maxClosed = 256
)

// remember adds to a list that keeps so many at least.
func remember[T any](list []T, one T, keep int) []T {
	if len(list) == 2*keep {
		list = slices.Delete(list, 0, keep)
	}
	return append(list, one)
}

// maxFindings is how many findings of an interval are listed. What only notes
// something, as each CE mark does, is counted in its row alone.
const maxFindings = 256

func newWatch(m *monitor) *watch {
	w := &watch{monitor: m, board: rates.NewBoard(), streams: newStreamBoard(), ids: make(map[any]int)}
	m.found, m.closed, m.closedStream = w.found, w.board.Close, w.streams.close
	m.tracker.Conversations.United = w.board.Unite
	m.tracker.Connections.Closed = func(c *connect.Connection) { w.closed = remember(w.closed, c, maxClosed) }
	return w
}

func (w *watch) found(f analysis.Found) {
	code := analysis.CodeOf(f.Kind)
	if code.Grade == analysis.Note && !w.monitor.looksAt(f.Conversation) {
		return
	}
	if code.Grade > analysis.Note && len(w.findings) == maxFindings {
		w.unlisted++
		return
	}
	where, text := f.Say()
	id, end := 0, f.End
	if about := w.monitor.about; about.connection != nil {
		id, end = w.id(about.connection), about.end
	}
	if f.Conversation != nil {
		id = w.id(f.Conversation)
		w.recent = remember(w.recent, remark{id, f.Packet, analysis.Remark{Grade: code.Grade, Text: text}}, maxRecent)
	}
	if code.Grade == analysis.Note {
		return
	}
	w.findings = append(w.findings, live.Finding{
		Time: time.Unix(0, w.monitor.now), Packet: f.Packet, Code: code.Name, Grade: int(code.Grade), ID: id, End: end, Where: where, Text: text,
	})
}

// look makes the snapshot of the interval that ends at a time, in nanoseconds.
func (w *watch) look(now int64) *live.Snapshot { return w.snapshot(now, false) }

// end makes the snapshot of the last interval: every conversation is over.
func (w *watch) end(now int64) *live.Snapshot { return w.snapshot(now, true) }

func (w *watch) snapshot(now int64, last bool) *live.Snapshot {
	s := &live.Snapshot{Time: time.Unix(0, now)}
	w.monitor.look(func(t *survey.Tracker) {
		if w.last == 0 {
			w.last = w.monitor.first
		}
		since := time.Duration(0)
		if w.last > 0 {
			since = max(0, time.Duration(now-w.last))
		}
		w.last, s.Seconds = now, since.Seconds()
		w.forget(t)
		rows := w.board.Look(since, t.Conversations)
		streams, over := w.streams.look(since, t.Streams)
		if last {
			t.Finish()
		}
		s.Total, s.New = rates.Sum(rows)
		s.New.Add(w.board.Ended)
		s.New.Add(over)
		for _, r := range rows {
			s.Rows = append(s.Rows, w.row(r))
		}
		for _, r := range streams {
			s.Total.Add(r.Total)
			s.New.Add(r.New)
			s.Rows = append(s.Rows, w.streamRow(r))
		}
		s.Findings, s.Unlisted, s.Evicted = w.findings, w.unlisted, evicted(t)
		w.findings, w.unlisted = nil, 0
	})
	return s
}

func (w *watch) row(r *rates.Row) live.Row {
	c := r.Key.Conversation
	return live.Row{
		ID: w.id(c), End: r.Key.End, Service: r.Service.String(), From: analysis.Name(&c.Ends[r.Key.End]), To: analysis.Name(&c.Ends[1-r.Key.End]),
		Bits: r.Bits, Packets: r.Packets, Messages: r.Messages, P50: r.P50, P99: r.P99,
		Total: r.Total, New: r.New, Rates: append([]float64(nil), r.Rates...),
	}
}

// streamRow copies a row, which goes on.
func (w *watch) streamRow(r *streamRow) live.Row {
	row := r.Row
	row.ID, row.Rates = w.id(r.key.connection), slices.Clone(r.Rates)
	return row
}

// id numbers a conversation, or an iWARP connection.
func (w *watch) id(c any) int {
	id := w.ids[c]
	if id == 0 {
		w.next++
		id = w.next
		w.ids[c] = id
	}
	return id
}

// forget forgets the numbers of what has ended.
func (w *watch) forget(t *survey.Tracker) {
	open := make(map[any]int, len(w.ids))
	keep := func(c any) {
		if id := w.ids[c]; id > 0 {
			open[c] = id
		}
	}
	for c := range t.Conversations.All() {
		keep(c)
	}
	for c := range t.Streams.All() {
		keep(c)
	}
	w.ids = open
}
