package qp

import (
	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// check is what a request with the expected PSN has to pass, in the order that
// IBTA and rxe_resp.c have: which of several faults is reported depends on it.
func (r *responder) check(q *QP, req *incoming) fault {
	if f := r.checkSequence(req); !f.ok() {
		return f
	}
	if f := r.checkOperation(q, req); !f.ok() {
		return f
	}
	if f := r.checkResources(q, req); !f.ok() {
		return f
	}
	if f := r.checkLength(q, req); !f.ok() {
		return f
	}
	return r.checkMemory(q, req)
}

// checkSequence wants FIRST and ONLY between messages, MIDDLE and LAST of the
// message that has begun (rxe_resp.c: check_op_seq).
func (r *responder) checkSequence(req *incoming) fault {
	switch {
	case req.family == 0:
		return invalid("unknown operation")
	case req.first && r.message.family != 0:
		return invalid("a new message within another")
	case !req.first && r.message.family != req.family:
		return invalid("no such message has begun")
	}
	return fault{}
}

// checkOperation asks whether the queue pair lets peers do this (rxe_resp.c:
// check_op_valid).
func (r *responder) checkOperation(q *QP, req *incoming) fault {
	var need mr.Access
	switch req.family {
	case writes, atomicWrites:
		need = mr.RemoteWrite
	case reads:
		need = mr.RemoteRead
	case atomics:
		need = mr.RemoteAtomic
	case flushes:
		need = flushNeed(req)
	}
	if q.attr.Access&need != need {
		return invalid("not enabled for the queue pair")
	}
	if q.cfg.Type != XRCRecv {
		return fault{}
	}
	number := wire.XRCETH(req.packet.View(wire.HdrXRCETH)).SRQN()
	if q.cfg.FindSRQ != nil {
		req.srq = q.cfg.FindSRQ(number)
	}
	switch {
	case req.srq == nil:
		return invalid("no such shared receive queue")
	case !req.first && req.srq != r.message.srq:
		return invalid("another shared receive queue within a message")
	}
	return fault{}
}

func flushNeed(req *incoming) (need mr.Access) {
	placement := wire.FETH(req.packet.View(wire.HdrFETH)).Placement()
	if placement&wire.FlushGlobal != 0 {
		need |= mr.FlushGlobal
	}
	if placement&wire.FlushPersistent != 0 {
		need |= mr.FlushPersistent
	}
	return need
}

// checkResources takes the receive request that the packet needs, or sees that
// there is room to answer again later (C9-149).
func (r *responder) checkResources(q *QP, req *incoming) fault {
	switch {
	case req.family.replayed():
		depth := q.attr.MaxDestRdAtomic
		if depth == 0 || r.open >= depth && !q.cfg.Policy.RecycleDepth {
			return invalid("more READs and atomics than agreed")
		}
	case req.needsReceive() && !r.hold(q, req.srq):
		return fault{kind: notReady, cause: "no receive request"}
	}
	return fault{}
}

// checkLength holds the packet's length against its place in the message, the
// RETH and the receive request (C9-92 to C9-94).
func (r *responder) checkLength(q *QP, req *incoming) fault {
	n := len(req.payload)
	switch req.info.Place {
	case wire.PlaceFirst, wire.PlaceMiddle:
		if n != q.attr.PathMTU {
			return invalid("a FIRST or MIDDLE that is not a path MTU long")
		}
	case wire.PlaceLast:
		if n == 0 || n > q.attr.PathMTU {
			return invalid("a LAST that is empty or longer than the path MTU")
		}
	default:
		if n > q.attr.PathMTU {
			return invalid("longer than the path MTU")
		}
	}
	if (n+req.pad)%4 != 0 {
		return invalid("not padded to four bytes")
	}
	switch req.family {
	case sends:
		return r.checkSendLength(q, uint64(n))
	case writes:
		return r.checkWriteLength(req, uint32(n))
	case atomicWrites: // oA19-28
		if n != 8 || req.reth().DMALen() != 8 {
			return invalid("an ATOMIC WRITE that is not of eight bytes")
		}
	case reads, atomics, flushes:
		if n != 0 { // oA19-2 for FLUSH
			return invalid("payload where none may be")
		}
		if req.family == reads && req.reth().DMALen() > maxMessage {
			return invalid("longer than 2^31")
		}
	}
	return fault{}
}

func (r *responder) checkSendLength(q *QP, n uint64) fault {
	switch {
	case r.message.done+n > maxMessage:
		return invalid("longer than 2^31")
	case r.message.done+n <= r.held.size:
		return fault{}
	}
	f := fault{kind: invalidRequest, status: LocalLengthError, cause: "longer than the receive request"}
	if q.cfg.Policy.LongSendOperational && q.cfg.Type.Reliable() {
		f.kind, f.status = remoteOperation, LocalOperationError
	}
	return f
}

// checkWriteLength wants payloads that sum up to what the RETH says.
func (r *responder) checkWriteLength(req *incoming, n uint32) fault {
	left := r.message.left
	if req.first {
		left = req.reth().DMALen()
	}
	switch {
	case left > maxMessage:
		return invalid("longer than 2^31")
	case req.last && n != left, !req.last && n >= left:
		return invalid("a WRITE that is not as long as its RETH says")
	}
	return fault{}
}

// checkMemory holds keys, rights and bounds against the memory. A WRITE's are
// checked for its whole range at its beginning, and again for each packet when
// it is placed, because the key may have gone since. No bytes need no key
// (C9-88), but FLUSH does (oA19-13).
func (r *responder) checkMemory(q *QP, req *incoming) fault {
	var need mr.Access
	switch {
	case req.family == flushes:
		return r.checkFlush(q, req)
	case req.family == atomics:
		return fault{} // when it is executed
	case req.family == writes && req.first, req.family == atomicWrites:
		need = mr.RemoteWrite
	case req.family == reads:
		need = mr.RemoteRead
	default:
		return fault{}
	}
	h := req.reth()
	if h.DMALen() == 0 {
		return fault{}
	}
	_, f := r.remote(q, req.srq, h.RKey(), h.VA(), int(h.DMALen()), need)
	return f
}

func (r *responder) checkFlush(q *QP, req *incoming) fault {
	h, feth := req.reth(), wire.FETH(req.packet.View(wire.HdrFETH))
	need := flushNeed(req)
	if need == 0 || feth.Selectivity() > wire.FlushRegion {
		return invalid("a FLUSH of a reserved kind")
	}
	if feth.Selectivity() == wire.FlushRegion {
		if _, err := q.cfg.Memory.RemoteWhole(r.pd(q, req.srq), q.cfg.Number, h.RKey(), need); err != nil {
			return accessFault()
		}
		return fault{}
	}
	_, f := r.remote(q, req.srq, h.RKey(), h.VA(), int(h.DMALen()), need)
	return f
}

// remote is the memory of a request.
func (r *responder) remote(q *QP, srq *SRQ, rkey uint32, va uint64, n int, need mr.Access) ([]byte, fault) {
	mem, err := q.cfg.Memory.Remote(r.pd(q, srq), q.cfg.Number, rkey, va, n, need)
	if err != nil {
		return nil, accessFault()
	}
	return mem, fault{}
}

func accessFault() fault { return fault{kind: remoteAccess, cause: "memory access refused"} }
