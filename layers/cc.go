package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CC is what follows the common header of a congestion control datagram (IBTA
// vol. 1, A10.4). MAD.Attributes reads the attribute.
type CC struct {
	BaseLayer
	CCKey uint64 // congestion control key
	Data  []byte // log data and attribute
}

// LayerType returns LayerTypeCC.
func (*CC) LayerType() gopacket.LayerType { return LayerTypeCC }

// CanDecode returns LayerTypeCC.
func (*CC) CanDecode() gopacket.LayerClass { return LayerTypeCC }

// NextLayerType is none.
func (*CC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads all of data.
func (h *CC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	base, err := split(LayerTypeCC, data, wire.CCLen, df)
	if err != nil {
		return err
	}
	h.BaseLayer, h.Data = BaseLayer{Contents: data}, base.Payload
	h.CCKey = wire.CC(data).Key()
	return nil
}

// SerializeTo writes header and Data before what b holds.
func (h *CC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if err := prependCopy(b, h.Data); err != nil {
		return err
	}
	room, err := prepend(b, wire.CCLen)
	if err != nil {
		return err
	}
	wire.CC(room).SetKey(h.CCKey)
	return nil
}
