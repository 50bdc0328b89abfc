package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The types and flags of an RMPP header.
const (
	RMPPNone   = wire.RMPPNone // not part of a transaction
	RMPPData   = wire.RMPPData
	RMPPAck    = wire.RMPPAck
	RMPPStop   = wire.RMPPStop
	RMPPAbort  = wire.RMPPAbort
	RMPPActive = wire.RMPPActive
	RMPPFirst  = wire.RMPPFirst
	RMPPLast   = wire.RMPPLast
)

// RMPP is the header of the reliable multi-packet transaction protocol (IBTA
// vol. 1, 13.6.2.1).
type RMPP struct {
	BaseLayer
	Version      uint8  // 1
	Type         uint8  // RMPPData and so on
	ResponseTime uint8  // 4.096 us times two to this power; 31 for none
	Flags        uint8  // set of RMPPActive, RMPPFirst, RMPPLast
	Status       uint8  // 0, or why a STOP or an ABORT was sent
	Data1        uint32 // segment number of DATA and ACK
	Data2        uint32 // payload length in bytes of DATA, last segment of the window of ACK
}

// LayerType returns LayerTypeRMPP.
func (*RMPP) LayerType() gopacket.LayerType { return LayerTypeRMPP }

// CanDecode returns LayerTypeRMPP.
func (*RMPP) CanDecode() gopacket.LayerClass { return LayerTypeRMPP }

// NextLayerType is SA, the class that always has this header; MADData behind a
// STOP or an ABORT.
func (h *RMPP) NextLayerType() gopacket.LayerType {
	switch {
	case len(h.Payload) == 0:
		return gopacket.LayerTypeZero
	case h.Flags&RMPPActive != 0 && (h.Type == RMPPStop || h.Type == RMPPAbort):
		return LayerTypeMADData
	}
	return LayerTypeSA
}

// DecodeFromBytes reads the header that begins data.
func (h *RMPP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeRMPP, data, wire.RMPPLen, df); err != nil {
		return err
	}
	v := wire.RMPP(data)
	h.Version, h.Type, h.ResponseTime = v.Version(), v.Type(), v.ResponseTime()
	h.Flags, h.Status, h.Data1, h.Data2 = v.Flags(), v.Status(), v.Data1(), v.Data2()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *RMPP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.RMPPLen)
	if err != nil {
		return err
	}
	v := wire.RMPP(room)
	v.SetVersion(h.Version)
	v.SetType(h.Type)
	v.SetResponseTime(h.ResponseTime)
	v.SetFlags(h.Flags)
	v.SetStatus(h.Status)
	v.SetData1(h.Data1)
	v.SetData2(h.Data2)
	return nil
}
