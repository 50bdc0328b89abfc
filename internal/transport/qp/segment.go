package qp

import (
	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// spans is how many PSNs a request takes: one for each packet of a message, one
// for each response of a READ (rxe_req.c update_wqe_psn), and one for all else.
func spans(s *request, mtu int) int {
	if !s.op.payload && s.op.answer != readAnswer {
		return 1
	}
	return max(1, (s.length+mtu-1)/mtu)
}

// packetsFrom is how many PSNs packet i of a request takes: a READ is asked for
// to its end at once.
func (s *request) packetsFrom(i int) int {
	if s.op.answer == readAnswer {
		return s.packets - i
	}
	return 1
}

// build writes packet i of a request, and says why if its data cannot be read.
func (q *QP) build(s *request, i int, ackReq bool, dst []byte) (n int, status Status) {
	opcode, from, size := q.cfg.Type.Base(), 0, 0
	if s.op.payload {
		from = i * q.attr.PathMTU
		size = min(s.length-from, q.attr.PathMTU)
		opcode = s.op.opcode(opcode, i, s.packets)
	} else {
		opcode += wire.Opcode(s.op.only)
	}
	head := opcode.Info().HeaderLen()
	pad := -size & 3
	p := wire.Packet(dst[:head+size+pad])
	if !q.gather(s, from, p[head:head+size]) {
		return 0, LocalProtectionError
	}
	clear(p[:head])
	clear(p[head+size:])
	bth := p.BTH()
	bth.SetOpcode(opcode)
	bth.SetPadCount(pad)
	bth.SetPSN(s.first.Add(i))
	bth.SetAckReq(ackReq)
	bth.SetMigReq(!q.cfg.Policy.ClearMigReq)
	bth.SetPKey(q.attr.PKey)
	// The bit belongs to the packet that makes a completion at the other side.
	bth.SetSolicited(s.Flags&Solicited != 0 && s.op.consumes && i == s.packets-1)
	bth.SetDestQP(q.attr.DestQP)
	if q.cfg.Type == UD {
		bth.SetDestQP(s.DestQP)
	}
	q.extend(s, i, p)
	return len(p), Success
}

// extend writes the extended headers that the opcode has.
func (q *QP) extend(s *request, i int, p wire.Packet) {
	rest := p[wire.BTHLen:]
	for _, id := range p.Opcode().Info().Extended() {
		switch id {
		case wire.HdrDETH:
			h := wire.DETH(rest)
			h.SetQKey(q.qkey(s))
			h.SetSrcQP(q.cfg.Number)
			rest = rest[wire.DETHLen:]
		case wire.HdrXRCETH:
			wire.XRCETH(rest).SetSRQN(s.SRQ)
			rest = rest[wire.XRCETHLen:]
		case wire.HdrRETH:
			q.remote(s, i, wire.RETH(rest))
			rest = rest[wire.RETHLen:]
		case wire.HdrAtomicETH:
			h := wire.AtomicETH(rest)
			h.SetVA(s.RemoteAddr)
			h.SetRKey(s.RKey)
			h.SetSwapAdd(s.SwapAdd)
			h.SetCompare(s.Compare)
			rest = rest[wire.AtomicETHLen:]
		case wire.HdrImmDt:
			wire.ImmDt(rest).SetData(s.Immediate)
			rest = rest[wire.ImmDtLen:]
		case wire.HdrIETH:
			wire.IETH(rest).SetRKey(s.Invalidate)
			rest = rest[wire.IETHLen:]
		case wire.HdrFETH:
			h := wire.FETH(rest)
			h.SetPlacement(s.Placement)
			if s.WholeMR {
				h.SetSelectivity(wire.FlushRegion)
			}
			rest = rest[wire.FETHLen:]
		}
	}
}

// remote writes which of the responder's memory packet i is about: of a READ
// that begins anew, what is missing.
func (q *QP) remote(s *request, i int, h wire.RETH) {
	va, n := s.RemoteAddr, uint32(s.length)
	switch s.Op {
	case Read:
		va += uint64(i * q.attr.PathMTU)
		n -= uint32(i * q.attr.PathMTU)
	case Flush:
		n = s.Length
	}
	h.SetVA(va)
	h.SetRKey(s.RKey)
	h.SetDMALen(n)
}

// ownQKey is the bit of a Q_Key that asks for the queue pair's (IBTA 10.2.5).
const ownQKey = 1 << 31

func (q *QP) qkey(s *request) uint32 {
	if s.QKey&ownQKey != 0 {
		return q.attr.QKey
	}
	return s.QKey
}

// gather copies a part of a request's data. Its memory is asked for each time,
// because a key may have gone since the last.
func (q *QP) gather(s *request, from int, dst []byte) bool {
	if len(s.Inline) > 0 {
		copy(dst, s.Inline[from:])
		return true
	}
	return q.eachPiece(s.SGL, from, len(dst), 0, func(mem []byte) {
		dst = dst[copy(dst, mem):]
	})
}

// scatter writes bytes that came for a request into its memory.
func (q *QP) scatter(s *request, from int, src []byte) bool {
	return q.eachPiece(s.SGL, from, len(src), mr.LocalWrite, func(mem []byte) {
		src = src[copy(mem, src):]
	})
}

// eachPiece calls use with the memory of n bytes of a list, in order, as far as
// the keys allow the access.
func (q *QP) eachPiece(list []SGE, from, n int, need mr.Access, use func(mem []byte)) bool {
	for i := range list {
		if n == 0 {
			break
		}
		piece := &list[i]
		if from >= int(piece.Length) {
			from -= int(piece.Length)
			continue
		}
		size := min(int(piece.Length)-from, n)
		mem, err := q.cfg.Memory.Local(q.cfg.PD, piece.LKey, piece.Addr+uint64(from), size, need)
		if err != nil {
			return false
		}
		use(mem)
		from, n = 0, n-size
	}
	return n == 0
}
