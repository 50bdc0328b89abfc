package layers

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// NextHeaderBTH is the NextHeader of a GRH before a BTH.
const NextHeaderBTH = wire.NextHeaderBTH

// GRH is a global route header (IBTA vol. 1, 8.3), of native InfiniBand and of
// RoCEv1. Its layout is that of an IPv6 header.
type GRH struct {
	BaseLayer
	IPVersion    uint8      // 6
	TrafficClass uint8      // holds the ECN bits
	FlowLabel    uint32     // 20 bits
	PayloadLen   uint16     // bytes from behind the GRH to the end of the ICRC
	NextHeader   uint8      // NextHeaderBTH
	HopLimit     uint8      // routers count it down
	SGID, DGID   netip.Addr // global identifiers of source and destination
}

// LayerType returns LayerTypeGRH.
func (*GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode returns LayerTypeGRH.
func (*GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

// NextLayerType is BTH, or Payload when version or next header say otherwise.
func (h *GRH) NextLayerType() gopacket.LayerType {
	if h.IPVersion != 6 || h.NextHeader != NextHeaderBTH {
		return payloadOrEnd(h.Payload)
	}
	return LayerTypeBTH
}

// NetworkFlow goes from the source to the destination GID.
func (h *GRH) NetworkFlow() gopacket.Flow {
	src, dst := h.SGID.As16(), h.DGID.As16()
	return gopacket.NewFlow(EndpointGID, src[:], dst[:])
}

// DecodeFromBytes reads the header that begins data. Its Payload ends where
// PayloadLen says: an Ethernet pad or an FCS may follow.
func (h *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeGRH, data, wire.GRHLen, df); err != nil {
		return err
	}
	v := wire.GRH(data)
	h.IPVersion, h.TrafficClass, h.FlowLabel = v.Version(), v.TClass(), v.FlowLabel()
	h.PayloadLen, h.NextHeader, h.HopLimit = uint16(v.PayLen()), v.NextHeader(), v.HopLimit()
	h.SGID, h.DGID = v.SGID(), v.DGID()
	h.Payload = clip(h.Payload, v.PayLen(), df)
	return nil
}

// SerializeTo writes the header before what b holds. With FixLengths it counts
// PayloadLen.
func (h *GRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if n := len(b.Bytes()); opts.FixLengths {
		if n > math.MaxUint16 {
			return fmt.Errorf("%v: payload of %d bytes is too long", LayerTypeGRH, n)
		}
		h.PayloadLen = uint16(n)
	}
	room, err := prepend(b, wire.GRHLen)
	if err != nil {
		return err
	}
	v := wire.GRH(room)
	v.SetVersion(h.IPVersion)
	v.SetTClass(h.TrafficClass)
	v.SetFlowLabel(h.FlowLabel)
	v.SetPayLen(int(h.PayloadLen))
	v.SetNextHeader(h.NextHeader)
	v.SetHopLimit(h.HopLimit)
	v.SetSGID(h.SGID)
	v.SetDGID(h.DGID)
	return nil
}

func decodeGRH(data []byte, p gopacket.PacketBuilder) error {
	h := new(GRH)
	if err := h.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(h)
	p.SetNetworkLayer(h)
	return next(p, h.NextLayerType())
}

func formatGID(b []byte) string {
	gid, _ := netip.AddrFromSlice(b) // an endpoint of another length prints as invalid
	return gid.String()
}
