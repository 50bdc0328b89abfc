package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// AETH is an ACK extended header (IBTA vol. 1, 9.3.5).
type AETH struct {
	BaseLayer
	Syndrome Syndrome // what is acknowledged, and how
	MSN      uint32   // messages completed by the responder, modulo 2^24
}

// LayerType returns LayerTypeAETH.
func (*AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// CanDecode returns LayerTypeAETH.
func (*AETH) CanDecode() gopacket.LayerClass { return LayerTypeAETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *AETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *AETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeAETH, data, wire.AETHLen, df); err != nil {
		return err
	}
	v := wire.AETH(data)
	h.Syndrome = v.Syndrome()
	h.MSN = v.MSN()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *AETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.AETHLen)
	if err != nil {
		return err
	}
	v := wire.AETH(room)
	v.SetSyndrome(h.Syndrome)
	v.SetMSN(h.MSN)
	return nil
}
