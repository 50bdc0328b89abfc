package roceinject

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// unitsOf finds the iWARP units of a crafted packet. It is looked at as the
// first one of a connection that has just been made with CRCs: so an FPDU is
// one whatever its CRC is, and whatever was crafted before.
func unitsOf(f *wire.Frame, number int) []*iwarp.PDU {
	s, ok := iwarp.PacketOf(f, uint64(number))
	if !ok || s.WireLen == 0 {
		return nil
	}
	t := iwarp.NewTracker(iwarp.DefaultLimits())
	var unit wire.Stack
	if wire.ParseMPAStart(&unit, s.Payload) != 0 {
		t.Segment(startBefore(s.Dst, s.Src, s.Ack, s.Seq, wire.MPARequestKey))
		t.Segment(startBefore(s.Src, s.Dst, s.Seq, s.Ack, wire.MPAReplyKey))
	}
	return t.Segment(s)
}

// capturedUnits finds the iWARP units of packets that were captured one after the
// other: those that belong to connections.
func capturedUnits() func(*wire.Frame, int) []*iwarp.PDU {
	t := iwarp.NewTracker(iwarp.DefaultLimits())
	return func(f *wire.Frame, number int) []*iwarp.PDU {
		s, ok := iwarp.PacketOf(f, uint64(number))
		if !ok {
			return nil
		}
		return t.Segment(s)
	}
}

// startBefore is a start-up frame right before a sequence number.
func startBefore(src, dst netip.AddrPort, seq, ack uint32, key string) iwarp.Packet {
	m := make(wire.MPAStart, wire.MPAStartLen)
	copy(m.Key(), key)
	m.SetCRC(true)
	m.SetRevision(1)
	return iwarp.Packet{Src: src, Dst: dst, Seq: seq - wire.MPAStartLen, Ack: ack, Flags: wire.TCPAck, Payload: m, WireLen: len(m), Offset: -1}
}
