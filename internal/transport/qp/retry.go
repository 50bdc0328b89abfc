package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// retry counts and times what is sent again. The counters are full again after
// each progress (rxe_comp.c reset_retry_counters).
type retry struct {
	left    uint8 // for what is lost
	rnrLeft uint8
	// implied is set from the first sign of a lost response until it has come or
	// the timer asks for it: the responses behind it, all under way, are no
	// further signs.
	implied  bool
	deadline time.Time // the local ACK timeout
	rnrUntil time.Time // nothing is sent before
}

// forever is the RNR retry count that is without end, and under a policy the
// retry count too.
const forever = 7

func (r *retry) refill(a *Attributes) {
	r.left, r.rnrLeft, r.implied = a.RetryCount, a.RNRRetry, false
}

// ackTimeout is the local ACK timeout (C9-141 allows up to four times that).
func (a *Attributes) ackTimeout() time.Duration {
	return 4096 * time.Nanosecond << a.Timeout
}

// arm begins the local ACK timeout anew, unless there is none (C9-140).
func (r *retry) arm(now time.Time, a *Attributes) {
	if a.Timeout > 0 && r.rnrUntil.IsZero() {
		r.deadline = now.Add(a.ackTimeout())
	}
}

func (r *retry) disarm() { r.deadline = time.Time{} }

// waits reports whether the time that an RNR NAK has set is not over.
func (r *retry) waits(now time.Time) bool {
	if now.Before(r.rnrUntil) {
		return true
	}
	r.rnrUntil = time.Time{}
	return false
}

// deadline is when advance has something to do.
func (r *requester) deadline() time.Time {
	if !r.retry.rnrUntil.IsZero() {
		return r.retry.rnrUntil
	}
	return r.retry.deadline
}

// advance does what is due.
func (r *requester) advance(q *QP, now time.Time) {
	if r.retry.waits(now) || r.retry.deadline.IsZero() || now.Before(r.retry.deadline) {
		return
	}
	q.trace(Event{At: now, Kind: EventTimeout, PSN: r.unacked})
	r.retry.implied = false
	r.goBack(q, now, "timeout")
}

// goBack sends everything from the oldest unacknowledged PSN again, if there is
// a retry left.
func (r *requester) goBack(q *QP, now time.Time, cause string) {
	if !(q.cfg.Policy.InfiniteRetry7 && q.attr.RetryCount == forever) {
		if r.retry.left == 0 {
			r.fail(q, now, RetryExceeded)
			return
		}
		r.retry.left--
	}
	q.trace(Event{At: now, Kind: EventRetransmit, PSN: r.unacked, Cause: cause})
	r.seek(r.unacked)
	r.retry.disarm()
}

// wentBack reports whether the oldest unacknowledged packet waits to be sent
// again: whatever asks for it now speaks of the one that was lost.
func (r *requester) wentBack() bool { return r.next == r.unacked }

// impliedNak is what a response leads to that was sent after one that has not
// come (C9-125).
func (r *requester) impliedNak(q *QP, now time.Time) {
	if q.cfg.Policy.ReadGap == ReadGapWait || r.retry.implied || r.wentBack() {
		return
	}
	r.retry.implied = true
	r.goBack(q, now, "implied NAK")
}

// sequenceNak is what a NAK "PSN sequence error" leads to.
func (r *requester) sequenceNak(q *QP, now time.Time) {
	if !r.wentBack() {
		r.goBack(q, now, "NAK sequence")
	}
}

// notReady waits, because the responder had no receive request (IBTA 9.7.5.2.8).
func (r *requester) notReady(q *QP, now time.Time, s wire.Syndrome) {
	if r.wentBack() {
		return
	}
	if q.attr.RNRRetry != forever {
		if r.retry.rnrLeft == 0 {
			r.fail(q, now, RNRRetryExceeded)
			return
		}
		r.retry.rnrLeft--
	}
	r.seek(r.unacked)
	r.retry.disarm()
	r.retry.rnrUntil = now.Add(s.RNRTimer())
}
