package conversation

import "github.com/rocecap/rocecap/internal/wire"

// Message is a work request as its packets show it, and how it ended.
type Message struct {
	Op     Op
	Opcode wire.Opcode // of its last packet in the order of PSNs, which tells what goes with it
	Bytes  int64       // as in Operation
	// First and Last are the PSNs that it takes; a READ takes those of its response.
	First, Last wire.PSN
	FirstPacket int   // the one with the first PSN
	LastPacket  int   // the last request packet, also one that was sent again
	Began       int64 // when the first packet came

	// Of a message whose first packet has a RETH or AtomicETH.
	Addressed bool
	RKey      uint32
	VA        uint64
	Length    uint32 // bytes from VA on

	Immediate   uint32 // as Carries tells
	Invalidated uint32 // the rkey, as Carries tells
	Solicited   bool   // it asks for an event at the responder

	// By is the packet that completed it or, of one that was refused, the NAK; 0
	// for none. Ended is when it was complete, 0 when that is not known.
	By    int
	Ended int64
	MSN   uint32        // of the AETH of By
	AETH  bool          // By has one
	Nak   wire.Syndrome // with which it was refused, 0 when it was not

	Again    bool     // some of it was sent again before it ended
	Restarts int      // how often the requester went back into it
	Restart  wire.PSN // the last time: to where
	Partial  bool     // some of it was not captured
	// Unfinished says that no good answer was seen.
	Unfinished bool
}

// Carries reports whether its packets end with a header, such as wire.HdrImmDt.
func (m *Message) Carries(id wire.HeaderID) bool { return trailer(m.Opcode.Info()) == id }

// trailer is the last header of an opcode: immediate data and what is invalidated
// stand there.
func trailer(info *wire.OpcodeInfo) wire.HeaderID {
	headers := info.Extended()
	if len(headers) == 0 {
		return wire.HdrBTH
	}
	return headers[len(headers)-1]
}

// facts are what is told of a message, and decides nothing about it.
type facts struct {
	opcode     wire.Opcode
	addressed  bool
	solicited  bool
	aeth       bool
	unfinished bool
	nak        wire.Syndrome
	rkey       uint32
	length     uint32
	word       uint32 // immediate data, or the invalidated rkey
	msn        uint32
	restartAt  wire.PSN
	restarts   int
	va         uint64
	lastPacket int
	by         int
	ended      int64
}

// take takes what a request packet, the last one so far, says.
func (m *message) take(p *Packet, info *wire.OpcodeInfo) {
	m.opcode, m.lastPacket = p.Opcode, max(m.lastPacket, p.Number)
	if begins(info.Place) && m.op != Send {
		m.addressed, m.rkey, m.va, m.length = true, p.RKey, p.VA, p.DMALen
		if m.op == Atomic {
			m.length = atomicBytes
		}
	}
	if !ends(info.Place) {
		return
	}
	m.solicited = p.Solicited
	switch trailer(info) {
	case wire.HdrImmDt:
		m.word = p.Immediate
	case wire.HdrIETH:
		m.word = p.RKey
	}
}

func begins(p wire.Place) bool { return p == wire.PlaceFirst || p == wire.PlaceOnly }

func ends(p wire.Place) bool { return p == wire.PlaceLast || p == wire.PlaceOnly }

// join adds what the packets behind say.
func (f *facts) join(behind *facts) {
	f.opcode, f.solicited, f.word = behind.opcode, behind.solicited, behind.word
	f.lastPacket = max(f.lastPacket, behind.lastPacket)
	if f.restarts += behind.restarts; behind.restarts > 0 {
		f.restartAt = behind.restartAt
	}
}

// answeredBy notes the packet that ends it.
func (f *facts) answeredBy(p *Packet) {
	f.by, f.msn, f.aeth = p.Number, p.MSN, p.hasAETH()
}

// record is what is told of a message at its end.
func (m *message) record() Message {
	r := Message{
		Op: m.op, Opcode: m.opcode, Bytes: m.bytes, First: m.first, Last: m.end.Add(-1),
		FirstPacket: m.packet, LastPacket: m.lastPacket, Began: m.time,
		Addressed: m.addressed, RKey: m.rkey, VA: m.va, Length: m.length, Solicited: m.solicited,
		By: m.by, Ended: m.ended, MSN: m.msn, AETH: m.aeth, Nak: m.nak,
		Again: m.again, Restarts: m.restarts, Restart: m.restartAt,
		Partial: m.partial || !m.headed || !m.tailed, Unfinished: m.unfinished,
	}
	switch trailer(m.opcode.Info()) {
	case wire.HdrImmDt:
		r.Immediate = m.word
	case wire.HdrIETH:
		r.Invalidated = m.word
	}
	return r
}

// record tells of a message that has ended.
func (d *Direction) record(m *message, unfinished bool) {
	if d.ended != nil {
		m.unfinished = unfinished
		d.ended(m)
	}
}

// refuse ends a message by the NAK that ends the queue pair.
func (d *Direction) refuse(p *Packet) {
	m := d.messages.covering(p.PSN)
	if m == nil || m.done {
		return
	}
	m.nak = p.Syndrome
	m.answeredBy(p)
	m.answer = 0
	d.giveUp(m)
	d.messages.drop()
}

// recall notes a request packet that is not beyond all others.
func (d *Direction) recall(p *Packet) {
	if m := d.messages.covering(p.PSN); m != nil {
		m.lastPacket = max(m.lastPacket, p.Number)
	}
}

// restarted notes which message the requester went back into.
func (d *Direction) restarted() {
	if d.Pace.run == d.run.time {
		return
	}
	d.Pace.run = d.run.time
	if m := d.messages.covering(d.run.start); m != nil {
		m.restarts++
		m.restartAt = d.run.start
	}
}

// datagramOf is the message that is a packet.
func datagramOf(p *Packet) message {
	m := message{
		first: p.PSN, end: p.PSN.Add(1), op: Send, headed: true, tailed: true, done: true,
		packet: p.Number, time: p.Time, bytes: int64(p.Payload),
	}
	m.take(p, p.Opcode.Info())
	return m
}

// datagram counts a message that is a packet.
func (l *messages) datagram(p *Packet) {
	l.asked.take(p, Send, p.Opcode.Info())
	l.volume.payload += int64(p.Payload)
	l.volume.finished += int64(p.Payload)
}
