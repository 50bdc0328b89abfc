package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMSidrReq is a ServiceIDResReq (IBTA vol. 1, 12.11.1).
type CMSidrReq struct {
	BaseLayer
	RequestID   uint32 // sender's request ID
	PKey        uint16 // partition key
	ServiceID   uint64 // service that is asked for
	PrivateData []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMSidrReq.
func (*CMSidrReq) LayerType() gopacket.LayerType { return LayerTypeCMSidrReq }

// CanDecode returns LayerTypeCMSidrReq.
func (*CMSidrReq) CanDecode() gopacket.LayerClass { return LayerTypeCMSidrReq }

// NextLayerType is none.
func (*CMSidrReq) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMSidrReq) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMSidrReq, data, wire.CMSidrReqLen, df); err != nil {
		return err
	}
	v := wire.CMSidrReq(data)
	h.RequestID = v.RequestID()
	h.PKey = v.PKey()
	h.ServiceID = v.ServiceID()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMSidrReq) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMSidrReq, wire.CMSidrReqLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMSidrReq(room)
	v.SetRequestID(h.RequestID)
	v.SetPKey(h.PKey)
	v.SetServiceID(h.ServiceID)
	return nil
}
