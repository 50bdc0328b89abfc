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
	manager             // of a connection manager
)

// message is a packet as far as the conversation is concerned.
type message struct {
	kind     kind
	to       rewrite.Endpoint // where it goes
	op       wire.Opcode
	psn      wire.PSN
	recorded wire.PSN // psn before a live peer has named another one to begin with
	span     int      // how many PSNs a request covers at most
	syndrome wire.Syndrome
	payload  []byte // or the result of an atomic operation
	cm       managed
}

// minMTU is the shortest payload of a READ's responses but the last (IBTA 9.7.3).
const minMTU = 256

// messageOf looks at a parsed frame that one side sent.
func messageOf(f *wire.Frame, mine bool) (m message) {
	b := f.View(wire.HdrBTH)
	if len(b) < wire.BTHLen || f.Cut() {
		return m
	}
	bth := wire.BTH(b)
	_, dst := f.Addresses()
	m = message{op: bth.Opcode(), psn: bth.PSN(), to: rewrite.Endpoint{Addr: dst, QPN: bth.DestQP()}, span: 1, payload: f.PayloadBytes()}
	m.recorded = m.psn
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
	if cm, ok := managedOf(f, mine); ok && m.to.QPN == gsi {
		m.kind, m.cm = manager, cm
	}
	return m
}

// gsi is the number of the queue pair that connection managers use (IBTA 3.9.2).
const gsi = 1

// kindOf says what a packet is by its BTH. Other management datagrams than a
// connection manager's are left alone.
func kindOf(m message) kind {
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

// datagram reports whether the PSN says nothing: a sender of datagrams begins
// with any, and none of them is acknowledged.
func (m *message) datagram() bool { return m.op.Service() == wire.UD }

// String describes what matters of a message in a conversation.
func (m message) String() string {
	switch m.kind {
	case manager:
		return managedName(m.cm.What)
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
