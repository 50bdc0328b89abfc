package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// Immediate is the body of an Immediate Data message (RFC 7306, 6).
type Immediate struct {
	BaseLayer
	Data [8]byte // what the consumer sent
}

// LayerType returns LayerTypeImmediate.
func (*Immediate) LayerType() gopacket.LayerType { return LayerTypeImmediate }

// CanDecode returns LayerTypeImmediate.
func (*Immediate) CanDecode() gopacket.LayerClass { return LayerTypeImmediate }

// NextLayerType is Payload if anything follows; nothing should.
func (h *Immediate) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the body that begins data.
func (h *Immediate) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeImmediate, data, wire.RDMAPImmediateLen, df); err != nil {
		return err
	}
	v := wire.RDMAPImmediateHeader(data)
	copy(h.Data[:], v.Data())
	return nil
}

// SerializeTo writes the body before what b holds.
func (h *Immediate) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RDMAPImmediateLen)
	if err != nil {
		return err
	}
	v := wire.RDMAPImmediateHeader(room)
	v.SetData(h.Data)
	return nil
}
