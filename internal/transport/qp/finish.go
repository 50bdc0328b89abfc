package qp

import "time"

// retire completes the oldest requests, as far as they are done or have failed.
func (r *requester) retire(q *QP, now time.Time) {
	for r.queue.n > 0 {
		s := r.queue.at(0)
		if s.status == Success && !s.done {
			break
		}
		q.completeSend(&s.WorkRequest, s.status, s.length)
		failed := s.status != Success
		r.pop()
		if failed {
			q.sendError(now)
			return
		}
	}
	r.tellDrained(q, now)
}

// pop forgets the oldest request.
func (r *requester) pop() {
	if s := r.queue.at(0); s.begun && s.op.answer != noAnswer {
		r.reads--
	}
	r.queue.pop()
	r.cur = max(0, r.cur-1)
}

// fail ends the oldest request, and with it the queue.
func (r *requester) fail(q *QP, now time.Time, status Status) {
	r.queue.at(0).status = status
	r.retire(q, now)
}

// drain begins SQD, in which only requests that are begun are completed.
func (r *requester) drain(q *QP, now time.Time) {
	r.drained = false
	r.tellDrained(q, now)
}

func (r *requester) tellDrained(q *QP, now time.Time) {
	if q.state != SQD || r.drained || r.queue.n > 0 && r.queue.at(0).begun {
		return
	}
	r.drained = true
	q.trace(Event{At: now, Kind: EventDrained, State: SQD})
}

// sendError is what the failure of a send request leads to: for reliable
// services the end of the queue pair, else only of its send queue (IBTA 10.3.1).
func (q *QP) sendError(now time.Time) {
	if q.cfg.Type.Reliable() {
		q.enterError(now)
		return
	}
	q.setState(now, SQE)
	q.requester.flush(q)
}

// completeSend makes the completion of a send request, if there is to be one.
func (q *QP) completeSend(wr *WorkRequest, status Status, length int) {
	if status == Success && wr.Flags&Signaled == 0 && !q.cfg.SignalAll {
		return
	}
	c := Completion{ID: wr.ID, Status: status, Op: wr.Op, QPN: q.cfg.Number}
	if a := operations[wr.Op].answer; status == Success && (a == readAnswer || a == atomicAnswer) {
		c.Bytes = uint32(length)
	}
	q.done.push(c)
}
