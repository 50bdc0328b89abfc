package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// requester sends requests and completes them when their answers come.
//
// The requests that are begun hold the PSNs from unacked on, inFlight of them.
// The cursor is the next packet to send: packet `packet` of request `cur`, with
// PSN next. To go back, because something was lost, is to move the cursor; what
// it passes again is sent again, and nothing else tells an old packet from a new.
type requester struct {
	queue sendQueue

	unacked  wire.PSN
	inFlight int
	next     wire.PSN
	cur      int
	packet   int

	reads   int    // READs and other answered requests that are begun and not complete
	ssn     uint32 // how many messages were begun; the responder counts them too
	credits credits
	retry   retry
	drained bool // in SQD: this has been told
}

// start begins with the PSN that the attributes name, for RTS.
func (r *requester) start(q *QP) {
	*r = requester{queue: r.queue}
	r.unacked, r.next = q.attr.SQPSN, q.attr.SQPSN
	r.retry.refill(&q.attr)
}

// reset forgets everything, without completions.
func (r *requester) reset() {
	for r.queue.n > 0 {
		r.queue.pop()
	}
	*r = requester{queue: r.queue}
}

// flush completes everything as flushed.
func (r *requester) flush(q *QP) {
	for r.queue.n > 0 {
		s := r.queue.at(0)
		q.completeSend(&s.WorkRequest, FlushError, 0)
		r.queue.pop()
	}
	psn := r.unacked.Add(r.inFlight) // a queue pair in SQE goes on from here
	*r = requester{queue: r.queue, unacked: psn, next: psn, ssn: r.ssn, credits: r.credits}
	r.retry.refill(&q.attr)
}

// sends reports whether requests are sent and completed.
func (s State) sends() bool { return s == RTS || s == SQD }

// emit writes the packet at the cursor, if it may be sent now.
func (r *requester) emit(q *QP, now time.Time, dst []byte) (n int, to *Address) {
	for q.state.sends() && !r.retry.waits(now) && r.cur < r.queue.n {
		s := r.queue.at(r.cur)
		switch {
		case s.done: // local, and passed before
			r.step()
		case s.status != Success:
			return 0, nil
		case !s.begun:
			if !r.mayBegin(q, s) {
				return 0, nil
			}
			r.begin(q, now, s)
		case !r.inWindow(q):
			return 0, nil
		default:
			if n, to = r.transmit(q, now, s, dst); n > 0 {
				return n, to
			}
		}
	}
	return 0, nil
}

// begin gives a request its PSNs; a local one is done.
func (r *requester) begin(q *QP, now time.Time, s *request) {
	if s.op.local {
		r.finishHere(q, now, s, q.doLocal(s))
		return
	}
	if q.cfg.Type == UD && s.length > q.attr.PathMTU {
		r.finishHere(q, now, s, LocalLengthError)
		return
	}
	r.ssn++
	s.begun, s.first, s.packets = true, r.next, spans(s, q.attr.PathMTU)
	if s.op.answer != noAnswer {
		r.reads++
	}
}

// transmit sends the packet at the cursor, of a request that is begun.
func (r *requester) transmit(q *QP, now time.Time, s *request, dst []byte) (n int, to *Address) {
	ackReq := r.asksAck(q, s)
	n, status := q.build(s, r.packet, ackReq, dst)
	if status != Success {
		r.finishHere(q, now, s, status)
		return 0, nil
	}
	if s.op.answer == readAnswer {
		s.again = r.packet
	}
	span := s.packetsFrom(r.packet)
	if r.next == r.unacked.Add(r.inFlight) {
		r.inFlight += span
	}
	r.next = r.next.Add(span)
	r.packet += span
	last := r.packet == s.packets
	to = q.attr.Address
	if q.cfg.Type == UD {
		to = s.To
	}
	if last {
		r.step()
	}
	switch {
	case ackReq:
		r.retry.arm(now, &q.attr)
	case last && !q.cfg.Type.Reliable(): // sent is complete
		s.done = true
		r.progress(q, now, s.end())
		r.retire(q, now)
	}
	return n, to
}

// step moves the cursor to the next request.
func (r *requester) step() { r.cur, r.packet = r.cur+1, 0 }

// finishHere ends a request that is at the cursor without an answer: a local one,
// or one that failed before it was sent.
func (r *requester) finishHere(q *QP, now time.Time, s *request, status Status) {
	s.done, s.status = status == Success, status
	r.retire(q, now)
}

// seek moves the cursor to a PSN that is in flight, or to the next free one.
func (r *requester) seek(psn wire.PSN) {
	r.next, r.cur, r.packet = psn, 0, 0
	for ; r.cur < r.queue.n; r.cur++ {
		s := r.queue.at(r.cur)
		if s.begun && psn.InRange(s.first, s.packets) {
			r.packet = distance(s.first, psn)
			return
		}
		if !s.begun && !s.done {
			return
		}
	}
}

// progress notes that everything before a PSN has arrived.
func (r *requester) progress(q *QP, now time.Time, psn wire.PSN) {
	moved := distance(r.unacked, psn)
	if moved == 0 {
		return
	}
	passed := distance(r.unacked, r.next) < moved
	r.unacked = psn
	r.inFlight -= moved
	if passed {
		r.seek(psn)
	}
	r.retry.refill(&q.attr)
	if r.inFlight > 0 {
		r.retry.arm(now, &q.attr)
	} else {
		r.retry.disarm()
	}
}

// distance is how many PSNs on from one another is, without regard to halves.
func distance(from, to wire.PSN) int { return int(to.Add(-int(from))) }
