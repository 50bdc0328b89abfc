package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// Options say how long a Machine waits.
type Options struct {
	Timeout int64 // for an answer, in nanoseconds
	Retries int   // how many times what is not answered is sent again
	// Peers is who talks to whom, both ways.
	Peers map[rewrite.Endpoint]rewrite.Endpoint
}

// Machine runs one side of a recorded conversation against a live peer. It
// sends a frame when everything that the recorded peer had sent before it has
// come from the live one: so what was sent in a row then is sent in a row now.
type Machine struct {
	options  Options
	pace     *Pace
	events   []Event
	messages []message // of the events
	states   []state   // of the events

	next     int // the event that is next
	due      int64
	deadline int64 // of the event that is waited for; 0 before it is set
	tries    int
	again    []int // events to send again
	hold     int64 // not before this time, which an RNR NAK asked for

	queues map[rewrite.Endpoint][]int // what is expected at a queue pair of ours, from the first that has not come
	lost   map[rewrite.Endpoint]bool  // queue pairs of ours whose peer has given up
	report Report
	hasher icrc.Hasher
	management
}

// state is how far an event is.
type state uint8

const (
	skipped  state = iota // not ours, and not waited for
	unsent                // ours
	expected              // the peer's
	arrived
)

// Step is what to do now: send a frame, or wait for frames until a time.
type Step struct {
	Send  []byte // nil to wait
	Until int64
	Done  bool
}

// Report says how the replay went.
type Report struct {
	Sent        int // for the first time
	Resent      int
	Expected    int // packets of the peer that were waited for
	Answered    int // of those, how many came
	Extra       int // packets of the peer that the recording does not have
	Differences []Difference
}

// Difference is where the live peer did not do what the recorded one did.
type Difference struct {
	Number    int64 // of the record with what was expected; 0 when that is not known
	PSN       wire.PSN
	CommID    uint32 // of the connection that was to be made or ended, 0 for data
	Want, Got string // Want is empty when Got says it all
}

// String returns one line for a person.
func (d Difference) String() string {
	text := fmt.Sprintf("PSN %d: %s", d.PSN, d.Got)
	if d.CommID != 0 {
		text = fmt.Sprintf("connection 0x%08x: %s", d.CommID, d.Got)
	}
	if d.Number > 0 {
		text = fmt.Sprintf("record %d: %s", d.Number, text)
	}
	if d.Want != "" {
		text += " instead of " + d.Want
	}
	return text
}

// New returns a machine for the events of a recording, in order.
func New(events []Event, pace *Pace, o Options) *Machine {
	m := &Machine{
		options: o, pace: pace, events: events,
		messages: make([]message, len(events)), states: make([]state, len(events)), due: -1,
		queues: make(map[rewrite.Endpoint][]int), lost: make(map[rewrite.Endpoint]bool),
		management: newManagement(o.Peers),
	}
	var f wire.Frame
	asked := make(map[rewrite.Endpoint]span)
	for i := range events {
		f.Parse(wire.LinkEthernet, events[i].Frame, 0)
		msg := messageOf(&f, events[i].Mine)
		m.messages[i] = msg
		switch {
		case events[i].Mine:
			m.states[i] = unsent
			if msg.kind == request {
				asked[msg.to] = asked[msg.to].with(msg)
			}
		case msg.kind == manager:
		case msg.kind == request || msg.kind != other && asked[o.Peers[msg.to]].has(msg.psn):
			m.states[i] = expected
			m.queues[msg.to] = append(m.queues[msg.to], i)
			m.report.Expected++
		}
	}
	m.manage()
	return m
}

// span is the PSNs that the requests to a queue pair cover.
type span struct {
	first, end wire.PSN
	any        bool
}

func (s span) with(m message) span {
	end := m.psn.Add(m.span)
	if !s.any {
		return span{m.psn, end, true}
	}
	if s.end.Less(end) {
		s.end = end
	}
	return s
}

func (s span) has(psn wire.PSN) bool { return s.any && psn.Less(s.end) }

// Report returns how it has gone so far.
func (m *Machine) Report() Report { return m.report }

// Step returns what to do next. What it says to send counts as sent.
func (m *Machine) Step(now int64) Step {
	for {
		if len(m.again) > 0 {
			return m.sendAgain(now)
		}
		if m.next == len(m.events) {
			return Step{Done: true}
		}
		i := m.next
		if m.events[i].Mine {
			return m.send(i, now)
		}
		if m.states[i] == expected && !m.hopeless(i) {
			if m.deadline == 0 {
				m.deadline = m.patience(i, now)
			}
			if now < m.deadline {
				return Step{Until: m.deadline}
			}
			m.timeout(i)
			continue
		}
		if m.states[i] != skipped {
			m.pace.Await(m.events[i].Time, now)
		}
		m.advance()
	}
}

// hopeless reports whether nothing more is expected where event i belongs.
func (m *Machine) hopeless(i int) bool {
	if msg := &m.messages[i]; msg.kind != manager {
		return m.lost[msg.to]
	}
	return m.broken[m.messages[i].cm.link]
}

func (m *Machine) advance() {
	m.next++
	m.due, m.deadline, m.tries = -1, 0, 0
}

func (m *Machine) send(i int, now int64) Step {
	if m.due < 0 {
		m.due = m.pace.Due(m.events[i].Time, len(m.events[i].Frame), now)
	}
	if now < m.due {
		return Step{Until: m.due}
	}
	m.advance()
	m.report.Sent++
	return Step{Send: m.frame(i)}
}

func (m *Machine) sendAgain(now int64) Step {
	if now < m.hold {
		return Step{Until: m.hold}
	}
	i := m.again[0]
	m.again = m.again[1:]
	m.report.Resent++
	m.deadline = 0
	return Step{Send: m.frame(i)}
}

// timeout sends again what should have been answered, or gives up.
func (m *Machine) timeout(i int) {
	msg := &m.messages[i]
	again := func() bool { return m.retry(msg.to, msg.psn) }
	if msg.kind == manager {
		again = func() bool { return m.askAgain(i) }
	}
	if m.tries < m.options.Retries && again() {
		return
	}
	m.differ(i, "nothing")
	if msg.kind == manager {
		m.breakOff(msg.cm.link)
		return
	}
	m.lost[msg.to] = true
}

// retry queues the requests that cover a PSN and all behind it for sending
// again, and reports whether there are any.
func (m *Machine) retry(at rewrite.Endpoint, psn wire.PSN) bool {
	m.tries++
	m.deadline = 0
	m.again = m.again[:0]
	to, known := m.options.Peers[at]
	for i := m.next - 1; i >= 0 && known; i-- {
		msg := &m.messages[i]
		if !m.events[i].Mine || msg.kind != request || msg.to != to {
			continue
		}
		if msg.psn.Less(psn) && !msg.covers(psn) {
			break
		}
		if !m.willSendAgain(msg.psn) {
			m.again = append(m.again, i)
		}
	}
	slices.Reverse(m.again)
	return len(m.again) > 0
}

func (m *Machine) willSendAgain(psn wire.PSN) bool {
	return slices.ContainsFunc(m.again, func(i int) bool { return m.messages[i].psn == psn })
}

// Receive takes a frame that came from the network.
func (m *Machine) Receive(f *wire.Frame, now int64) {
	got := messageOf(f, false)
	queue, ours := m.queues[got.to]
	if got.kind == manager {
		ours = m.hosts[got.to.Addr]
	}
	if !ours || got.kind == other {
		return
	}
	if v, _, _ := m.hasher.Judge(f); v == icrc.Bad {
		m.report.Differences = append(m.report.Differences, Difference{PSN: got.psn, Got: got.String() + " with a wrong ICRC"})
		return
	}
	if got.kind == manager {
		m.receiveManaged(f, &got, now)
		return
	}
	before := m.report.Answered
	complaint := false
	for _, i := range queue {
		if m.states[i] == arrived {
			continue
		}
		if ahead := m.messages[i].psn.Diff(got.psn); ahead > 0 && got.kind != nak && !got.datagram() {
			break
		}
		if m.meets(i, got) {
			m.arrive(i)
		} else if got.kind == nak && m.isAnswer(i) {
			complaint = true
			m.refused(i, got, now)
			break
		}
		if m.states[i] == arrived && (got.datagram() || got.kind == nak && m.messages[i].kind == nak) {
			break
		}
	}
	for len(queue) > 0 && m.states[queue[0]] == arrived {
		queue = queue[1:]
	}
	m.queues[got.to] = queue
	switch {
	case m.report.Answered == before && !complaint:
		m.report.Extra++
		m.acknowledgeAgain(&got)
	case m.report.Answered > before:
		m.deadline = 0
	}
}

// acknowledgeAgain queues our answer to a request that the peer has repeated: it
// may have been lost (IBTA C9-105 has a responder answer duplicates). A READ is
// answered with all of its responses.
func (m *Machine) acknowledgeAgain(got *message) {
	from, known := m.options.Peers[got.to]
	if !known || got.kind != request || len(m.again) > 0 {
		return
	}
	for i := m.next - 1; i >= 0; i-- {
		msg := &m.messages[i]
		if !m.events[i].Mine || msg.to != from || msg.kind == request || msg.kind == other || msg.kind == manager {
			continue
		}
		if msg.psn.Less(got.psn) {
			break
		}
		if msg.kind != read || got.covers(msg.psn) {
			m.again = append(m.again, i)
		}
	}
	slices.Reverse(m.again)
	if len(m.again) > 0 && m.messages[m.again[0]].kind != read {
		m.again = m.again[:1]
	}
	if len(m.again) > 0 && !m.repeat(m.again[0]) {
		m.again = m.again[:0]
	}
}

func (m *Machine) isAnswer(i int) bool { return m.messages[i].kind != request }

// meets reports whether a packet is what event i stands for, or implies it, and
// notes how it differs.
func (m *Machine) meets(i int, got message) bool {
	want := &m.messages[i]
	exact := want.psn == got.psn || want.datagram() && got.datagram()
	switch {
	case (want.kind == request) != (got.kind == request):
		return false
	case want.kind == request:
		return exact && m.compare(i, got)
	case exact && want.kind == got.kind:
		return m.compare(i, got)
	case got.kind == nak && (exact || got.psn.Less(want.psn)):
		return false
	case exact && got.kind == ack || exact && want.kind != ack:
		m.differ(i, got.String())
		return true
	case want.kind == ack:
		return true // any later answer acknowledges it too (IBTA 9.7.5.1.2)
	case want.kind == nak:
		m.differ(i, got.String())
		return true
	}
	return false // data that was skipped can still come
}

// compare notes how a packet of the expected kind differs, and returns true.
func (m *Machine) compare(i int, got message) bool {
	want := &m.messages[i]
	switch {
	case want.op != got.op:
		m.differ(i, got.String())
	case want.kind == nak && want.syndrome != got.syndrome:
		m.differ(i, got.String())
	case !bytes.Equal(want.payload, got.payload):
		m.report.Differences = append(m.report.Differences, Difference{
			Number: m.events[i].Number, PSN: want.psn,
			Got: fmt.Sprintf("%v with %s", got, difference(want.payload, got.payload)),
		})
	}
	return true
}

// difference says where two payloads differ.
func difference(want, got []byte) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d bytes of data, not %d", len(got), len(want))
	}
	at := 0
	for want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("other data from byte %d on (0x%02x, not 0x%02x)", at, got[at], want[at])
}

// refused handles a NAK where the recording has none. What the peer has missed
// or was not ready for is sent again; any other NAK ends the connection.
func (m *Machine) refused(i int, got message, now int64) {
	m.differ(i, got.String())
	at := m.messages[i].to
	retriable := got.syndrome.Kind() == wire.RNRNak || got.syndrome.Kind() == wire.Nak && got.syndrome.Code() == wire.NakPSNSequence
	if !retriable || m.tries >= m.options.Retries || !m.retry(at, got.psn) {
		m.lost[at] = true
		return
	}
	if got.syndrome.Kind() == wire.RNRNak {
		m.hold = now + int64(got.syndrome.RNRTimer())
	}
}

func (m *Machine) arrive(i int) {
	m.states[i] = arrived
	m.report.Answered++
}

func (m *Machine) differ(i int, got string) {
	want := &m.messages[i]
	m.report.Differences = append(m.report.Differences, Difference{
		Number: m.events[i].Number, PSN: want.psn, CommID: want.cm.link.id, Want: want.String(), Got: got,
	})
}
