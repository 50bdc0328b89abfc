package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// ImmDt is an immediate data header (IBTA vol. 1, 9.3.6).
type ImmDt struct {
	BaseLayer
	Data uint32 // immediate value
}

// LayerType returns LayerTypeImmDt.
func (*ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// CanDecode returns LayerTypeImmDt.
func (*ImmDt) CanDecode() gopacket.LayerClass { return LayerTypeImmDt }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *ImmDt) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *ImmDt) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeImmDt, data, wire.ImmDtLen, df); err != nil {
		return err
	}
	v := wire.ImmDt(data)
	h.Data = v.Data()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *ImmDt) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.ImmDtLen)
	if err != nil {
		return err
	}
	v := wire.ImmDt(room)
	v.SetData(h.Data)
	return nil
}
