package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMDrep is a DisconnectReply (IBTA vol. 1, 12.6.11).
type CMDrep struct {
	BaseLayer
	LocalCommID  uint32 // sender's communication ID
	RemoteCommID uint32 // receiver's communication ID
	PrivateData  []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMDrep.
func (*CMDrep) LayerType() gopacket.LayerType { return LayerTypeCMDrep }

// CanDecode returns LayerTypeCMDrep.
func (*CMDrep) CanDecode() gopacket.LayerClass { return LayerTypeCMDrep }

// NextLayerType is none.
func (*CMDrep) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMDrep) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMDrep, data, wire.CMDrepLen, df); err != nil {
		return err
	}
	v := wire.CMDrep(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMDrep) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMDrep, wire.CMDrepLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMDrep(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	return nil
}
