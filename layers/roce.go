package layers

import (
	"fmt"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// RoCE is one gopacket.DecodingLayer for a BTH and all that follows it: the
// extended headers, the payload, the pad and the ICRC. It allocates nothing, so
// that a DecodingLayerParser with it costs about what its outer layers cost.
// The name is the usual case; native InfiniBand decodes with it too.
//
// A field tells something only if Has its layer type: the others hold what an
// earlier packet left in them.
type RoCE struct {
	BTH          BTH
	RDETH        RDETH
	DETH         DETH
	XRCETH       XRCETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH
	FETH         FETH
	CNP          CNP
	Payload      []byte // without pad and ICRC; of a cut packet all that is left
	Pad          Pad
	ICRC         ICRC

	extended int // how many of the headers that the opcode implies were there
}

// CanDecode returns LayerTypeBTH.
func (*RoCE) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// LayerPayload returns the payload without pad and ICRC.
func (r *RoCE) LayerPayload() []byte { return r.Payload }

// NextLayerType is MAD for a management datagram, Payload for other payload.
func (r *RoCE) NextLayerType() gopacket.LayerType {
	if len(r.Payload) > 0 && r.BTH.carriesMAD() {
		return LayerTypeMAD
	}
	return payloadOrEnd(r.Payload)
}

// DecodeFromBytes reads a packet from its BTH to its ICRC. It returns
// ErrNotRoCE for bytes that cannot be one; gopacket's UDP also hands over what
// was sent from port 4791 to another port.
func (r *RoCE) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	whole := !cut(df)
	if !plausible(data, whole) {
		r.reset()
		return ErrNotRoCE
	}
	return r.decode(data, whole, df)
}

// Has reports whether the last packet has a layer.
func (r *RoCE) Has(t gopacket.LayerType) bool {
	switch t {
	case LayerTypeBTH:
		return r.BTH.Contents != nil
	case LayerTypePad:
		return len(r.Pad.Contents) > 0
	case LayerTypeICRC:
		return r.ICRC.Contents != nil
	}
	for _, id := range r.found() {
		if LayerTypeOf(id) == t {
			return true
		}
	}
	return false
}

// found lists the extended headers that were there.
func (r *RoCE) found() []HeaderID { return r.BTH.Opcode.Info().Extended()[:r.extended] }

func (r *RoCE) reset() {
	r.BTH.BaseLayer, r.Pad.BaseLayer, r.ICRC.BaseLayer = BaseLayer{}, BaseLayer{}, BaseLayer{}
	r.Payload, r.extended = nil, 0
}

// decode reads a packet. whole says that data goes to the end of the ICRC.
func (r *RoCE) decode(data []byte, whole bool, df gopacket.DecodeFeedback) error {
	r.reset()
	body := data
	if whole {
		end := len(data) - wire.ICRCLen
		if end < wire.BTHLen {
			return fmt.Errorf("%v: %w: %d with the ICRC", LayerTypeBTH, ErrShort, len(data))
		}
		body, r.ICRC.Contents = data[:end], data[end:]
		r.ICRC.read()
	}
	if err := r.BTH.DecodeFromBytes(body, df); err != nil {
		return err
	}
	rest := r.BTH.Payload
	for _, id := range r.BTH.Opcode.Info().Extended() {
		h := r.header(id)
		if err := h.DecodeFromBytes(rest, df); err != nil {
			r.ICRC.BaseLayer = BaseLayer{} // nothing tells where it is
			return err
		}
		rest = h.LayerPayload()
		r.extended++
	}
	r.Payload = rest
	if n := len(rest) - int(r.BTH.PadCount); whole && r.BTH.PadCount > 0 {
		n = max(0, n)
		r.Payload, r.Pad.Contents = rest[:n:n], rest[n:]
	}
	return nil
}

// header returns the place of an extended header.
func (r *RoCE) header(id HeaderID) decodingLayer {
	switch id {
	case wire.HdrRDETH:
		return &r.RDETH
	case wire.HdrDETH:
		return &r.DETH
	case wire.HdrXRCETH:
		return &r.XRCETH
	case wire.HdrRETH:
		return &r.RETH
	case wire.HdrAtomicETH:
		return &r.AtomicETH
	case wire.HdrAETH:
		return &r.AETH
	case wire.HdrAtomicAckETH:
		return &r.AtomicAckETH
	case wire.HdrImmDt:
		return &r.ImmDt
	case wire.HdrIETH:
		return &r.IETH
	case wire.HdrFETH:
		return &r.FETH
	default: // the opcode table has no other
		return &r.CNP
	}
}

// addTo adds the layers that were found to a packet, outermost first.
func (r *RoCE) addTo(p gopacket.PacketBuilder) {
	if !r.Has(LayerTypeBTH) {
		return
	}
	p.AddLayer(&r.BTH)
	for _, id := range r.found() {
		p.AddLayer(r.header(id))
	}
	switch {
	case len(r.Payload) == 0:
	case r.BTH.carriesMAD():
		addMAD(r.Payload, p)
	default:
		payload := gopacket.Payload(r.Payload)
		p.AddLayer(&payload)
		p.SetApplicationLayer(&payload)
	}
	if r.Has(LayerTypePad) {
		p.AddLayer(&r.Pad)
	}
	if r.Has(LayerTypeICRC) {
		p.AddLayer(&r.ICRC)
	}
}
