package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMRej is a ConnectReject (IBTA vol. 1, 12.6.7).
type CMRej struct {
	BaseLayer
	LocalCommID     uint32 // sender's communication ID, 0 when it has none
	RemoteCommID    uint32 // receiver's communication ID
	MessageRejected uint8  // message that is refused: 0 a REQ, 1 a REP, 2 none
	Reason          uint16 // see ReasonName
	Info            []byte // additional reject information that counts; its length is written too
	PrivateData     []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMRej.
func (*CMRej) LayerType() gopacket.LayerType { return LayerTypeCMRej }

// CanDecode returns LayerTypeCMRej.
func (*CMRej) CanDecode() gopacket.LayerClass { return LayerTypeCMRej }

// NextLayerType is none.
func (*CMRej) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMRej) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMRej, data, wire.CMRejLen, df); err != nil {
		return err
	}
	v := wire.CMRej(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.MessageRejected = v.MessageRejected()
	h.Reason = v.Reason()
	h.Info = v.Info()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMRej) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMRej, wire.CMRejLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMRej(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetMessageRejected(h.MessageRejected)
	v.SetReason(h.Reason)
	v.SetInfoLength(uint8(len(h.Info)))
	copy(v.Info(), h.Info)
	return nil
}

// ReasonName says the reason in words, "" for an undefined one.
func (h *CMRej) ReasonName() string { return wire.CMRejReason(h.Reason) }
