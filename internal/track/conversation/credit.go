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
	sound bool     // all messages were seen since it began
	since wire.PSN // where that is
	sent  tallied
	done  tallied // of which acknowledged
	// ends are those that are sent whole and not acknowledged.
	ends []sentWhole
	head int

	known bool // what the MSN counts from
	from  msn

	heard   bool // an answer was seen
	plain   bool // the newest was an ACK
	highest wire.PSN
	newest  msn // its MSN

	limited bool // the responder tells credits
	limit   int  // the last message that takes a receive request and has one
	left    int  // how many had one, and were not acknowledged, when the count was lost
}

// tallied is how many messages there were, and how many of them took a receive
// request: those are limited by credits, and the others use none.
type tallied struct{ all, taking int }

// sentWhole is a message of which all was sent.
type sentWhole struct {
	last  wire.PSN
	takes bool
}

// maxEnds bounds how many messages wait for being acknowledged.
const maxEnds = maxOpen

// lose forgets what the MSN counts from. Of what was left below the limit it is not
// known any more what is used: it is taken to be there.
func (c *count) lose() {
	if c.limited {
		c.left = c.limit - c.done.taking
	}
	c.sound, c.known, c.limited, c.sent, c.done, c.ends, c.head = false, false, false, tallied{}, tallied{}, c.ends[:0], 0
}

// send counts a new request that takes n PSNs. gap says that something before it
// was not seen.
func (c *count) send(p *Packet, n int, sized, gap bool) {
	place := p.Opcode.Info().Place
	begins := begins(place)
	if gap || !sized || len(c.ends)-c.head >= maxEnds {
		c.lose()
	}
	if !c.sound && begins && sized {
		c.sound, c.since = true, p.PSN
	}
	if !c.sound {
		return
	}
	if begins {
		c.sent.all++
	}
	takes := spends(p.Opcode)
	if takes {
		c.sent.taking++
	}
	if ends(place) {
		// A SEND has taken its receive request with the first packet, a WRITE with the last.
		c.push(sentWhole{p.PSN.Add(n - 1), takes || !begins && opOf(p.Opcode) == Send})
	}
}

func (c *count) push(m sentWhole) {
	if c.head > 0 && len(c.ends) == cap(c.ends) {
		c.ends = append(c.ends[:0], c.ends[c.head:]...)
		c.head = 0
	}
	c.ends = append(c.ends, m)
}

// reach counts the messages that end before a PSN as acknowledged.
func (c *count) reach(to wire.PSN) {
	for c.head < len(c.ends) && c.ends[c.head].last.Less(to) {
		c.done.all++
		if c.ends[c.head].takes {
			c.done.taking++
		}
		c.head++
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
	if !c.limited || idle || !spends(p.Opcode) {
		return
	}
	over := c.sent.taking - c.limit - 1
	if over > 0 && d.whole() {
		d.tell(Event{Kind: CreditBeyond, Packet: p.Number, PSN: p.PSN, N: over})
	}
}

// countAnswer takes the AETH of an answer.
func (d *Direction) countAnswer(p *Packet) {
	c, told, positive := &d.count, msn(p.MSN), p.Syndrome.Kind() == wire.Ack
	last := p.PSN
	if !positive {
		last = last.Add(-1)
	}
	if c.heard && last.Diff(c.highest) <= 0 {
		// It comes again, or late: its MSN may be of another time. One that says the
		// same as the newest counts no less.
		acks := positive && p.Opcode.Operation() == wire.OpAcknowledge
		if back := c.newest.Diff(told); acks && c.plain && last == c.highest && back > 0 {
			d.tell(Event{Kind: MSNRegress, Packet: p.Number, PSN: p.PSN, N: back})
		} else if positive {
			d.credit(p)
		}
		return
	}
	if !last.Less(d.frontier) {
		c.lose() // it counts what was not seen
	}
	back := 0
	if c.heard {
		back = c.newest.Diff(told)
	}
	before := c.newest
	c.plain = positive && p.Opcode.Operation() == wire.OpAcknowledge
	c.heard, c.highest, c.newest = true, last, told
	if back > 0 {
		d.tell(Event{Kind: MSNRegress, Packet: p.Number, PSN: p.PSN, N: back})
		c.lose()
		return
	}
	c.reach(last.Add(1))
	if c.sound && p.Opcode.Operation() != wire.OpReadResponseFirst && !c.agrees(told) {
		d.tell(Event{Kind: MSNWrong, Packet: p.Number, PSN: p.PSN, N: 1})
		c.lose()
		c.newest = before // the next one that is right is not less than this
	}
	if positive {
		d.credit(p)
	}
}

// agrees compares an MSN with the messages that were sent and acknowledged: it
// counts all of these, and none but those. Where both are the same, it tells
// what it counts from. A READ counts from the first packet of its response.
func (c *count) agrees(told msn) bool {
	if !c.known {
		c.known, c.from = c.done.all == c.sent.all, told.Add(-c.done.all)
		return true
	}
	n := told.Diff(c.from)
	return c.done.all <= n && n <= c.sent.all
}

// credit takes the credits of an answer, which count from the messages in its MSN.
// The limit never falls: an answer that was on its way for long tells an old one.
func (d *Direction) credit(p *Packet) {
	c := &d.count
	n, ok := p.Syndrome.Credits()
	if !ok {
		c.limited = false
		return
	}
	d.Credits.add(p.Syndrome.Code(), n)
	if !c.known {
		return
	}
	// Of the messages that are not acknowledged and yet counted nothing tells
	// whether they took one: they are taken to.
	counted := min(c.done.taking+max(0, msn(p.MSN).Diff(c.from)-c.done.all), c.sent.taking)
	if !c.limited {
		c.limited, c.limit, c.left = true, counted+max(n, c.left), 0
	}
	c.limit = max(c.limit, counted+n)
}
