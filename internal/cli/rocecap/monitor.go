package rocecap

import (
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
	"github.com/rocecap/rocecap/internal/track/service"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

// monitor follows packets as they come. One goroutine gives it packets; others
// may look meanwhile.
type monitor struct {
	// found is called with each finding, by the goroutine that gives packets,
	// while others cannot look. May be nil.
	found func(analysis.Found)
	// closed is called with each conversation that is over, likewise. May be nil.
	closed func(*conversation.Conversation)

	filter  *filter.Filter // nil matches all
	scratch filter.Scratch
	state   *state // of what the filter may ask for
	named   int    // packets that the state knows services from

	mu       sync.Mutex
	tracker  *survey.Tracker
	facts    survey.Facts
	packet   packet.Packet
	number   int
	first    int64 // time of the first packet
	now      int64 // time of the last packet
	swept    int64 // when silent conversations were ended last
	ended    rates.Totals
	verdicts [icrc.NotCheckable + 1]int
	backlog  *backlog // keeps what comes; may be nil
	focus    *focus   // nil when nobody looks at one conversation
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
	l.Streams.Conns = 1 << 12
	return l
}

func newMonitor() *monitor {
	m := &monitor{tracker: survey.NewBounded(liveLimits())}
	m.tracker.Conversations.Closed = func(c *conversation.Conversation) {
		m.ended.Add(c)
		if m.closed != nil {
			m.closed(c)
		}
	}
	analysis.Listen(m.tracker, func(f analysis.Found) {
		if m.found != nil {
			m.found(f)
		}
	})
	return m
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
		m.first = rec.Time
	}
	m.now = rec.Time
	if m.backlog != nil {
		m.backlog.add(rec)
	}
	m.facts.Reset()
	m.packet.Number, m.packet.Time, m.packet.HasTime = m.number, rec.Time, true
	m.packet.Parse(rec.Link, rec.Data, rec.WireLen)
	if m.filter != nil && !m.matches() {
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
}

// follow lets only packets be followed that match a filter; nil matches all.
func (m *monitor) follow(f *filter.Filter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.filter = f
}

// looksAt reports whether somebody looks at one conversation.
func (m *monitor) looksAt(c *conversation.Conversation) bool {
	return c != nil && m.focus != nil && m.focus.conversation == c
}

// maxNamed is from how many CM messages it is known what queue pairs carry; then
// that is learnt anew.
const maxNamed = 1 << 12

// matches reports whether a packet matches the filter, which may ask for what
// packets mean together.
func (m *monitor) matches() bool {
	p := &m.packet
	p.PDUs = nil
	if m.state == nil {
		m.state = newState()
	}
	if makesState(&p.Frame) {
		p.PDUs = m.state.observe(&p.Frame, m.number)
	}
	if service.IsCM(&p.Frame) {
		if m.named++; m.named == maxNamed {
			m.named, m.state.services = 0, service.NewTracker()
		}
	}
	if upper := named(m.state.services.Table(), &p.Frame, m.number); upper != wire.UpperUnknown {
		p.Frame.Interpret(upper)
	}
	return m.filter.Match(p, &m.scratch)
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
	s := metrics.Sample{Totals: m.ended, Verdicts: m.verdicts, Evicted: m.tracker.Conversations.Evicted()}
	for c := range m.tracker.Conversations.All() {
		s.Totals.Add(c)
		s.Open++
	}
	return s
}
