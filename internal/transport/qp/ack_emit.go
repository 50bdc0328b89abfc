package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// emit writes the next packet of the oldest answer.
func (r *responder) emit(q *QP, now time.Time, dst []byte) (n int, to *Address) {
	for r.responses.len() > 0 {
		a := r.responses.at(0)
		n, done := 0, true
		switch a.kind {
		case readResponse:
			n, done = r.emitRead(q, now, a, dst)
		case atomicResponse:
			n = r.emitAtomic(q, a, dst)
		default:
			n = r.emitAck(q, a, dst)
		}
		if done {
			r.finish()
			q.closeWindows()
		}
		if n > 0 {
			return n, q.attr.Address
		}
	}
	return 0, nil
}

// header writes a response's BTH and, where the operation has one, its AETH. It
// returns their length.
func (r *responder) header(q *QP, a *response, op uint8, dst []byte) int {
	opcode := q.cfg.Type.Base() | wire.Opcode(op)
	n := opcode.Info().HeaderLen()
	clear(dst[:n])
	h := wire.BTH(dst)
	h.SetOpcode(opcode)
	h.SetMigReq(!q.cfg.Policy.ClearMigReq)
	h.SetPKey(0xFFFF)
	if q.attr.PKey != 0 && !q.cfg.Policy.DefaultPKey {
		h.SetPKey(q.attr.PKey)
	}
	h.SetBECN(r.becn)
	h.SetDestQP(q.attr.DestQP)
	h.SetPSN(a.psn)
	r.becn = false
	if aeth := wire.AETH(wire.Packet(dst[:n]).View(wire.HdrAETH)); aeth != nil {
		aeth.SetSyndrome(a.syndrome)
		if a.kind != nakResponse {
			aeth.SetSyndrome(wire.NewSyndrome(wire.Ack, r.credits(q)))
		}
		aeth.SetMSN(a.msn & 0xFFFFFF)
	}
	return n
}

// credits is the code of an ACK's syndrome. A shared receive queue's requests
// are promised to nobody (rdmavt does the same).
func (r *responder) credits(q *QP) uint8 {
	if !q.cfg.Policy.Credits || q.cfg.SRQ != nil || q.cfg.Type != RC {
		return wire.CreditsInvalid
	}
	code := uint8(wire.CreditsInvalid - 1)
	for ; code > 0; code-- {
		if n, _ := wire.NewSyndrome(wire.Ack, code).Credits(); n <= r.recv.n {
			break
		}
	}
	return code
}

func (r *responder) emitAck(q *QP, a *response, dst []byte) int {
	return r.header(q, a, wire.OpAcknowledge, dst)
}

func (r *responder) emitAtomic(q *QP, a *response, dst []byte) int {
	n := r.header(q, a, wire.OpAtomicAcknowledge, dst)
	wire.AtomicAckETH(wire.Packet(dst[:n]).View(wire.HdrAtomicAckETH)).SetOriginal(a.original)
	return n
}

// emitRead writes the next packet of a READ response. done is after the last.
func (r *responder) emitRead(q *QP, now time.Time, a *response, dst []byte) (n int, done bool) {
	size := min(a.left, uint32(q.attr.PathMTU))
	var mem []byte
	if size > 0 {
		var f fault
		if mem, f = r.remote(q, a.srq, a.rkey, a.va, int(size), mr.RemoteRead); !f.ok() {
			return 0, r.abortRead(q, now, a, f)
		}
	}
	last := a.left == size
	n = r.header(q, a, readPlace(!a.begun, last), dst)
	copy(dst[n:], mem)
	if a.altered && !a.begun && size > 0 {
		dst[n] ^= 0xFF
	}
	n += int(size)
	for n%4 != 0 {
		dst[n] = 0
		n++
	}
	wire.BTH(dst).SetPadCount(int(-size & 3))
	a.begun = true
	a.va += uint64(size)
	a.left -= size
	a.psn = a.psn.Add(1)
	return n, last
}

func readPlace(first, last bool) uint8 {
	switch {
	case first && last:
		return wire.OpReadResponseOnly
	case first:
		return wire.OpReadResponseFirst
	case last:
		return wire.OpReadResponseLast
	}
	return wire.OpReadResponseMiddle
}

// abortRead is for memory that went away while the response was on its way: the
// packet that cannot be sent is refused, and with it all behind it. A
// duplicate's response just ends. It reports whether the answer is to be removed.
func (r *responder) abortRead(q *QP, now time.Time, a *response, f fault) (done bool) {
	if a.again {
		q.trace(Event{At: now, Kind: EventDropped, PSN: a.psn, Cause: f.cause})
		return true
	}
	r.psn = a.psn
	r.msn = a.msn
	r.drop()
	r.refuse(q, now, f)
	return false
}
