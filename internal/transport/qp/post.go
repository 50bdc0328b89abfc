package qp

import (
	"errors"
	"fmt"
	"time"
)

// ErrQueueFull refuses a work request for which the queue has no room.
var ErrQueueFull = errors.New("queue pair: queue is full")

// RequestError says why a work request cannot be posted.
type RequestError struct {
	Op     Op
	Reason string
}

var _ error = (*RequestError)(nil)

func (e *RequestError) Error() string { return fmt.Sprintf("work request %v: %s", e.Op, e.Reason) }

// maxMessage is the longest message in bytes (C9-94).
const maxMessage = 1 << 31

// atomicLen is the length of what an atomic or an ATOMIC WRITE changes.
const atomicLen = 8

// PostSend takes a work request. In RTS it will be sent, in SQD later; in SQE
// and ERR it is flushed at once, and elsewhere refused (IBTA 10.3.1).
func (q *QP) PostSend(now time.Time, wr WorkRequest) error {
	if q.state == Reset || q.state == Init || q.state == RTR {
		return &StateError{State: q.state, Reason: "nothing can be sent yet"}
	}
	length, reason := q.checkRequest(&wr)
	if reason != "" {
		return &RequestError{Op: wr.Op, Reason: reason}
	}
	if q.requester.queue.full() {
		return ErrQueueFull
	}
	if q.state == SQE || q.state == Error {
		q.completeSend(&wr, FlushError, 0)
		return nil
	}
	q.requester.queue.push(&wr, length)
	return nil
}

// checkRequest gives the length of the message, or a reason to refuse it.
func (q *QP) checkRequest(wr *WorkRequest) (length int, reason string) {
	if wr.Op == 0 || int(wr.Op) >= len(operations) || !operations[wr.Op].types.has(q.cfg.Type) {
		return 0, "the queue pair's type has no such operation"
	}
	op := &operations[wr.Op]
	sum := uint64(len(wr.Inline))
	for i := range wr.SGL {
		sum += uint64(wr.SGL[i].Length)
	}
	switch {
	case len(wr.SGL) > q.cfg.MaxSGE:
		reason = "more pieces of memory than the queue pair was made for"
	case len(wr.Inline) > q.cfg.Inline:
		reason = "more inline data than the queue pair was made for"
	case len(wr.Inline) > 0 && len(wr.SGL) > 0:
		reason = "inline data and memory"
	case len(wr.Inline) > 0 && !op.payload:
		reason = "inline data for an operation that sends none"
	case sum > maxMessage:
		reason = "longer than 2^31 bytes"
	case (op.answer == atomicAnswer || wr.Op == AtomicWrite) && sum != atomicLen:
		reason = "the local memory of an atomic is not 8 bytes"
	case (wr.Op == Flush || op.local) && sum > 0:
		reason = "memory for an operation that has no data"
	case op.answer != noAnswer && q.attr.MaxRdAtomic == 0:
		reason = "no READs and atomics were agreed on"
	case wr.Op == BindWindow && wr.Bind.Window == nil:
		reason = "no window to bind"
	case q.cfg.Type == UD && wr.To == nil:
		reason = "no address"
	case q.cfg.Type == UD && !isUint24(wr.DestQP):
		reason = "destination QP has more than 24 bits"
	}
	return int(sum), reason
}
