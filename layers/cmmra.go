package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMMra is a MsgRcptAck (IBTA vol. 1, 12.6.6).
type CMMra struct {
	BaseLayer
	LocalCommID    uint32 // sender's communication ID
	RemoteCommID   uint32 // receiver's communication ID
	Message        uint8  // message that was received: 0 a REQ, 1 a REP, 2 a LAP
	ServiceTimeout uint8  // time that the sender asks for, 4.096 us times two to this power
	PrivateData    []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMMra.
func (*CMMra) LayerType() gopacket.LayerType { return LayerTypeCMMra }

// CanDecode returns LayerTypeCMMra.
func (*CMMra) CanDecode() gopacket.LayerClass { return LayerTypeCMMra }

// NextLayerType is none.
func (*CMMra) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMMra) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMMra, data, wire.CMMraLen, df); err != nil {
		return err
	}
	v := wire.CMMra(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.Message = v.Message()
	h.ServiceTimeout = v.ServiceTimeout()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMMra) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMMra, wire.CMMraLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMMra(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetMessage(h.Message)
	v.SetServiceTimeout(h.ServiceTimeout)
	return nil
}
