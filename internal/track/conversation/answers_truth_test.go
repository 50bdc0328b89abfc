package conversation_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// A scripted requester and responder that keep to the rules of credits, MSNs, RNR
// timers and acknowledgements, and break one of them now and then. Each breach is
// told with its packet and cause, and nothing else is.
//
// The capture has all packets here. An acknowledgement that it lacks may have told
// more credits, which no other packet shows.

// answered is a run of such a pair. PSNs and MSNs are counted from the first on.
type answered struct {
	rng     *rand.Rand
	tracker *conversation.Tracker
	number  int
	now     int64
	first   wire.PSN
	base    wire.PSN // MSN before the first message
	next    int      // PSN
	open    []posted
	done    int // messages that are acknowledged
	took    int // of which took a receive request
	acked   int // PSNs
	credits bool
	limit   int // messages that may take a receive request
	taken   int
	told    map[string]int
	want    map[string]int
	ghosts  map[int]bool // acknowledgements that end no message
	ahead   []ghost      // of what is not sent yet
	endedBy []int
	dups    int
	ages    []int // PSNs that were acknowledged, a millisecond apart
	widest  int   // PSNs that were outstanding at a time
}

// posted is a message that is not acknowledged.
type posted struct {
	op          conversation.Op
	first, last int // PSNs
	takes       bool
	immediate   bool
}

// ghost is an acknowledgement of a PSN.
type ghost struct{ packet, psn int }

func newAnswered(seed uint64) *answered {
	rng := rand.New(rand.NewPCG(seed, 13))
	x := &answered{
		rng: rng, tracker: conversation.NewTracker(conversation.DefaultLimits()), now: int64(time.Hour),
		first: wire.PSN(rng.Uint32()).Add(0), base: wire.PSN(rng.Uint32()).Add(0), credits: seed%2 == 0,
		told: map[string]int{}, want: map[string]int{}, ghosts: map[int]bool{},
	}
	if seed%4 < 2 {
		x.first, x.base = wire.PSN(0).Add(-200), wire.PSN(0).Add(-50) // run over
	}
	x.tracker.Report = func(_ *conversation.Conversation, _ int, e conversation.Event) { x.told[nameOf(e)]++ }
	x.tracker.Message = func(_ *conversation.Conversation, _ int, m *conversation.Message) {
		x.endedBy = append(x.endedBy, m.By)
	}
	return x
}

func nameOf(e conversation.Event) string {
	return fmt.Sprintf("%v in %d by %d: %v..%d", e.Kind, e.Packet, e.Cause, e.PSN, e.N)
}

func (x *answered) expect(kind conversation.Kind, packet, cause, psn, n int) {
	x.want[nameOf(conversation.Event{Kind: kind, Packet: packet, Cause: cause, PSN: x.first.Add(psn), N: n})]++
}

func (x *answered) capture(p conversation.Packet) int {
	x.number++
	addrs := ends()
	p.Number, p.Time, p.Src, p.Dst, p.DestQP, p.WireLen = x.number, x.now, addrs[0], addrs[1], 0x12, p.Payload+62
	if p.Opcode.Info().Response {
		p.Src, p.Dst, p.DestQP = addrs[1], addrs[0], 0x11
	}
	x.tracker.Packet(&p)
	return x.number
}

// transmit sends the packets of a message, and returns the first of them and the one
// with which it takes a receive request.
func (x *answered) transmit(m *posted) (head, taking int) {
	n := m.last - m.first + 1
	tail := tailOf(m)
	for i := range n {
		x.now += 100 + int64(x.rng.IntN(200))
		p := conversation.Packet{Opcode: opcodeAt(m, i, n), PSN: x.first.Add(m.first + i), AckReq: i == n-1, Payload: truthMTU}
		if i == n-1 {
			p.Payload = tail
		}
		if m.op != conversation.Send {
			p.DMALen = uint32((n-1)*truthMTU + tail)
		}
		if m.op == conversation.Read {
			p.Payload = 0
			return x.capture(p), 0
		}
		number := x.capture(p)
		if i == 0 {
			head = number
		}
		if i == 0 && m.op == conversation.Send || i == n-1 && m.immediate {
			taking = number
		}
	}
	return head, taking
}

// put sends a new message.
func (x *answered) put(m posted) (head, taking int) {
	if m.takes {
		x.taken++
	}
	x.open = append(x.open, m)
	x.next = m.last + 1
	x.widest = max(x.widest, x.next-x.acked)
	head, taking = x.transmit(&m)
	x.ahead = slices.DeleteFunc(x.ahead, func(g ghost) bool {
		if g.psn >= x.next {
			return false
		}
		reached := head
		if m.op != conversation.Read {
			reached += g.psn - m.first
		}
		x.expect(conversation.AckUnsent, g.packet, reached, g.psn, 1)
		return true
	})
	return head, taking
}

// tailOf is how long the last packet of a message, or of the response to it, is.
func tailOf(m *posted) int { return 1 + (m.first*7)%(truthMTU-1) }

func opcodeAt(m *posted, i, n int) wire.Opcode {
	kinds := map[conversation.Op][4]wire.Opcode{
		conversation.Send:  {wire.OpSendOnly, wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast},
		conversation.Write: {wire.OpWriteOnly, wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLast},
		conversation.Read:  {wire.OpReadRequest, wire.OpReadRequest},
	}[m.op]
	if m.immediate {
		kinds[0], kinds[3] = wire.OpWriteOnlyImmediate, wire.OpWriteLastImmediate
	}
	switch {
	case n == 1:
		return kinds[0]
	case i == 0:
		return kinds[1]
	case i == n-1:
		return kinds[3]
	}
	return kinds[2]
}

// over is how many messages the next one that takes a receive request is beyond
// those for which the responder told one, and the one that is always allowed.
func (x *answered) over() int { return x.taken - x.limit }

// message is a new one of some operation.
func (x *answered) message(op conversation.Op) posted {
	m := posted{op: op, first: x.next, last: x.next + x.rng.IntN(3)}
	m.immediate = op == conversation.Write && x.rng.IntN(2) == 0
	m.takes = op == conversation.Send || m.immediate
	return m
}

// write is one that ends with an acknowledgement, and takes no receive request.
func (x *answered) write() posted {
	m := x.message(conversation.Write)
	m.immediate, m.takes = false, false
	return m
}

// post sends a new message. One that takes a receive request is only sent when there
// is a credit, or when nothing is outstanding.
func (x *answered) post() {
	m := x.message(conversation.Op(x.rng.IntN(3)))
	if m.takes && x.credits && x.over() > 0 && len(x.open) > 0 {
		m = x.write()
	}
	x.put(m)
}

func (x *answered) burst(n int) {
	for range n {
		x.post()
	}
}

// syndrome is that of an acknowledgement, with the credits that it tells.
func (x *answered) syndrome() wire.Syndrome {
	if !x.credits {
		return wire.NewSyndrome(wire.Ack, wire.CreditsInvalid)
	}
	s := wire.NewSyndrome(wire.Ack, uint8(x.rng.IntN(6)))
	n, _ := s.Credits()
	x.limit = max(x.limit, x.took+n)
	return s
}

func (x *answered) msn(n int) uint32 { return uint32(x.base.Add(n)) }

// answer answers the first n messages, some of them together, and returns the last
// answer; off is added to the MSN of that.
func (x *answered) answer(n, off int, together bool) (packet int) {
	x.now += 2000 + int64(x.rng.IntN(2000))
	for i, m := range x.open[:n] {
		x.done++
		if m.takes {
			x.took++
		}
		x.acked = m.last + 1
		last := i == n-1
		if !last && m.op != conversation.Read && (together || x.rng.IntN(3) == 0) {
			continue
		}
		p := conversation.Packet{Opcode: wire.OpAcknowledge, PSN: x.first.Add(m.last), MSN: x.msn(x.done)}
		if last {
			p.MSN = x.msn(x.done + off)
		}
		x.now += 50
		if m.op == conversation.Read {
			packet = x.respond(&m, p)
			continue
		}
		p.Syndrome = x.syndrome()
		packet = x.capture(p)
	}
	x.open = slices.Delete(x.open, 0, n)
	return packet
}

func (x *answered) respond(m *posted, p conversation.Packet) (packet int) {
	n := m.last - m.first + 1
	for i := range n {
		p.Opcode, p.PSN, p.Payload = wire.OpReadResponseMiddle, x.first.Add(m.first+i), truthMTU
		switch {
		case n == 1:
			p.Opcode, p.Payload = wire.OpReadResponseOnly, tailOf(m)
		case i == 0:
			p.Opcode = wire.OpReadResponseFirst
		case i == n-1:
			p.Opcode, p.Payload = wire.OpReadResponseLast, tailOf(m)
		}
		p.Syndrome = 0
		if p.Opcode != wire.OpReadResponseMiddle {
			p.Syndrome = x.syndrome()
		}
		packet = x.capture(p)
	}
	return packet
}

// calm answers all, and goes on for so long that what the MSN and the credits count
// from is known, and what was before is long ago.
func (x *answered) calm() {
	for range 12 {
		x.answer(len(x.open), 0, false)
		x.put(x.message(conversation.Send))
		x.answer(1, 0, false)
		x.now += int64(time.Millisecond)
		x.ages = append(x.ages, x.acked)
	}
}

// beyond sends messages for which the responder has told that it has no receive
// request.
func (x *answered) beyond() {
	x.put(x.write()) // something is outstanding
	for x.credits && x.over() <= 0 {
		x.put(x.message(conversation.Send))
	}
	for range 1 + x.rng.IntN(3) {
		m, over := x.message(conversation.Op(x.rng.IntN(2))), x.over()
		at := m.first
		if m.immediate {
			at = m.last
		}
		if _, taking := x.put(m); taking > 0 && x.credits {
			x.expect(conversation.CreditBeyond, taking, 0, at, over)
		}
	}
}

// miscounts lets an MSN count too many messages, too few, or go back.
func (x *answered) miscounts() {
	x.burst(1 + x.rng.IntN(4))
	m := x.write()
	x.put(m)
	n := len(x.open)
	switch x.rng.IntN(3) {
	case 0:
		x.expect(conversation.MSNWrong, x.answer(n, 1+x.rng.IntN(9), false), 0, m.last, 1)
	case 1:
		x.answer(n-1, 0, false)
		back := 1 + x.rng.IntN(9)
		x.expect(conversation.MSNRegress, x.answer(1, -1-back, false), 0, m.last, back)
	default:
		x.expect(conversation.MSNWrong, x.answer(n, -1, true), 0, m.last, 1)
	}
}

func (x *answered) acknowledge(psn int, msn uint32) int {
	x.now += 300
	return x.capture(conversation.Packet{
		Opcode: wire.OpAcknowledge, PSN: x.first.Add(psn), MSN: msn, Syndrome: wire.NewSyndrome(wire.Ack, wire.CreditsInvalid),
	})
}

// unsent acknowledges what was not sent yet, with any MSN. It is told when that is
// sent, or at the end.
func (x *answered) unsent() {
	x.burst(1 + x.rng.IntN(3))
	for range 1 + x.rng.IntN(2) {
		psn := x.next + x.rng.IntN(200)
		g := x.acknowledge(psn, x.rng.Uint32()&0xFFFFFF)
		x.ghosts[g], x.ahead = true, append(x.ahead, ghost{g, psn})
	}
	x.post()
}

// repeats acknowledges once more what was acknowledged just before, or what was
// long ago.
func (x *answered) repeats() {
	x.dups++
	if x.rng.IntN(2) == 0 {
		x.acknowledge(x.acked-1, x.msn(x.done))
		return
	}
	psn := x.ages[len(x.ages)-4] - x.widest - 2 - x.rng.IntN(20)
	g := x.acknowledge(psn, x.rng.Uint32()&0xFFFFFF)
	x.ghosts[g] = true
	x.expect(conversation.AckGhost, g, 0, psn, 1)
}

// refused lets a message be refused some times in a row; the requester waits as
// long as it is told, or shorter or much longer.
func (x *answered) refused() {
	m := x.message(conversation.Send)
	x.put(m)
	x.burst(x.rng.IntN(3))
	first := 0
	for i := range 1 + x.rng.IntN(7) {
		s := wire.NewSyndrome(wire.RNRNak, uint8(1+x.rng.IntN(14)))
		x.now += 2000
		nak := x.capture(conversation.Packet{Opcode: wire.OpAcknowledge, PSN: x.first.Add(m.first), MSN: x.msn(x.done), Syndrome: s})
		x.expect(conversation.RNRNak, nak, 0, m.first, 1)
		if i == 0 {
			first = nak
		}
		if i == 4 {
			x.expect(conversation.RNRStorm, nak, first, m.first, 1)
		}
		kind, wait := conversation.Kinds, int64(s.RNRTimer())
		switch x.rng.IntN(4) {
		case 0:
			kind, wait = conversation.RNREarly, wait/10+x.rng.Int64N(wait*8/10)
		case 1:
			kind, wait = conversation.RNRLate, 4*wait+int64(21*time.Millisecond)+x.rng.Int64N(wait)
		default:
			wait += x.rng.Int64N(wait)
		}
		x.now += wait
		again := 0
		for i := range x.open {
			if head, _ := x.transmit(&x.open[i]); i == 0 {
				again = head
			}
		}
		x.expect(conversation.RetransmitRNR, again, nak, m.first, x.next-m.first)
		if kind != conversation.Kinds {
			x.expect(kind, again, nak, m.first, 1)
		}
	}
}

func (x *answered) run() {
	x.calm()
	for range 12 {
		switch x.rng.IntN(6) {
		case 0:
			x.beyond()
		case 1:
			x.miscounts()
		case 2:
			x.unsent()
		case 3:
			x.repeats()
		case 4:
			x.refused()
		default:
			x.burst(1 + x.rng.IntN(10))
		}
		x.calm()
	}
	if x.rng.IntN(2) == 0 {
		psn := x.next + x.rng.IntN(1000)
		x.ahead = append(x.ahead, ghost{x.acknowledge(psn, x.msn(x.done)), psn})
	}
	for _, g := range x.ahead {
		x.expect(conversation.AckBeyond, g.packet, 0, g.psn, 1)
	}
	x.tracker.Finish()
}

// wrong says what was told and is not so, or the other way round.
func (x *answered) wrong() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(x.told)) {
		if x.told[name] > x.want[name] {
			list = append(list, "told "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.want)) {
		if x.told[name] < x.want[name] {
			list = append(list, "not told "+name)
		}
	}
	if len(x.endedBy) != x.done {
		list = append(list, fmt.Sprintf("%d messages, in truth %d", len(x.endedBy), x.done))
	}
	for _, by := range x.endedBy {
		if x.ghosts[by] {
			list = append(list, fmt.Sprintf("a message is ended by packet %d", by))
		}
	}
	return list
}

// TestBreachesOfAnswersAreToldExactly lets the credits, MSNs, RNR timers and
// acknowledgements of a scripted pair break their rules.
func TestBreachesOfAnswersAreToldExactly(t *testing.T) {
	var wrong []uint64
	for i := range *truthSeeds {
		seed := *truthFrom + i
		var asks *conversation.Direction
		x := newAnswered(seed)
		x.tracker.Closed = func(c *conversation.Conversation) {
			for i := range c.Ends {
				if c.Ends[i].Addr == ends()[0] {
					asks = &c.Ends[i].Asks
				}
			}
		}
		x.run()
		list := x.wrong()
		if asks.DuplicateAcks != x.dups {
			list = append(list, fmt.Sprintf("%d acknowledgements came again, in truth %d", asks.DuplicateAcks, x.dups))
		}
		if len(list) == 0 {
			continue
		}
		if wrong = append(wrong, seed); len(wrong) == 1 {
			t.Logf("seed %d: %q", seed, list)
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%d of %d seeds are told wrongly: %d", len(wrong), *truthSeeds, wrong[:min(len(wrong), 50)])
	}
}
