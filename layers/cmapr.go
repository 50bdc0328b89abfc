package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMApr is an AlternatePathResponse (IBTA vol. 1, 12.8.2).
type CMApr struct {
	BaseLayer
	LocalCommID  uint32   // sender's communication ID
	RemoteCommID uint32   // receiver's communication ID
	InfoLength   uint8    // number of bytes of additional information that count
	Status       uint8    // outcome, 0 for an alternate path that was loaded
	Info         [72]byte // additional information
	PrivateData  []byte   // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMApr.
func (*CMApr) LayerType() gopacket.LayerType { return LayerTypeCMApr }

// CanDecode returns LayerTypeCMApr.
func (*CMApr) CanDecode() gopacket.LayerClass { return LayerTypeCMApr }

// NextLayerType is none.
func (*CMApr) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMApr) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMApr, data, wire.CMAprLen, df); err != nil {
		return err
	}
	v := wire.CMApr(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.InfoLength = v.InfoLength()
	h.Status = v.Status()
	copy(h.Info[:], v.Info())
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMApr) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMApr, wire.CMAprLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMApr(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetInfoLength(h.InfoLength)
	v.SetStatus(h.Status)
	copy(v.Info(), h.Info[:])
	return nil
}
