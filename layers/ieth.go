package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// IETH is an invalidate extended header (IBTA vol. 1, 9.3.7).
type IETH struct {
	BaseLayer
	RKey uint32 // remote key to invalidate
}

// LayerType returns LayerTypeIETH.
func (*IETH) LayerType() gopacket.LayerType { return LayerTypeIETH }

// CanDecode returns LayerTypeIETH.
func (*IETH) CanDecode() gopacket.LayerClass { return LayerTypeIETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *IETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *IETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeIETH, data, wire.IETHLen, df); err != nil {
		return err
	}
	v := wire.IETH(data)
	h.RKey = v.RKey()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *IETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.IETHLen)
	if err != nil {
		return err
	}
	v := wire.IETH(room)
	v.SetRKey(h.RKey)
	return nil
}
