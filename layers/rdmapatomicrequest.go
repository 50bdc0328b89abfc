package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The atomic operations (RFC 7306, 5.2.1).
const (
	AtomicFetchAdd = wire.AtomicFetchAdd
	AtomicSwap     = wire.AtomicSwap
	AtomicCmpSwap  = wire.AtomicCmpSwap
)

// AtomicRequest is the body of an Atomic Request (RFC 7306, 5.2.1).
type AtomicRequest struct {
	BaseLayer
	Op          uint8  // AtomicFetchAdd and so on, 4 bits
	RequestID   uint32 // identifier that the response repeats
	STag        uint32 // STag of the remote buffer
	Offset      uint64 // tagged offset there, in bytes
	Data        uint64 // value to add or to swap in
	Mask        uint64 // mask of Data
	CompareData uint64 // value to compare with
	CompareMask uint64 // mask of the comparison
}

// LayerType returns LayerTypeAtomicRequest.
func (*AtomicRequest) LayerType() gopacket.LayerType { return LayerTypeAtomicRequest }

// CanDecode returns LayerTypeAtomicRequest.
func (*AtomicRequest) CanDecode() gopacket.LayerClass { return LayerTypeAtomicRequest }

// NextLayerType is Payload if anything follows; nothing should.
func (h *AtomicRequest) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the body that begins data.
func (h *AtomicRequest) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeAtomicRequest, data, wire.RDMAPAtomicRequestLen, df); err != nil {
		return err
	}
	v := wire.RDMAPAtomicRequestHeader(data)
	h.Op = v.Op()
	h.RequestID = v.RequestID()
	h.STag = v.STag()
	h.Offset = v.Offset()
	h.Data = v.Data()
	h.Mask = v.Mask()
	h.CompareData = v.CompareData()
	h.CompareMask = v.CompareMask()
	return nil
}

// SerializeTo writes the body before what b holds.
func (h *AtomicRequest) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RDMAPAtomicRequestLen)
	if err != nil {
		return err
	}
	v := wire.RDMAPAtomicRequestHeader(room)
	v.SetOp(h.Op)
	v.SetRequestID(h.RequestID)
	v.SetSTag(h.STag)
	v.SetOffset(h.Offset)
	v.SetData(h.Data)
	v.SetMask(h.Mask)
	v.SetCompareData(h.CompareData)
	v.SetCompareMask(h.CompareMask)
	return nil
}
