package layers

import "github.com/google/gopacket"

// MADData is what follows the common header of a management datagram whose
// class has no layer of its own, or what could not be read.
type MADData struct {
	BaseLayer
	Data []byte
}

// LayerType returns LayerTypeMADData.
func (*MADData) LayerType() gopacket.LayerType { return LayerTypeMADData }

// CanDecode returns LayerTypeMADData.
func (*MADData) CanDecode() gopacket.LayerClass { return LayerTypeMADData }

// NextLayerType is none.
func (*MADData) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes takes all of data.
func (h *MADData) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	h.BaseLayer, h.Data = BaseLayer{Contents: data}, data
	return nil
}

// SerializeTo writes Data before what b holds.
func (h *MADData) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prependCopy(b, h.Data)
}
