package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMRtu is a ReadyToUse (IBTA vol. 1, 12.6.9).
type CMRtu struct {
	BaseLayer
	LocalCommID  uint32 // sender's communication ID
	RemoteCommID uint32 // receiver's communication ID
	PrivateData  []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMRtu.
func (*CMRtu) LayerType() gopacket.LayerType { return LayerTypeCMRtu }

// CanDecode returns LayerTypeCMRtu.
func (*CMRtu) CanDecode() gopacket.LayerClass { return LayerTypeCMRtu }

// NextLayerType is none.
func (*CMRtu) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMRtu) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMRtu, data, wire.CMRtuLen, df); err != nil {
		return err
	}
	v := wire.CMRtu(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMRtu) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMRtu, wire.CMRtuLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMRtu(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	return nil
}
