package roceinject

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

// ringBytes is the memory for frames between here and the kernel.
const ringBytes = 1 << 20

// ringSink sends on one link, in order, at the moment of the flush. Frames are
// made where they are sent from.
type ringSink struct {
	tally   *tally
	link    *nic.Link
	out     nic.Writer
	waiting []int  // lengths of the frames not flushed
	sent    uint64 // as the link counts
}

func newRingSink(t *tally, link *nic.Link) (*ringSink, error) {
	out, err := link.Writer()
	return &ringSink{tally: t, link: link, out: out}, err
}

func (r *ringSink) reserve() ([]byte, error) { return r.out.Reserve(time.Time{}) }

func (r *ringSink) commit(length int, _ int64) error {
	if err := r.out.Commit(length); err != nil {
		return err
	}
	r.waiting = append(r.waiting, length)
	return nil
}

func (r *ringSink) flush() error {
	err := r.out.Flush(time.Time{})
	stats, unknown := r.link.Stats()
	accepted := min(int(stats.Sent-r.sent), len(r.waiting))
	r.sent = stats.Sent
	bytes := 0
	for _, n := range r.waiting[:accepted] {
		bytes += n
	}
	r.tally.count(accepted, bytes)
	if left := len(r.waiting) - accepted; left > 0 && err != nil && !errors.Is(err, net.ErrClosed) {
		r.tally.refuse(left, err)
	}
	r.waiting = r.waiting[:0]
	return errors.Join(err, unknown)
}

func (r *ringSink) finish() error { return r.flush() }

func (r *ringSink) close() { r.out.Close() }

const (
	maxSenders = 64
	// ahead is how many batches may be ready for each sender.
	ahead = 8
)

// manySink sends on several links at a time, each with a goroutine of its own,
// what the caller's goroutine makes.
type manySink struct {
	tally   *tally
	longest int    // frame without a VLAN tag
	now     *batch // being filled

	free, full chan *batch
	senders    sync.WaitGroup
	failure    chan error // the first
}

// batch is memory for frames, and those in it.
type batch struct {
	memory []byte
	slot   int
	frames [][]byte
}

func newManySink(t *tally, links []*nic.Link) *manySink {
	m := &manySink{
		tally:   t,
		longest: links[0].MTU() + wire.EthernetLen,
		free:    make(chan *batch, len(links)*ahead),
		full:    make(chan *batch, len(links)*ahead),
		failure: make(chan error, 1),
	}
	slot := m.longest + wire.VLANLen
	for _, link := range links {
		for range ahead {
			m.free <- &batch{memory: make([]byte, slot*flushEvery), slot: slot, frames: make([][]byte, 0, flushEvery)}
		}
		m.senders.Go(func() {
			for b := range m.full {
				m.send(link, b)
			}
		})
	}
	return m
}

func (b *batch) place() []byte {
	at := len(b.frames) * b.slot
	return b.memory[at : at+b.slot : at+b.slot]
}

func (m *manySink) reserve() ([]byte, error) {
	if m.now == nil {
		m.now = <-m.free
	}
	return m.now.place(), nil
}

func (m *manySink) commit(length int, _ int64) error {
	place := m.now.place()
	longest := m.longest
	switch {
	case length < wire.EthernetLen:
		return fmt.Errorf("%w: %d bytes", nic.ErrFrameTooShort, length)
	case wire.Ethernet(place).Type() == wire.EtherTypeVLAN:
		longest += wire.VLANLen
	}
	if length > longest {
		return tooLong(length, longest)
	}
	m.now.frames = append(m.now.frames, place[:length])
	return nil
}

func tooLong(length, longest int) error {
	return fmt.Errorf("%w: %d bytes, and the longest has %d", nic.ErrFrameTooLong, length, longest)
}

// flush hands the batch over. Its error may be that of an earlier one.
func (m *manySink) flush() error {
	if b := m.now; b != nil && len(b.frames) > 0 {
		m.now = nil
		m.full <- b
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

// send sends a batch and gives it back.
func (m *manySink) send(link *nic.Link, b *batch) {
	n, err := link.Send(b.frames, time.Time{})
	bytes := 0
	for _, f := range b.frames[:n] {
		bytes += len(f)
	}
	m.tally.count(n, bytes)
	if err != nil {
		if !errors.Is(err, net.ErrClosed) {
			m.tally.refuse(len(b.frames)-n, err)
		}
		select {
		case m.failure <- err:
		default:
		}
	}
	b.frames = b.frames[:0]
	m.free <- b
}

// close has nothing to do: finish has ended the senders.
func (m *manySink) close() {}
