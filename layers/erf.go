package layers

import (
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// The ERF record types that decode further.
const (
	ERFTypeEthernet       = wire.ERFTypeEthernet
	ERFTypeInfiniBand     = wire.ERFTypeInfiniBand
	ERFTypeInfiniBandLink = wire.ERFTypeInfiniBandLink // FlowControl
)

// ERF is the header of an ERF record, as capture cards and ibdump write it
// (link type 197).
type ERF struct {
	BaseLayer
	Timestamp  uint64 // since 1970, in units of 2^-32 seconds
	Type       uint8  // one of the ERFType constants
	Interface  uint8  // capture interface, 0 to 3
	Varying    bool   // records are as long as their packets
	Truncated  bool   // the card ran out of room
	RXError    bool   // the packet was received with an error
	DSError    bool   // the card had an internal error
	RecordLen  uint16 // bytes of the whole record, its headers included
	Loss       uint16 // packets lost before this one
	WireLen    uint16 // bytes that the packet had on the wire
	Extensions []ERFExtension
}

// ERFExtension is an extension header of an ERF record.
type ERFExtension struct {
	Type uint8 // 7 bits
	Body [wire.ERFExtLen - 1]byte
}

// LayerType returns LayerTypeERF.
func (*ERF) LayerType() gopacket.LayerType { return LayerTypeERF }

// CanDecode returns LayerTypeERF.
func (*ERF) CanDecode() gopacket.LayerClass { return LayerTypeERF }

// NextLayerType is what Type says.
func (h *ERF) NextLayerType() gopacket.LayerType {
	switch h.Type {
	case ERFTypeEthernet:
		return layers.LayerTypeEthernet
	case ERFTypeInfiniBand:
		return LayerTypeLRH
	case ERFTypeInfiniBandLink:
		return LayerTypeFlowControl
	}
	return payloadOrEnd(h.Payload)
}

// DecodeFromBytes reads the record that is data. Its Payload ends where WireLen
// says; the packet in it tells whether the capture was cut.
func (h *ERF) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeERF, data, wire.ERFLen, df); err != nil {
		return err
	}
	v := wire.ERF(data)
	h.Timestamp, h.Type, h.Interface = v.Timestamp(), v.Type(), v.Interface()
	h.Varying, h.Truncated, h.RXError, h.DSError = v.Varying(), v.Truncated(), v.RXError(), v.DSError()
	h.RecordLen, h.Loss, h.WireLen = uint16(v.RecordLen()), v.Loss(), uint16(v.WireLen())
	h.Extensions = h.Extensions[:0]
	n := wire.ERFLen
	for more := v.HasExtension(); more; n += wire.ERFExtLen {
		if len(data) < n+wire.ERFExtLen {
			df.SetTruncated()
			return fmt.Errorf("%v: %w for an extension header", LayerTypeERF, ErrShort)
		}
		ext := wire.ERFExt(data[n:])
		h.Extensions = append(h.Extensions, ERFExtension{ext.Type(), ext.Body()})
		more = ext.More()
	}
	if h.BaseLayer, err = split(LayerTypeERF, data, n+h.ethernetPad(), df); err != nil {
		return err
	}
	h.Payload = h.Payload[:min(len(h.Payload), v.WireLen())]
	return nil
}

func (h *ERF) ethernetPad() int {
	if h.Type == ERFTypeEthernet {
		return wire.ERFEthernetPad
	}
	return 0
}

// SerializeTo writes the headers before what b holds. With FixLengths it counts
// RecordLen and WireLen.
func (h *ERF) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	n := len(b.Bytes())
	room, err := prepend(b, wire.ERFLen+len(h.Extensions)*wire.ERFExtLen+h.ethernetPad())
	if err != nil {
		return err
	}
	if opts.FixLengths {
		h.WireLen, h.RecordLen = uint16(n), uint16(n+len(room))
	}
	v := wire.ERF(room)
	v.SetTimestamp(h.Timestamp)
	v.SetType(h.Type)
	v.SetHasExtension(len(h.Extensions) > 0)
	v.SetInterface(h.Interface)
	v.SetVarying(h.Varying)
	v.SetTruncated(h.Truncated)
	v.SetRXError(h.RXError)
	v.SetDSError(h.DSError)
	v.SetRecordLen(int(h.RecordLen))
	v.SetLoss(h.Loss)
	v.SetWireLen(int(h.WireLen))
	for i, e := range h.Extensions {
		ext := wire.ERFExt(room[wire.ERFLen+i*wire.ERFExtLen:])
		ext.SetType(e.Type)
		ext.SetMore(i < len(h.Extensions)-1)
		ext.SetBody(e.Body)
	}
	return nil
}
