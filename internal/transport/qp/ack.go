package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// responseKind is the kind of a response.
type responseKind uint8

const (
	ackResponse  responseKind = iota + 1
	nakResponse               // NAK and RNR NAK
	readResponse              // also of FLUSH and ATOMIC WRITE, with no bytes
	atomicResponse
)

// response waits to be sent. Responses keep the order of their requests.
type response struct {
	kind     responseKind
	counted  bool // against MaxDestRdAtomic
	again    bool // of a duplicate
	altered  bool // turn the first byte over
	begun    bool // the first packet of a READ response is sent
	syndrome wire.Syndrome
	psn      wire.PSN
	msn      uint32
	original uint64
	srq      *SRQ

	// What is left of a READ.
	rkey uint32
	va   uint64
	left uint32
}

// spareResponses is how many answers may wait beyond those that the agreed depth
// leads to, so that a flood of duplicates takes no memory.
const spareResponses = 32

// full reports whether the answer to a packet has to be forgotten, as if it had
// been lost on the way.
func (r *responder) full(q *QP) bool {
	return r.responses.len() >= spareResponses+2*q.attr.MaxDestRdAtomic
}

// acknowledge prepares an ACK of all that was executed. The last answer, if it
// is an ACK, becomes this one.
func (r *responder) acknowledge(q *QP) {
	a := response{kind: ackResponse, psn: r.psn.Add(-1), msn: r.msn}
	r.unacked = false
	if n := r.responses.len(); n > 0 && r.responses.at(n-1).kind == ackResponse {
		*r.responses.at(n - 1) = a
		return
	}
	if !r.full(q) {
		r.responses.push(a)
	}
}

// nak prepares a NAK or RNR NAK of the expected packet, which acknowledges all
// before it.
func (r *responder) nak(q *QP, now time.Time, s wire.Syndrome, cause string) {
	r.unacked = false
	r.responses.push(response{kind: nakResponse, syndrome: s, psn: r.psn, msn: r.msn})
	kind := EventNakSent
	if s.Kind() == wire.RNRNak {
		kind = EventRNRSent
	}
	q.trace(Event{At: now, Kind: kind, PSN: r.psn, Syndrome: s, Cause: cause})
}

// respond prepares the answer to a READ, an atomic, FLUSH or ATOMIC WRITE.
func (r *responder) respond(q *QP, a response) {
	if q.cfg.Policy.ExtraAck && r.unacked && !a.again {
		r.responses.push(response{kind: ackResponse, psn: a.psn.Add(-1), msn: a.msn - 1})
	}
	r.unacked = false
	if a.counted {
		r.open++
	}
	r.responses.push(a)
}

// merge reports whether the answer to a duplicate is one of those that wait. A
// READ response that has begun goes back to where the duplicate asks, instead of
// being sent to its end first.
func (r *responder) merge(a *response, mtu int) bool {
	for i := range r.responses.len() {
		b := r.responses.at(i)
		if !b.endsAs(a, mtu) {
			continue
		}
		if b.begun || a.psn.Less(b.psn) {
			b.psn, b.va, b.left, b.altered, b.begun = a.psn, a.va, a.left, a.altered, false
		}
		return true
	}
	return false
}

// endsAs reports whether two responses are of the same kind with the same end.
func (a *response) endsAs(b *response, mtu int) bool {
	return a.kind == b.kind && a.rkey == b.rkey && a.va+uint64(a.left) == b.va+uint64(b.left) &&
		a.psn.Add(packets(a.left, mtu)) == b.psn.Add(packets(b.left, mtu))
}

// drop forgets all that waits.
func (r *responder) drop() {
	for r.responses.len() > 0 {
		r.finish()
	}
}

func (r *responder) finish() {
	if a, ok := r.responses.pop(); ok && a.counted && r.open > 0 {
		r.open--
	}
}
