package field

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// parts are runs of bytes that are not one header, under the names that
// Wireshark gives them.
var parts = []Ref{
	{Name: "data.data", Title: "Payload that is not decoded further", Kind: Bytes, derive: dataOf},
	{Name: "data.len", Title: "Length of the payload that is not decoded further", Kind: Uint, derive: dataLen},
	{Name: "udp.payload", Title: "UDP payload", Kind: Bytes, derive: udpPayload},
	{Name: "tcp.len", Title: "TCP segment length", Kind: Uint, derive: tcpLen},

	{Name: "ip.checksum.status", Title: "Verdict on the header checksum", Kind: Uint, bits: 8, Names: checksumName, derive: ipChecksum},

	{Name: "eth.padding", Title: "Padding", Kind: Bytes, derive: partOfTrailer(padding)},
	{Name: "eth.trailer", Title: "Trailer", Kind: Bytes, derive: partOfTrailer(trailer)},
	{Name: "eth.fcs", Title: "Frame check sequence", Kind: Uint, Base: wire.Hex, digits: 8, bits: 32, derive: fcs},

	{Name: "iwarp_mpa.markers", Title: "MPA Marker", Kind: Bytes, derive: markers},
	{Name: "iwarp_mpa.marker_res", Title: "Marker: reserved", Kind: Uint, Base: wire.Hex, digits: 4, bits: 16, derive: marker(wire.MPAMarker.Reserved)},
	{Name: "iwarp_mpa.marker_fpduptr", Title: "Marker: FPDU back pointer", Kind: Uint, bits: 16, derive: marker(wire.MPAMarker.FPDUPtr)},

	{Name: "infiniband.mad", Title: "Management Datagram", Kind: Bytes, derive: madFrom(wire.HdrMAD, 0)},
	{Name: "infiniband.mad.data", Title: "Management Datagram behind its common header", Kind: Bytes, derive: madFrom(wire.HdrMAD, wire.MADHeaderLen)},
	{Name: "infiniband.smpdirected", Title: "Subnet Management Packet (Directed Route)", Kind: Bytes, derive: madFrom(wire.HdrSMPDirected, 0)},
}

// isData reports whether a part of a packet is payload that is not decoded
// further. Empty payload is none.
func isData(h wire.Header) bool {
	return (h.ID == wire.HdrPayload || h.ID == wire.HdrFPDUPayload) && h.Len > 0
}

func dataOf(dst []Value, p *packet.Packet) []Value {
	for i := range p.Stacks() {
		s := p.Stack(i)
		for _, h := range s.Headers() {
			if b := s.Bytes(h); isData(h) && len(b) > 0 {
				dst = append(dst, Value{Raw: b})
			}
		}
	}
	return dst
}

func dataLen(dst []Value, p *packet.Packet) []Value {
	for i := range p.Stacks() {
		for _, h := range p.Stack(i).Headers() {
			if isData(h) {
				dst = append(dst, Value{Num: uint64(h.Len)})
			}
		}
	}
	return dst
}

func udpPayload(dst []Value, p *packet.Packet) []Value {
	f := &p.Frame
	for _, h := range f.Headers() {
		b := f.Bytes(h)
		if h.ID != wire.HdrUDP || len(b) < wire.UDPLen {
			continue
		}
		from := int(h.Off) + wire.UDPLen
		to := min(int(h.Off)+int(wire.UDP(b).Length()), len(f.Data))
		if from < to {
			dst = append(dst, Value{Raw: f.Data[from:to]})
		}
	}
	return dst
}

func tcpLen(dst []Value, p *packet.Packet) []Value {
	if p.Frame.Proto != wire.ProtoTCP || p.Frame.Payload == 0 {
		return dst
	}
	return append(dst, Value{Num: uint64(p.Frame.PayloadLen)})
}

// The verdicts on a checksum, numbered as Wireshark's are.
const (
	checksumBad  = 0
	checksumGood = 1
)

func checksumName(v uint64) string {
	switch v {
	case checksumBad:
		return "Bad"
	case checksumGood:
		return "Good"
	}
	return ""
}

func ipChecksum(dst []Value, p *packet.Packet) []Value {
	f := &p.Frame
	for _, h := range f.Headers() {
		b := f.Bytes(h)
		if h.ID != wire.HdrIPv4 || len(b) < int(h.Len) || len(b) < wire.IPv4MinLen {
			continue
		}
		verdict := Value{Num: checksumBad}
		if wire.IPv4Checksum(b) == wire.IPv4Header(b).Checksum() {
			verdict.Num = checksumGood
		}
		dst = append(dst, verdict)
	}
	return dst
}

// minEthernet is the length that Ethernet pads a frame to, FCS left out
// (IEEE 802.3, 4.2.3.3).
const minEthernet = 60

// splitTrailer divides what follows the packet of an Ethernet frame: zeros up
// to the shortest frame, other bytes, and the FCS where the capture says that
// there is one.
func splitTrailer(p *packet.Packet) (padding, trailer, fcs []byte) {
	f := &p.Frame
	n := fcsLen(p)
	h, ok := f.Last(wire.HdrTrailer)
	if !ok && f.End == 0 && n == 4 && len(f.Data) == f.WireLen && len(f.Data) >= wire.EthernetLen+n {
		return nil, nil, f.Data[len(f.Data)-n:] // nothing says where the packet ends, but the FCS is last
	}
	if !ok || int(h.Off+h.Len) > len(f.Data) {
		return nil, f.View(wire.HdrTrailer), nil
	}
	trailer = f.Bytes(h)
	if n == 4 && len(trailer) >= n {
		trailer, fcs = trailer[:len(trailer)-n], trailer[len(trailer)-n:]
	}
	room := minEthernet - (int(h.Off) - recordHeader(f))
	if n := min(room, len(trailer)); n > 0 && allZero(trailer[:n]) {
		padding, trailer = trailer[:n], trailer[n:]
	}
	return padding, trailer, fcs
}

// fcsLen is the length of the FCS that the frame ends with. A capture that
// says nothing has none, but for ERF: a DAG card records Ethernet with it.
func fcsLen(p *packet.Packet) int {
	if p.FCSLen < 0 && p.Frame.Link == wire.LinkERF {
		return 4
	}
	return p.FCSLen
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func padding(p *packet.Packet) []byte { part, _, _ := splitTrailer(p); return part }

func trailer(p *packet.Packet) []byte { _, part, _ := splitTrailer(p); return part }

func partOfTrailer(part func(p *packet.Packet) []byte) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		if b := part(p); len(b) > 0 {
			dst = append(dst, Value{Raw: b})
		}
		return dst
	}
}

func fcs(dst []Value, p *packet.Packet) []Value {
	_, _, b := splitTrailer(p)
	if len(b) != 4 {
		return dst
	}
	return append(dst, Value{Num: uint64(binary.BigEndian.Uint32(b))})
}

// madFrom gives the management datagram from the skip-th byte on, when it has
// a header of the given kind.
func madFrom(id wire.HeaderID, skip int) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		if _, ok := p.Frame.Last(id); !ok {
			return dst
		}
		h, _ := p.Frame.Last(wire.HdrMAD)
		h.Len = int32(min(wire.MADLen, max(p.Frame.ICRC-int(h.Off), 0)))
		if b := p.Frame.Bytes(h); len(b) > skip {
			dst = append(dst, Value{Raw: b[skip:]})
		}
		return dst
	}
}

// marker gives a field of every marker that was taken out of an FPDU.
func marker(of func(wire.MPAMarker) uint16) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		for _, pdu := range p.PDUs {
			for i := range pdu.Markers {
				dst = append(dst, Value{Num: uint64(of(pdu.Markers[i].View()))})
			}
		}
		return dst
	}
}

func markers(dst []Value, p *packet.Packet) []Value {
	for _, pdu := range p.PDUs {
		for i := range pdu.Markers {
			dst = append(dst, Value{Raw: pdu.Markers[i].Bytes[:]})
		}
	}
	return dst
}
