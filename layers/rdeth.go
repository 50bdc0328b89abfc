package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// RDETH is a reliable datagram extended header (IBTA vol. 1, 9.3.1).
type RDETH struct {
	BaseLayer
	EEContext uint32 // 24-bit end-to-end context number
}

// LayerType returns LayerTypeRDETH.
func (*RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// CanDecode returns LayerTypeRDETH.
func (*RDETH) CanDecode() gopacket.LayerClass { return LayerTypeRDETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *RDETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *RDETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeRDETH, data, wire.RDETHLen, df); err != nil {
		return err
	}
	v := wire.RDETH(data)
	h.EEContext = v.EEContext()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *RDETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RDETHLen)
	if err != nil {
		return err
	}
	v := wire.RDETH(room)
	v.SetEEContext(h.EEContext)
	return nil
}
