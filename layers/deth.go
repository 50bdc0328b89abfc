package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// QKeyQP1 is the Q_Key of datagrams to the well-known queue pair 1.
const QKeyQP1 = wire.QKeyQP1

// DETH is a datagram extended header (IBTA vol. 1, 9.3.2).
type DETH struct {
	BaseLayer
	QKey  uint32 // queue key
	SrcQP uint32 // 24-bit number of the sending queue pair
}

// LayerType returns LayerTypeDETH.
func (*DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// CanDecode returns LayerTypeDETH.
func (*DETH) CanDecode() gopacket.LayerClass { return LayerTypeDETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *DETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *DETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeDETH, data, wire.DETHLen, df); err != nil {
		return err
	}
	v := wire.DETH(data)
	h.QKey = v.QKey()
	h.SrcQP = v.SrcQP()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *DETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.DETHLen)
	if err != nil {
		return err
	}
	v := wire.DETH(room)
	v.SetQKey(h.QKey)
	v.SetSrcQP(h.SrcQP)
	return nil
}
