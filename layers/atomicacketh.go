package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// AtomicAckETH is an atomic ACK extended header (IBTA vol. 1, 9.5.3).
type AtomicAckETH struct {
	BaseLayer
	Original uint64 // the memory's value before the operation
}

// LayerType returns LayerTypeAtomicAckETH.
func (*AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// CanDecode returns LayerTypeAtomicAckETH.
func (*AtomicAckETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicAckETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *AtomicAckETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *AtomicAckETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeAtomicAckETH, data, wire.AtomicAckETHLen, df); err != nil {
		return err
	}
	v := wire.AtomicAckETH(data)
	h.Original = v.Original()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *AtomicAckETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.AtomicAckETHLen)
	if err != nil {
		return err
	}
	v := wire.AtomicAckETH(room)
	v.SetOriginal(h.Original)
	return nil
}
