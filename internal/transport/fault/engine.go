package fault

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Config is what an Engine works by.
type Config struct {
	Seed  uint64
	Rules []Rule
	// Craft makes the frames of answers. It may be nil when no rule has one.
	Craft func(Reply) ([]byte, error)
}

// Event is what a rule did to a frame, or could not do.
type Event struct {
	Rule int
	What string
}

// Out is a frame to send.
type Out struct {
	Direction Direction
	Data      []byte // the receiver's to keep
	Note      string // why it is not what came, or not when it came; one line a rule
}

// RuleCount is how often a rule was used, by direction.
type RuleCount struct {
	Matched [2]uint64 // frames that it selects
	Acted   [2]uint64
	Unable  [2]uint64 // frames to which it could not do what it says
}

// Traffic counts the frames of one direction.
type Traffic struct {
	Received uint64
	Passed   uint64 // of those, untouched and at once
	Dropped  uint64
	Injected uint64 // copies and answers
}

// Engine applies rules. It belongs to one goroutine.
type Engine struct {
	rules   []ruleState
	craft   func(Reply) ([]byte, error)
	tracks  bool // a rule asks for what came before
	tracker tracker
	hasher  icrc.Hasher
	frame   wire.Frame
	edited  wire.Frame
	queue   queue
	events  []Event
	traffic [2]Traffic
}

// ruleState is a rule and what became of it.
type ruleState struct {
	Rule
	label  string
	random *rand.Rand // its own, so that rules do not change each other's chances
	picked int        // matches so far, for Nth and Every
	acted  int
	count  RuleCount
}

// NewEngine makes an engine.
func NewEngine(c Config) *Engine {
	e := &Engine{craft: c.Craft, tracker: newTracker()}
	for i, r := range c.Rules {
		e.rules = append(e.rules, ruleState{
			Rule: r, label: label(i, r.Name), random: rand.New(rand.NewPCG(c.Seed, uint64(i))),
		})
		e.tracks = e.tracks || r.Match.tracks() || r.Do.Answer.Given
	}
	return e
}

// packet is a received frame and its place among the others.
type packet struct {
	*wire.Frame
	bth       wire.BTH // nil when there is none
	position  position
	direction Direction
}

// Receive decides about a frame that arrived. When it returns true, the frame
// is to be passed on as it is. In any case what Emit has is to be sent after
// that, now and when Deadline comes. The engine keeps nothing of data.
func (e *Engine) Receive(now time.Time, direction Direction, data []byte) (pass bool) {
	e.events = e.events[:0]
	count := &e.traffic[direction]
	count.Received++
	if len(e.rules) == 0 {
		count.Passed++
		return true
	}
	p := e.parse(direction, data)
	var fate fate
	for i := range e.rules {
		if r := &e.rules[i]; r.selects(p) && e.able(i, p) {
			r.acted++
			r.count.Acted[direction]++
			fate.rules = append(fate.rules, i)
		}
	}
	if fate.rules == nil {
		count.Passed++
		e.queue.overtake(direction, now)
		return true
	}
	e.act(&fate, now, p)
	return false
}

func (e *Engine) parse(direction Direction, data []byte) packet {
	e.frame.Parse(wire.LinkEthernet, data, len(data))
	p := packet{Frame: &e.frame, direction: direction}
	if bth := e.frame.View(wire.HdrBTH); len(bth) == wire.BTHLen {
		p.bth = bth
		if e.tracks {
			p.position = e.tracker.see(&e.frame, p.bth)
		}
	}
	return p
}

// selects reports whether the rule acts on the packet, and moves its counters
// and its chances on.
func (r *ruleState) selects(p packet) bool {
	if !r.Match.match(p) {
		return false
	}
	r.count.Matched[p.direction]++
	r.picked++
	switch {
	case r.Nth > 0 && r.picked != r.Nth,
		r.Every > 0 && r.picked%r.Every != 0,
		r.Times > 0 && r.acted >= r.Times,
		r.Probability.Given && r.random.Float64() >= r.Probability.Value:
		return false
	}
	return true
}

func (m *Match) match(p packet) bool {
	if !m.Direction.allows(p.direction) || (m.transport() && !m.matchTransport(p)) {
		return false
	}
	return m.Filter == nil || m.Filter(p.Frame)
}

func (m *Match) matchTransport(p packet) bool {
	if p.bth == nil || !m.QP.allows(p.bth.DestQP()) || !m.PSN.allows(p.bth.PSN()) {
		return false
	}
	if !m.Opcodes.empty() && !m.Opcodes.Has(p.bth.Opcode()) {
		return false
	}
	if !m.tracks() {
		return true
	}
	at := &p.position
	first, number := at.start, at.message.number
	if m.Message.Given {
		first = at.message.start
	}
	if m.Kind != KindNone {
		number = at.message.ofKind
		if at.message.kind != m.Kind {
			number = 0
		}
	}
	return m.Message.allows(number) && m.Again.allows(at.again) && m.Offset.allows(p.bth.PSN().Diff(first))
}

// able reports whether the rule can do to the packet what it says; a rule that
// can't does nothing, and does not count it as one of its Times.
func (e *Engine) able(i int, p packet) bool {
	r := &e.rules[i]
	why := ""
	do := &r.Do
	switch {
	case do.Corrupt.Given && do.Corrupt.Value.Byte >= len(p.PayloadBytes()):
		why = "has no such payload byte"
	case do.CE && p.network() == (wire.Header{}):
		why = "has no IP header to mark"
	case (do.FECN || do.BECN) && p.bth == nil:
		why = "has no BTH to mark"
	case slices.ContainsFunc(do.Set, func(s Edit) bool { _, f := s.find(p.Frame); return f == nil }):
		why = "has no such field"
	case do.Answer.Given:
		why = unanswerable(&do.Answer.Value, p)
	}
	if why == "" {
		return true
	}
	r.count.Unable[p.direction]++
	e.log(i, "not done: "+why)
	return false
}

func (e *Engine) log(rule int, what string) { e.events = append(e.events, Event{rule, what}) }

// Events returns what the rules did to the frame that was received last. The
// slice is valid until the next Receive.
func (e *Engine) Events() []Event { return e.events }

// Note is the last frame's events as text, one a line.
func (e *Engine) Note() string {
	var b bytes.Buffer
	for i, ev := range e.events {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.rules[ev.Rule].label + ": " + ev.What)
	}
	return b.String()
}

// Emit returns the next frame whose time has come.
func (e *Engine) Emit(now time.Time) (Out, bool) { return e.queue.next(now) }

// Deadline is when Emit has the next frame; ok is false when none waits.
func (e *Engine) Deadline() (at time.Time, ok bool) { return e.queue.deadline() }

// Waiting is how many frames wait.
func (e *Engine) Waiting() int { return len(e.queue.items) }

// RuleCounts returns the count of each rule.
func (e *Engine) RuleCounts() []RuleCount {
	var counts []RuleCount
	for i := range e.rules {
		counts = append(counts, e.rules[i].count)
	}
	return counts
}

// Label is what a rule is called in notes.
func (e *Engine) Label(rule int) string { return e.rules[rule].label }

// Traffic returns the count of a direction.
func (e *Engine) Traffic(d Direction) Traffic { return e.traffic[d] }
