package layers

import "github.com/google/gopacket"

// PerfMgt is what follows the common header of a performance management
// datagram: 40 reserved bytes and the attribute (IBTA vol. 1, 16.1.1).
// MAD.Attributes reads the counters.
type PerfMgt struct {
	BaseLayer
	Data []byte
}

// LayerType returns LayerTypePerfMgt.
func (*PerfMgt) LayerType() gopacket.LayerType { return LayerTypePerfMgt }

// CanDecode returns LayerTypePerfMgt.
func (*PerfMgt) CanDecode() gopacket.LayerClass { return LayerTypePerfMgt }

// NextLayerType is none.
func (*PerfMgt) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes takes all of data.
func (h *PerfMgt) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	h.BaseLayer, h.Data = BaseLayer{Contents: data}, data
	return nil
}

// SerializeTo writes Data before what b holds.
func (h *PerfMgt) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prependCopy(b, h.Data)
}
