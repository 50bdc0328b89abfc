package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The layer that found the error of a Terminate.
const (
	TermLayerRDMAP = wire.TermLayerRDMAP
	TermLayerDDP   = wire.TermLayerDDP
	TermLayerLLP   = wire.TermLayerLLP
)

// Terminate is the control part of a Terminate message (RFC 5040, 4.8). Its
// Payload is the headers in error that it quotes: a DDP header if HasDDP, then
// a Read Request if HasRDMAP.
type Terminate struct {
	BaseLayer
	Layer           uint8  // TermLayerRDMAP and so on, 4 bits
	Type            uint8  // error type of that layer, 4 bits
	Code            uint8  // error code of that type
	SegmentLenValid bool   // M: SegmentLen counts
	HasDDP          bool   // D: a DDP header follows
	HasRDMAP        bool   // R: a Read Request follows
	SegmentLen      uint16 // bytes of the DDP segment in error; there if M or D
}

// LayerType returns LayerTypeTerminate.
func (*Terminate) LayerType() gopacket.LayerType { return LayerTypeTerminate }

// CanDecode returns LayerTypeTerminate.
func (*Terminate) CanDecode() gopacket.LayerClass { return LayerTypeTerminate }

// NextLayerType is Payload: headers that are quoted are not layers of this
// packet.
func (h *Terminate) NextLayerType() gopacket.LayerType { return payloadOrEnd(h.Payload) }

// DecodeFromBytes reads the control part that begins data.
func (h *Terminate) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeTerminate, data, wire.RDMAPTerminateLen, df); err != nil {
		return err
	}
	v := wire.RDMAPTerminateHeader(data)
	if h.BaseLayer, err = split(LayerTypeTerminate, data, v.Len(), df); err != nil {
		return err
	}
	h.Layer, h.Type, h.Code = v.Layer(), v.Type(), v.Code()
	h.SegmentLenValid, h.HasDDP, h.HasRDMAP = v.SegmentLenValid(), v.HasDDP(), v.HasRDMAP()
	h.SegmentLen = 0
	if v.Len() == wire.RDMAPTerminateWithSegLen {
		h.SegmentLen = v.SegmentLen()
	}
	return nil
}

// CodeName says the decoded error in words, "" for an undefined one.
func (h *Terminate) CodeName() string {
	var v [wire.RDMAPTerminateWithSegLen]byte
	h.write(v[:])
	return wire.RDMAPTerminateHeader(v[:]).CodeName()
}

func (h *Terminate) write(v wire.RDMAPTerminateHeader) {
	v.SetLayer(h.Layer)
	v.SetType(h.Type)
	v.SetCode(h.Code)
	v.SetSegmentLenValid(h.SegmentLenValid)
	v.SetHasDDP(h.HasDDP)
	v.SetHasRDMAP(h.HasRDMAP)
	if h.SegmentLenValid || h.HasDDP {
		v.SetSegmentLen(h.SegmentLen)
	}
}

// SerializeTo writes the control part before what b holds.
func (h *Terminate) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	n := wire.RDMAPTerminateLen
	if h.SegmentLenValid || h.HasDDP {
		n = wire.RDMAPTerminateWithSegLen
	}
	room, err := prepend(b, n)
	if err != nil {
		return err
	}
	h.write(room)
	return nil
}
