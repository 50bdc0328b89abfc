package layers

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// BTH is a base transport header (IBTA vol. 1, 9.2).
//
// Its Payload is all that follows the header but for the ICRC where that is
// known to be there. The extended headers that the opcode implies are layers of
// their own; with a DecodingLayerParser use RoCE, which holds them all.
type BTH struct {
	BaseLayer
	Opcode           Opcode // the operation; RCSendFirst and so on
	SolicitedEvent   bool   // SE: the responder may raise a completion event
	MigReq           bool   // M: migration state
	PadCount         uint8  // pad bytes behind the payload, 0 to 3
	TransportVersion uint8  // TVer, 0
	PKey             uint16 // partition key
	FECN             bool   // forward congestion notification
	BECN             bool   // backward congestion notification
	DestQP           uint32 // 24-bit number of the destination queue pair
	AckRequest       bool   // A: the responder shall acknowledge
	PSN              PSN    // 24-bit packet sequence number
}

// LayerType returns LayerTypeBTH.
func (*BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (*BTH) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType is the first header that the opcode implies, else Payload.
func (h *BTH) NextLayerType() gopacket.LayerType {
	if ext := h.Opcode.Info().Extended(); len(ext) > 0 {
		return LayerTypeOf(ext[0])
	}
	return payloadOrEnd(h.Payload)
}

// carriesMAD reports whether the payload is a management datagram: those go to
// the well-known queue pairs 0 and 1 as UD SENDs (IBTA vol. 1, 13.3).
func (h *BTH) carriesMAD() bool { return h.DestQP <= 1 && h.Opcode == UDSendOnly }

// DecodeFromBytes reads the header that begins data.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeBTH, data, wire.BTHLen, df); err != nil {
		return err
	}
	v := wire.BTH(data)
	h.Opcode = v.Opcode()
	h.SolicitedEvent, h.MigReq = v.Solicited(), v.MigReq()
	h.PadCount, h.TransportVersion = uint8(v.PadCount()), v.TVer()
	h.PKey = v.PKey()
	h.FECN, h.BECN = v.FECN(), v.BECN()
	h.DestQP, h.AckRequest, h.PSN = v.DestQP(), v.AckReq(), v.PSN()
	return nil
}

// SerializeTo writes the header before what b holds. With FixLengths it counts
// the pad that makes the packet a multiple of four bytes long, and writes it
// before the ICRC if there is one, at the end if not.
func (h *BTH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		if err := h.pad(b); err != nil {
			return err
		}
	}
	room, err := prepend(b, wire.BTHLen)
	if err != nil {
		return err
	}
	v := wire.BTH(room)
	v.SetOpcode(h.Opcode)
	v.SetSolicited(h.SolicitedEvent)
	v.SetMigReq(h.MigReq)
	v.SetPadCount(int(h.PadCount))
	v.SetTVer(h.TransportVersion)
	v.SetPKey(h.PKey)
	v.SetFECN(h.FECN)
	v.SetBECN(h.BECN)
	v.SetDestQP(h.DestQP)
	v.SetAckReq(h.AckRequest)
	v.SetPSN(h.PSN)
	return nil
}

// pad appends the missing pad bytes. The ICRC was written first, being the last
// layer, so it moves behind them.
func (h *BTH) pad(b gopacket.SerializeBuffer) error {
	n := -len(b.Bytes()) & 3
	h.PadCount = uint8(n)
	if n == 0 {
		return nil
	}
	tail, err := b.AppendBytes(n)
	if err != nil {
		return err
	}
	clear(tail)
	if written := b.Layers(); len(written) > 0 && written[0] == LayerTypeICRC {
		all := b.Bytes()
		end := all[len(all)-n-wire.ICRCLen:]
		copy(end[n:], end[:wire.ICRCLen])
		clear(end[:n])
	}
	return nil
}

// decodeBTH adds the BTH and everything behind it. No other decoder can: only
// the opcode says which headers follow each other.
func decodeBTH(data []byte, p gopacket.PacketBuilder) error {
	whole := !cut(p)
	if !announced(p) && !plausible(data, whole) {
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	r := new(RoCE)
	err := r.decode(data, whole, p)
	r.addTo(p)
	return err
}

// announced reports whether the layer outside says that this is RoCE. gopacket
// asks the source port when it does not know the destination port, and any
// program may send from port 4791.
func announced(p gopacket.PacketBuilder) bool {
	packet, ok := p.(gopacket.Packet)
	if !ok {
		return true
	}
	outer := packet.Layers()
	if len(outer) == 0 {
		return true
	}
	udp, ok := outer[len(outer)-1].(*layers.UDP)
	return !ok || udp.DstPort == UDPPortRoCE
}

// plausible reports whether data can be a packet from its BTH on: long enough,
// of a defined version and opcode, and, if whole, of a whole number of words.
func plausible(data []byte, whole bool) bool {
	if len(data) < wire.BTHLen || (whole && len(data)%4 != 0) {
		return false
	}
	v := wire.BTH(data)
	return v.TVer() == 0 && (v.Opcode().Info().Defined() || v.Opcode().Service() == ServiceManufacturer)
}
