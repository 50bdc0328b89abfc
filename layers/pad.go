package layers

import "github.com/google/gopacket"

// Pad is the 1 to 3 bytes that fill the payload up to a multiple of four bytes
// (IBTA vol. 1, 9.2.5). The ICRC covers them. Contents holds them.
type Pad struct{ BaseLayer }

// LayerType returns LayerTypePad.
func (*Pad) LayerType() gopacket.LayerType { return LayerTypePad }

// CanDecode returns LayerTypePad.
func (*Pad) CanDecode() gopacket.LayerClass { return LayerTypePad }

// NextLayerType is none.
func (*Pad) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes takes all of data for pad.
func (h *Pad) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	h.BaseLayer = BaseLayer{Contents: data}
	return nil
}

// SerializeTo writes Contents before what b holds. With FixLengths it writes
// nothing: the BTH then writes the pad that the payload needs.
func (h *Pad) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		return nil
	}
	return prependCopy(b, h.Contents)
}
