package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// AtomicResponse is the body of an Atomic Response (RFC 7306, 5.2.2).
type AtomicResponse struct {
	BaseLayer
	RequestID uint32 // identifier of the request
	Value     uint64 // the remote word before the operation
}

// LayerType returns LayerTypeAtomicResponse.
func (*AtomicResponse) LayerType() gopacket.LayerType { return LayerTypeAtomicResponse }

// CanDecode returns LayerTypeAtomicResponse.
func (*AtomicResponse) CanDecode() gopacket.LayerClass { return LayerTypeAtomicResponse }

// NextLayerType is Payload if anything follows; nothing should.
func (h *AtomicResponse) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the body that begins data.
func (h *AtomicResponse) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeAtomicResponse, data, wire.RDMAPAtomicResponseLen, df); err != nil {
		return err
	}
	v := wire.RDMAPAtomicResponseHeader(data)
	h.RequestID = v.RequestID()
	h.Value = v.Value()
	return nil
}

// SerializeTo writes the body before what b holds.
func (h *AtomicResponse) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RDMAPAtomicResponseLen)
	if err != nil {
		return err
	}
	v := wire.RDMAPAtomicResponseHeader(room)
	v.SetRequestID(h.RequestID)
	v.SetValue(h.Value)
	return nil
}
