package qp

import "github.com/rocecap/rocecap/internal/transport/mr"

// SRQ is a shared receive queue: receive requests that several queue pairs take
// from, in the order in which they were posted.
type SRQ struct {
	number uint32
	pd     mr.PD
	ring   receiveRing
	limit  int
	event  func()
}

// NewSRQ makes a queue of up to most requests of up to maxSGE pieces of memory.
// The domain is that of their memory and, for XRC, of all that peers reach
// through the queue. XRC packets carry the number.
func NewSRQ(number uint32, pd mr.PD, most, maxSGE int) *SRQ {
	s := &SRQ{number: number, pd: pd}
	s.ring.init(pd, most, max(1, maxSGE))
	return s
}

// Number is the queue's number.
func (s *SRQ) Number() uint32 { return s.number }

// Len is how many requests are posted.
func (s *SRQ) Len() int { return s.ring.n }

// Post posts a request. It copies it.
func (s *SRQ) Post(req RecvRequest) error { return s.ring.post(req) }

// Arm asks for one call of event, when fewer than limit requests are left after
// one was taken. limit 0 asks for none.
func (s *SRQ) Arm(limit int, event func()) { s.limit, s.event = limit, event }

func (s *SRQ) take(h *receive) bool {
	if !s.ring.take(h) {
		return false
	}
	if s.ring.n < s.limit && s.event != nil {
		s.limit = 0
		s.event()
	}
	return true
}
