package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The selectivity levels of a FLUSH.
const (
	FlushRange  = wire.FlushRange  // the memory range of the RETH
	FlushRegion = wire.FlushRegion // the whole memory region
)

// The placement bits of a FLUSH.
const (
	FlushGlobal     = wire.FlushGlobal     // global visibility
	FlushPersistent = wire.FlushPersistent // persistence
)

// FETH is a flush extended header (IBTA A19.4.1).
type FETH struct {
	BaseLayer
	Selectivity uint8 // FlushRange or FlushRegion
	Placement   uint8 // set of FlushGlobal and FlushPersistent
}

// LayerType returns LayerTypeFETH.
func (*FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// CanDecode returns LayerTypeFETH.
func (*FETH) CanDecode() gopacket.LayerClass { return LayerTypeFETH }

// NextLayerType is Payload: only the BTH's opcode tells whether another header
// follows. RoCE and NewPacket know it.
func (h *FETH) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the header that begins data.
func (h *FETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeFETH, data, wire.FETHLen, df); err != nil {
		return err
	}
	v := wire.FETH(data)
	h.Selectivity = v.Selectivity()
	h.Placement = v.Placement()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *FETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.FETHLen)
	if err != nil {
		return err
	}
	v := wire.FETH(room)
	v.SetSelectivity(h.Selectivity)
	v.SetPlacement(h.Placement)
	return nil
}
