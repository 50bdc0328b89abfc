package iwarp

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// TestSegmentsOfOneByteTakeNoMoreThanTheBudget has connections that send long FPDUs
// byte by byte, so that the places of segments take many times what the bytes do.
func TestSegmentsOfOneByteTakeNoMoreThanTheBudget(t *testing.T) {
	const total, conns, bytes = 1 << 20, 20, 4000
	limits := DefaultLimits()
	limits.Total = total
	tr := NewTracker(limits)
	w := &writer{origin: -1}
	w.start("MPA ID Req Frame", 0x40, 1, "")
	stream := binary.BigEndian.AppendUint16(w.stream, 60000)
	stream = append(stream, 0x41, 0x43) // an untagged Send
	stream = append(stream, make([]byte, bytes)...)
	most := 0
	for i := range stream {
		for c := range conns {
			src := netip.AddrPortFrom(client.Addr(), uint16(1000+c))
			tr.Segment(Packet{Number: uint64(i*conns + c + 1), Src: src, Dst: server, Seq: uint32(i), Flags: tcpstream.ACK, Payload: stream[i : i+1], WireLen: 1})
			most = max(most, holds(tr))
		}
	}
	if most > total+total/4 || most < total/2 {
		t.Errorf("the windows take %d bytes, want at most about %d", most, total)
	}
	tr.Flush()
	if used := tr.budget.Used(); used != 0 {
		t.Errorf("%d bytes are in use at the end", used)
	}
}

// holds adds up what the windows really hold.
func holds(tr *Tracker) (n int) {
	for _, c := range tr.conns {
		for dir := range c.streams {
			w := &c.streams[dir].win
			n += cap(w.store) + cap(w.parts)*partBytes + cap(w.holes)*holeBytes
		}
	}
	return n
}

// TestAnEmptyWindowGivesItsRoomBackWhenMemoryIsScarce has more connections whose
// FPDUs are long than there is room for when each keeps what it needed once.
func TestAnEmptyWindowGivesItsRoomBackWhenMemoryIsScarce(t *testing.T) {
	limits := DefaultLimits()
	limits.Total = 1 << 20
	tr := NewTracker(limits)
	const conns = 100
	for c := range conns {
		w := &writer{origin: -1}
		w.start("MPA ID Req Frame", 0x40, 1, "")
		w.fpdu(append([]byte{0x41, 0x43}, make([]byte, 40_000)...))
		src := netip.AddrPortFrom(client.Addr(), uint16(1000+c))
		for at := 0; at < len(w.stream); at += 1400 {
			part := w.stream[at:min(at+1400, len(w.stream))]
			tr.Segment(Packet{Number: 1, Src: src, Dst: server, Seq: uint32(at), Flags: tcpstream.ACK, Payload: part, WireLen: len(part)})
		}
	}
	if len(tr.conns) != conns || tr.budget.Full() {
		t.Errorf("%d of %d connections are followed, with %d bytes", len(tr.conns), conns, tr.budget.Used())
	}
}
