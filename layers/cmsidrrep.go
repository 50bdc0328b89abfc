package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMSidrRep is a ServiceIDResReqResp (IBTA vol. 1, 12.11.2).
type CMSidrRep struct {
	BaseLayer
	RequestID   uint32   // ID of the request that is answered
	Status      uint8    // outcome, 0 for a valid queue pair
	InfoLength  uint8    // number of bytes of additional information that count
	QPN         uint32   // queue pair of the service
	ServiceID   uint64   // service
	QKey        uint32   // Q_Key of the service
	VendorID    uint32   // vendor ID, 0 for none
	Info        [72]byte // where to ask instead, when redirected (ClassPortInfo)
	PrivateData []byte   // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMSidrRep.
func (*CMSidrRep) LayerType() gopacket.LayerType { return LayerTypeCMSidrRep }

// CanDecode returns LayerTypeCMSidrRep.
func (*CMSidrRep) CanDecode() gopacket.LayerClass { return LayerTypeCMSidrRep }

// NextLayerType is none.
func (*CMSidrRep) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMSidrRep) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMSidrRep, data, wire.CMSidrRepLen, df); err != nil {
		return err
	}
	v := wire.CMSidrRep(data)
	h.RequestID = v.RequestID()
	h.Status = v.Status()
	h.InfoLength = v.InfoLength()
	h.QPN = v.QPN()
	h.ServiceID = v.ServiceID()
	h.QKey = v.QKey()
	h.VendorID = v.VendorID()
	copy(h.Info[:], v.Info())
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMSidrRep) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMSidrRep, wire.CMSidrRepLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMSidrRep(room)
	v.SetRequestID(h.RequestID)
	v.SetStatus(h.Status)
	v.SetInfoLength(h.InfoLength)
	v.SetQPN(h.QPN)
	v.SetServiceID(h.ServiceID)
	v.SetQKey(h.QKey)
	v.SetVendorID(h.VendorID)
	copy(v.Info(), h.Info[:])
	return nil
}
