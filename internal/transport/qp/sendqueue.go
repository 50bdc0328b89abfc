package qp

import "github.com/rocecap/rocecap/internal/wire"

// request is a work request in the send queue.
type request struct {
	WorkRequest
	op     *operation
	length int // of the message, in bytes

	// Since the request has been begun: its PSNs.
	begun   bool
	first   wire.PSN
	packets int // PSNs it takes; 0 if it is local
	// again is the packet from which a READ was asked for last: the responses
	// may begin anew there.
	again int

	done   bool   // complete, but perhaps not yet the oldest
	status Status // why it failed here, before or while it was sent
}

// end is the PSN behind the request's last.
func (s *request) end() wire.PSN { return s.first.Add(s.packets) }

// sendQueue is a ring of requests, with room for their SGLs and inline data. It
// grows to what is needed, so that thousands of queue pairs which send little are
// small; a post then allocates nothing.
type sendQueue struct {
	ring   []request
	sges   []SGE
	inline []byte
	head   int
	n      int

	most, maxSGE, maxInline int
}

func (q *sendQueue) init(cfg *Config) {
	q.most, q.maxSGE, q.maxInline = cfg.MaxSend, cfg.MaxSGE, cfg.Inline
}

func (q *sendQueue) full() bool { return q.n == q.most }

// at is the i-th request, 0 the oldest.
func (q *sendQueue) at(i int) *request { return &q.ring[(q.head+i)%len(q.ring)] }

// push copies a work request that fits.
func (q *sendQueue) push(wr *WorkRequest, length int) {
	if q.n == len(q.ring) {
		q.grow()
	}
	slot := (q.head + q.n) % len(q.ring)
	q.n++
	q.place(slot, request{WorkRequest: *wr, op: &operations[wr.Op], length: length})
}

// place copies a request, with what it refers to, to a slot of the ring.
func (q *sendQueue) place(slot int, s request) {
	s.SGL = append(q.sges[slot*q.maxSGE:slot*q.maxSGE:(slot+1)*q.maxSGE], s.SGL...)
	s.Inline = append(q.inline[slot*q.maxInline:slot*q.maxInline:(slot+1)*q.maxInline], s.Inline...)
	q.ring[slot] = s
}

func (q *sendQueue) grow() {
	old, length := *q, min(q.most, max(4, 2*len(q.ring)))
	q.ring = make([]request, length)
	q.sges = make([]SGE, length*q.maxSGE)
	q.inline = make([]byte, length*q.maxInline)
	q.head = 0
	for i := range old.n {
		q.place(i, *old.at(i))
	}
}

// pop forgets the oldest request and what it refers to.
func (q *sendQueue) pop() {
	q.ring[q.head] = request{}
	q.head = (q.head + 1) % len(q.ring)
	q.n--
}
