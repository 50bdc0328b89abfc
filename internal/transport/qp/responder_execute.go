package qp

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// execute does what a request asks for that has passed the checks, and prepares
// its answer.
func (r *responder) execute(q *QP, req *incoming) fault {
	var f fault
	switch req.family {
	case sends:
		f = r.executeSend(q, req)
	case writes:
		f = r.executeWrite(q, req)
	default:
		return r.executeReplayed(q, req)
	}
	if !f.ok() {
		return f
	}
	r.psn = r.psn.Add(1)
	if req.last {
		r.msn++
		r.message = message{}
	}
	r.unacked = true
	if req.packet.BTH().AckReq() && q.cfg.Type.Reliable() {
		r.acknowledge(q)
	}
	return fault{}
}

func (r *responder) executeSend(q *QP, req *incoming) fault {
	if req.first {
		r.message = message{family: sends, srq: req.srq}
	}
	if err := r.held.scatter(q.cfg.Memory, r.message.done, req.payload); err != nil {
		return fault{kind: remoteOperation, status: LocalProtectionError, cause: "receive request names wrong memory"}
	}
	r.message.done += uint64(len(req.payload))
	if !req.last {
		return fault{}
	}
	c := Completion{Op: Receive, Bytes: uint32(r.message.done)}
	if req.invalidates() {
		c.HasInvalid, c.Invalidated = true, wire.IETH(req.packet.View(wire.HdrIETH)).RKey()
		if err := q.cfg.Memory.InvalidateRemote(r.pd(q, req.srq), q.cfg.Number, c.Invalidated); err != nil {
			return invalidateFault(q)
		}
	}
	r.completeMessage(q, req, c)
	return fault{}
}

// invalidateFault is class J: an error here, and the requester does not learn of
// it by a NAK (IBTA 9.9.6.3).
func invalidateFault(q *QP) fault {
	f := fault{kind: errorOnly, status: RemoteInvalidRequest, cause: "key to invalidate refused"}
	if q.cfg.Policy.NakInvalidate {
		f.kind = remoteAccess
	}
	return f
}

func (r *responder) executeWrite(q *QP, req *incoming) fault {
	if req.first {
		h := req.reth()
		r.message = message{family: writes, srq: req.srq, rkey: h.RKey(), va: h.VA(), left: h.DMALen(), size: h.DMALen()}
	}
	m := &r.message
	if n := len(req.payload); n > 0 {
		mem, f := r.remote(q, req.srq, m.rkey, m.va, n, mr.RemoteWrite)
		if !f.ok() {
			return f
		}
		copy(mem, req.payload)
		m.va += uint64(n)
		m.left -= uint32(n)
	}
	if req.immediate() {
		r.completeMessage(q, req, Completion{Op: ReceiveWrite, Bytes: m.size})
	}
	return fault{}
}

// completeMessage completes the receive request of a message with its last packet.
func (r *responder) completeMessage(q *QP, req *incoming, c Completion) {
	if req.immediate() {
		c.HasImmediate, c.Immediate = true, wire.ImmDt(req.packet.View(wire.HdrImmDt)).Data()
	}
	c.Solicited = req.packet.BTH().Solicited()
	r.complete(q, c)
}

// executeReplayed does the operations whose answer is more than an
// acknowledgement and is kept for duplicates. MSN counts a READ when its
// response begins (C9-148).
func (r *responder) executeReplayed(q *QP, req *incoming) fault {
	a := response{kind: readResponse, psn: r.psn, srq: req.srq, counted: true}
	e := replayEntry{op: req.op, first: r.psn, last: r.psn, srq: req.srq}
	switch req.family {
	case reads:
		h := req.reth()
		e.rkey, e.va, e.size = h.RKey(), h.VA(), h.DMALen()
		e.last = r.psn.Add(packets(e.size, q.attr.PathMTU) - 1)
		a.rkey, a.va, a.left = e.rkey, e.va, e.size
	case atomics:
		original, f := r.executeAtomic(q, req)
		if !f.ok() {
			return f
		}
		a.kind, a.original, e.original = atomicResponse, original, original
	case atomicWrites:
		if f := r.executeAtomicWrite(q, req); !f.ok() {
			return f
		}
	}
	r.psn = e.last.Add(1)
	r.msn++
	a.msn = r.msn
	r.replay.add(q.attr.MaxDestRdAtomic, e)
	r.respond(q, a)
	return fault{}
}

// executeAtomic changes eight aligned bytes, which are in the host's order, as
// network cards have it, and returns what they were.
func (r *responder) executeAtomic(q *QP, req *incoming) (original uint64, f fault) {
	h := req.atomicETH()
	mem, f := r.remote(q, req.srq, h.RKey(), h.VA(), 8, mr.RemoteAtomic)
	if !f.ok() {
		return 0, f
	}
	if h.VA()%8 != 0 {
		return 0, invalid("misaligned")
	}
	original = binary.NativeEndian.Uint64(mem)
	switch {
	case req.op == wire.OpFetchAdd:
		binary.NativeEndian.PutUint64(mem, original+h.SwapAdd())
	case original == h.Compare():
		binary.NativeEndian.PutUint64(mem, h.SwapAdd())
	}
	return original, fault{}
}

// executeAtomicWrite places eight aligned bytes as they are in the packet
// (oA19-28).
func (r *responder) executeAtomicWrite(q *QP, req *incoming) fault {
	h := req.reth()
	if h.VA()%8 != 0 {
		return invalid("misaligned")
	}
	mem, f := r.remote(q, req.srq, h.RKey(), h.VA(), 8, mr.RemoteWrite)
	if f.ok() {
		copy(mem, req.payload)
	}
	return f
}

// packets is how many PSNs n bytes of a READ response take.
func packets(n uint32, mtu int) int {
	return max(1, int((uint64(n)+uint64(mtu)-1)/uint64(mtu)))
}
