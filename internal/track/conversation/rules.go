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
	qkey   uint32

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
	n := func(k Kind) { d.tell(Event{Kind: k, Packet: p.Number, PSN: p.PSN, N: 1}) }
	if p.Reserved {
		n(ReservedBits)
	}
	if p.TVer != 0 {
		n(VersionUnknown)
	}
	if p.PadWrong {
		n(PadWrong)
	}
	if p.PadSet {
		n(PadSet)
	}
	info := p.Opcode.Info()
	if !info.Defined() && info.Service != wire.CNP && info.Service != wire.Manufacturer {
		n(UnknownOpcode) // a receiver drops it silently
	}
	switch info.Service {
	case wire.CNP:
		// It belongs to no connection: any partition of the port will do.
	case wire.UD:
		d.datagramHeader(p)
	default:
		d.connectedHeader(p)
	}
}

// connectedHeader looks at what stays the same as long as a connection does.
func (d *Direction) connectedHeader(p *Packet) {
	r := &d.rules
	if r.headed && p.PKey != r.pkey {
		d.tell(Event{Kind: PKeyChanged, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	if r.headed && p.MigReq != r.mig {
		d.tell(Event{Kind: MigReqChanged, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	r.headed, r.pkey, r.mig = true, p.PKey, p.MigReq
}

// generalQP is the queue pair of the general services. It has a Q_Key of its own
// (IBTA vol. 1, 3.5.3), and takes all P_Keys of its port, as QP 0 does.
const generalQP = 1

// partition is the part of a P_Key that both ends have to share: the highest bit
// tells full members from limited ones (IBTA vol. 1, 10.9.3).
const partition = 0x7FFF

// datagramHeader looks at what all that goes to a queue pair has in common,
// whoever sends it: the queue pair has one Q_Key and one partition, and drops
// everything else silently (C9-52 and on).
func (d *Direction) datagramHeader(p *Packet) {
	r := &d.rules
	n := func(k Kind) { d.tell(Event{Kind: k, Packet: p.Number, PSN: p.PSN, N: 1}) }
	switch {
	case p.DestQP == generalQP:
		if p.QKey != wire.QKeyQP1 {
			n(QKeyQP1)
		}
		return
	case p.DestQP < generalQP:
		return
	}
	if r.headed && p.QKey != r.qkey {
		n(QKeyChanged)
	}
	if r.headed && p.PKey&partition != r.pkey&partition {
		n(PKeyChanged)
	}
	r.headed, r.pkey, r.qkey = true, p.PKey, p.QKey
}

// measure checks the length of a packet of a message or response: FIRST and
// MIDDLE have one path MTU, LAST at least a byte, and none more (C9-10 and on).
func (d *Direction) measure(p *Packet) {
	d.fits(p)
	r := &d.rules
	if p.PadWrong {
		return // its length is not known
	}
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
		r.sized, r.length, r.bytes = !p.Unsized, p.DMALen, 0
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

// misplaces checks a packet of a response to a READ: the last one has the last PSN,
// and what is left of the DMA length (IBTA vol. 1, 9.7.2). size is the path MTU of the
// responder, 0 when it is not known.
func (d *Direction) misplaces(p *Packet, size int) (k Kind, wrong bool) {
	info := p.Opcode.Info()
	if size == 0 || size != d.mtu || p.PadWrong || info.Place == wire.PlaceOnly {
		return 0, false
	}
	m := d.messages.covering(p.PSN)
	if m == nil || m.op != Read || m.unsized || m.length == 0 {
		return 0, false
	}
	last := p.PSN.Add(1) == m.end
	if last != ends(info.Place) {
		return OpcodeOrder, true
	}
	return LengthWrong, last && p.Payload != int(m.length)-(m.end.Diff(m.first)-1)*size
}

// flight is how long requests may still come that were sent before a NAK was
// heard: what a sender's device has queued, which no time of an answer shows.
const flight = int64(time.Millisecond)

// requestWay is how long a requester may still send behind a NAK: as long as
// what is queued needs, or twice as long as it takes to answer the other end's
// requests, if that is longer.
func (d *Direction) requestWay() int64 {
	return max(flight, d.settled(), d.other.settled())
}

// answerWay is how long answers may still come that the responder gave before a
// NAK of its own: they take the same way, and are late at most.
func (d *Direction) answerWay() int64 {
	if d.answers.mean == 0 {
		return flight
	}
	return d.settled()
}

// outlives checks that an end does no more behind a NAK that ended the queue
// pair, but for what was on its way (C9-114 and the error state, 10.3.1).
func (d *Direction) outlives(p *Packet, way int64) {
	if d.rules.fatal && p.Time-d.rules.fatalAt > way {
		d.tell(Event{Kind: AfterFatal, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}
