package rocecap

import (
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/service"
	"github.com/rocecap/rocecap/internal/wire"
)

// matcher says which packets of a capture match a filter, which may ask for what
// packets mean together. It has to see all of them, in their order.
type matcher struct {
	filter  *filter.Filter
	scratch filter.Scratch
	state   *state
	named   int // packets that the state knows services from
}

// newMatcher returns a matcher that has seen nothing; nil, which matches all, for no
// filter.
func newMatcher(f *filter.Filter) *matcher {
	if f == nil {
		return nil
	}
	return &matcher{filter: f, state: newState()}
}

// again returns a matcher of the same filter that has seen nothing.
func (m *matcher) again() *matcher {
	if m == nil {
		return nil
	}
	return newMatcher(m.filter)
}

// choose returns those records that match, of which the first is the one of a
// number; p is where they are parsed, one call's after the other's.
func (m *matcher) choose(records []*capfile.Record, number int, p *packet.Packet) (list []*capfile.Record) {
	if m == nil {
		return records
	}
	for i, rec := range records {
		previous := p.Time
		if p.Number == 0 {
			p.First, previous = rec.Time, rec.Time
		}
		place(p, rec, number+i, previous, p.First)
		p.Parse(rec.Link, rec.Data, rec.WireLen)
		if m.matches(p) {
			list = append(list, rec)
		}
	}
	return list
}

// place says of a packet what the capture does.
func place(p *packet.Packet, rec *capfile.Record, number int, previous, first int64) {
	p.Number, p.Time, p.HasTime, p.Previous, p.First = number, rec.Time, rec.HasTime, previous, first
	p.Interface, p.Comment, p.FCSLen = int(rec.Interface), rec.Comment, int(rec.FCSLen)
}

// maxNamed is from how many CM messages it is known what queue pairs carry; then
// that is learnt anew.
const maxNamed = 1 << 12

// matches takes the next packet. The units that it completes are in it until the
// packet after it.
func (m *matcher) matches(p *packet.Packet) bool {
	p.PDUs = nil
	if makesState(&p.Frame) {
		p.PDUs = m.state.observe(&p.Frame, p.Number)
	}
	if service.IsCM(&p.Frame) {
		if m.named++; m.named == maxNamed {
			m.named, m.state.services = 0, service.NewTracker()
		}
	}
	if upper := named(m.state.services.Table(), &p.Frame, p.Number); upper != wire.UpperUnknown {
		p.Frame.Interpret(upper)
	}
	return m.filter.Match(p, &m.scratch)
}
