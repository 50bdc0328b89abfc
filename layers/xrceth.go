package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// XRCETH is an XRC extended header (IBTA vol. 1, A14.3); every XRC request has one.
type XRCETH struct {
	BaseLayer
	SRQN uint32 // 24-bit number of the shared receive queue
}

// LayerType returns LayerTypeXRCETH.
func (*XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// CanDecode returns LayerTypeXRCETH.
func (*XRCETH) CanDecode() gopacket.LayerClass { return LayerTypeXRCETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *XRCETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *XRCETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeXRCETH, data, wire.XRCETHLen, df); err != nil {
		return err
	}
	v := wire.XRCETH(data)
	h.SRQN = v.SRQN()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *XRCETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.XRCETHLen)
	if err != nil {
		return err
	}
	v := wire.XRCETH(room)
	v.SetSRQN(h.SRQN)
	return nil
}
