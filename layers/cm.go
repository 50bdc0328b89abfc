package layers

import (
	"fmt"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The attribute IDs of connection management messages, MAD.AttributeID.
const (
	CMAttrReq     = wire.CMAttrReq
	CMAttrMra     = wire.CMAttrMra
	CMAttrRej     = wire.CMAttrRej
	CMAttrRep     = wire.CMAttrRep
	CMAttrRtu     = wire.CMAttrRtu
	CMAttrDreq    = wire.CMAttrDreq
	CMAttrDrep    = wire.CMAttrDrep
	CMAttrSidrReq = wire.CMAttrSidrReq
	CMAttrSidrRep = wire.CMAttrSidrRep
	CMAttrLap     = wire.CMAttrLap
	CMAttrApr     = wire.CMAttrApr
)

// cmLayerType returns the layer type of a message, MADData for other
// attributes.
func cmLayerType(attr uint16) gopacket.LayerType {
	switch attr {
	case CMAttrReq:
		return LayerTypeCMReq
	case CMAttrMra:
		return LayerTypeCMMra
	case CMAttrRej:
		return LayerTypeCMRej
	case CMAttrRep:
		return LayerTypeCMRep
	case CMAttrRtu:
		return LayerTypeCMRtu
	case CMAttrDreq:
		return LayerTypeCMDreq
	case CMAttrDrep:
		return LayerTypeCMDrep
	case CMAttrSidrReq:
		return LayerTypeCMSidrReq
	case CMAttrSidrRep:
		return LayerTypeCMSidrRep
	case CMAttrLap:
		return LayerTypeCMLap
	case CMAttrApr:
		return LayerTypeCMApr
	}
	return LayerTypeMADData
}

func newCMLayer(t gopacket.LayerType) decodingLayer {
	switch t {
	case LayerTypeCMReq:
		return new(CMReq)
	case LayerTypeCMMra:
		return new(CMMra)
	case LayerTypeCMRej:
		return new(CMRej)
	case LayerTypeCMRep:
		return new(CMRep)
	case LayerTypeCMRtu:
		return new(CMRtu)
	case LayerTypeCMDreq:
		return new(CMDreq)
	case LayerTypeCMDrep:
		return new(CMDrep)
	case LayerTypeCMSidrReq:
		return new(CMSidrReq)
	case LayerTypeCMSidrRep:
		return new(CMSidrRep)
	case LayerTypeCMLap:
		return new(CMLap)
	default: // cmLayerType has no other
		return new(CMApr)
	}
}

// splitCM takes data for a message whose private data begin at n.
func splitCM(t gopacket.LayerType, data []byte, n int, df gopacket.DecodeFeedback) (BaseLayer, []byte, error) {
	base, err := split(t, data, n, df)
	if err != nil {
		return base, nil, err
	}
	return BaseLayer{Contents: data}, base.Payload, nil
}

// prependCM makes room for a message, writes its private data and leaves the n
// bytes before them to the caller.
func prependCM(b gopacket.SerializeBuffer, t gopacket.LayerType, n int, private []byte) ([]byte, error) {
	if most := wire.CMMessageLen - n; len(private) > most {
		return nil, fmt.Errorf("%v: %d bytes of private data, of at most %d", t, len(private), most)
	}
	room, err := prepend(b, wire.CMMessageLen)
	if err != nil {
		return nil, err
	}
	copy(room[n:], private)
	return room, nil
}
