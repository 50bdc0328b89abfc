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

// sendQueue is a ring of requests, with room for their SGLs and inline data, so
// that posting allocates nothing.
type sendQueue struct {
	ring   []request
	sges   []SGE
	inline []byte
	head   int
	n      int
}

func (q *sendQueue) init(cfg *Config) {
	q.ring = make([]request, cfg.MaxSend)
	q.sges = make([]SGE, cfg.MaxSend*cfg.MaxSGE)
	q.inline = make([]byte, cfg.MaxSend*cfg.Inline)
}

func (q *sendQueue) full() bool { return q.n == len(q.ring) }

// at is the i-th request, 0 the oldest.
func (q *sendQueue) at(i int) *request { return &q.ring[(q.head+i)%len(q.ring)] }

// push copies a work request that fits.
func (q *sendQueue) push(wr *WorkRequest, length int) {
	slot := (q.head + q.n) % len(q.ring)
	q.n++
	s := &q.ring[slot]
	*s = request{WorkRequest: *wr, op: &operations[wr.Op], length: length}
	most := len(q.sges) / len(q.ring)
	s.SGL = append(q.sges[slot*most:slot*most:(slot+1)*most], wr.SGL...)
	most = len(q.inline) / len(q.ring)
	s.Inline = append(q.inline[slot*most:slot*most:(slot+1)*most], wr.Inline...)
}

// pop forgets the oldest request and what it refers to.
func (q *sendQueue) pop() {
	q.ring[q.head] = request{}
	q.head = (q.head + 1) % len(q.ring)
	q.n--
}
