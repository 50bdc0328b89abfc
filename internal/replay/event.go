package replay

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// Event is a frame of the recording, as it is to be sent or expected.
type Event struct {
	Frame  []byte // whole, from the Ethernet header on
	Time   int64  // when it was recorded
	Number int64  // of the record
	Mine   bool   // it is to be sent; else the peer is expected to send it
}

// kind is what a packet is in a conversation.
type kind uint8

const (
	other   kind = iota // not waited for
	request             // of either side
	ack                 // AETH without data, positive
	nak                 // NAK or RNR NAK
	read                // response to a READ
	atomic              // response to an atomic operation
)

// message is a packet as far as the conversation is concerned.
type message struct {
	kind     kind
	to       rewrite.Endpoint // where it goes
	op       wire.Opcode
	psn      wire.PSN
	span     int // how many PSNs a request covers at most
	syndrome wire.Syndrome
	payload  []byte // or the result of an atomic operation
}

// minMTU is the shortest payload of a READ's responses but the last (IBTA 9.7.3).
const minMTU = 256

// messageOf looks at a parsed frame.
func messageOf(f *wire.Frame) (m message) {
	b := f.View(wire.HdrBTH)
	if len(b) < wire.BTHLen || f.Cut() {
		return m
	}
	bth := wire.BTH(b)
	_, dst := f.Addresses()
	m = message{op: bth.Opcode(), psn: bth.PSN(), to: rewrite.Endpoint{Addr: dst, QPN: bth.DestQP()}, span: 1, payload: f.PayloadBytes()}
	if aeth := f.View(wire.HdrAETH); len(aeth) >= wire.AETHLen {
		m.syndrome = wire.AETH(aeth).Syndrome()
	}
	if reth := f.View(wire.HdrRETH); len(reth) >= wire.RETHLen && m.op.Operation() == wire.OpReadRequest {
		m.span = max(1, (int(wire.RETH(reth).DMALen())+minMTU-1)/minMTU)
	}
	if h := f.View(wire.HdrAtomicAckETH); len(h) >= wire.AtomicAckETHLen {
		m.payload = h
	}
	m.kind = kindOf(m)
	return m
}

// kindOf says what a packet is. Management datagrams are left alone: their
// answers are chosen by software, not told by PSNs.
func kindOf(m message) kind {
	const gsi = 1 // IBTA 3.9.2
	info := m.op.Info()
	switch {
	case !info.Defined() || info.Service == wire.CNP || m.to.QPN <= gsi:
		return other
	case !info.Response:
		return request
	case m.op.Operation() == wire.OpAtomicAcknowledge:
		return atomic
	case m.op.Operation() != wire.OpAcknowledge:
		return read
	case m.syndrome.Kind() == wire.Ack:
		return ack
	}
	return nak
}

// covers reports whether a request covers a PSN.
func (m *message) covers(psn wire.PSN) bool { return psn.InRange(m.psn, m.span) }

// String describes what matters of a message in a conversation.
func (m message) String() string {
	switch m.kind {
	case ack:
		return "ACK"
	case nak:
		return syndromeName(m.syndrome)
	}
	return m.op.String()
}

func syndromeName(s wire.Syndrome) string {
	switch {
	case s.Kind() == wire.RNRNak:
		return fmt.Sprintf("RNR NAK (%v)", s.RNRTimer())
	case s.Kind() == wire.Nak && wire.NakName(s.Code()) != "":
		return "NAK (" + wire.NakName(s.Code()) + ")"
	}
	return fmt.Sprintf("AETH syndrome 0x%02x", uint8(s))
}
