package layers

import (
	"fmt"
	"math"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// FPDU is the frame that MPA makes of a DDP segment (RFC 5044, 4.1), markers
// taken out: a length, the segment, a pad and a CRC. Contents is the length
// field alone; Payload is the DDP segment.
type FPDU struct {
	BaseLayer
	ULPDULen uint16 // bytes of the DDP segment
	Pad      []byte // 0 to 3 bytes behind the segment
	CRC      uint32 // CRC32c as CRC32C computes it; see HasCRC
	// HasCRC says that CRC was read. SerializeTo always writes a CRC field.
	HasCRC bool

	covered []byte
}

// LayerType returns LayerTypeFPDU.
func (*FPDU) LayerType() gopacket.LayerType { return LayerTypeFPDU }

// CanDecode returns LayerTypeFPDU.
func (*FPDU) CanDecode() gopacket.LayerClass { return LayerTypeFPDU }

// NextLayerType is DDPTagged or DDPUntagged.
func (h *FPDU) NextLayerType() gopacket.LayerType {
	switch {
	case len(h.Payload) == 0:
		return gopacket.LayerTypeZero
	case wire.DDP(h.Payload).Tagged():
		return LayerTypeDDPTagged
	}
	return LayerTypeDDPUntagged
}

// DecodeFromBytes reads the FPDU that begins data; Len tells where the next one
// begins.
func (h *FPDU) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	*h = FPDU{}
	if h.BaseLayer, err = split(LayerTypeFPDU, data, wire.FPDULengthLen, df); err != nil {
		return err
	}
	n := wire.FPDU(data).ULPDULen()
	h.ULPDULen = uint16(n)
	rest := h.Payload
	h.Payload = clip(rest, n, df)
	if len(data) < wire.FPDULen(n) {
		df.SetTruncated()
		return nil
	}
	pad := wire.FPDUPad(n)
	h.Pad = rest[n : n+pad : n+pad]
	h.CRC, h.HasCRC = wire.FPDU(data).CRC(), true
	h.covered = data[:wire.FPDULengthLen+n+pad]
	return nil
}

// Len is the length of the whole FPDU.
func (h *FPDU) Len() int { return wire.FPDULen(int(h.ULPDULen)) }

// CRC32C computes the CRC of the decoded FPDU; ok is false when it was cut.
// Without CRCs negotiated the field holds anything.
func (h *FPDU) CRC32C() (crc uint32, ok bool) {
	if h.covered == nil {
		return 0, false
	}
	return icrc.CRC32C(h.covered), true
}

// SerializeTo writes the length before what b holds, and Pad and CRC behind it.
// With FixLengths it counts the length and the pad, with ComputeChecksums it
// computes the CRC.
func (h *FPDU) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	n := len(b.Bytes())
	if opts.FixLengths {
		if n > math.MaxUint16 {
			return fmt.Errorf("%v: DDP segment of %d bytes is too long", LayerTypeFPDU, n)
		}
		h.ULPDULen, h.Pad = uint16(n), make([]byte, wire.FPDUPad(n))
	}
	room, err := prepend(b, wire.FPDULengthLen)
	if err != nil {
		return err
	}
	wire.FPDU(room).SetULPDULen(int(h.ULPDULen))
	pad, err := b.AppendBytes(len(h.Pad))
	if err != nil {
		return err
	}
	copy(pad, h.Pad)
	if opts.ComputeChecksums {
		h.CRC = icrc.CRC32C(b.Bytes())
	}
	tail, err := b.AppendBytes(wire.FPDUCRCLen)
	if err != nil {
		return err
	}
	icrc.Store(tail, h.CRC)
	return nil
}
