package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// unreliable is UC: a message that is not complete is dropped, and the next one
// begins with its own PSN (rxe_resp.c: check_psn, qib_uc.c: qib_uc_rcv).
func (r *responder) unreliable(q *QP, now time.Time, req *incoming) {
	if req.psn != r.psn || r.silence == dropping || req.first {
		if !req.first {
			r.lose(q, now, req.psn, fault{cause: "behind a loss"})
			return
		}
		if r.message.family != 0 {
			r.lose(q, now, req.psn, invalid("a new message within another"))
		}
		r.silence = none
	}
	r.psn = req.psn
	f := r.check(q, req)
	if f.ok() {
		f = r.execute(q, req)
	}
	switch {
	case f.ok():
	case f.kind == remoteOperation: // class A concerns the receiver alone
		r.die(q, now, f)
	default:
		r.lose(q, now, req.psn, f)
	}
}

// lose drops the message that has begun. Its receive request stays for the next
// (class D); but one of a shared receive queue is not ours to keep, and a faulty
// message completes it in error (class E).
func (r *responder) lose(q *QP, now time.Time, psn wire.PSN, f fault) {
	r.message = message{}
	r.silence = dropping
	q.trace(Event{At: now, Kind: EventDropped, PSN: psn, Cause: f.cause})
	if q.cfg.SRQ == nil || !r.held.taken || f.ok() {
		return
	}
	c := Completion{Status: RemoteInvalidRequest}
	switch {
	case f.status != Success:
		c.Status = f.status
	case f.kind == remoteAccess:
		c.Status = RemoteAccessError
	}
	r.complete(q, c)
}

// datagram is UD. All that is wrong with a packet is dropped in silence, and
// its receive request stays (C9-205). Before the payload is the room for a GRH
// (annex A17.4.5.1).
func (r *responder) datagram(q *QP, now time.Time, req *incoming) {
	deth := wire.DETH(req.packet.View(wire.HdrDETH))
	if cause := r.checkDatagram(q, req, deth); cause != "" {
		q.trace(Event{At: now, Kind: EventDropped, PSN: req.psn, Cause: cause})
		return
	}
	var grh [wire.GRHLen]byte
	copy(grh[:], req.grh)
	err := r.held.scatter(q.cfg.Memory, 0, grh[:])
	if err == nil {
		err = r.held.scatter(q.cfg.Memory, wire.GRHLen, req.payload)
	}
	if err != nil {
		r.die(q, now, fault{status: LocalProtectionError, cause: "receive request names wrong memory"})
		return
	}
	r.completeMessage(q, req, Completion{
		Op: Receive, Bytes: uint32(wire.GRHLen + len(req.payload)), SrcQP: deth.SrcQP(), HasGRH: true,
	})
}

func (r *responder) checkDatagram(q *QP, req *incoming, deth wire.DETH) string {
	qkey := q.attr.QKey
	if q.cfg.Number == 1 {
		qkey = wire.QKeyQP1
	}
	mtu := q.attr.PathMTU
	switch {
	case deth.QKey() != qkey:
		return "wrong Q_Key"
	case q.cfg.Number <= 1 && len(req.payload) != wire.MADLen: // C13-3
		return "not a management datagram"
	case mtu > 0 && len(req.payload) > mtu:
		return "longer than the path MTU"
	case !r.hold(q, nil):
		return "no receive request"
	case uint64(wire.GRHLen+len(req.payload)) > r.held.size:
		return "longer than the receive request"
	}
	return ""
}
