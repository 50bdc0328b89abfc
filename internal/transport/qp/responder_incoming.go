package qp

import "github.com/rocecap/rocecap/internal/wire"

// family is the operations whose packets may be of one message.
type family uint8

const (
	_ family = iota
	sends
	writes
	reads
	atomics
	flushes
	atomicWrites
)

// familyOf is 0 for what is no request.
func familyOf(operation uint8) family {
	switch operation {
	case wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendLastImmediate, wire.OpSendOnly,
		wire.OpSendOnlyImmediate, wire.OpSendLastInvalidate, wire.OpSendOnlyInvalidate:
		return sends
	case wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLast, wire.OpWriteLastImmediate, wire.OpWriteOnly,
		wire.OpWriteOnlyImmediate:
		return writes
	case wire.OpReadRequest:
		return reads
	case wire.OpCompareSwap, wire.OpFetchAdd:
		return atomics
	case wire.OpFlush:
		return flushes
	case wire.OpAtomicWrite:
		return atomicWrites
	}
	return 0
}

// replayed reports whether the answer has to be given again to a duplicate, so
// that the request counts against MaxDestRdAtomic.
func (f family) replayed() bool { return f >= reads }

// incoming is one packet of a request.
type incoming struct {
	packet  wire.Packet
	info    *wire.OpcodeInfo
	psn     wire.PSN
	op      uint8 // the low five bits of the opcode
	family  family
	first   bool // FIRST or ONLY
	last    bool // LAST or ONLY
	payload []byte
	pad     int
	grh     []byte
	srq     *SRQ // that an XRC packet names
}

func newIncoming(in Inbound) incoming {
	p := in.Packet
	req := incoming{
		packet: p, info: p.Opcode().Info(), psn: p.PSN(), op: p.Opcode().Operation(), pad: p.BTH().PadCount(), grh: in.GRH,
	}
	if !req.info.Defined() {
		return req
	}
	req.family, req.payload = familyOf(req.op), p.Payload()
	req.first = req.info.Place == wire.PlaceFirst || req.info.Place == wire.PlaceOnly
	req.last = req.info.Place == wire.PlaceLast || req.info.Place == wire.PlaceOnly
	return req
}

func (req *incoming) immediate() bool {
	switch req.op {
	case wire.OpSendLastImmediate, wire.OpSendOnlyImmediate, wire.OpWriteLastImmediate, wire.OpWriteOnlyImmediate:
		return true
	}
	return false
}

func (req *incoming) invalidates() bool {
	return req.op == wire.OpSendLastInvalidate || req.op == wire.OpSendOnlyInvalidate
}

// needsReceive reports whether this packet takes a receive request: the first of
// a SEND, and that of a WRITE which has the immediate.
func (req *incoming) needsReceive() bool {
	return req.family == sends && req.first || req.family == writes && req.immediate()
}

func (req *incoming) reth() wire.RETH { return wire.RETH(req.packet.View(wire.HdrRETH)) }

func (req *incoming) atomicETH() wire.AtomicETH {
	return wire.AtomicETH(req.packet.View(wire.HdrAtomicETH))
}

// faultKind is what follows from a fault, with the classes of IBTA 9.9.
type faultKind uint8

const (
	accepted        faultKind = iota
	notReady                  // RNR NAK, class B
	invalidRequest            // class C
	remoteAccess              // class C
	remoteOperation           // class A
	errorOnly                 // no NAK, class J
)

func (k faultKind) nakCode() uint8 {
	switch k {
	case remoteAccess:
		return wire.NakRemoteAccess
	case remoteOperation:
		return wire.NakRemoteOperation
	}
	return wire.NakInvalidRequest
}

// fault is why a request is not executed.
type fault struct {
	kind   faultKind
	status Status // of the receive request that is held
	cause  string
}

func (f fault) ok() bool { return f.kind == accepted }

func invalid(cause string) fault { return fault{kind: invalidRequest, cause: cause} }
