package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// DDPTagged is the header of a DDP segment for a tagged buffer (RFC 5041, 4.2):
// of an RDMA Write or Read Response.
type DDPTagged struct {
	DDPControl
	STag   uint32 // steering tag of the data sink
	Offset uint64 // tagged offset in bytes
}

// LayerType returns LayerTypeDDPTagged.
func (*DDPTagged) LayerType() gopacket.LayerType { return LayerTypeDDPTagged }

// CanDecode returns LayerTypeDDPTagged.
func (*DDPTagged) CanDecode() gopacket.LayerClass { return LayerTypeDDPTagged }

// NextLayerType is Payload.
func (h *DDPTagged) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *DDPTagged) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeDDPTagged, data, wire.DDPTaggedLen, df); err != nil {
		return err
	}
	h.read(data)
	v := wire.DDPTagged(data)
	h.STag, h.Offset = v.STag(), v.Offset()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *DDPTagged) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.DDPTaggedLen)
	if err != nil {
		return err
	}
	h.write(room, true)
	v := wire.DDPTagged(room)
	v.SetSTag(h.STag)
	v.SetOffset(h.Offset)
	return nil
}
