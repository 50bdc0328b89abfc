package layers

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// What follows an LRH, its LNH.
const (
	LNHRaw    = wire.LNHRaw    // RWH
	LNHIPv6   = wire.LNHIPv6   // raw IPv6
	LNHLocal  = wire.LNHLocal  // BTH
	LNHGlobal = wire.LNHGlobal // GRH
)

// LRH is a local route header, the link header of native InfiniBand (IBTA
// vol. 1, 7.7).
type LRH struct {
	BaseLayer
	VL          uint8  // virtual lane, 4 bits
	LinkVersion uint8  // 0
	SL          uint8  // service level, 4 bits
	LNH         uint8  // link next header, one of the LNH constants
	DLID        uint16 // destination local identifier
	PacketLen   uint16 // in 4-byte words, from the LRH to the ICRC
	SLID        uint16 // source local identifier
	// VCRC is the two bytes of the variant CRC behind the packet as they are
	// on the wire; nil where the capture leaves them out.
	VCRC []byte
}

// LayerType returns LayerTypeLRH.
func (*LRH) LayerType() gopacket.LayerType { return LayerTypeLRH }

// CanDecode returns LayerTypeLRH.
func (*LRH) CanDecode() gopacket.LayerClass { return LayerTypeLRH }

// NextLayerType is what LNH says.
func (h *LRH) NextLayerType() gopacket.LayerType {
	switch h.LNH {
	case LNHRaw:
		return LayerTypeRWH
	case LNHIPv6:
		return layers.LayerTypeIPv6
	case LNHGlobal:
		return LayerTypeGRH
	default:
		return LayerTypeBTH
	}
}

// LinkFlow goes from the source to the destination LID.
func (h *LRH) LinkFlow() gopacket.Flow {
	var src, dst [2]byte
	binary.BigEndian.PutUint16(src[:], h.SLID)
	binary.BigEndian.PutUint16(dst[:], h.DLID)
	return gopacket.NewFlow(EndpointLID, src[:], dst[:])
}

// DecodeFromBytes reads the header that begins data, and the VCRC if data goes
// beyond the end of the packet.
func (h *LRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeLRH, data, wire.LRHLen, df); err != nil {
		return err
	}
	v := wire.LRH(data)
	h.VL, h.LinkVersion, h.SL, h.LNH = v.VL(), v.Version(), v.SL(), v.LNH()
	h.DLID, h.PacketLen, h.SLID = v.DLID(), uint16(v.PktLen()), v.SLID()
	h.VCRC = nil
	end := v.PktLen() * 4
	if end < wire.LRHLen {
		return fmt.Errorf("%v: %w: packet length %d", LayerTypeLRH, ErrShort, end)
	}
	h.Payload = clip(h.Payload, end-wire.LRHLen, df)
	if len(data) >= end+wire.VCRCLen {
		h.VCRC = data[end : end+wire.VCRCLen]
	}
	return nil
}

// SerializeTo writes the header before and the VCRC behind what b holds. With
// FixLengths it counts the packet's length, which must be a multiple of four.
func (h *LRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.LRHLen)
	if err != nil {
		return err
	}
	if n := len(b.Bytes()); opts.FixLengths {
		if n%4 != 0 || n/4 > 0x7FF {
			return fmt.Errorf("%v: a packet of %d bytes has no length in words", LayerTypeLRH, n)
		}
		h.PacketLen = uint16(n / 4)
	}
	v := wire.LRH(room)
	v.SetVL(h.VL)
	v.SetVersion(h.LinkVersion)
	v.SetSL(h.SL)
	v.SetLNH(h.LNH)
	v.SetDLID(h.DLID)
	v.SetPktLen(int(h.PacketLen))
	v.SetSLID(h.SLID)
	tail, err := b.AppendBytes(len(h.VCRC))
	if err != nil {
		return err
	}
	copy(tail, h.VCRC)
	return nil
}

func decodeLRH(data []byte, p gopacket.PacketBuilder) error {
	h := new(LRH)
	if err := h.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(h)
	p.SetLinkLayer(h)
	return p.NextDecoder(h.NextLayerType())
}

func formatLID(b []byte) string { return fmt.Sprintf("%d", binary.BigEndian.Uint16(b)) }
