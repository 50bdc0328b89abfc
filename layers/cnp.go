package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CNP is the body of a congestion notification packet (IBTA A17.9.3).
type CNP struct {
	BaseLayer
	Reserved [wire.CNPLen]byte // zero
}

// LayerType returns LayerTypeCNP.
func (*CNP) LayerType() gopacket.LayerType { return LayerTypeCNP }

// CanDecode returns LayerTypeCNP.
func (*CNP) CanDecode() gopacket.LayerClass { return LayerTypeCNP }

// NextLayerType is Payload if anything follows; nothing should.
func (h *CNP) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the body that begins data.
func (h *CNP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeCNP, data, wire.CNPLen, df); err != nil {
		return err
	}
	copy(h.Reserved[:], data)
	return nil
}

// SerializeTo writes the body before what b holds.
func (h *CNP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prependCopy(b, h.Reserved[:])
}
