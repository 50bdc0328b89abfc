package rdmap

import "github.com/rocecap/rocecap/internal/wire"

// queue is one queue of untagged messages (RFC 5041 section 5.1.2).
type queue struct {
	known bool // msn and mo are what has to come next
	open  bool // a message is under way
	// counted says that msn was that of a message, or is that of the first: the next
	// one's tells how many are missing.
	counted bool
	msn     uint32 // of that message, or of the next
	mo      uint32
	op      wire.RDMAPOpcode
	bytes   int64
	broken  bool  // bytes of the message are missing
	began   int64 // 0: not known
}

// untagged takes a segment of an untagged message.
func (c *Connection) untagged(from int, f *fpdu, u wire.DDPUntagged) {
	e := &c.Ends[from]
	q := &e.stream.queues[u.QN()]
	if q.known {
		e.judgeQueue(q, f, u)
	} else {
		if u.QN() == wire.QNReadRequest {
			e.catchUp(u.MSN()-q.msn, u.MO(), f.time)
		}
		e.joinQueue(q, u)
	}
	if !q.open {
		*q = queue{open: true, msn: u.MSN(), mo: u.MO(), op: f.op, began: f.time, broken: u.MO() > 0}
	}
	q.known, q.counted = true, true
	q.msn = u.MSN()
	q.mo = u.MO() + uint32(f.bytes)
	q.bytes += f.bytes
	q.broken = q.broken || f.broken
	if !f.last {
		return
	}
	done := *q
	q.open, q.msn = false, q.msn+1
	c.message(from, f, &done)
}

// judgeQueue compares a segment with what has to come next.
func (e *End) judgeQueue(q *queue, f *fpdu, u wire.DDPUntagged) {
	qn, msn, mo := u.QN(), u.MSN(), u.MO()
	switch {
	case msn != q.msn && q.open && msn == q.msn+1 && mo == 0:
		e.tell(Event{Kind: LastFlag, Packet: f.packet, Queue: qn})
		e.abandon(q)
	case msn != q.msn && !q.open && msn == q.msn-1 && mo == q.mo && mo > 0:
		e.tell(Event{Kind: LastFlag, Packet: f.packet, Queue: qn})
	case msn != q.msn:
		e.tell(Event{Kind: MsnOrder, Packet: f.packet, Queue: qn, Got: uint64(msn), Want: uint64(q.msn)})
		e.abandon(q)
	case q.open && mo != q.mo:
		e.tell(Event{Kind: MoOrder, Packet: f.packet, Queue: qn, Got: uint64(mo), Want: uint64(q.mo)})
		q.broken = true
	case !q.open && mo != 0:
		e.tell(Event{Kind: MoOrder, Packet: f.packet, Queue: qn, Got: uint64(mo)})
	case q.open && f.op != q.op:
		e.tell(Event{Kind: OpcodeMixed, Packet: f.packet, Got: uint64(f.op), Want: uint64(q.op)})
	}
}

// joinQueue takes up a queue again behind missing bytes.
func (e *End) joinQueue(q *queue, u wire.DDPUntagged) {
	switch {
	case !q.open:
	case u.MSN() != q.msn || u.MO() < q.mo:
		e.abandon(q)
	case u.MO() > q.mo:
		q.broken = true
	}
}

// abandon gives up a message that is under way.
func (e *End) abandon(q *queue) {
	if q.open {
		e.Unfinished++
	}
	q.open = false
}

// message takes the last segment of an untagged message.
func (c *Connection) message(from int, f *fpdu, q *queue) {
	e := &c.Ends[from]
	switch q.op {
	case wire.RDMAPReadRequest:
		c.readRequest(from, f)
	case wire.RDMAPAtomicRequest:
		c.atomicRequest(from, f)
	case wire.RDMAPAtomicResponse:
		c.atomicResponse(from, f)
	case wire.RDMAPTerminate:
		c.terminate(from, f)
	case wire.RDMAPImmediate, wire.RDMAPImmediateSE:
		c.data(from, f, Immediate, q.bytes, q.broken, q.began)
	default:
		c.data(from, f, Send, q.bytes, q.broken, q.began)
		if r := wire.RDMAP(f.Stack.View(wire.HdrRDMAP)); q.op.Invalidates() && len(r) == wire.RDMAPUntaggedLen {
			e.invalidate(r.InvalidateSTag(), f.packet)
		}
	}
}

// data takes a message that is complete with itself.
func (c *Connection) data(from int, f *fpdu, op Op, bytes int64, broken bool, began int64) {
	e := &c.Ends[from]
	e.Operations[op].complete(bytes, broken)
	e.sent(op, f, began)
	c.Ends[1-from].forgive()
}
