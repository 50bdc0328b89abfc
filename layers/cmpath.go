package layers

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMPath is a path in a CMReq (IBTA vol. 1, 12.7): local is the sender's end.
type CMPath struct {
	LocalLID        uint16     // sender's LID
	RemoteLID       uint16     // receiver's LID
	LocalGID        netip.Addr // sender's GID
	RemoteGID       netip.Addr // receiver's GID
	FlowLabel       uint32     // flow label
	PacketRate      uint8      // static rate code
	TrafficClass    uint8      // traffic class
	HopLimit        uint8      // hop limit
	SL              uint8      // service level
	SubnetLocal     bool       // bit that says that the path stays in one subnet
	LocalACKTimeout uint8      // sender's ACK timeout, 4.096 us times two to this power
}

func readCMPath(v wire.CMPath) CMPath {
	return CMPath{
		LocalLID:        v.LocalLID(),
		RemoteLID:       v.RemoteLID(),
		LocalGID:        v.LocalGID(),
		RemoteGID:       v.RemoteGID(),
		FlowLabel:       v.FlowLabel(),
		PacketRate:      v.PacketRate(),
		TrafficClass:    v.TrafficClass(),
		HopLimit:        v.HopLimit(),
		SL:              v.SL(),
		SubnetLocal:     v.SubnetLocal(),
		LocalACKTimeout: v.LocalACKTimeout(),
	}
}

func (p *CMPath) write(v wire.CMPath) {
	v.SetLocalLID(p.LocalLID)
	v.SetRemoteLID(p.RemoteLID)
	v.SetLocalGID(p.LocalGID)
	v.SetRemoteGID(p.RemoteGID)
	v.SetFlowLabel(p.FlowLabel)
	v.SetPacketRate(p.PacketRate)
	v.SetTrafficClass(p.TrafficClass)
	v.SetHopLimit(p.HopLimit)
	v.SetSL(p.SL)
	v.SetSubnetLocal(p.SubnetLocal)
	v.SetLocalACKTimeout(p.LocalACKTimeout)
}
