package fault

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// maxFlows bounds the flows that are remembered; the oldest goes.
	maxFlows = 4096
	// maxMessages bounds the messages of a flow whose retransmissions are
	// recognised.
	maxMessages = 4096
	// maxLinkTries bounds how often a flow is compared with all others to find
	// the one of the opposite direction.
	maxLinkTries = 64
)

// flowKey names what one sender sends to one queue pair. A connected queue pair
// has one sender; to a datagram one many send, each queue pair with PSNs of its
// own.
type flowKey struct {
	src, dst netip.Addr
	qp       uint32
	srcQP    uint32 // of datagrams, which name it
}

// flow is what was seen of one. Requests and responses to a queue pair have
// nothing to do with each other: their PSNs are the two sides'.
type flow struct {
	key       flowKey
	requests  stream
	responses stream
	partner   *flow // the same connection's other direction
	tries     int
	msn       uint32 // of the last acknowledgement
}

// message is a run of PSNs.
type message struct {
	start  wire.PSN
	number uint32 // from 1 among all; 0 when its beginning was not seen
	ofKind uint32 // from 1 among those of its kind
	kind   Kind
}

// stream is a sequence of PSNs that go up by one, but for retransmissions, and
// READ requests, which take as many as their response has packets.
type stream struct {
	begun       bool
	start, next wire.PSN
	messages    []message // the latest, oldest first
	total       uint32
	totals      [kinds]uint32
	read        readRange // of the last message, if it is a READ request
}

// readRange is the memory that a READ request asks for.
type readRange struct {
	rkey       uint32
	begin, end uint64
}

// restOf reports whether a READ is the rest of an earlier one, asked for again:
// its PSN is one that the other's response was to have, and it ends where the
// other does (req_retry in the kernel's drivers/infiniband/sw/rxe/rxe_req.c).
func (r readRange) restOf(earlier readRange) bool {
	return r.rkey == earlier.rkey && r.end == earlier.end && r.begin > earlier.begin
}

// position is what is known of a packet's place.
type position struct {
	flow    *flow
	start   wire.PSN // first PSN of the stream that was seen
	message message
	again   bool
}

// tracker remembers flows.
type tracker struct {
	flows map[flowKey]*flow
	order []*flow // oldest first
}

func newTracker() tracker { return tracker{flows: make(map[flowKey]*flow)} }

// see takes notice of a packet with a whole BTH.
func (t *tracker) see(f *wire.Frame, bth wire.BTH) position {
	op, psn := bth.Opcode(), bth.PSN()
	info := op.Info()
	fl := t.flow(f, bth)
	pos := position{flow: fl, start: psn}
	switch {
	case op.Service() == wire.CNP || !info.Defined():
		return pos // its PSN means nothing
	case info.Response:
		t.link(fl, psn)
		if aeth := wire.AETH(f.View(wire.HdrAETH)); len(aeth) == wire.AETHLen {
			fl.msn = aeth.MSN()
		}
		if s := &fl.responses; kindOf(op) == KindNone { // an acknowledgement
			s.begin(psn)
			pos.start = s.start
			return pos
		}
		pos.message, pos.again = fl.responses.place(psn, kindOf(op), info.Place, readRange{})
		pos.start = fl.responses.start
	default:
		pos.message, pos.again = fl.requests.place(psn, kindOf(op), info.Place, readOf(f, op))
		pos.start = fl.requests.start
	}
	return pos
}

func readOf(f *wire.Frame, op wire.Opcode) readRange {
	reth := wire.RETH(f.View(wire.HdrRETH))
	if op.Operation() != wire.OpReadRequest || len(reth) != wire.RETHLen {
		return readRange{}
	}
	return readRange{reth.RKey(), reth.VA(), reth.VA() + uint64(reth.DMALen())}
}

// flow finds a packet's flow, or begins one.
func (t *tracker) flow(f *wire.Frame, bth wire.BTH) *flow {
	src, dst := f.Addresses()
	key := flowKey{src: src, dst: dst, qp: bth.DestQP()}
	if deth := wire.DETH(f.View(wire.HdrDETH)); len(deth) == wire.DETHLen {
		key.srcQP = deth.SrcQP()
	}
	if fl := t.flows[key]; fl != nil {
		return fl
	}
	if len(t.order) == maxFlows {
		t.forget(t.order[0])
		t.order = append(t.order[:0], t.order[1:]...)
	}
	fl := &flow{key: key}
	t.flows[key] = fl
	t.order = append(t.order, fl)
	return fl
}

func (t *tracker) forget(fl *flow) {
	delete(t.flows, fl.key)
	if fl.partner != nil {
		fl.partner.partner = nil
	}
}

// link finds the flow whose request a response belongs to: the one between the
// same addresses that has sent the PSN. Where several have, a later response
// may tell.
func (t *tracker) link(fl *flow, psn wire.PSN) {
	if fl.partner != nil || fl.tries == maxLinkTries {
		return
	}
	fl.tries++
	var found *flow
	for _, other := range t.order {
		if other.key.src != fl.key.dst || other.key.dst != fl.key.src || other.partner != nil || !other.requests.has(psn) {
			continue
		}
		if found != nil {
			return
		}
		found = other
	}
	if found != nil && found != fl {
		fl.partner, found.partner = found, fl
	}
}

// peer is the queue pair that the flow's sender sends from.
func (fl *flow) peer() (qp uint32, known bool) {
	switch {
	case fl.key.srcQP != 0:
		return fl.key.srcQP, true
	case fl.partner != nil:
		return fl.partner.key.qp, true
	}
	return 0, false
}

func (s *stream) begin(psn wire.PSN) {
	if !s.begun {
		s.begun, s.start, s.next = true, psn, psn
	}
}

// has reports whether the PSN is of one of the messages that are remembered.
func (s *stream) has(psn wire.PSN) bool {
	return len(s.messages) > 0 && !psn.Less(s.messages[0].start) && psn.Less(s.next)
}

// place finds a packet's message, or begins one, and reports whether the PSN
// was seen before. A PSN from before everything that is remembered is of a new
// life of the queue pair, in which counting begins anew.
func (s *stream) place(psn wire.PSN, kind Kind, place wire.Place, read readRange) (m message, again bool) {
	s.begin(psn)
	if n := len(s.messages); n > 0 {
		if psn.Less(s.next) {
			if m, ok := s.find(psn); ok {
				return m, true
			}
			*s = stream{messages: s.messages[:0]}
			s.begin(psn)
		} else if kind == KindRead && read.restOf(s.read) {
			return s.messages[n-1], true
		}
	}
	if place == wire.PlaceFirst || place == wire.PlaceOnly {
		s.total++
		s.totals[kind]++
		s.open(message{psn, s.total, s.totals[kind], kind})
		s.read = read
	} else if len(s.messages) == 0 {
		s.open(message{start: psn, kind: kind})
	}
	s.next = psn.Add(1)
	return s.messages[len(s.messages)-1], false
}

// open remembers a message; when there are too many, the older half goes.
func (s *stream) open(m message) {
	if len(s.messages) == maxMessages {
		n := copy(s.messages, s.messages[maxMessages/2:])
		s.messages = s.messages[:n]
	}
	s.messages = append(s.messages, m)
}

// find returns the latest message that begins at the PSN or before.
func (s *stream) find(psn wire.PSN) (message, bool) {
	for i := len(s.messages) - 1; i >= 0; i-- {
		if !psn.Less(s.messages[i].start) {
			return s.messages[i], true
		}
	}
	return message{}, false
}
