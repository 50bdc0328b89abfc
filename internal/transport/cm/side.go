package cm

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Side is what one side tells the other about its queue pair, in a REQ or REP.
type Side struct {
	QPN  uint32
	EECN uint32 // instead of QPN, of an XRC target
	QKey uint32
	// StartingPSN is what the other side begins with, and this queue pair expects.
	StartingPSN        wire.PSN
	ResponderResources uint8 // READs and atomics it takes at a time
	InitiatorDepth     uint8 // READs and atomics it wants to have outstanding
	RNRRetryCount      uint8 // how often the other queue pair is to try again; 7 is for ever
	FlowControl        bool  // end to end
	SRQ                bool
	VendorID           uint32 // Linux's enhanced connection establishment
}

// number is how the other side names the queue pair.
func (s *Side) number() uint32 {
	if s.QPN == 0 {
		return s.EECN
	}
	return s.QPN
}

// Terms is what else a REQ says about a connection.
type Terms struct {
	Transport  uint8 // wire.TransportRC, ...
	Extended   uint8 // for wire.TransportExtended
	PathMTU    uint8 // code: 1 is 256 bytes, 5 is 4096
	RetryCount uint8
	PKey       uint16
	Primary    Path
	Alternate  Path // the zero Path is none
}

// Path is a path as the one who has it sees it.
type Path struct {
	LocalGID, RemoteGID netip.Addr
	LocalLID, RemoteLID uint16
	FlowLabel           uint32
	Rate                uint8
	TrafficClass        uint8
	HopLimit            uint8
	SL                  uint8
	SubnetLocal         bool
	ACKTimeout          uint8 // code; 0 in a Request is what follows from the Config
}

// permissiveLID is the LID of a RoCE port, which has none (Linux cma.c).
const permissiveLID = 0xFFFF

// RoCEPath is a RoCE v2 path as Linux describes it.
func RoCEPath(local, remote netip.Addr) Path {
	return Path{
		LocalGID: local, RemoteGID: remote,
		LocalLID: permissiveLID, RemoteLID: permissiveLID,
		HopLimit: 64,
	}
}

func (p *Path) write(to wire.CMPath) {
	to.SetLocalLID(p.LocalLID)
	to.SetRemoteLID(p.RemoteLID)
	to.SetLocalGID(p.LocalGID)
	to.SetRemoteGID(p.RemoteGID)
	to.SetFlowLabel(p.FlowLabel)
	to.SetPacketRate(p.Rate)
	to.SetTrafficClass(p.TrafficClass)
	to.SetHopLimit(p.HopLimit)
	to.SetSL(p.SL)
	to.SetSubnetLocal(p.SubnetLocal)
	to.SetLocalACKTimeout(p.ACKTimeout)
}

// readPath turns a path that a REQ names round: what is remote to its sender is
// local here.
func readPath(from wire.CMPath) Path {
	return Path{
		LocalGID: from.RemoteGID(), RemoteGID: from.LocalGID(),
		LocalLID: from.RemoteLID(), RemoteLID: from.LocalLID(),
		FlowLabel:    from.FlowLabel(),
		Rate:         from.PacketRate(),
		TrafficClass: from.TrafficClass(),
		HopLimit:     from.HopLimit(),
		SL:           from.SL(),
		SubnetLocal:  from.SubnetLocal(),
		ACKTimeout:   from.LocalACKTimeout(),
	}
}

// defaultPKey is the default partition, with full membership.
const defaultPKey = 0xFFFF

// withDefault is the partition that a zero P_Key, which is not valid, means.
func withDefault(pkey uint16) uint16 {
	if pkey == 0 {
		return defaultPKey
	}
	return pkey
}
