package conversation

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// rules is what is known of a sender, to see where it does not keep to the
// standard.
type rules struct {
	headed bool // the fields of a first packet are known
	pkey   uint16
	mig    bool

	size int // bytes of its first FIRST or MIDDLE packet: the path MTU

	// The message that the newest request belongs to, as long as no PSN before
	// it is missing.
	known  bool
	next   wire.PSN
	inside bool // more of the message has to follow
	op     Op
	sized  bool // its first packet was seen, which tells the length
	length uint32
	bytes  int64

	fatal   bool // a NAK has ended the queue pair
	fatalAt int64
}

// header looks at the fields that each packet of a sender has (IBTA vol. 1, 9.2).
func (d *Direction) header(p *Packet) {
	r := &d.rules
	n := func(k Kind) { d.tell(Event{Kind: k, Packet: p.Number, PSN: p.PSN, N: 1}) }
	if p.Reserved {
		n(ReservedBits)
	}
	if p.TVer != 0 {
		n(VersionUnknown)
	}
	service := p.Opcode.Info().Service
	if service == wire.CNP || service == wire.UD {
		// Neither belongs to one connection: any partition of the port will do.
		return
	}
	if r.headed && p.PKey != r.pkey {
		n(PKeyChanged)
	}
	if r.headed && p.MigReq != r.mig {
		n(MigReqChanged)
	}
	r.headed, r.pkey, r.mig = true, p.PKey, p.MigReq
}

// measure checks the length of a packet of a message or response: FIRST and
// MIDDLE have one path MTU, LAST at least a byte, and none more (C9-10 and on).
func (d *Direction) measure(p *Packet) {
	r := &d.rules
	wrong := false
	switch p.Opcode.Info().Place {
	case wire.PlaceFirst, wire.PlaceMiddle:
		if r.size == 0 && isMTU(p.Payload) {
			r.size = p.Payload
		}
		wrong = p.Payload != r.size
	case wire.PlaceLast:
		wrong = p.Payload == 0 || p.Payload > r.most()
	case wire.PlaceOnly:
		wrong = p.Payload > r.most()
	}
	if wrong {
		d.tell(Event{Kind: SizeWrong, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}

// most is how long a packet can be.
func (r *rules) most() int {
	if r.size == 0 {
		return maxMTU
	}
	return r.size
}

// order checks that a new request goes on where the one before it ended: with
// the next packet of the message, or another message (IBTA vol. 1, 9.7.4.1.2).
// Behind a missing PSN nothing is known.
func (d *Direction) order(p *Packet, n int) {
	r := &d.rules
	place, op := p.Opcode.Info().Place, opOf(p.Opcode)
	begins := place == wire.PlaceFirst || place == wire.PlaceOnly
	known := r.known && r.next == p.PSN
	broken := known && (begins == r.inside || !begins && op != r.op)
	if broken {
		d.tell(Event{Kind: OpcodeOrder, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	if begins {
		r.sized, r.length, r.bytes = true, p.DMALen, 0
	} else if !known || broken {
		r.sized = false
	}
	r.bytes += int64(p.Payload)
	r.known, r.next, r.op = true, p.PSN.Add(n), op
	r.inside = place == wire.PlaceFirst || place == wire.PlaceMiddle
	if op == Write && r.sized && (!r.inside && r.bytes != int64(r.length) || r.bytes > int64(r.length)) {
		d.tell(Event{Kind: LengthWrong, Packet: p.Number, PSN: p.PSN, N: 1})
		r.sized = false
	}
}

// flight is how long packets may still come that were sent before a NAK was
// heard: more than any way takes.
const flight = int64(time.Millisecond)

// outlives checks that a queue pair that a NAK has ended does no more: packets
// that were on their way are not meant (C9-114 and the error state, 10.3.1).
func (d *Direction) outlives(p *Packet) {
	if d.rules.fatal && p.Time-d.rules.fatalAt > max(flight, d.settled()) {
		d.tell(Event{Kind: AfterFatal, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}
