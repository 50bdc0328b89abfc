package conversation

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Terms are what the two ends have agreed on by CM for the requests of one of
// them. Each end tells the other what to keep to, so that those of the end that
// sent the REQ are in the REP, and the other way round. The REP has neither a
// retry count nor a local ACK timeout.
type Terms struct {
	Agreed     bool
	FirstPSN   wire.PSN // of its requests
	PathMTU    int      // in bytes, 0 for a code that is not defined
	Depth      int      // READs and atomics outstanding: the other end's responder resources
	RNRRetries int      // retries after RNR NAKs in a row, Unlimited for as many as it takes
	// Of the end that got the REQ:
	Asked      bool
	Retries    int           // retries in a row
	AckTimeout time.Duration // the local ACK timeout, 0 for none
}

// Unlimited is the RNR retry count that is none (IBTA vol. 1, 12.6.5).
const Unlimited = 7

// offer is what a REQ or REP tells its receiver to keep to.
type offer struct {
	made       bool
	psn        wire.PSN
	resources  int
	rnrRetries int
	retries    int // of a REQ
}

func offerOfRequest(req wire.CMReq) offer {
	return offer{true, req.StartingPSN(), int(req.ResponderResources()), int(req.RNRRetryCount()), int(req.RetryCount())}
}

func offerOfReply(rep wire.CMRep) offer {
	return offer{made: true, psn: rep.StartingPSN(), resources: int(rep.ResponderResources()), rnrRetries: int(rep.RNRRetryCount())}
}

func (o *offer) terms(mtu int) Terms {
	return Terms{Agreed: true, FirstPSN: o.psn, PathMTU: mtu, Depth: o.resources, RNRRetries: o.rnrRetries}
}

// agree lets the two ends of a conversation know what they have agreed on: asking
// sent the REQ, its peer the REP.
func (c *Conversation) agree(asking int, req, rep *Exchange) {
	if !req.offer.made || !rep.offer.made {
		return
	}
	c.Ends[asking].Asks.Terms = rep.offer.terms(req.PathMTU)
	asked := req.offer.terms(req.PathMTU)
	asked.Asked, asked.Retries = true, req.offer.retries
	if req.AckTimeout > 0 {
		asked.AckTimeout = 4096 << req.AckTimeout // C9-140
	}
	c.Ends[1-asking].Asks.Terms = asked
}

// keeping is how far the requests of an end keep to the terms.
type keeping struct {
	psn     wire.PSN // that was sent again last
	times   int      // in a row, after the timer or a NAK
	refused int      // in a row, after an RNR NAK
	clocked int      // the last retry of which it is known since when the requester waited
	over    bool     // the connection is over
	overAt  int64
}

// start is the PSN that the requests begin with. As long as that is near to the
// first one that was seen, what is between was not seen; any other PSN is not what
// was agreed on.
func (d *Direction) start(p *Packet) wire.PSN {
	if !d.Terms.Agreed {
		return p.PSN
	}
	if ahead := p.PSN.Diff(d.Terms.FirstPSN); ahead < 0 || ahead > maxJump {
		d.tell(Event{Kind: StartPSN, Packet: p.Number, PSN: p.PSN, N: 1})
		return p.PSN
	}
	return d.Terms.FirstPSN
}

// keeps compares a new request with what was agreed on.
func (d *Direction) keeps(p *Packet) {
	if !d.Terms.Agreed {
		return
	}
	op := opOf(p.Opcode)
	if (op == Read || op == Atomic) && d.unanswered(d.Terms.Depth) > d.Terms.Depth {
		d.tell(Event{Kind: DepthBeyond, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}

// unanswered counts the READs and atomics of which nothing shows that they were
// answered, up to one more than a number. An answer passes the capture point
// before the requester has it, so that for the responder there were no fewer.
func (d *Direction) unanswered(enough int) (n int) {
	open := d.messages.open()
	for i := len(open) - 1; i >= 0 && n <= enough; i-- {
		m := &open[i]
		if m.first.Less(d.acked) {
			break
		}
		if !m.done && m.headed && (m.op == Read || m.op == Atomic) {
			n++
		}
	}
	return n
}

// fits compares the length of a packet of a message or response with the path
// MTU that was agreed on: no packet is longer, and FIRST and MIDDLE are not
// shorter (IBTA vol. 1, 9.7.2; C9-10 and on).
func (d *Direction) fits(p *Packet) {
	mtu := d.Terms.PathMTU
	if mtu == 0 {
		return
	}
	place := p.Opcode.Info().Place
	switch {
	case p.Payload > mtu:
		d.tell(Event{Kind: MTUBeyond, Packet: p.Number, PSN: p.PSN, N: 1})
	case p.Payload < mtu && (place == wire.PlaceFirst || place == wire.PlaceMiddle):
		d.tell(Event{Kind: MTUBelow, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}

// retried counts what is sent again from one PSN on without progress.
func (d *Direction) retried(e *Event) {
	k, terms := &d.keeping, &d.Terms
	if !terms.Agreed {
		return
	}
	switch e.Kind {
	case RetransmitTimeout, RetransmitNak, RetransmitImplied, RetransmitRNR:
	default:
		return
	}
	if e.PSN != k.psn {
		k.psn, k.times, k.refused = e.PSN, 0, 0
	}
	if e.Kind == RetransmitRNR {
		if k.refused++; terms.RNRRetries != Unlimited && k.refused > terms.RNRRetries {
			d.tell(Event{Kind: RNRBeyond, Packet: e.Packet, Cause: e.Cause, PSN: e.PSN, N: 1})
		}
		return
	}
	if e.Kind == RetransmitTimeout {
		d.hasty(e)
	}
	if k.times++; terms.Asked && k.times > terms.Retries {
		d.tell(Event{Kind: RetryBeyond, Packet: e.Packet, Cause: e.Cause, PSN: e.PSN, N: 1})
	}
}

// clock notes whether the begin of the wait before a retry is known. It is not
// when something was answered and asked for again, or the capture misses packets.
func (d *Direction) clock(s *stray) {
	captured := d.Tallies.Of(Missed).Count == 0 && d.Tallies.Of(ResponseGap).Count == 0
	if captured && !s.unheard && !s.unseen && s.psn == d.acked {
		d.keeping.clocked = s.packet
	}
}

// hasty looks at a wait before a retry of the timer: it is shorter than the local
// ACK timeout that was agreed on. What the requester counts from may have passed
// the capture point later than it left, and the answer that it counts from
// earlier than it came: half of the timeout is more than that.
func (d *Direction) hasty(e *Event) {
	if e.Packet == d.keeping.clocked && e.Waited+time.Duration(d.answers.usual()) < d.Terms.AckTimeout/2 {
		d.tell(Event{Kind: TimeoutEarly, Packet: e.Packet, PSN: e.PSN, N: 1, Waited: e.Waited})
	}
}

// Disconnected notes that two queue pairs are no longer connected: a DREP has
// passed, which the end that sends it does not do before its queue pair has
// stopped (IBTA vol. 1, 12.9.8; Linux rdma_disconnect).
func (t *Tracker) Disconnected(a netip.Addr, aQPN uint32, b netip.Addr, bQPN uint32, at int64) {
	for _, k := range [...]key{{a, b, bQPN}, {b, a, aQPN}} {
		if h := t.halves[k]; h != nil && h.conversation.Joined == ByCM {
			left := &h.sender().Asks.keeping
			left.over, left.overAt = true, at
		}
	}
}

// remains tells a packet that an end sends although the connection is over.
// What was on its way when the DREP passed is not meant.
func (d *Direction) remains(p *Packet) {
	if d.keeping.over && p.Time-d.keeping.overAt > flight && p.Opcode.Info().Service != wire.CNP {
		d.tell(Event{Kind: AfterDisconnect, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}
