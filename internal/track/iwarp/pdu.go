// Package iwarp finds the MPA start-up frames and FPDUs of iWARP connections in
// captured TCP segments (RFC 5044, RFC 6581).
//
// A Tracker reassembles every TCP connection it is shown, recognises the ones
// that carry MPA by the keys of the start-up frames or, in a capture that
// begins later, by FPDUs whose CRC or whose chain of lengths fits, takes the
// markers out and checks markers and CRC. It is pure: packets in, PDUs out, no
// clock, and no memory of the caller's is kept.
package iwarp

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
	"github.com/rocecap/rocecap/internal/wire"
)

// Packet is one captured TCP segment.
type Packet struct {
	Number   uint64 // packet number in the capture
	Src, Dst netip.AddrPort
	Seq, Ack uint32
	Flags    tcpstream.Flags
	Payload  []byte // the captured part of the TCP payload
	WireLen  int    // length of the TCP payload on the wire
	Offset   int    // of the payload in the frame
	FrameLen int    // length of the whole frame on the wire
	CE       bool   // marked by congestion in the IP header (RFC 3168 section 5)
}

// PacketOf takes a TCP segment out of a frame; ok is false when its headers were
// cut off.
func PacketOf(f *wire.Frame, number uint64) (p Packet, ok bool) {
	tcp := wire.TCP(f.View(wire.HdrTCP))
	src, dst := f.Addresses()
	if len(tcp) < wire.TCPMinLen || f.Payload == 0 || !src.IsValid() {
		return p, false
	}
	return Packet{
		Number: number,
		Src:    netip.AddrPortFrom(src, tcp.SrcPort()), Dst: netip.AddrPortFrom(dst, tcp.DstPort()),
		Seq: tcp.Seq(), Ack: tcp.Ack(), Flags: tcpstream.Flags(tcp.Flags()),
		Payload: f.PayloadBytes(), WireLen: f.PayloadLen, Offset: f.Payload,
		FrameLen: f.WireLen, CE: marked(f),
	}, true
}

// marked reports whether a frame's IP header has the mark of congestion.
func marked(f *wire.Frame) bool {
	if ip := wire.IPv4Header(f.View(wire.HdrIPv4)); len(ip) >= wire.IPv4MinLen {
		return ip.ECN() == wire.ECNCE
	}
	ip := wire.IPv6Header(f.View(wire.HdrIPv6))
	return len(ip) >= wire.IPv6Len && ip.ECN() == wire.ECNCE
}

// Kind says what a PDU is.
type Kind uint8

// The kinds of PDU.
const (
	MPARequest Kind = iota
	MPAReply
	FPDU
	Gap     // stream bytes that the capture does not have
	Skipped // captured bytes that could not be framed
)

// String names the kind.
func (k Kind) String() string {
	names := [...]string{"MPA Request", "MPA Reply", "FPDU", "Gap", "Skipped"}
	if int(k) < len(names) {
		return names[k]
	}
	return "Unknown"
}

// CRC is the verdict on an FPDU's CRC32c.
type CRC uint8

// The verdicts.
const (
	CRCUnchecked CRC = iota // bytes are missing, or it is not known if CRCs are in use
	CRCUnused               // neither side asked for CRCs, and the field holds something else
	CRCGood
	CRCBad
)

// String names the verdict.
func (c CRC) String() string {
	names := [...]string{"unchecked", "unused", "good", "bad"}
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// Marker is a marker that was taken out of an FPDU.
type Marker struct {
	At    int // it stood before this byte of the FPDU
	Bytes [wire.MPAMarkerLen]byte
	Good  bool // reserved bits 0, and FPDUPTR reaches the start of the FPDU
}

// View gives access to the marker's fields.
func (m *Marker) View() wire.MPAMarker { return m.Bytes[:] }

// PDU is one unit of an iWARP stream.
type PDU struct {
	Kind     Kind
	Src, Dst netip.AddrPort
	// Stack holds the headers of a start-up frame or FPDU over its own bytes,
	// markers left out. Its Data ends early when bytes are missing.
	Stack    wire.Stack
	Problems wire.Problem
	Markers  []Marker
	Issues   []Issue

	CRC      CRC
	Computed uint32 // the CRC that the field should hold, when CRC is Good, Bad or Unused

	// Stream is where in the TCP stream the PDU begins, a preceding marker
	// included, and Len how many stream bytes it takes.
	Stream int64
	Len    int64
	// Missing counts the bytes of the PDU that the capture does not have.
	Missing int64
	// First and Last are the packets that hold its first and last byte, of
	// those that were captured; Segments counts the packets.
	First, Last uint64
	Segments    int
	// Offset is where the PDU begins in the frame of the packet that completed
	// it, -1 when it does not lie in that frame whole and free of markers.
	Offset int
}

// Opcode returns the RDMAP opcode of an FPDU; ok is false when the PDU has
// none.
func (p *PDU) Opcode() (op wire.RDMAPOpcode, ok bool) {
	if r := wire.RDMAP(p.Stack.View(wire.HdrRDMAP)); len(r) > 0 {
		return r.Opcode(), true
	}
	return 0, false
}

// Has reports whether an issue of the kind was raised.
func (p *PDU) Has(kind IssueKind) bool {
	for _, i := range p.Issues {
		if i.Kind == kind {
			return true
		}
	}
	return false
}
