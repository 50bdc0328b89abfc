package field

import (
	"math/bits"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// derived lists the fields that are not bits of one header: the capture's own
// facts, verdicts, and values worked out from a code.
var derived = []Ref{
	{Name: "frame", Title: "Frame", Kind: None, derive: always},
	{Name: "frame.number", Title: "Frame Number", Kind: Uint, derive: number(func(p *packet.Packet) uint64 { return uint64(p.Number) })},
	{Name: "frame.len", Title: "Frame length on the wire", Kind: Uint, derive: number(frameLen)},
	{Name: "frame.cap_len", Title: "Frame length stored into the capture file", Kind: Uint, derive: number(func(p *packet.Packet) uint64 { return uint64(len(p.Frame.Data) - recordHeader(&p.Frame)) })},
	{Name: "frame.time", Title: "Arrival Time", Kind: Time, derive: timeOf(func(p *packet.Packet) int64 { return p.Time })},
	{Name: "frame.time_epoch", Title: "Epoch Time", Kind: Span, derive: timeOf(func(p *packet.Packet) int64 { return p.Time })},
	{Name: "frame.time_relative", Title: "Time since first frame", Kind: Span, derive: timeOf(func(p *packet.Packet) int64 { return p.Time - p.First })},
	{Name: "frame.time_delta", Title: "Time delta from previous captured frame", Kind: Span, derive: timeOf(func(p *packet.Packet) int64 { return p.Time - p.Previous })},
	{Name: "frame.interface_id", Title: "Interface id", Kind: Uint, derive: interfaceID},
	{Name: "frame.comment", Title: "Comment", Kind: Text, derive: comment},

	{Name: "infiniband", Title: "InfiniBand", Kind: None, derive: protocol(isInfiniBand)},
	{Name: "infiniband.roce", Title: "RoCE version", Kind: Uint, derive: roceVersion},
	{Name: "infiniband.icrc.status", Title: "ICRC verdict", Kind: Text, derive: icrcStatus},
	{Name: "infiniband.icrc.computed", Title: "Computed ICRC", Kind: Uint, Base: wire.Hex, digits: 8, derive: icrcComputed},
	{Name: "infiniband.vcrc.status", Title: "VCRC verdict", Kind: Text, derive: vcrcStatus},
	{Name: "infiniband.aeth.credits", Title: "Receive credits", Kind: Uint, derive: credits},
	{Name: "infiniband.aeth.rnr_timer", Title: "RNR wait", Kind: Span, derive: rnrTimer},
	{Name: "infiniband.payload.len", Title: "Payload length on the wire, pad left out", Kind: Uint, derive: payloadLen},

	{Name: "iwarp_mpa", Title: "iWARP Marker PDU Aligned framing", Kind: None, derive: protocol(hasPDU)},
	{Name: "iwarp_ddp_rdmap", Title: "iWARP DDP and RDMAP", Kind: None, derive: protocol(hasDDP)},
	{Name: "iwarp_ddp", Title: "iWARP Direct Data Placement", Kind: None, derive: protocol(hasDDP)},
	{Name: "iwarp_mpa.crc.computed", Title: "Computed CRC32c", Kind: Uint, Base: wire.Hex, digits: 8, derive: fpduCRC},
	{Name: "iwarp_mpa.crc.status", Title: "CRC32c verdict", Kind: Text, derive: fpduStatus},

	{Name: "_ws.expert", Title: "Expert information", Kind: None, derive: protocol((*packet.Packet).Noteworthy)},
	{Name: "_ws.expert.message", Title: "What is wrong or unusual", Kind: Text, derive: notes},
}

func always(dst []Value, _ *packet.Packet) []Value { return append(dst, Value{}) }

func protocol(is func(p *packet.Packet) bool) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		if is(p) {
			dst = append(dst, Value{})
		}
		return dst
	}
}

func number(of func(p *packet.Packet) uint64) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value { return append(dst, Value{Num: of(p)}) }
}

func timeOf(of func(p *packet.Packet) int64) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		if p.HasTime {
			dst = append(dst, Value{Num: uint64(of(p))})
		}
		return dst
	}
}

// frameLen is the length of the frame on the wire, which an ERF record keeps
// beside its own length.
func frameLen(p *packet.Packet) uint64 {
	if h := p.Frame.View(wire.HdrERF); len(h) == wire.ERFLen {
		return uint64(wire.ERF(h).WireLen())
	}
	return uint64(p.Frame.WireLen)
}

// recordHeader is the length of the ERF headers, and of the pad that an
// Ethernet record has behind them: bytes of the record that no wire carried.
func recordHeader(f *wire.Frame) int {
	n := 0
	for _, h := range f.Headers() {
		switch {
		case h.ID == wire.HdrERF || h.ID == wire.HdrERFExt:
			n += int(h.Len)
		case h.ID == wire.HdrEthernet && n > 0:
			return min(n+wire.ERFEthernetPad, len(f.Data))
		default:
			return min(n, len(f.Data))
		}
	}
	return min(n, len(f.Data))
}

func interfaceID(dst []Value, p *packet.Packet) []Value {
	if p.Interface < 0 {
		return dst
	}
	return append(dst, Value{Num: uint64(p.Interface)})
}

func comment(dst []Value, p *packet.Packet) []Value {
	if p.Comment == "" {
		return dst
	}
	return append(dst, Value{Text: p.Comment})
}

func isInfiniBand(p *packet.Packet) bool {
	switch p.Frame.Proto {
	case wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoIB, wire.ProtoIBRaw:
		return true
	}
	return false
}

func hasPDU(p *packet.Packet) bool { return len(p.PDUs) > 0 }

func hasDDP(p *packet.Packet) bool {
	for _, pdu := range p.PDUs {
		if len(pdu.Stack.View(wire.HdrDDPTagged))+len(pdu.Stack.View(wire.HdrDDPUntagged)) > 0 {
			return true
		}
	}
	return false
}

func roceVersion(dst []Value, p *packet.Packet) []Value {
	switch p.Frame.Proto {
	case wire.ProtoRoCEv1:
		return append(dst, Value{Num: 1})
	case wire.ProtoRoCEv2:
		return append(dst, Value{Num: 2})
	}
	return dst
}

func icrcStatus(dst []Value, p *packet.Packet) []Value {
	return appendVerdict(dst, p.CRC().ICRC)
}

func appendVerdict(dst []Value, v icrc.Verdict) []Value {
	if v == icrc.NotApplicable {
		return dst
	}
	return append(dst, Value{Text: v.String()})
}

// icrcComputed is shown as the four bytes stand in the packet, so that it can
// be compared with infiniband.invariant.crc.
func icrcComputed(dst []Value, p *packet.Packet) []Value {
	crc := p.CRC()
	if crc.ICRC != icrc.Good && crc.ICRC != icrc.Bad {
		return dst
	}
	return append(dst, Value{Num: uint64(bits.ReverseBytes32(crc.Computed))})
}

func vcrcStatus(dst []Value, p *packet.Packet) []Value {
	return appendVerdict(dst, p.CRC().VCRC)
}

func syndrome(p *packet.Packet) (s wire.Syndrome, ok bool) {
	h := p.Frame.View(wire.HdrAETH)
	if len(h) < wire.AETHLen {
		return 0, false
	}
	return wire.AETH(h).Syndrome(), true
}

func credits(dst []Value, p *packet.Packet) []Value {
	if s, ok := syndrome(p); ok {
		if n, ok := s.Credits(); ok {
			dst = append(dst, Value{Num: uint64(n)})
		}
	}
	return dst
}

func rnrTimer(dst []Value, p *packet.Packet) []Value {
	if s, ok := syndrome(p); ok && s.Kind() == wire.RNRNak {
		dst = append(dst, Value{Num: uint64(s.RNRTimer())})
	}
	return dst
}

func payloadLen(dst []Value, p *packet.Packet) []Value {
	if p.Frame.BTH < 0 || p.Frame.ICRC < 0 {
		return dst
	}
	return append(dst, Value{Num: uint64(p.Frame.PayloadLen)})
}

func notes(dst []Value, p *packet.Packet) []Value {
	for _, note := range p.AppendNotes(nil) {
		dst = append(dst, Value{Text: note})
	}
	return dst
}

func fpduCRC(dst []Value, p *packet.Packet) []Value {
	for _, pdu := range p.PDUs {
		if packet.Judged(pdu) {
			dst = append(dst, Value{Num: uint64(bits.ReverseBytes32(pdu.Computed))})
		}
	}
	return dst
}

func fpduStatus(dst []Value, p *packet.Packet) []Value {
	for _, pdu := range p.PDUs {
		if pdu.Kind == iwarp.FPDU {
			dst = append(dst, Value{Text: pdu.CRC.String()})
		}
	}
	return dst
}
