package rocecap

import (
	"maps"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/metrics"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// monitor follows packets as they come. One goroutine gives it packets; others
// may look meanwhile.
type monitor struct {
	// found is called with each finding, by the goroutine that gives packets,
	// while others cannot look. May be nil.
	found func(analysis.Found)
	// closed is called with each conversation that is over, closedStream with each
	// iWARP connection, likewise. May be nil.
	closed       func(*conversation.Conversation)
	closedStream func(*rdmap.Connection)

	filter *matcher // nil matches all

	mu       sync.Mutex
	tracker  *survey.Tracker
	facts    survey.Facts
	packet   packet.Packet
	number   int
	first    int64 // time of the first packet
	now      int64 // time of the last packet
	swept    int64 // when silent conversations were ended last
	ended    rates.Totals
	streams  rdmap.Totals // of iWARP connections that are over
	counts   map[any]int  // findings by kind, but for those of conversations
	verdicts [icrc.NotCheckable + 1]int
	backlog  *backlog     // keeps what comes; may be nil
	focus    *focus       // nil when nobody looks at one conversation
	stream   *streamFocus // nil when nobody looks at one iWARP connection
	about    streamKey    // what the present finding is about, if an iWARP connection
}

// silence is how long a conversation is kept of which nothing comes: longer than
// a requester tries again, which is for eight local ACK timeouts of the usual
// settings.
const silence = 2 * time.Minute

// liveLimits keep the trackers, and what is remembered of each row, well below 256
// MB together.
func liveLimits() survey.Limits {
	l := survey.DefaultLimits()
	l.Conversations.Conversations, l.Conversations.Bytes = 1<<13, 32<<20
	l.Streams.Conns, l.Streams.PerStream, l.Streams.Total, l.Streams.Messages = 1<<12, 2<<20, 16<<20, 32<<20
	return l
}

// followingBytes is what a process that follows packets may take: about 110 MB are
// in use with as much going on as liveLimits let it follow, and Go's collector lets
// that double before it collects.
const followingBytes = 224 << 20

// boundMemory has Go's collector keep the process, which keeps so many bytes of
// packets beside what it follows, from taking more. GOMEMLIMIT overrules it.
func boundMemory(backlog int) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before == math.MaxInt64 {
		debug.SetMemoryLimit(int64(followingBytes + backlog))
	}
	return func() { debug.SetMemoryLimit(before) }
}

func newMonitor() *monitor {
	m := &monitor{tracker: survey.NewBounded(liveLimits()), counts: make(map[any]int)}
	m.tracker.Conversations.Closed = func(c *conversation.Conversation) {
		m.ended.Add(c)
		if m.closed != nil {
			m.closed(c)
		}
	}
	m.tracker.Streams.Closed = func(c *rdmap.Connection) {
		m.streams.Add(c)
		if m.closedStream != nil {
			m.closedStream(c)
		}
	}
	analysis.Listen(m.tracker, m.report)
	tell := m.tracker.Streams.Report
	m.tracker.Streams.Report = func(c *rdmap.Connection, end int, e rdmap.Event) {
		m.about = streamKey{c, end}
		tell(c, end, e)
		m.about = streamKey{}
	}
	return m
}

// report takes a finding.
func (m *monitor) report(f analysis.Found) {
	if f.Conversation == nil {
		m.counts[f.Kind]++
	}
	if m.found != nil {
		m.found(f)
	}
}

// take takes the next packets.
func (m *monitor) take(records []capfile.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range records {
		m.one(&records[i])
	}
	if m.now-m.swept > int64(time.Second) {
		m.swept = m.now
		m.tracker.Expire(m.now, silence)
		m.packet.Forgive()
	}
}

func (m *monitor) one(rec *capfile.Record) {
	if m.number++; m.number == 1 {
		m.first, m.now = rec.Time, rec.Time
	}
	place(&m.packet, rec, m.number, m.now, m.first)
	m.now = rec.Time
	if m.backlog != nil {
		m.backlog.add(rec)
	}
	m.facts.Reset()
	m.packet.Parse(rec.Link, rec.Data, rec.WireLen)
	if m.filter != nil && !m.filter.matches(&m.packet) {
		return
	}
	fact := m.facts.Read(&m.packet.Frame, survey.Stamp{Number: m.number, Time: rec.Time})
	if fact != nil {
		crc := m.packet.CRC()
		fact.Trust, fact.Mistake = trust(crc), crc.Mistake
		m.verdicts[crc.ICRC]++
	}
	m.tracker.Take(&m.facts)
	if m.focus != nil {
		m.focus.note(m.facts.Packets)
	}
	if m.stream != nil {
		m.stream.note(&m.packet, m.facts.Segments)
	}
}

// follow lets only packets be followed that match a filter; nil matches all.
func (m *monitor) follow(f *filter.Filter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.filter = newMatcher(f)
}

// looksAt reports whether somebody looks at one conversation.
func (m *monitor) looksAt(c *conversation.Conversation) bool {
	return c != nil && m.focus != nil && m.focus.conversation == c
}

// look lets a function see what is known, between two packets.
func (m *monitor) look(see func(t *survey.Tracker)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	see(m.tracker)
}

// sample is what has been counted so far.
func (m *monitor) sample() metrics.Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := metrics.Sample{
		Totals: m.ended, Streams: m.streams.Clone(), Findings: maps.Clone(m.counts), Verdicts: m.verdicts, Evicted: evicted(m.tracker),
	}
	for c := range m.tracker.Conversations.All() {
		s.Totals.Add(c)
		s.Open++
	}
	for c := range m.tracker.Streams.All() {
		s.Streams.Add(c)
		s.Open++
	}
	return s
}

// evicted is how many conversations and iWARP connections were given up for want of
// room.
func evicted(t *survey.Tracker) int { return t.Conversations.Evicted() + t.Streams.Evicted() }
