package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// responder executes requests and answers them.
type responder struct {
	psn       wire.PSN // expected
	msn       uint32   // messages completed; its low 24 bits are sent
	met       bool     // a request has come since RTR
	silence   silence
	unacked   bool // SENDs or WRITEs since the last answer
	becn      bool // a marked packet has come since the last answer
	dead      bool // in error by a request: what waits in responses still goes out
	message   message
	recv      receiveRing
	held      receive // taken for the present message
	responses queue[response]
	open      int // answers that count against MaxDestRdAtomic
	replay    replayStore
}

// silence is why packets behind the expected one get no answer. It ends when
// the expected one comes.
type silence uint8

const (
	none      silence = iota
	behindGap         // the sequence error NAK is sent
	behindRNR         // the RNR NAK is sent
	dropping          // UC: the rest of a message that is lost
)

// message is the SEND or WRITE that has begun and not ended.
type message struct {
	family family // 0 between messages
	srq    *SRQ   // of XRC
	done   uint64 // bytes that came

	// Of WRITE.
	rkey uint32
	va   uint64 // where the next packet's payload goes
	left uint32
	size uint32
}

// start begins with the attributes of the change to RTR.
func (r *responder) start(q *QP) {
	r.psn = q.attr.RQPSN
}

// reset forgets everything, without completions.
func (r *responder) reset(q *QP) {
	r.recv.clear()
	*r = responder{recv: r.recv}
}

// flush completes all receive requests as flushed, because the queue pair is in
// error. Answers go out only if the reason is a request, whose NAK is the last.
func (r *responder) flush(q *QP, now time.Time) {
	if !r.dead {
		r.drop()
	}
	r.message = message{}
	if r.held.taken {
		r.complete(q, Completion{Status: FlushError})
	}
	for r.recv.take(&r.held) {
		r.complete(q, Completion{Status: FlushError})
	}
	if q.cfg.SRQ != nil {
		q.trace(Event{At: now, Kind: EventLastReceive})
	}
}

// complete tells the end of the receive request that is held.
func (r *responder) complete(q *QP, c Completion) {
	c.ID, c.QPN = r.held.id, q.cfg.Number
	r.held.taken = false
	q.done.push(c)
}

// receive takes one packet that is no response.
func (r *responder) receive(q *QP, now time.Time, in Inbound) {
	if cause := r.admit(q, now, in); cause != "" {
		q.trace(Event{At: now, Kind: EventDropped, Cause: cause})
		return
	}
	req := newIncoming(in)
	switch q.cfg.Type {
	case UD:
		r.datagram(q, now, &req)
	case UC:
		r.unreliable(q, now, &req)
	default:
		r.reliable(q, now, &req)
	}
}

// admit says why a packet is ignored, "" if it is not.
func (r *responder) admit(q *QP, now time.Time, in Inbound) string {
	p := in.Packet
	if len(p) < wire.BTHLen {
		return "truncated"
	}
	info := p.Opcode().Info()
	switch q.state {
	case RTR, RTS, SQD, SQE:
	default:
		return "not ready to receive"
	}
	switch {
	case q.cfg.Type == XRCSend, p.Opcode()&^0x1F != q.cfg.Type.Base():
		return "of another service"
	case info.Defined() && !p.Valid():
		return "truncated"
	case !info.Defined() && (q.cfg.Policy.IgnoreUnknown || !q.cfg.Type.Reliable()):
		return "unknown operation"
	}
	if in.CE {
		q.trace(Event{At: now, Kind: EventCE})
	}
	if p.BTH().FECN() && q.cfg.Policy.EchoCongestion {
		r.becn = true
	}
	if !r.met && q.state == RTR {
		q.trace(Event{At: now, Kind: EventCommEstablished})
	}
	r.met = true
	return ""
}

// reliable is RC and XRC. The PSN decides first (rxe_resp.c: check_psn).
func (r *responder) reliable(q *QP, now time.Time, req *incoming) {
	switch d := req.psn.Diff(r.psn); {
	case d > 0:
		r.gap(q, now, req)
		return
	case d < 0:
		r.duplicate(q, now, req)
		return
	}
	r.silence = none
	if req.family.replayed() && r.full(q) {
		q.trace(Event{At: now, Kind: EventDropped, PSN: req.psn, Cause: "too many answers to send"})
		return
	}
	fault := r.check(q, req)
	if fault.ok() {
		fault = r.execute(q, req)
	}
	if !fault.ok() {
		r.refuse(q, now, fault)
	}
}

// gap answers a packet beyond the expected one: one NAK, and none behind an RNR
// NAK, because the requester comes back to that one anyway.
func (r *responder) gap(q *QP, now time.Time, req *incoming) {
	q.trace(Event{At: now, Kind: EventGap, PSN: req.psn})
	tell := r.silence == none || r.silence == behindGap && q.cfg.Policy.RepeatNak
	if tell && !r.full(q) {
		r.silence = behindGap
		r.nak(q, now, wire.NewSyndrome(wire.Nak, wire.NakPSNSequence), "gap")
	}
}

// refuse reacts to a fault of the expected request.
func (r *responder) refuse(q *QP, now time.Time, f fault) {
	switch f.kind {
	case notReady:
		if r.full(q) {
			return
		}
		r.silence = behindRNR
		r.nak(q, now, wire.NewSyndrome(wire.RNRNak, q.attr.MinRNRTimer), f.cause)
	case errorOnly:
		r.die(q, now, f)
	default:
		r.nak(q, now, wire.NewSyndrome(wire.Nak, f.kind.nakCode()), f.cause)
		r.die(q, now, f)
	}
}

// die brings the queue pair into the error state, for a fault of a request.
func (r *responder) die(q *QP, now time.Time, f fault) {
	if r.held.taken && f.status != Success {
		r.complete(q, Completion{Status: f.status})
	}
	r.dead = true
	q.enterError(now)
}

// pd is the domain of the memory that requests reach: for XRC that of the
// shared receive queue, as the target has none (annex A14).
func (r *responder) pd(q *QP, srq *SRQ) mr.PD {
	if srq != nil && q.cfg.Type == XRCRecv {
		return srq.pd
	}
	return q.cfg.PD
}
