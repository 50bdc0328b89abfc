package craft

import (
	"math"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// What an iWARP packet says of its connection when nothing is set. No port
// belongs to iWARP; rping listens on this one.
const (
	defaultTCPPort = 7174
	defaultWindow  = math.MaxUint16
	firstMSN       = 1 // of each queue (RFC 5041)
)

// inDDP reports whether layer i is RDMAP's part of the DDP header before it: it
// takes no bytes of its own (RFC 5040 section 4.1).
func (b *builder) inDDP(i int) bool {
	return i > 0 && b.r.Layers[i].ID == wire.HdrRDMAP && isDDP(b.r.Layers[i-1].ID)
}

func isDDP(id wire.HeaderID) bool { return id == wire.HdrDDPTagged || id == wire.HdrDDPUntagged }

// layInDDP gives RDMAP its place in the DDP header.
func (b *builder) layInDDP(i int) {
	n := wire.RDMAPTaggedLen
	if b.r.Layers[i-1].ID == wire.HdrDDPUntagged {
		n = wire.RDMAPUntaggedLen
	}
	b.img.Layers = append(b.img.Layers, Place{b.img.Layers[i-1].Off + wire.RDMAPInDDP, n})
}

// fillTCP fills a segment that carries something, or else an acknowledgement.
func (b *builder) fillTCP(i int, h wire.TCP) {
	h.SetSrcPort(defaultSourcePort)
	h.SetDstPort(defaultTCPPort)
	h.SetHeaderLen(len(h))
	h.SetFlags(wire.TCPAck)
	if b.img.End > b.img.Layers[i].Off+len(h) {
		h.SetFlags(wire.TCPAck | wire.TCPPush)
	}
	h.SetWindow(defaultWindow)
}

func (b *builder) fillIWARP(i int, h []byte, next wire.HeaderID) {
	switch b.r.Layers[i].ID {
	case wire.HdrMPARequest, wire.HdrMPAReply:
		fillStart(b.r.Layers[i].ID, h, next)
	case wire.HdrDDPTagged, wire.HdrDDPUntagged:
		b.fillDDP(i, h)
	case wire.HdrRDMAP:
		rdmap := wire.RDMAP(h)
		rdmap.SetVersion(wire.RDMAPVersion)
		rdmap.SetOpcode(b.rdmapOpcode(i))
	case wire.HdrRDMAPAtomicRequest:
		b.fillAtomic(i, h)
	case wire.HdrRDMAPTerminate:
		b.fillTerminate(i, h)
	case wire.HdrRDMAPTermDDP:
		fillQuoted(h, next)
	}
}

// fillStart fills a start-up frame that asks for CRCs, and for no markers.
func fillStart(id wire.HeaderID, h wire.MPAStart, next wire.HeaderID) {
	key := wire.MPARequestKey
	if id == wire.HdrMPAReply {
		key = wire.MPAReplyKey
	}
	copy(h.Key(), key)
	h.SetCRC(true)
	h.SetRevision(1)
	if next == wire.HdrMPAEnhanced {
		h.SetRevision(2)
		h.SetEnhanced(true)
	}
}

func (b *builder) fillDDP(i int, h wire.DDP) {
	h.SetTagged(b.r.Layers[i].ID == wire.HdrDDPTagged)
	h.SetLast(true)
	h.SetVersion(wire.DDPVersion)
	if h.Tagged() {
		return
	}
	untagged := wire.DDPUntagged(h)
	untagged.SetMSN(firstMSN)
	if b.next(i) == wire.HdrRDMAP {
		untagged.SetQN(b.rdmapOpcode(i + 1).QN())
	}
}

// rdmapOpcode is the one that layer i sets, else the one that the headers around
// it belong to.
func (b *builder) rdmapOpcode(i int) wire.RDMAPOpcode {
	if v, ok := b.value(i, "iwarp_rdma.opcode"); ok {
		return wire.RDMAPOpcode(v)
	}
	for op := range wire.RDMAPAtomicResponse + 1 {
		if op != wire.RDMAPSend && bodyOf(op) == b.next(i) && bodyOf(op) != wire.HdrNone {
			return op
		}
	}
	if i > 0 && b.r.Layers[i-1].ID == wire.HdrDDPTagged {
		return wire.RDMAPWrite
	}
	return wire.RDMAPSend
}

// bodyOf is the header behind the DDP header of a message, HdrNone where only
// data follows.
func bodyOf(op wire.RDMAPOpcode) wire.HeaderID {
	switch op {
	case wire.RDMAPReadRequest:
		return wire.HdrRDMAPReadRequest
	case wire.RDMAPTerminate:
		return wire.HdrRDMAPTerminate
	case wire.RDMAPImmediate, wire.RDMAPImmediateSE:
		return wire.HdrRDMAPImmediate
	case wire.RDMAPAtomicRequest:
		return wire.HdrRDMAPAtomicRequest
	case wire.RDMAPAtomicResponse:
		return wire.HdrRDMAPAtomicResponse
	}
	return wire.HdrNone
}

// fillAtomic lets a swap concern all bits; a mask of a Fetch Add only says where
// carries end, so that none is 0 (RFC 7306 section 5.2.1).
func (b *builder) fillAtomic(i int, h wire.RDMAPAtomicRequestHeader) {
	op, _ := b.value(i, "iwarp_rdma.atomic.opcode")
	h.SetOp(uint8(op))
	switch op {
	case wire.AtomicCmpSwap:
		h.SetCompareMask(math.MaxUint64)
		h.SetMask(math.MaxUint64)
	case wire.AtomicSwap:
		h.SetMask(math.MaxUint64)
	}
}

// fillTerminate announces the headers that are quoted behind it.
func (b *builder) fillTerminate(i int, h wire.RDMAPTerminateHeader) {
	if b.next(i) != wire.HdrRDMAPTermDDP {
		return
	}
	h.SetSegmentLenValid(true)
	h.SetHasDDP(true)
	quoted := b.img.Layers[i+1].Len
	if b.next(i+1) == wire.HdrRDMAPTermRead {
		h.SetHasRDMAP(true)
		quoted += b.img.Layers[i+2].Len
	}
	h.SetSegmentLen(uint16(quoted))
}

// fillQuoted fills the DDP header that a Terminate quotes: of a Read Request,
// where one follows.
func fillQuoted(h wire.DDP, next wire.HeaderID) {
	h.SetTagged(len(h) < wire.DDPUntaggedLen)
	h.SetLast(true)
	h.SetVersion(wire.DDPVersion)
	rdmap := wire.RDMAP(h[wire.RDMAPInDDP:])
	rdmap.SetVersion(wire.RDMAPVersion)
	if next == wire.HdrRDMAPTermRead {
		rdmap.SetOpcode(wire.RDMAPReadRequest)
		wire.DDPUntagged(h).SetQN(wire.QNReadRequest)
		wire.DDPUntagged(h).SetMSN(firstMSN)
	}
}

// startLength sets the length of a start-up frame's private data.
func (b *builder) startLength(i, inside int) {
	wire.MPAStart(b.bytes(i)).SetPrivateLen(inside)
	b.bound(i, "iwarp_mpa.pdlength", inside, math.MaxUint16)
}

// fpduLength sets the length of the ULPDU, which counts neither pad nor CRC (RFC
// 5044 section 4.1).
func (b *builder) fpduLength(i int) {
	n := b.img.Payload.Off + b.img.Payload.Len - b.img.Layers[i].Off - wire.FPDULengthLen
	wire.FPDU(b.bytes(i)).SetULPDULen(n)
	b.bound(i, "iwarp_mpa.ulpdulength", n, math.MaxUint16)
}

// sealFPDU puts the CRC32c of the FPDU in its place.
func (b *builder) sealFPDU() {
	if b.img.CRC < 0 {
		return
	}
	var right [wire.FPDUCRCLen]byte
	fpdu := b.img.Layers[b.r.last(wire.HdrFPDU)].Off
	icrc.Store(right[:], icrc.CRC32C(b.data[fpdu:b.img.CRC]))
	place(b.data[b.img.CRC:][:wire.FPDUCRCLen], right[:], b.r.CRC)
}
