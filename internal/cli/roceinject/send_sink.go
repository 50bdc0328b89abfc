package roceinject

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
)

// ringBytes is the memory for frames between here and the kernel.
const ringBytes = 1 << 20

// outlet is a writer, and the lengths of the frames that wait in it.
type outlet struct {
	nic.CountingWriter
	waiting []int
}

func (o *outlet) commit(length int) error {
	if err := o.Commit(length); err != nil {
		return err
	}
	o.waiting = append(o.waiting, length)
	return nil
}

// flush sends what waits and counts it.
func (o *outlet) flush(t *tally) error {
	before := o.Sent()
	err := o.Flush(time.Time{})
	accepted := min(int(o.Sent()-before), len(o.waiting))
	bytes := 0
	for _, n := range o.waiting[:accepted] {
		bytes += n
	}
	t.count(accepted, bytes)
	if left := len(o.waiting) - accepted; left > 0 && err != nil && !errors.Is(err, net.ErrClosed) {
		t.refuse(left, err)
	}
	o.waiting = o.waiting[:0]
	return err
}

// ringSink sends in order, at the moment of the flush. Frames are made where
// they are sent from.
type ringSink struct {
	tally *tally
	out   outlet
}

func newRingSink(t *tally, link *nic.Link) *ringSink {
	return &ringSink{t, outlet{CountingWriter: link.Writers()[0]}}
}

func (r *ringSink) reserve() ([]byte, error) { return r.out.Reserve(time.Time{}) }

func (r *ringSink) commit(length int, _ int64) error { return r.out.commit(length) }

func (r *ringSink) flush() error { return r.out.flush(r.tally) }

func (r *ringSink) finish() error { return r.flush() }

func (r *ringSink) close() { r.out.Close() }

const maxSenders = 64

// manySink sends by several writers at a time. The caller's goroutine fills
// one, and a goroutine for each sends those that are filled.
type manySink struct {
	tally   *tally
	outlets []*outlet
	now     *outlet // being filled

	free, full chan *outlet
	senders    sync.WaitGroup
	failure    chan error // the first
}

func newManySink(t *tally, link *nic.Link) *manySink {
	writers := link.Writers()
	m := &manySink{
		tally:   t,
		free:    make(chan *outlet, len(writers)),
		full:    make(chan *outlet, len(writers)),
		failure: make(chan error, 1),
	}
	for _, w := range writers {
		o := &outlet{CountingWriter: w}
		m.outlets = append(m.outlets, o)
		m.free <- o
		m.senders.Go(m.send)
	}
	return m
}

func (m *manySink) reserve() ([]byte, error) {
	if m.now == nil {
		m.now = <-m.free
	}
	return m.now.Reserve(time.Time{})
}

func (m *manySink) commit(length int, _ int64) error { return m.now.commit(length) }

func tooLong(length, longest int) error {
	return fmt.Errorf("%w: %d bytes, and the longest has %d", nic.ErrFrameTooLong, length, longest)
}

// flush hands over what is filled. Its error may be that of an earlier one.
func (m *manySink) flush() error {
	if o := m.now; o != nil && len(o.waiting) > 0 {
		m.now = nil
		m.full <- o
	}
	select {
	case err := <-m.failure:
		return err
	default:
		return nil
	}
}

func (m *manySink) finish() error {
	err := m.flush()
	close(m.full)
	m.senders.Wait()
	return errors.Join(err, m.flush())
}

// send sends what is filled and gives it back.
func (m *manySink) send() {
	for o := range m.full {
		if err := o.flush(m.tally); err != nil {
			select {
			case m.failure <- err:
			default:
			}
		}
		m.free <- o
	}
}

func (m *manySink) close() {
	for _, o := range m.outlets {
		o.Close()
	}
}
