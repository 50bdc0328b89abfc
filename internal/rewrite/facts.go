package rewrite

import (
	"slices"

	"github.com/rocecap/rocecap/internal/wire"
)

// Facts are what has to be known about a whole capture to move PSNs: the first
// PSN of each queue pair, and which queue pairs talk to each other. A response
// names the requester's queue pair alone, but its PSN counts in the stream to
// the responder's.
type Facts struct {
	streams map[Endpoint]*stream
	order   []Endpoint              // of streams, as they appeared
	asked   map[Endpoint][]Endpoint // the streams that responses to a queue pair can belong to
	askers  []Endpoint              // of asked, as they appeared
	given   map[Endpoint]Endpoint   // pairs that were said or exchanged, both ways
	open    map[exchange]Endpoint   // connection requests and who sent them
}

// stream is the requests to one queue pair.
type stream struct {
	from    Endpoint // without number: the requester's host
	first   wire.PSN
	end     wire.PSN // one past the highest PSN that the requests cover
	covered int      // how many PSNs they cover
}

// exchange names a connection that is being made.
type exchange struct {
	host   Endpoint // without number: who asked
	commID uint32
}

const (
	// window is how far behind the newest request a response may be: a READ of
	// some megabytes is one request.
	window = 1 << 17
	// minMTU is the shortest payload of a READ's responses but the last
	// (IBTA 9.7.3); it bounds how many there are.
	minMTU = 256
	// gsi is the number of the queue pair that connection managers use
	// (IBTA 3.9.2).
	gsi = 1
)

// Learn takes a frame of the capture; frames come in order.
func (k *Facts) Learn(f *wire.Frame) {
	b := f.View(wire.HdrBTH)
	if len(b) < wire.BTHLen {
		return
	}
	bth := wire.BTH(b)
	src, dst := f.Addresses()
	from, to := Endpoint{Addr: src}, Endpoint{Addr: dst, QPN: bth.DestQP()}
	if to.QPN == gsi {
		k.exchanged(f, from, Endpoint{Addr: dst})
		return
	}
	switch info := bth.Opcode().Info(); {
	case !info.Defined() || info.Service == wire.CNP:
	case info.Response:
		k.answer(from, to, bth.PSN())
	default:
		k.request(from, to, bth.PSN(), spanOf(f))
	}
}

// spanOf is how many PSNs a request may cover: a READ covers its responses.
func spanOf(f *wire.Frame) int {
	op, _ := f.Opcode()
	h := f.View(wire.HdrRETH)
	if op.Operation() != wire.OpReadRequest || len(h) < wire.RETHLen {
		return 1
	}
	return max(1, (int(wire.RETH(h).DMALen())+minMTU-1)/minMTU)
}

func (k *Facts) request(from, to Endpoint, psn wire.PSN, span int) {
	s := k.streams[to]
	if s == nil {
		if k.streams == nil {
			k.streams = make(map[Endpoint]*stream)
		}
		s = &stream{from: from, first: psn, end: psn}
		k.streams[to] = s
		k.order = append(k.order, to)
	}
	if ahead := psn.Add(span).Diff(s.end); ahead > 0 {
		s.end = s.end.Add(ahead)
		s.covered += ahead
	}
}

// answer rules out the streams that a response cannot belong to.
func (k *Facts) answer(from, to Endpoint, psn wire.PSN) {
	before, known := k.asked[to]
	if !known {
		if k.asked == nil {
			k.asked = make(map[Endpoint][]Endpoint)
		}
		k.asked[to] = nil
		k.askers = append(k.askers, to)
	}
	if len(before) == 1 {
		return
	}
	var left []Endpoint
	if len(before) == 0 {
		before = k.order
	}
	for _, e := range before {
		s := k.streams[e]
		if e.Addr == from.Addr && e != to && s.from.Addr == to.Addr && s.has(psn) {
			left = append(left, e)
		}
	}
	if len(left) > 0 { // else a stray response
		k.asked[to] = left
	}
}

func (s *stream) has(psn wire.PSN) bool {
	behind := s.end.Diff(psn)
	return behind > 0 && behind <= min(window, s.covered)
}

// exchanged learns a pair from the messages of the connection manager.
func (k *Facts) exchanged(f *wire.Frame, from, to Endpoint) {
	for _, h := range f.Headers() {
		b := f.Whole(h)
		switch {
		case b == nil:
		case h.ID == wire.HdrCMReq:
			m := wire.CMReq(b)
			if k.open == nil {
				k.open = make(map[exchange]Endpoint)
			}
			from.QPN = m.LocalQPN()
			k.open[exchange{Endpoint{Addr: from.Addr}, m.LocalCommID()}] = from
		case h.ID == wire.HdrCMRep:
			m := wire.CMRep(b)
			if asker, ok := k.open[exchange{to, m.RemoteCommID()}]; ok {
				from.QPN = m.LocalQPN()
				k.Pair(asker, from)
			}
		}
	}
}

// Pair says that two queue pairs talk to each other.
func (k *Facts) Pair(a, b Endpoint) {
	if k.given == nil {
		k.given = make(map[Endpoint]Endpoint)
	}
	k.given[a], k.given[b] = b, a
}

// Pairs returns who talks to whom, both ways, and the queue pairs whose peer
// stayed unclear.
func (k *Facts) Pairs() (peers map[Endpoint]Endpoint, unclear []Endpoint) {
	peers = make(map[Endpoint]Endpoint)
	for a, b := range k.given {
		peers[a] = b
	}
	for found := true; found; {
		found, unclear = false, nil
		for _, to := range k.askers {
			if _, done := peers[to]; done {
				continue
			}
			left := slices.DeleteFunc(slices.Clone(k.asked[to]), func(e Endpoint) bool { _, taken := peers[e]; return taken })
			if len(left) == 1 {
				peers[to], peers[left[0]] = left[0], to
				found = true
			} else if len(left) > 1 {
				unclear = append(unclear, to)
			}
		}
	}
	return peers, unclear
}
