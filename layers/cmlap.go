package layers

import (
	"net/netip"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMLap is a LoadAlternatePath (IBTA vol. 1, 12.8.1).
type CMLap struct {
	BaseLayer
	LocalCommID           uint32     // sender's communication ID
	RemoteCommID          uint32     // receiver's communication ID
	RemoteQPN             uint32     // receiver's queue pair, or its end-to-end context
	RemoteResponseTimeout uint8      // time within which the receiver is to answer, 4.096 us times two to this power
	LocalLID              uint16     // sender's LID on the alternate path
	RemoteLID             uint16     // receiver's LID on the alternate path
	LocalGID              netip.Addr // sender's GID on the alternate path
	RemoteGID             netip.Addr // receiver's GID on the alternate path
	FlowLabel             uint32     // flow label
	TrafficClass          uint8      // traffic class
	HopLimit              uint8      // hop limit
	PacketRate            uint8      // static rate code
	SL                    uint8      // service level
	SubnetLocal           bool       // bit that says that the path stays in one subnet
	LocalACKTimeout       uint8      // sender's ACK timeout, 4.096 us times two to this power
	PrivateData           []byte     // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMLap.
func (*CMLap) LayerType() gopacket.LayerType { return LayerTypeCMLap }

// CanDecode returns LayerTypeCMLap.
func (*CMLap) CanDecode() gopacket.LayerClass { return LayerTypeCMLap }

// NextLayerType is none.
func (*CMLap) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMLap) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMLap, data, wire.CMLapLen, df); err != nil {
		return err
	}
	v := wire.CMLap(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.RemoteQPN = v.RemoteQPN()
	h.RemoteResponseTimeout = v.RemoteResponseTimeout()
	h.LocalLID = v.LocalLID()
	h.RemoteLID = v.RemoteLID()
	h.LocalGID = v.LocalGID()
	h.RemoteGID = v.RemoteGID()
	h.FlowLabel = v.FlowLabel()
	h.TrafficClass = v.TrafficClass()
	h.HopLimit = v.HopLimit()
	h.PacketRate = v.PacketRate()
	h.SL = v.SL()
	h.SubnetLocal = v.SubnetLocal()
	h.LocalACKTimeout = v.LocalACKTimeout()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMLap) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMLap, wire.CMLapLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMLap(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetRemoteQPN(h.RemoteQPN)
	v.SetRemoteResponseTimeout(h.RemoteResponseTimeout)
	v.SetLocalLID(h.LocalLID)
	v.SetRemoteLID(h.RemoteLID)
	v.SetLocalGID(h.LocalGID)
	v.SetRemoteGID(h.RemoteGID)
	v.SetFlowLabel(h.FlowLabel)
	v.SetTrafficClass(h.TrafficClass)
	v.SetHopLimit(h.HopLimit)
	v.SetPacketRate(h.PacketRate)
	v.SetSL(h.SL)
	v.SetSubnetLocal(h.SubnetLocal)
	v.SetLocalACKTimeout(h.LocalACKTimeout)
	return nil
}
