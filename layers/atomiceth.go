package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// AtomicETH is an atomic extended header (IBTA vol. 1, 9.3.4).
type AtomicETH struct {
	BaseLayer
	VA      uint64 // virtual address
	RKey    uint32 // remote key
	SwapAdd uint64 // value to swap in, or to add
	Compare uint64 // value to compare with; unused by Fetch Add
}

// LayerType returns LayerTypeAtomicETH.
func (*AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// CanDecode returns LayerTypeAtomicETH.
func (*AtomicETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *AtomicETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *AtomicETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeAtomicETH, data, wire.AtomicETHLen, df); err != nil {
		return err
	}
	v := wire.AtomicETH(data)
	h.VA = v.VA()
	h.RKey = v.RKey()
	h.SwapAdd = v.SwapAdd()
	h.Compare = v.Compare()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *AtomicETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.AtomicETHLen)
	if err != nil {
		return err
	}
	v := wire.AtomicETH(room)
	v.SetVA(h.VA)
	v.SetRKey(h.RKey)
	v.SetSwapAdd(h.SwapAdd)
	v.SetCompare(h.Compare)
	return nil
}
