package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// RETH is an RDMA extended header (IBTA vol. 1, 9.3.3).
type RETH struct {
	BaseLayer
	VA     uint64 // virtual address
	RKey   uint32 // remote key
	DMALen uint32 // length of the whole operation in bytes
}

// LayerType returns LayerTypeRETH.
func (*RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// CanDecode returns LayerTypeRETH.
func (*RETH) CanDecode() gopacket.LayerClass { return LayerTypeRETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *RETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *RETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeRETH, data, wire.RETHLen, df); err != nil {
		return err
	}
	v := wire.RETH(data)
	h.VA = v.VA()
	h.RKey = v.RKey()
	h.DMALen = v.DMALen()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *RETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RETHLen)
	if err != nil {
		return err
	}
	v := wire.RETH(room)
	v.SetVA(h.VA)
	v.SetRKey(h.RKey)
	v.SetDMALen(h.DMALen)
	return nil
}
