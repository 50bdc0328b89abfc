package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// ReadRequest is the body of an RDMA Read Request (RFC 5040, 4.4).
type ReadRequest struct {
	BaseLayer
	SinkSTag     uint32 // STag of the buffer that the data goes to
	SinkOffset   uint64 // tagged offset there, in bytes
	Size         uint32 // how many bytes to read
	SourceSTag   uint32 // STag of the buffer that the data comes from
	SourceOffset uint64 // tagged offset there, in bytes
}

// LayerType returns LayerTypeReadRequest.
func (*ReadRequest) LayerType() gopacket.LayerType { return LayerTypeReadRequest }

// CanDecode returns LayerTypeReadRequest.
func (*ReadRequest) CanDecode() gopacket.LayerClass { return LayerTypeReadRequest }

// NextLayerType is Payload if anything follows; nothing should.
func (h *ReadRequest) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the body that begins data.
func (h *ReadRequest) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeReadRequest, data, wire.RDMAPReadRequestLen, df); err != nil {
		return err
	}
	v := wire.RDMAPReadRequestHeader(data)
	h.SinkSTag = v.SinkSTag()
	h.SinkOffset = v.SinkOffset()
	h.Size = v.Size()
	h.SourceSTag = v.SourceSTag()
	h.SourceOffset = v.SourceOffset()
	return nil
}

// SerializeTo writes the body before what b holds.
func (h *ReadRequest) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RDMAPReadRequestLen)
	if err != nil {
		return err
	}
	v := wire.RDMAPReadRequestHeader(room)
	v.SetSinkSTag(h.SinkSTag)
	v.SetSinkOffset(h.SinkOffset)
	v.SetSize(h.Size)
	v.SetSourceSTag(h.SourceSTag)
	v.SetSourceOffset(h.SourceOffset)
	return nil
}
