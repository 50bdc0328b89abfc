package layers

import "github.com/rocecap/rocecap/internal/wire"

// The opcodes of RDMAP (RFC 5040, 4.3; RFC 7306, 4).
const (
	RDMAPWrite            = wire.RDMAPWrite
	RDMAPReadRequest      = wire.RDMAPReadRequest
	RDMAPReadResponse     = wire.RDMAPReadResponse
	RDMAPSend             = wire.RDMAPSend
	RDMAPSendInvalidate   = wire.RDMAPSendInvalidate
	RDMAPSendSE           = wire.RDMAPSendSE
	RDMAPSendSEInvalidate = wire.RDMAPSendSEInvalidate
	RDMAPTerminate        = wire.RDMAPTerminate
	RDMAPImmediate        = wire.RDMAPImmediate
	RDMAPImmediateSE      = wire.RDMAPImmediateSE
	RDMAPAtomicRequest    = wire.RDMAPAtomicRequest
	RDMAPAtomicResponse   = wire.RDMAPAtomicResponse
)

// DDPControl is what the two DDP headers share: DDP's control octet, of which
// the T flag is the choice of header, and RDMAP's.
type DDPControl struct {
	BaseLayer
	Last         bool        // L: last segment of its message
	DDPVersion   uint8       // 1
	RDMAPVersion uint8       // 1
	Opcode       RDMAPOpcode // RDMAPWrite and so on, 4 bits
}

func (h *DDPControl) read(data []byte) {
	d, r := wire.DDP(data), wire.RDMAP(data[wire.RDMAPInDDP:])
	h.Last, h.DDPVersion = d.Last(), d.Version()
	h.RDMAPVersion, h.Opcode = r.Version(), r.Opcode()
}

func (h *DDPControl) write(room []byte, tagged bool) {
	d, r := wire.DDP(room), wire.RDMAP(room[wire.RDMAPInDDP:])
	d.SetTagged(tagged)
	d.SetLast(h.Last)
	d.SetVersion(h.DDPVersion)
	r.SetVersion(h.RDMAPVersion)
	r.SetOpcode(h.Opcode)
}
