package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// ICRC is the invariant CRC that ends a packet (IBTA vol. 1, 7.8.1).
type ICRC struct {
	BaseLayer
	Value uint32 // as icrc.Compute returns it
}

// LayerType returns LayerTypeICRC.
func (*ICRC) LayerType() gopacket.LayerType { return LayerTypeICRC }

// CanDecode returns LayerTypeICRC.
func (*ICRC) CanDecode() gopacket.LayerClass { return LayerTypeICRC }

// NextLayerType is none.
func (*ICRC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the ICRC that data begins with.
func (h *ICRC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeICRC, data, wire.ICRCLen, df); err != nil {
		return err
	}
	h.read()
	return nil
}

func (h *ICRC) read() { h.Value = icrc.Load(h.Contents) }

// SerializeTo writes Value before what b holds. The right value depends on the
// outer headers, which are written later: see FixICRC.
func (h *ICRC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.ICRCLen)
	if err != nil {
		return err
	}
	icrc.Store(room, h.Value)
	return nil
}

// FixICRC stores the right ICRC into a serialised Ethernet frame, in place:
// call it with the bytes of the buffer after gopacket.SerializeLayers. For a
// packet that begins with an LRH use icrc.PatchIB.
func FixICRC(frame []byte) error { return icrc.Patch(frame) }
