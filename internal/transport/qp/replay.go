package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// replayEntry is a request that has been answered with more than an
// acknowledgement, for its duplicates.
type replayEntry struct {
	op          uint8
	first, last wire.PSN
	srq         *SRQ
	rkey        uint32
	va          uint64
	size        uint32
	original    uint64 // of an atomic
}

// replayStore keeps the last MaxDestRdAtomic of these (C9-149).
type replayStore struct {
	entries []replayEntry
	n       int // that are filled
	next    int
}

func (s *replayStore) add(depth int, e replayEntry) {
	if depth != len(s.entries) { // the first, or the depth was modified
		*s = replayStore{entries: make([]replayEntry, depth)}
	}
	s.entries[s.next] = e
	s.next = (s.next + 1) % len(s.entries)
	s.n = min(s.n+1, len(s.entries))
}

// find returns the youngest entry of the operation whose responses have the PSN.
func (s *replayStore) find(op uint8, psn wire.PSN) *replayEntry {
	for i := 1; i <= s.n; i++ {
		e := &s.entries[(s.next-i+len(s.entries))%len(s.entries)]
		if e.op == op && psn.InRange(e.first, e.last.Diff(e.first)+1) {
			return e
		}
	}
	return nil
}

// duplicate answers a request that was executed before and is not executed
// again. One that is itself faulty, or was forgotten, is ignored.
func (r *responder) duplicate(q *QP, now time.Time, req *incoming) {
	q.trace(Event{At: now, Kind: EventDuplicate, PSN: req.psn})
	if req.family == sends || req.family == writes {
		if !q.cfg.Policy.SilentDuplicates || req.packet.BTH().AckReq() {
			r.acknowledge(q) // C9-105
		}
		return
	}
	e := r.replay.find(req.op, req.psn)
	switch {
	case e == nil:
		q.trace(Event{At: now, Kind: EventDropped, PSN: req.psn, Cause: "duplicate that is not remembered"})
		return
	case req.family == reads && !e.repeats(q, req):
		q.trace(Event{At: now, Kind: EventDropped, PSN: req.psn, Cause: "duplicate READ of something else"})
		return
	}
	a := response{kind: readResponse, psn: req.psn, srq: e.srq, msn: r.msn, again: true}
	switch req.family {
	case reads:
		h := req.reth()
		a.rkey, a.va, a.left = h.RKey(), h.VA(), h.DMALen()
		a.altered = q.cfg.Policy.Replay == ReplayAltered
	case atomics:
		a.kind, a.original = atomicResponse, e.original
	}
	if !r.merge(&a, q.attr.PathMTU) && !r.full(q) {
		r.respond(q, a)
	}
}

// repeats reports whether a duplicate READ asks for a part of the original.
func (e *replayEntry) repeats(q *QP, req *incoming) bool {
	h := req.reth()
	offset, size := h.VA()-e.va, uint64(h.DMALen()) // an earlier start wraps beyond every size
	switch {
	case q.cfg.Policy.Replay == ReplayRefuse, len(req.payload)+req.pad > 0:
		return false
	case h.RKey() != e.rkey, offset > uint64(e.size), size > uint64(e.size)-offset:
		return false
	case size == 0 && e.size > 0:
		return false
	case q.cfg.Policy.StrictReplay && offset+size != uint64(e.size):
		return false
	}
	return req.psn.Add(packets(h.DMALen(), q.attr.PathMTU)-1).Diff(e.last) <= 0
}
