package connect

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Outcome is what became of a connection.
type Outcome uint8

// The outcomes, in the order in which one replaces another.
const (
	Glimpsed      Outcome = iota // the capture has neither its begin nor its end
	Asked                        // a request without an answer
	Replied                      // a REP without an RTU: half open
	Established                  // REQ, REP and RTU, or an RTU alone
	Refused                      // a REJ, or a SIDR REP that refuses
	Resolved                     // a SIDR REP that names a queue pair
	Disconnecting                // a DREQ without an answer
	Disconnected                 // a DREP
)

var outcomeNames = [...]string{"glimpsed", "asked", "replied", "established", "refused", "resolved", "disconnecting", "disconnected"}

// String returns the outcome's name.
func (o Outcome) String() string { return outcomeNames[o] }

// over reports whether nothing more is to come.
func (o Outcome) over() bool { return o == Refused || o == Resolved || o == Disconnected }

// End is one side of a connection.
type End struct {
	Addr  netip.Addr
	ID    uint32 // its communication ID
	Known bool   // the ID is known
	QPN   uint32 // its queue pair, 0 for one that no message names
}

// maxKept bounds how many messages of a connection are kept.
const maxKept = 16

// Connection is what two connection managers have to do with each other.
type Connection struct {
	Ends     [2]End // the first is the one that asked, or sent the first message that was captured
	Datagram bool   // a service of datagrams is asked for: SIDR
	Messages []Message
	Unkept   int // messages that there was no room for
	Outcome  Outcome
	Tallies  Tallies
	// Evicted says that it had to be given up, because too many were open.
	Evicted bool

	heard        int64       // time of the last message
	older, newer *Connection // in the order of their last messages
}

// find returns the first message of a kind, nil for none.
func (c *Connection) find(attribute uint16) *Message {
	for i := range c.Messages {
		if c.Messages[i].is(attribute) {
			return &c.Messages[i]
		}
	}
	return nil
}

// Request is the REQ or SIDR REQ, nil when it was not captured.
func (c *Connection) Request() *Message {
	if c.Datagram {
		return c.find(wire.CMAttrSidrReq)
	}
	return c.find(wire.CMAttrReq)
}

// Reply is the REP, nil when there was none.
func (c *Connection) Reply() *Message { return c.find(wire.CMAttrRep) }

// Took is the time from the first of one kind of message to the first of
// another; ok is false when one of them was not captured.
func (c *Connection) Took(from, to uint16) (d time.Duration, ok bool) {
	a, b := c.find(from), c.find(to)
	if a == nil || b == nil || b.Time < a.Time {
		return 0, false
	}
	return time.Duration(b.Time - a.Time), true
}

// again returns the message that m repeats: the same one of the same
// transaction, nil if m is none.
func (c *Connection) again(m *Message) *Message {
	for i := range c.Messages {
		kept := &c.Messages[i]
		if kept.Attribute == m.Attribute && kept.Sender == m.Sender && kept.Transaction == m.Transaction {
			return kept
		}
	}
	return nil
}

// reach notes an outcome. A refusal may not have arrived: the request is sent
// again, and perhaps accepted.
func (c *Connection) reach(o Outcome) {
	if o > c.Outcome || c.Outcome == Refused {
		c.Outcome = o
	}
}

// answers reports whether a message belongs to the transaction of the request.
func (c *Connection) answers(m *Message) bool {
	request := c.Request()
	return request != nil && request.Transaction == m.Transaction
}

// follow lets a new message change what is known, and returns what is wrong
// with it.
func (c *Connection) follow(m *Message) (kind Kind, wrong bool) {
	switch uint16(m.Attribute) {
	case wire.CMAttrReq:
		c.reach(Asked)
		c.Ends[m.Sender].QPN = wire.CMReq(m.Body()).LocalQPN()
	case wire.CMAttrSidrReq:
		c.reach(Asked)
	case wire.CMAttrRep:
		c.reach(Replied)
		c.Ends[m.Sender].QPN = wire.CMRep(m.Body()).LocalQPN()
		return Mismatch, c.deeper(m)
	case wire.CMAttrRtu:
		c.reach(Established)
	case wire.CMAttrRej:
		c.reach(Refused)
		if wire.CMRej(m.Body()).Reason() == staleConnection {
			return Stale, true
		}
		return Rejected, true
	case wire.CMAttrSidrRep:
		rep := wire.CMSidrRep(m.Body())
		if rep.Status() != 0 {
			c.reach(Refused)
			return Rejected, true
		}
		c.reach(Resolved)
		c.Ends[m.Sender].QPN = rep.QPN()
	case wire.CMAttrDreq:
		c.reach(Disconnecting)
		qpn := c.Ends[1-m.Sender].QPN
		return Mismatch, qpn != 0 && qpn != wire.CMDreq(m.Body()).RemoteQPN()
	case wire.CMAttrDrep:
		c.reach(Disconnected)
	}
	return 0, false
}

// staleConnection is the reason of a REJ (IBTA vol. 1, 12.6.7.2).
const staleConnection = 10

// deeper reports whether the sender of a REP wants more READs and atomics
// outstanding than the sender of the REQ takes (IBTA vol. 1, 12.6.5
// and 12.6.8: each end's depth is bounded by the other's resources).
func (c *Connection) deeper(m *Message) bool {
	req := c.find(wire.CMAttrReq)
	return req != nil && wire.CMRep(m.Body()).InitiatorDepth() > wire.CMReq(req.Body()).ResponderResources()
}

// timeout is what a setting means: 4.096 us times two to this power.
func timeout(setting uint8) int64 { return 4096 << setting }

// allowed is the time within which a message is to be answered, as the REQ tells
// (IBTA vol. 1, 12.6.5): the receiver's of a REQ, the sender's of a
// REP; 0 when nothing tells.
func (c *Connection) allowed(m *Message) int64 {
	req := c.find(wire.CMAttrReq)
	switch {
	case req == nil:
		return 0
	case m.is(wire.CMAttrReq):
		return timeout(wire.CMReq(req.Body()).RemoteResponseTimeout())
	case m.is(wire.CMAttrRep):
		return timeout(wire.CMReq(req.Body()).LocalResponseTimeout())
	}
	return 0
}

// answered returns the message of the other end that m is the first answer to,
// if the time that it had is known.
func (c *Connection) answered(m *Message) *Message {
	var asked *Message
	for i := range c.Messages {
		kept := &c.Messages[i]
		switch {
		case kept.Sender == m.Sender:
			asked = nil // it was answered: by an MRA, for instance
		case kept.is(wire.CMAttrReq), kept.is(wire.CMAttrRep):
			asked = kept
		}
	}
	return asked
}

// late reports whether an answer comes after the time that the request gives.
// At the capture point it has taken no longer than for who asked, and it may be
// the answer to an earlier copy, so that this is certain.
func (c *Connection) late(m *Message) (asked *Message, late bool) {
	switch uint16(m.Attribute) {
	case wire.CMAttrMra, wire.CMAttrRej, wire.CMAttrRep, wire.CMAttrRtu:
	default:
		return nil, false
	}
	asked = c.answered(m)
	if asked == nil {
		return nil, false
	}
	allowed := c.allowed(asked)
	return asked, allowed > 0 && m.Time-asked.Repeated > allowed
}

// unanswered returns the request that waits for an answer when the capture ends
// or the connection is given up, and has to have one: it was sent again, or its
// time is over.
func (c *Connection) unanswered(now int64) *Message {
	if len(c.Messages) == 0 || c.Unkept > 0 || c.Outcome.over() {
		return nil
	}
	last := &c.Messages[len(c.Messages)-1]
	waiting := last
	more := int64(0)
	if last.is(wire.CMAttrMra) && len(c.Messages) > 1 {
		waiting, more = &c.Messages[len(c.Messages)-2], timeout(wire.CMMra(last.Body()).ServiceTimeout())
	}
	if !forms[waiting.Attribute].asks {
		return nil
	}
	if allowed := c.allowed(waiting); waiting.Repeats > 0 && more == 0 || allowed > 0 && now-last.Repeated > allowed+more {
		return waiting
	}
	return nil
}
