package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// SA is the header of a subnet administration packet, behind its RMPP header,
// with its records (IBTA vol. 1, 15.2.1). MAD.Attributes reads the records.
type SA struct {
	BaseLayer
	SMKey           uint64 // key of the subnet manager
	AttributeOffset uint16 // distance of the records in units of 8 bytes
	ComponentMask   uint64 // bit n: component n of the record counts
	Data            []byte // records
}

// LayerType returns LayerTypeSA.
func (*SA) LayerType() gopacket.LayerType { return LayerTypeSA }

// CanDecode returns LayerTypeSA.
func (*SA) CanDecode() gopacket.LayerClass { return LayerTypeSA }

// NextLayerType is none.
func (*SA) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads all of data.
func (h *SA) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	base, err := split(LayerTypeSA, data, wire.SALen, df)
	if err != nil {
		return err
	}
	h.BaseLayer, h.Data = BaseLayer{Contents: data}, base.Payload
	v := wire.SA(data)
	h.SMKey, h.AttributeOffset, h.ComponentMask = v.SMKey(), v.AttributeOffset(), v.ComponentMask()
	return nil
}

// SerializeTo writes header and Data before what b holds.
func (h *SA) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if err := prependCopy(b, h.Data); err != nil {
		return err
	}
	room, err := prepend(b, wire.SALen)
	if err != nil {
		return err
	}
	v := wire.SA(room)
	v.SetSMKey(h.SMKey)
	v.SetAttributeOffset(h.AttributeOffset)
	v.SetComponentMask(h.ComponentMask)
	return nil
}
