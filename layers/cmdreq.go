package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMDreq is a DisconnectRequest (IBTA vol. 1, 12.6.10).
type CMDreq struct {
	BaseLayer
	LocalCommID  uint32 // sender's communication ID
	RemoteCommID uint32 // receiver's communication ID
	RemoteQPN    uint32 // receiver's queue pair, or its end-to-end context
	PrivateData  []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMDreq.
func (*CMDreq) LayerType() gopacket.LayerType { return LayerTypeCMDreq }

// CanDecode returns LayerTypeCMDreq.
func (*CMDreq) CanDecode() gopacket.LayerClass { return LayerTypeCMDreq }

// NextLayerType is none.
func (*CMDreq) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMDreq) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMDreq, data, wire.CMDreqLen, df); err != nil {
		return err
	}
	v := wire.CMDreq(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.RemoteQPN = v.RemoteQPN()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMDreq) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMDreq, wire.CMDreqLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMDreq(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetRemoteQPN(h.RemoteQPN)
	return nil
}
