package endpoint

import (
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/internal/transport/qp"
)

// SRQOptions are what a shared receive queue is made with.
type SRQOptions struct {
	PD      *PD
	MaxRecv int // 0 means 128
	MaxSGE  int // 0 means 1
	Limit   int // tells AsyncSRQLimit once, when fewer are posted
}

// SRQ is a shared receive queue. What XRC packets put into it completes, other
// than with verbs, in the RecvCQ of the XRC receiver that they came to, whose
// number the completion has: one queue there for several SRQs, or one for each.
type SRQ struct {
	device *Device
	pd     *PD
	engine *qp.SRQ
	users  int
}

// CreateSRQ makes a shared receive queue.
func (d *Device) CreateSRQ(o SRQOptions) (*SRQ, error) {
	if o.PD == nil {
		return nil, errors.New("a shared receive queue needs a protection domain")
	}
	if o.PD.device != d {
		return nil, errForeign
	}
	d.lock()
	defer d.unlock()
	if d.closed != nil {
		return nil, d.closed
	}
	if err := d.memory.HoldPD(o.PD.id); err != nil {
		return nil, err
	}
	number := uint32(1)
	for d.shared[number] != nil {
		number++
	}
	s := &SRQ{device: d, pd: o.PD, engine: qp.NewSRQ(number, o.PD.id, orDefault(o.MaxRecv), o.MaxSGE)}
	d.shared[number] = s
	s.arm(o.Limit)
	return s, nil
}

// Number is what XRC packets name it by.
func (s *SRQ) Number() uint32 { return s.engine.Number() }

// Arm tells AsyncSRQLimit once, when fewer than limit requests are posted.
func (s *SRQ) Arm(limit int) {
	s.device.lock()
	defer s.device.unlock()
	s.arm(limit)
}

func (s *SRQ) arm(limit int) {
	s.engine.Arm(limit, func() {
		s.device.tell(AsyncEvent{Kind: AsyncSRQLimit, SRQ: s.Number()})
	})
}

// PostRecv posts receive work requests, as that of a queue pair does.
func (s *SRQ) PostRecv(wrs ...RecvRequest) error {
	s.device.lock()
	defer s.device.unlock()
	if s.device.closed != nil {
		return s.device.closed
	}
	for i := range wrs {
		if err := s.engine.Post(wrs[i]); err != nil {
			return err
		}
	}
	return nil
}

// Destroy ends the queue, which no queue pair may use any more.
func (s *SRQ) Destroy() error {
	d := s.device
	d.lock()
	defer d.unlock()
	switch {
	case s.users > 0:
		return fmt.Errorf("shared receive queue %d: %d queue pairs use it", s.Number(), s.users)
	case d.shared[s.Number()] != s:
		return fmt.Errorf("shared receive queue %d: destroyed already", s.Number())
	}
	delete(d.shared, s.Number())
	d.memory.ReleasePD(s.pd.id)
	return nil
}
