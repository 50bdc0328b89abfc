package text

import (
	"strconv"
	"time"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// widthOpcode is the room for the names of most opcodes.
const widthOpcode = 25

// appendTransport says what an InfiniBand transport packet is and carries.
func (s *sight) appendTransport(dst []byte, p *packet.Packet) []byte {
	f := &p.Frame
	if s.bth == nil {
		return append(dst, "BTH cut off"...)
	}
	bth := s.bth
	op := bth.Opcode()
	start := len(dst)
	dst = append(dst, op.String()...)
	if !op.Info().Defined() {
		dst = append(dst, ' ')
		dst = wire.AppendHex(dst, uint64(op), 2)
	}
	dst = pad(dst, start, s.width)
	dst = append(dst, " QP "...)
	dst = wire.AppendHex(dst, uint64(bth.DestQP()), 6)
	dst = append(dst, " PSN "...)
	dst = strconv.AppendUint(dst, uint64(bth.PSN()), 10)
	for _, h := range f.Headers() {
		if h.ID < wire.HdrRDETH {
			continue
		}
		if b := f.Whole(h); b != nil {
			dst = appendExtended(dst, op, h.ID, b)
		}
	}
	switch {
	case s.mad:
		dst = wire.MADSummary(append(dst, ' '), f.PayloadBytes())
	case f.PayloadLen > 0 && f.ICRC >= 0:
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, int64(f.PayloadLen), 10)
		dst = append(dst, " B"...)
	}
	return s.appendFlags(dst)
}

func (s *sight) appendFlags(dst []byte) []byte {
	bth := s.bth
	if bth.Solicited() {
		dst = append(dst, " SE"...)
	}
	if bth.AckReq() {
		dst = append(dst, " AckReq"...)
	}
	if bth.FECN() {
		dst = append(dst, " FECN"...)
	}
	if bth.BECN() {
		dst = append(dst, " BECN"...)
	}
	if s.ecn == wire.ECNCE {
		dst = append(dst, " CE"...)
	}
	return dst
}

func appendExtended(dst []byte, op wire.Opcode, id wire.HeaderID, b []byte) []byte {
	switch id {
	case wire.HdrRDETH:
		dst = appendNumber(dst, " EE ", wire.RDETH(b).EEContext())
	case wire.HdrDETH:
		dst = wire.AppendHex(append(dst, " from QP "...), uint64(wire.DETH(b).SrcQP()), 6)
		dst = wire.AppendHex(append(dst, " Q_Key "...), uint64(wire.DETH(b).QKey()), 8)
	case wire.HdrXRCETH:
		dst = wire.AppendHex(append(dst, " SRQ "...), uint64(wire.XRCETH(b).SRQN()), 6)
	case wire.HdrRETH:
		h := wire.RETH(b)
		dst = appendRegion(dst, h.VA(), h.RKey())
		dst = appendNumber(dst, " len ", h.DMALen())
	case wire.HdrAtomicETH:
		h := wire.AtomicETH(b)
		dst = appendRegion(dst, h.VA(), h.RKey())
		if op.Operation() == wire.OpFetchAdd {
			return wire.AppendHex(append(dst, " add "...), h.SwapAdd(), 1)
		}
		dst = wire.AppendHex(append(dst, " swap "...), h.SwapAdd(), 1)
		dst = wire.AppendHex(append(dst, " compare "...), h.Compare(), 1)
	case wire.HdrAETH:
		dst = appendAETH(dst, b)
	case wire.HdrAtomicAckETH:
		dst = wire.AppendHex(append(dst, " original "...), wire.AtomicAckETH(b).Original(), 1)
	case wire.HdrImmDt:
		dst = wire.AppendHex(append(dst, " imm "...), uint64(wire.ImmDt(b).Data()), 8)
	case wire.HdrIETH:
		dst = wire.AppendHex(append(dst, " inv rkey "...), uint64(wire.IETH(b).RKey()), 8)
	case wire.HdrFETH:
		dst = appendFETH(dst, b)
	case wire.HdrNVMeCommand, wire.HdrNVMeAdmin, wire.HdrNVMeFabrics, wire.HdrNVMeResponse:
		dst = appendNVMe(dst, id, b)
	case wire.HdrIPoIB:
		dst = append(dst, " IPoIB"...)
	}
	return dst
}

func appendNumber(dst []byte, label string, v uint32) []byte {
	return strconv.AppendUint(append(dst, label...), uint64(v), 10)
}

func appendRegion(dst []byte, va uint64, rkey uint32) []byte {
	dst = wire.AppendHex(append(dst, " VA "...), va, 16)
	return wire.AppendHex(append(dst, " rkey "...), uint64(rkey), 8)
}

func appendAETH(dst []byte, h wire.AETH) []byte {
	s := h.Syndrome()
	switch {
	case !s.Defined():
		dst = wire.AppendHex(append(dst, " syndrome "...), uint64(s), 2)
	case s.Kind() == wire.RNRNak:
		dst = appendMillis(append(dst, " RNR NAK "...), s.RNRTimer())
	case s.Kind() == wire.Nak:
		dst = append(append(dst, " NAK "...), wire.NakName(s.Code())...)
	default:
		dst = append(dst, " ACK"...)
	}
	dst = appendNumber(dst, " MSN ", h.MSN())
	if n, ok := s.Credits(); ok {
		dst = appendNumber(dst, " credits ", uint32(n))
	}
	return dst
}

// appendMillis adds an RNR wait in milliseconds; its unit is 10 microseconds.
func appendMillis(dst []byte, d time.Duration) []byte {
	dst = field.AppendSeconds(dst, int64(d)*1000, 2)
	return append(dst, " ms"...)
}

func appendFETH(dst []byte, h wire.FETH) []byte {
	if h.Selectivity() == wire.FlushRegion {
		dst = append(dst, " region"...)
	} else {
		dst = append(dst, " range"...)
	}
	if h.Placement()&wire.FlushGlobal != 0 {
		dst = append(dst, " global"...)
	}
	if h.Placement()&wire.FlushPersistent != 0 {
		dst = append(dst, " persistent"...)
	}
	return dst
}
