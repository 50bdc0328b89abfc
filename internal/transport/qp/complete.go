package qp

import (
	"encoding/binary"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// receive takes an acknowledgement or another response.
func (r *requester) receive(q *QP, now time.Time, p wire.Packet) {
	if !p.Valid() {
		q.drop(now, 0, "truncated")
		return
	}
	psn := p.PSN()
	switch {
	case !q.state.sends():
		q.drop(now, psn, "response in a state without requests")
	case !q.cfg.Type.Reliable(), p.Opcode()-wire.Opcode(p.Opcode().Operation()) != q.cfg.Type.Base():
		q.drop(now, psn, "response of another service")
	case !psn.InRange(r.unacked, r.inFlight):
		r.receiveStray(q, now, p)
	case p.Opcode().Operation() == wire.OpAcknowledge:
		r.receiveAck(q, now, p)
	default:
		r.receiveAnswer(q, now, p)
	}
}

func (q *QP) drop(now time.Time, psn wire.PSN, cause string) {
	q.trace(Event{At: now, Kind: EventDropped, PSN: psn, Cause: cause})
}

// receiveStray takes a response to nothing that is outstanding (C9-122). The last
// one again is no news but for its credits: a responder tells of new receive
// requests so.
func (r *requester) receiveStray(q *QP, now time.Time, p wire.Packet) {
	psn := p.PSN()
	h, isAck := wire.AETH(p.View(wire.HdrAETH)), p.Opcode().Operation() == wire.OpAcknowledge
	isAck = isAck && positive(h)
	if psn.Less(r.unacked) {
		if isAck && psn.Add(1) == r.unacked {
			r.credits.learn(h)
		}
		return
	}
	q.trace(Event{At: now, Kind: EventGhostAck, PSN: psn})
	if isAck && q.cfg.Policy.AcceptGhostAck && r.inFlight > 0 {
		r.ack(q, now, r.unacked.Add(r.inFlight))
	}
}

// receiveAck takes an acknowledgement of a packet in flight.
func (r *requester) receiveAck(q *QP, now time.Time, p wire.Packet) {
	h, psn := wire.AETH(p.View(wire.HdrAETH)), p.PSN()
	s := h.Syndrome()
	switch {
	case !s.Defined() || s.Kind() == wire.Nak && s.Code() == wire.NakInvalidRDRequest:
		r.receiveReserved(q, now, psn, s)
	case s.Kind() == wire.Ack:
		r.credits.learn(h)
		r.ack(q, now, psn.Add(1))
	case s.Kind() == wire.RNRNak:
		q.trace(Event{At: now, Kind: EventRNRReceived, PSN: psn, Syndrome: s})
		if r.ack(q, now, psn) {
			r.notReady(q, now, s)
		}
	default:
		q.trace(Event{At: now, Kind: EventNakReceived, PSN: psn, Syndrome: s})
		if r.ack(q, now, psn) {
			r.nak(q, now, s.Code())
		}
	}
}

// receiveReserved takes a syndrome without a meaning. It is discarded, as by
// qib_rc.c; rxe_comp.c takes it for an error.
func (r *requester) receiveReserved(q *QP, now time.Time, psn wire.PSN, s wire.Syndrome) {
	if !q.cfg.Policy.FatalReserved {
		q.drop(now, psn, "reserved AETH syndrome")
		return
	}
	q.trace(Event{At: now, Kind: EventNakReceived, PSN: psn, Syndrome: s})
	if r.ack(q, now, psn) {
		r.fail(q, now, RemoteOperationError)
	}
}

// nak does what a NAK of the oldest request says (rxe_comp.c check_ack and
// qib_rc.c do_rc_ack agree).
func (r *requester) nak(q *QP, now time.Time, code uint8) {
	switch code {
	case wire.NakPSNSequence:
		r.sequenceNak(q, now)
	case wire.NakInvalidRequest:
		r.fail(q, now, RemoteInvalidRequest)
	case wire.NakRemoteAccess:
		r.fail(q, now, RemoteAccessError)
	case wire.NakRemoteOperation:
		r.fail(q, now, RemoteOperationError)
	}
}

// ack completes what lies before a PSN. It stops at a request that has its own
// answer, which the sender of this acknowledgement has sent before it: if that
// is passed by, it is lost. ack reports whether the caller can go on.
func (r *requester) ack(q *QP, now time.Time, end wire.PSN) bool {
	for r.queue.n > 0 {
		s := r.queue.at(0)
		if !s.begun || !s.first.Less(end) {
			break
		}
		if s.op.answer != noAnswer {
			if end.Less(s.end()) {
				break
			}
			r.impliedNak(q, now)
			return false
		}
		if end.Less(s.end()) {
			r.progress(q, now, end)
			break
		}
		s.done = true
		r.progress(q, now, s.end())
		r.retire(q, now)
	}
	return q.state.sends()
}

// receiveAnswer takes a READ response or atomic acknowledgement in flight. It
// acknowledges all before it (IBTA 9.7.5.1.1).
func (r *requester) receiveAnswer(q *QP, now time.Time, p wire.Packet) {
	psn := p.PSN()
	if h := wire.AETH(p.View(wire.HdrAETH)); h != nil && positive(h) {
		r.credits.learn(h)
	}
	if !r.ack(q, now, psn) {
		return
	}
	if psn != r.unacked { // within a READ, and not the next of its responses
		q.trace(Event{At: now, Kind: EventGap, PSN: psn})
		r.impliedNak(q, now)
		return
	}
	s := r.queue.at(0)
	status := q.takeAnswer(s, distance(s.first, psn), p)
	if status != Success {
		if status == BadResponse {
			q.trace(Event{At: now, Kind: EventBadResponse, PSN: psn})
		}
		r.fail(q, now, status)
		return
	}
	s.done = psn.Add(1) == s.end()
	r.progress(q, now, psn.Add(1))
	r.retire(q, now)
}

// takeAnswer checks answer i of a request and puts it where it belongs.
func (q *QP) takeAnswer(s *request, i int, p wire.Packet) Status {
	if !q.answers(s, i, p) {
		return BadResponse
	}
	data := p.Payload()
	if s.op.answer == atomicAnswer {
		// The responder's number, in our byte order.
		var original [atomicLen]byte
		binary.NativeEndian.PutUint64(original[:], wire.AtomicAckETH(p.View(wire.HdrAtomicAckETH)).Original())
		data = original[:]
	}
	if !q.scatter(s, i*q.attr.PathMTU, data) {
		return LocalProtectionError
	}
	return Success
}

// positive reports whether an AETH is an ACK's.
func positive(h wire.AETH) bool {
	return h.Syndrome().Defined() && h.Syndrome().Kind() == wire.Ack
}

// answers reports whether a packet can be answer i of a request: it has the
// opcode and length for that place, and no NAK's syndrome (rxe_comp.c
// check_ack). rxe does not check the length, rdmavt calls a wrong one a local
// length error.
func (q *QP) answers(s *request, i int, p wire.Packet) bool {
	if h := wire.AETH(p.View(wire.HdrAETH)); h != nil && !positive(h) {
		return false
	}
	op, size := p.Opcode().Operation(), len(p.Payload())
	switch s.op.answer {
	case atomicAnswer:
		return op == wire.OpAtomicAcknowledge && size == 0
	case emptyAnswer:
		return op == wire.OpReadResponseOnly && size == 0
	case noAnswer:
		return false
	}
	// A READ that was asked for again from its middle may be answered as if that
	// were a READ of its own, or with the rest of the first answer (rxe).
	begins, ends := i == 0 || i == s.again, i == s.packets-1
	switch op {
	case wire.OpReadResponseFirst:
		return begins && !ends && size == q.attr.PathMTU
	case wire.OpReadResponseMiddle:
		return i > 0 && !ends && size == q.attr.PathMTU
	case wire.OpReadResponseLast:
		return i > 0 && ends && size == s.length-i*q.attr.PathMTU
	case wire.OpReadResponseOnly:
		return begins && ends && size == s.length-i*q.attr.PathMTU
	}
	return false
}
