package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// SMP is what follows the common header of a subnet management packet (IBTA
// vol. 1, 14.2.1): LID-routed, or directed from port to port. MAD.Attributes
// reads the attribute.
type SMP struct {
	BaseLayer
	MKey   uint64 // management key
	DrSLID uint16 // source LID of the directed part; 0 if LID-routed
	DrDLID uint16 // destination LID of the directed part
	Data   []byte // 64 bytes of attribute and, if directed, two paths of 64 bytes
}

// LayerType returns LayerTypeSMP.
func (*SMP) LayerType() gopacket.LayerType { return LayerTypeSMP }

// CanDecode returns LayerTypeSMP.
func (*SMP) CanDecode() gopacket.LayerClass { return LayerTypeSMP }

// NextLayerType is none.
func (*SMP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads all of data.
func (h *SMP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	base, err := split(LayerTypeSMP, data, wire.SMPLen, df)
	if err != nil {
		return err
	}
	h.BaseLayer, h.Data = BaseLayer{Contents: data}, base.Payload
	v := wire.SMP(data)
	h.MKey, h.DrSLID, h.DrDLID = v.MKey(), v.DrSLID(), v.DrDLID()
	return nil
}

// SerializeTo writes header and Data before what b holds.
func (h *SMP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if err := prependCopy(b, h.Data); err != nil {
		return err
	}
	room, err := prepend(b, wire.SMPLen)
	if err != nil {
		return err
	}
	v := wire.SMP(room)
	v.SetMKey(h.MKey)
	v.SetDrSLID(h.DrSLID)
	v.SetDrDLID(h.DrDLID)
	return nil
}
