package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// RWH is the raw header of a native InfiniBand raw packet (IBTA vol. 1, 5.3).
type RWH struct {
	BaseLayer
	EthernetType layers.EthernetType // type of what follows
}

// LayerType returns LayerTypeRWH.
func (*RWH) LayerType() gopacket.LayerType { return LayerTypeRWH }

// CanDecode returns LayerTypeRWH.
func (*RWH) CanDecode() gopacket.LayerClass { return LayerTypeRWH }

// NextLayerType is what EthernetType says.
func (h *RWH) NextLayerType() gopacket.LayerType { return h.EthernetType.LayerType() }

// DecodeFromBytes reads the header that begins data.
func (h *RWH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeRWH, data, wire.RWHLen, df); err != nil {
		return err
	}
	h.EthernetType = layers.EthernetType(wire.RWH(data).EtherType())
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *RWH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RWHLen)
	if err != nil {
		return err
	}
	wire.RWH(room).SetEtherType(uint16(h.EthernetType))
	return nil
}

// decodeRWH goes on by EtherType: gopacket has layers whose decoder is only
// known to its EtherType table.
func decodeRWH(data []byte, p gopacket.PacketBuilder) error {
	h := new(RWH)
	if err := h.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(h)
	return p.NextDecoder(h.EthernetType)
}
