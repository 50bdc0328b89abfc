package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// DDPUntagged is the header of a DDP segment for an untagged buffer (RFC 5041,
// 4.3): of every message but Write and Read Response.
type DDPUntagged struct {
	DDPControl
	InvalidateSTag uint32 // STag to invalidate; 0 for opcodes without one
	QN             uint32 // queue number
	MSN            uint32 // message sequence number, from 1 on
	MO             uint32 // offset of the segment in its message, in bytes
}

// LayerType returns LayerTypeDDPUntagged.
func (*DDPUntagged) LayerType() gopacket.LayerType { return LayerTypeDDPUntagged }

// CanDecode returns LayerTypeDDPUntagged.
func (*DDPUntagged) CanDecode() gopacket.LayerClass { return LayerTypeDDPUntagged }

// NextLayerType is what the opcode says.
func (h *DDPUntagged) NextLayerType() gopacket.LayerType {
	if len(h.Payload) == 0 {
		return gopacket.LayerTypeZero
	}
	switch h.Opcode {
	case RDMAPReadRequest:
		return LayerTypeReadRequest
	case RDMAPTerminate:
		return LayerTypeTerminate
	case RDMAPImmediate, RDMAPImmediateSE:
		return LayerTypeImmediate
	case RDMAPAtomicRequest:
		return LayerTypeAtomicRequest
	case RDMAPAtomicResponse:
		return LayerTypeAtomicResponse
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes reads the header that begins data.
func (h *DDPUntagged) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeDDPUntagged, data, wire.DDPUntaggedLen, df); err != nil {
		return err
	}
	h.read(data)
	h.InvalidateSTag = wire.RDMAP(data[wire.RDMAPInDDP:]).InvalidateSTag()
	v := wire.DDPUntagged(data)
	h.QN, h.MSN, h.MO = v.QN(), v.MSN(), v.MO()
	return nil
}

// SerializeTo writes the header before what b holds.
func (h *DDPUntagged) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.DDPUntaggedLen)
	if err != nil {
		return err
	}
	h.write(room, false)
	wire.RDMAP(room[wire.RDMAPInDDP:]).SetInvalidateSTag(h.InvalidateSTag)
	v := wire.DDPUntagged(room)
	v.SetQN(h.QN)
	v.SetMSN(h.MSN)
	v.SetMO(h.MO)
	return nil
}
