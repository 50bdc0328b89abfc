package qp

import (
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// play lets both sides do all that they have to, and checks everything. Then
// the same queue pairs may be connected anew, when nothing is under way any more.
func (w *world) play() {
	w.Helper()
	for lives := w.dice.between(1, 3); ; lives-- {
		w.run()
		w.finish()
		w.settle()
		if lives == 1 {
			return
		}
		w.net.parcels = nil
		for i := 0; i < len(w.ends); i += 2 {
			a, b := w.ends[i], w.ends[i+1]
			for _, e := range []*end{a, b} {
				w.check(e.q.Modify(w.net.now, Reset, Attributes{}))
			}
			w.begin(a, b)
		}
	}
}

func (w *world) run() {
	w.Helper()
	for steps := 0; ; steps++ {
		busy := false
		for _, e := range w.ends {
			e.act()
			busy = busy || e.busy()
		}
		for _, h := range w.hosts {
			h.refill(w)
		}
		if !busy {
			break
		}
		if steps > 200_000 {
			if w.careless { // two queue pairs that understand each other wrongly, and never give up
				break
			}
			w.Fatalf("no end after %v\n%s", w.net.now.Sub(time.Unix(0, 0)), w.story())
		}
		w.step()
	}
}

// busy reports whether the end has something to do, or to wait for.
func (e *end) busy() bool {
	if e.q.State() == Error || e.q.State() == SQE {
		return false
	}
	return len(e.posted) < e.goal || e.q.requester.queue.n > 0
}

// act posts something, or not, and seldom drains the send queue.
func (e *end) act() {
	d := e.w.dice
	if len(e.posted) < e.goal && e.q.requester.queue.n < modelPosted && e.w.net.chance(400) && e.q.State() == RTS {
		e.post()
	}
	if !e.shares() && e.q.State() != Error && len(e.pool.free) > 0 && e.w.net.chance(300) {
		id, at := e.pool.take()
		e.w.check(e.q.PostRecv(e.w.net.now, RecvRequest{ID: id, SGL: e.host.sgl(d, at, modelBuffer, e.q.cfg.MaxSGE)}))
	}
	switch {
	case e.q.State() != Error && e.peer.q.State() == Error && e.w.net.chance(5): // its consumer has heard of it
		e.w.check(e.q.Modify(e.w.net.now, Error, e.attr))
	case e.q.State() == RTS && e.peer.policy.Replay == ReplayRefuse && e.events[EventTimeout] > 30:
		e.gaveUp = true
		e.w.check(e.q.Modify(e.w.net.now, Error, e.attr))
	case e.q.State() == RTS && e.reliable() && e.w.net.chance(2):
		e.w.check(e.q.Modify(e.w.net.now, SQD, e.attr))
	case e.q.State() == SQD && e.w.net.chance(100):
		if e.q.requester.drained { // then some attributes may change
			e.attr.MaxRdAtomic, e.attr.Timeout = d.between(1, e.attr.MaxRdAtomic), uint8(pick(d, 8, 10))
			e.w.check(e.q.Modify(e.w.net.now, SQD, e.attr))
		}
		e.w.check(e.q.Modify(e.w.net.now, RTS, e.attr))
	}
}

// shares reports whether the end has no receive queue of its own.
func (e *end) shares() bool {
	return e.pool == e.host.pool || e.q.Type() == XRCSend
}

// refill posts to the shared receive queue.
func (h *host) refill(w *world) {
	if len(h.pool.free) > 0 && w.net.chance(400) {
		id, at := h.pool.take()
		w.check(h.srq.Post(RecvRequest{ID: id, SGL: h.sgl(w.dice, at, modelBuffer, 2)}))
	}
}

// step sends, lets time go on to the next event, and does what is due.
func (w *world) step() {
	more := false
	for _, e := range w.ends {
		more = e.send() || more
	}
	w.tick(more)
	for _, e := range w.ends {
		e.q.Advance(w.net.now)
	}
	w.net.deliver()
	for _, e := range w.ends {
		e.collect()
	}
}

// send gives what an end has to send to the net, and reports whether there may
// be more.
func (e *end) send() (more bool) {
	w := e.w
	for i := 0; w.paced == 0 || i < w.paced; i++ {
		n, to := e.q.Emit(w.net.now, w.buf)
		if n == 0 {
			e.collect() // what is sent may be complete
			e.sound()
			return false
		}
		if to != e.attr.Address {
			w.Fatalf("%s: a packet to nowhere", e.name)
		}
		if p := wire.Packet(w.buf[:n]); !p.Valid() || !allZero(p[n-p.BTH().PadCount():]) {
			w.Fatalf("%s: a packet that is not valid: %x\n%s", e.name, p, w.story())
		}
		w.net.send(e.peer, w.buf[:n])
	}
	return true
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// tick moves the clock: to the next event, or a little if more is to be sent.
func (w *world) tick(more bool) {
	at := w.net.next()
	for _, e := range w.ends {
		if t := e.q.Deadline(); !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if soon := w.net.now.Add(100 * time.Nanosecond); at.IsZero() || more && at.After(soon) {
		at = soon
	}
	if at.After(w.net.now) {
		w.net.now = at
	}
}

// finish lets what is under way arrive, and ends the pairs of which one end has
// failed, as their consumers would.
func (w *world) finish() {
	for range 100_000 {
		if w.net.next().IsZero() {
			break
		}
		w.step()
	}
	for _, e := range w.ends {
		if dead := e.q.State() == Error || e.peer.q.State() == Error || w.careless; dead && e.q.State() != Error {
			e.w.check(e.q.Modify(w.net.now, Error, Attributes{}))
		}
		e.collect()
	}
	for _, e := range w.ends {
		e.collect()
	}
	if !w.careless {
		return
	}
	for _, e := range w.ends { // the answers before a fault, and its NAK
		for n := 1; n > 0; {
			n, _ = e.q.Emit(w.net.now, w.buf)
		}
	}
	for _, h := range w.hosts { // the windows of type 2 are closed with their queue pairs
		for _, e := range w.ends {
			for i := range e.windows {
				if o := &e.windows[i]; e.host == h && o.typ == mr.Type2 && o.window.Bound() {
					w.Fatalf("%s: a window of type 2 is open behind the end", e.name)
				}
			}
		}
	}
}

// sound holds what has to be true of a queue pair that has nothing to send now.
func (e *end) sound() {
	fault := unsound(e.q)
	at := e.q.Deadline()
	r := &e.q.requester
	switch {
	case fault != "":
	case !at.IsZero() && !at.After(e.w.net.now):
		fault = "a deadline is over"
	case e.reliable() && e.q.State() == RTS && r.queue.n > 0 && at.IsZero():
		fault = "requests wait, and no deadline will wake them"
	case e.q.responder.responses.len() > spareResponses+2*e.attr.MaxDestRdAtomic+2:
		fault = "too many answers wait"
	}
	if fault != "" {
		e.w.Fatalf("%s, %v in %v: %s\n%s", e.name, e.q.Type(), e.q.State(), fault, e.w.story())
	}
}

// unsound says which of the things that hold between all calls of a requester
// does not.
func unsound(q *QP) string {
	r, reads, psn := &q.requester, 0, q.requester.unacked
	for i := range r.queue.n {
		req := r.queue.at(i)
		if !req.begun {
			continue
		}
		if i > 0 && req.first != psn || i == 0 && !psn.InRange(req.first, req.packets) {
			return fmt.Sprintf("request %d begins at %v, want %v", i, req.first, psn)
		}
		psn = req.end()
		if req.op.answer != noAnswer {
			reads++
		}
	}
	switch at := distance(r.unacked, r.next); {
	case r.reads != reads || q.state.sends() && reads > q.attr.MaxRdAtomic:
		return fmt.Sprintf("%d READs and atomics are counted, %d are open", r.reads, reads)
	case at > r.inFlight, r.inFlight > distance(r.unacked, psn):
		return fmt.Sprintf("cursor at %d of %d in flight, %d begun", at, r.inFlight, distance(r.unacked, psn))
	case r.cur < r.queue.n && r.queue.at(r.cur).begun && r.next != r.queue.at(r.cur).first.Add(r.packet):
		return fmt.Sprintf("cursor at request %d packet %d is not at %v", r.cur, r.packet, r.next)
	}
	return ""
}
