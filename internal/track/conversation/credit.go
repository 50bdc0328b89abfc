package conversation

import "github.com/rocecap/rocecap/internal/wire"

// An AETH counts messages: its MSN is how many the responder has completed
// (C9-148), and its credits how many more it has receive requests for (IBTA
// vol. 1, 9.7.7.2). What they count from is known once everything that was sent
// is acknowledged, and as long as the capture has seen all messages since.

// Credits is what a responder told of its receive requests.
type Credits struct {
	Answers int // that told a number
	Least   int // the smallest number
	None    int // answers that told of none
	// Codes counts the answers by the code in them; nil when none told a number.
	Codes *[wire.CreditsInvalid]int
}

func (c *Credits) add(code uint8, n int) {
	if c.Codes == nil {
		c.Codes = new([wire.CreditsInvalid]int)
		c.Least = n
	}
	c.Codes[code]++
	c.Answers++
	c.Least = min(c.Least, n)
	if n == 0 {
		c.None++
	}
}

// msn is a message sequence number: 24 bits that run over, as a PSN has.
type msn = wire.PSN

// count follows the messages of a requester, and what the answers say of them.
type count struct {
	sound bool // all messages were seen since it began
	sent  int  // messages whose first packet was seen since
	done  int  // of which acknowledged
	// ends are the last PSNs of those that are sent whole and not acknowledged.
	ends []wire.PSN
	head int

	known bool // what the MSN counts from
	from  msn

	heard   bool // an answer was seen
	highest wire.PSN
	newest  msn // its MSN

	limited bool // the responder tells credits
	limit   msn  // the last message that it has a receive request for
}

// maxEnds bounds how many messages wait for being acknowledged.
const maxEnds = maxOpen

// lose forgets what the MSN counts from.
func (c *count) lose() {
	c.sound, c.known, c.sent, c.done, c.ends, c.head = false, false, 0, 0, c.ends[:0], 0
}

// send counts a new request that takes n PSNs. gap says that something before it
// was not seen.
func (c *count) send(p *Packet, n int, sized, gap bool) {
	place := p.Opcode.Info().Place
	begins := place == wire.PlaceFirst || place == wire.PlaceOnly
	if gap || !sized || len(c.ends)-c.head >= maxEnds {
		c.lose()
	}
	c.sound = c.sound || begins && sized
	if !c.sound {
		return
	}
	if begins {
		c.sent++
	}
	if place == wire.PlaceLast || place == wire.PlaceOnly {
		c.push(p.PSN.Add(n - 1))
	}
}

func (c *count) push(end wire.PSN) {
	if c.head > 0 && len(c.ends) == cap(c.ends) {
		c.ends = append(c.ends[:0], c.ends[c.head:]...)
		c.head = 0
	}
	c.ends = append(c.ends, end)
}

// reach counts the messages that end before a PSN as acknowledged.
func (c *count) reach(to wire.PSN) {
	for c.head < len(c.ends) && c.ends[c.head].Less(to) {
		c.head++
		c.done++
	}
	if c.head == len(c.ends) {
		c.ends, c.head = c.ends[:0], 0
	}
}

// spends reports whether a packet takes a receive request: every SEND does with
// its first packet, a WRITE with immediate data with its last.
func spends(op wire.Opcode) bool {
	switch op.Operation() {
	case wire.OpSendFirst, wire.OpSendOnly, wire.OpSendOnlyImmediate, wire.OpSendOnlyInvalidate,
		wire.OpWriteLastImmediate, wire.OpWriteOnlyImmediate:
		return true
	}
	return false
}

// spend counts a new request, and checks that it has a credit if it needs one.
// One message more than there are credits for is always allowed (IBTA vol. 1,
// 9.7.7.2.5), and so is one when nothing is outstanding: it asks for new ones.
func (d *Direction) spend(p *Packet, n int, sized bool) {
	c, idle := &d.count, d.acked == p.PSN
	c.send(p, n, sized, p.PSN != d.frontier)
	if !spends(p.Opcode) || !c.known || !c.limited || idle {
		return
	}
	over := c.from.Add(c.sent).Diff(c.limit) - 1
	if over > 0 && d.Tallies.Of(Missed).Count == 0 && d.Tallies.Of(ResponseGap).Count == 0 {
		d.tell(Event{Kind: CreditBeyond, Packet: p.Number, PSN: p.PSN, N: over})
	}
}

// countAnswer takes the AETH of an answer.
func (d *Direction) countAnswer(p *Packet) {
	c, told, positive := &d.count, msn(p.MSN), p.Syndrome.Kind() == wire.Ack
	if positive {
		d.credit(p)
	}
	if c.heard && p.PSN.Diff(c.highest) <= 0 {
		return // it comes again, or late: its MSN may be of another time
	}
	back := 0
	if c.heard {
		back = c.newest.Diff(told)
	}
	c.heard, c.highest, c.newest = true, p.PSN, told
	if back > 0 {
		d.tell(Event{Kind: MSNRegress, Packet: p.Number, PSN: p.PSN, N: back})
		c.lose()
		return
	}
	to := p.PSN
	if positive {
		to = to.Add(1)
	}
	if d.frontier.Less(to) {
		c.lose() // it counts what was not seen
	}
	c.reach(to)
	if c.sound && p.Opcode.Operation() != wire.OpReadResponseFirst && !c.agrees(told) {
		d.tell(Event{Kind: MSNWrong, Packet: p.Number, PSN: p.PSN, N: 1})
		c.lose()
	}
}

// agrees compares an MSN with the messages that were sent and acknowledged: it
// counts all of these, and none but those. Where both are the same, it tells
// what it counts from. A READ counts from the first packet of its response.
func (c *count) agrees(told msn) bool {
	if !c.known {
		c.known, c.from = c.done == c.sent, told.Add(-c.done)
		return true
	}
	n := told.Diff(c.from)
	return c.done <= n && n <= c.sent
}

// credit takes the credits of an answer. The limit never falls: an answer that
// was on its way for long tells an old one.
func (d *Direction) credit(p *Packet) {
	c := &d.count
	n, ok := p.Syndrome.Credits()
	if !ok {
		c.limited = false
		return
	}
	d.Credits.add(p.Syndrome.Code(), n)
	if limit := msn(p.MSN).Add(n); !c.limited || c.limit.Less(limit) {
		c.limited, c.limit = true, limit
	}
}
