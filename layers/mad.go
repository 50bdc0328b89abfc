package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// MADLen is the length of a management datagram.
const MADLen = wire.MADLen

// The management classes with layers of their own.
const (
	ClassSMPLID      = wire.ClassSMPLID      // SMP
	ClassSMPDirected = wire.ClassSMPDirected // SMP
	ClassSA          = wire.ClassSA          // RMPP, SA
	ClassPerf        = wire.ClassPerf        // PerfMgt
	ClassCM          = wire.ClassCM          // CMReq and so on
	ClassCC          = wire.ClassCC          // CC
)

// MAD is the common header of a management datagram (IBTA vol. 1, 13.4.3). Its
// Payload is what the class puts behind it, which Attributes shows field by
// field for every class that is known.
type MAD struct {
	BaseLayer
	BaseVersion       uint8  // 1
	Class             uint8  // management class
	ClassVersion      uint8  // version of the class
	Method            uint8  // the high bit marks a response
	Status            uint16 // of a response; bit 15 is D in a directed-route packet
	ClassSpecific     uint16 // hop pointer and hop count of a directed-route packet
	TransactionID     uint64 // the same in request and response
	AttributeID       uint16 // what the method applies to
	AttributeModifier uint32 // its meaning depends on the attribute

	whole []byte // header and payload
}

// LayerType returns LayerTypeMAD.
func (*MAD) LayerType() gopacket.LayerType { return LayerTypeMAD }

// CanDecode returns LayerTypeMAD.
func (*MAD) CanDecode() gopacket.LayerClass { return LayerTypeMAD }

// NextLayerType is the layer of the class, MADData for classes without one.
func (h *MAD) NextLayerType() gopacket.LayerType {
	switch {
	case len(h.Payload) == 0:
		return gopacket.LayerTypeZero
	case h.BaseVersion != wire.MADBaseVersion:
		return LayerTypeMADData
	}
	switch h.Class {
	case ClassSMPLID, ClassSMPDirected:
		return LayerTypeSMP
	case ClassSA:
		return LayerTypeRMPP
	case ClassPerf:
		return LayerTypePerfMgt
	case ClassCC:
		return LayerTypeCC
	case ClassCM:
		return cmLayerType(h.AttributeID)
	}
	return LayerTypeMADData
}

// DecodeFromBytes reads the header that begins data.
func (h *MAD) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeMAD, data, wire.MADHeaderLen, df); err != nil {
		return err
	}
	h.whole = data
	v := wire.MAD(data)
	h.BaseVersion, h.Class, h.ClassVersion = v.BaseVersion(), v.MgmtClass(), v.ClassVersion()
	h.Method, h.Status, h.ClassSpecific = v.Method(), v.Status(), v.ClassSpecific()
	h.TransactionID = v.TransactionID()
	h.AttributeID, h.AttributeModifier = v.AttributeID(), v.AttributeModifier()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *MAD) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.MADHeaderLen)
	if err != nil {
		return err
	}
	v := wire.MAD(room)
	v.SetBaseVersion(h.BaseVersion)
	v.SetMgmtClass(h.Class)
	v.SetClassVersion(h.ClassVersion)
	v.SetMethod(h.Method)
	v.SetStatus(h.Status)
	v.SetClassSpecific(h.ClassSpecific)
	v.SetTransactionID(h.TransactionID)
	v.SetAttributeID(h.AttributeID)
	v.SetAttributeModifier(h.AttributeModifier)
	return nil
}

// Summary says in one line what the decoded datagram is for:
// "SubnGet(NodeInfo)", say.
func (h *MAD) Summary() string { return string(wire.MADSummary(nil, h.whole)) }

// Attributes returns the parts behind the common header of the decoded
// datagram, outermost first.
func (h *MAD) Attributes() []Attribute {
	var s wire.Stack
	wire.ParseMAD(&s, h.whole)
	var parts []Attribute
	for _, part := range s.Headers() {
		captured := s.Bytes(part)
		if part.ID == wire.HdrMAD || len(captured) == 0 {
			continue
		}
		parts = append(parts, Attribute{wire.SpecOf(part.ID), captured})
	}
	return parts
}

func decodeMAD(data []byte, p gopacket.PacketBuilder) error {
	h := new(MAD)
	if err := h.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(h)
	return next(p, h.NextLayerType())
}

// addMAD adds a datagram and what is in it. It does not go through NextDecoder,
// because Pad and ICRC are still to follow. What can't be read stays MADData.
func addMAD(data []byte, p gopacket.PacketBuilder) {
	for t := LayerTypeMAD; t != gopacket.LayerTypeZero; {
		h := newMADLayer(t)
		if h.DecodeFromBytes(data, p) != nil {
			h = new(MADData)
			_ = h.DecodeFromBytes(data, p) // takes any bytes
		}
		p.AddLayer(h)
		data, t = h.LayerPayload(), h.NextLayerType()
	}
}

func newMADLayer(t gopacket.LayerType) decodingLayer {
	switch t {
	case LayerTypeMAD:
		return new(MAD)
	case LayerTypeRMPP:
		return new(RMPP)
	case LayerTypeSMP:
		return new(SMP)
	case LayerTypeSA:
		return new(SA)
	case LayerTypePerfMgt:
		return new(PerfMgt)
	case LayerTypeCC:
		return new(CC)
	case LayerTypeMADData:
		return new(MADData)
	}
	return newCMLayer(t)
}
