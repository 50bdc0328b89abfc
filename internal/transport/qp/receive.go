package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
)

// receive is a receive request in use.
type receive struct {
	taken bool
	id    uint64
	pd    mr.PD
	sgl   []SGE
	size  uint64 // bytes of sgl
}

// scatter places data at an offset from the beginning of the buffer, which has
// room for it. Every piece is checked when it is used.
func (h *receive) scatter(memory *mr.Table, offset uint64, data []byte) error {
	for i := 0; i < len(h.sgl) && len(data) > 0; i++ {
		s := &h.sgl[i]
		room := uint64(s.Length)
		if offset >= room {
			offset -= room
			continue
		}
		part := data[:min(uint64(len(data)), room-offset)]
		mem, err := memory.Local(h.pd, s.LKey, s.Addr+offset, len(part), mr.LocalWrite)
		if err != nil {
			return err
		}
		copy(mem, part)
		data, offset = data[len(part):], 0
	}
	return nil
}

// receiveRing holds receive requests in the order in which they were posted. It
// grows to what is needed.
type receiveRing struct {
	pd     mr.PD
	most   int
	maxSGE int
	posted []postedReceive
	sges   []SGE // maxSGE for each
	head   int
	n      int
}

type postedReceive struct {
	id uint64
	n  int
}

func (r *receiveRing) init(pd mr.PD, most, maxSGE int) {
	*r = receiveRing{pd: pd, most: most, maxSGE: maxSGE}
}

func (r *receiveRing) clear() { r.head, r.n = 0, 0 }

// post copies a request.
func (r *receiveRing) post(req RecvRequest) error {
	switch {
	case len(req.SGL) > r.maxSGE:
		return &RequestError{Op: Receive, Reason: "more pieces of memory than the queue was made for"}
	case r.n == r.most:
		return ErrQueueFull
	case r.n == len(r.posted):
		r.grow()
	}
	at := (r.head + r.n) % len(r.posted)
	r.posted[at] = postedReceive{req.ID, len(req.SGL)}
	copy(r.sges[at*r.maxSGE:], req.SGL)
	r.n++
	return nil
}

func (r *receiveRing) grow() {
	old, length := *r, min(r.most, max(4, 2*len(r.posted)))
	r.posted = make([]postedReceive, length)
	r.sges = make([]SGE, length*r.maxSGE)
	n := copy(r.posted, old.posted[old.head:])
	copy(r.posted[n:], old.posted[:old.head])
	n = copy(r.sges, old.sges[old.head*r.maxSGE:])
	copy(r.sges[n:], old.sges[:old.head*r.maxSGE])
	r.head = 0
}

// take moves the oldest request to h.
func (r *receiveRing) take(h *receive) bool {
	if r.n == 0 {
		return false
	}
	p := r.posted[r.head]
	at := r.head * r.maxSGE
	h.taken, h.id, h.pd, h.size = true, p.id, r.pd, 0
	h.sgl = append(h.sgl[:0], r.sges[at:at+p.n]...)
	for _, s := range h.sgl {
		h.size += uint64(s.Length)
	}
	r.head = (r.head + 1) % len(r.posted)
	r.n--
	return true
}

// PostRecv posts a receive request. It copies it; the memory that it names must
// stay until the completion. In the error state it completes at once.
func (q *QP) PostRecv(now time.Time, req RecvRequest) error {
	r := &q.responder
	switch {
	case q.state == Reset:
		return &StateError{State: q.state, Reason: "no receive requests"}
	case q.cfg.SRQ != nil:
		return &RequestError{Op: Receive, Reason: "receive requests go to the shared receive queue"}
	case q.cfg.Type == XRCSend || q.cfg.Type == XRCRecv:
		return &RequestError{Op: Receive, Reason: "XRC queue pairs have no receive queue"}
	}
	if err := r.recv.post(req); err != nil {
		return err
	}
	if q.state == Error {
		r.flush(q, now)
	}
	return nil
}

// hold takes a receive request for the message that begins. One that is held
// already was for a UC or UD message that was lost, and is used again.
func (r *responder) hold(q *QP, srq *SRQ) bool {
	if r.held.taken {
		return true
	}
	if srq == nil {
		srq = q.cfg.SRQ
	}
	if srq != nil {
		return srq.take(&r.held)
	}
	return r.recv.take(&r.held)
}
