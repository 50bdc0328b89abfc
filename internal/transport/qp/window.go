package qp

import "github.com/rocecap/rocecap/internal/wire"

const (
	defaultAckEvery   = 64
	defaultMaxUnacked = 128
	// halfPSNs is how many PSNs may be in flight at all, so that the responder
	// can tell old from new (IBTA 9.7.2).
	halfPSNs = 1 << 23
)

func (p *Policy) ackEvery() int {
	if p.AckEvery > 0 {
		return p.AckEvery
	}
	return defaultAckEvery
}

func (p *Policy) maxUnacked() int {
	if p.MaxUnacked > 0 {
		return p.MaxUnacked
	}
	return defaultMaxUnacked
}

// mayBegin reports whether the request at the cursor can be begun now.
func (r *requester) mayBegin(q *QP, s *request) bool {
	switch {
	case q.state != RTS:
		return false
	case s.Flags&Fence != 0 && r.reads > 0: // IBTA 10.8.3.3
		return false
	case s.op.local:
		// What comes before may have to be sent again, which needs its keys.
		return s.Op != LocalInvalidate || r.cur == 0
	case !q.cfg.Type.Reliable():
		return true
	case s.op.answer != noAnswer && r.reads >= q.attr.MaxRdAtomic:
		return false
	case r.inFlight > 0 && r.inFlight+spans(s, q.attr.PathMTU) > halfPSNs:
		return false
	}
	return r.inWindow(q) && (!s.op.consumes || r.inCredits(q))
}

// inWindow reports whether the PSN at the cursor is one of those that may be
// outstanding.
func (r *requester) inWindow(q *QP) bool {
	return !q.cfg.Type.Reliable() || r.next.InRange(r.unacked, q.cfg.Policy.maxUnacked())
}

// asksAck reports whether the packet at the cursor asks for an acknowledgement:
// the last of a message, some within a long one, and one after which the window
// is closed.
func (r *requester) asksAck(q *QP, s *request) bool {
	if !q.cfg.Type.Reliable() {
		return false
	}
	span := s.packetsFrom(r.packet)
	return r.packet+span == s.packets ||
		(r.packet+1)%q.cfg.Policy.ackEvery() == 0 ||
		!r.next.Add(span).InRange(r.unacked, q.cfg.Policy.maxUnacked())
}

// credits is how far the responder has receive requests (IBTA 9.7.7.2). Message
// numbers are like PSNs, 24 bits that wrap.
type credits struct {
	unlimited bool
	limit     wire.PSN // the last message for which there is a receive request
}

// learn takes the credits of an acknowledgement.
func (c *credits) learn(h wire.AETH) {
	n, limited := h.Syndrome().Credits()
	c.unlimited = !limited
	c.limit = wire.PSN(h.MSN()).Add(n)
}

// inCredits reports whether the next message may be one that needs a receive
// request. One more than there are credits is always sent, to learn of new ones;
// and one when nothing is outstanding, whatever the responder has said.
func (r *requester) inCredits(q *QP) bool {
	if !q.cfg.Policy.HonourCredits || r.credits.unlimited || r.inFlight == 0 {
		return true
	}
	return wire.PSN(r.ssn+1).Diff(r.credits.limit) <= 1
}
