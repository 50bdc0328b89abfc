package roceinject

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/rocecap/rocecap/internal/netio/nic"
)

// sink is where frames go, and counts them. Frames committed but not flushed
// are not sent yet.
type sink interface {
	reserve() ([]byte, error)
	commit(length int, due int64) error
	flush() error
	finish() error // flushes, and waits until all is sent
	close()        // gives memory back
}

// tally counts what was really sent, while it is being sent.
type tally struct {
	packets, bytes atomic.Uint64
	refused        atomic.Uint64

	mu      sync.Mutex
	refusal error // the first
}

func (t *tally) count(packets, bytes int) {
	t.packets.Add(uint64(packets))
	t.bytes.Add(uint64(bytes))
}

func (t *tally) refuse(packets int, err error) {
	t.refused.Add(uint64(packets))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refusal == nil {
		t.refusal = err
	}
}

// clock tells the time in nanoseconds, and waits.
type clock interface {
	now() int64
	wait(ctx context.Context, until int64)
}

// flushEvery is how many frames are sent at once at most.
const flushEvery = 64

// sending is one run of `roceinject send`.
type sending struct {
	source source
	sink   sink
	clock  clock
	pace   pace   // nil: as fast as possible
	passes uint64 // how often everything is sent; 0 is forever
	limit  uint64 // how many frames are sent in all; 0 is no limit

	offered uint64 // frames committed so far
	unsent  int    // of these, not flushed
	now     int64  // as last read; not later than the present

	tally      tally
	skipped    [unfits]uint64
	begin, end int64
}

// run sends until everything is sent, the context ends, or something breaks.
// That the context has ended is no error.
func (s *sending) run(ctx context.Context) error {
	s.now = s.clock.now()
	s.begin = s.now
	err := errors.Join(s.all(ctx), s.sink.finish())
	s.end = s.clock.now()
	if ctx.Err() != nil && (err == nil || errors.Is(err, net.ErrClosed)) {
		return nil
	}
	return err
}

func (s *sending) all(ctx context.Context) error {
	for pass := uint64(0); s.passes == 0 || pass < s.passes; pass++ {
		if pass > 0 {
			if err := s.source.again(); err != nil {
				return err
			}
			if s.pace != nil {
				s.pace.again()
			}
		}
		before := s.offered
		if err := s.pass(ctx); err != nil {
			return err
		}
		if s.done() || ctx.Err() != nil || s.offered == before { // nothing would come of another pass
			return nil
		}
	}
	return nil
}

func (s *sending) done() bool { return s.limit > 0 && s.offered >= s.limit }

// pass sends what the source has.
func (s *sending) pass(ctx context.Context) error {
	for !s.done() {
		if s.unsent == 0 && ctx.Err() != nil { // between batches: asking costs
			return nil
		}
		f, err := s.source.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if f.unfit != fit {
			s.skipped[f.unfit]++
			continue
		}
		if err := s.send(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// send sends a frame when it is due.
func (s *sending) send(ctx context.Context, f frame) error {
	due := s.now
	if s.pace != nil {
		if due = s.pace.due(s.now, f); due > s.now {
			s.now = s.clock.now()
		}
		if due > s.now {
			if err := s.flush(); err != nil {
				return err
			}
			if s.clock.wait(ctx, due); ctx.Err() != nil {
				return nil
			}
			s.now = s.clock.now()
		}
	}
	place, err := s.sink.reserve()
	if err != nil {
		return err
	}
	if f.length > len(place) {
		s.tally.refuse(1, tooLong(f.length, len(place)))
		return nil
	}
	if err := s.source.put(place); err != nil {
		return err
	}
	err = s.sink.commit(f.length, due)
	if errors.Is(err, nic.ErrFrameTooLong) || errors.Is(err, nic.ErrFrameTooShort) {
		s.tally.refuse(1, err)
		return nil
	}
	if err != nil {
		return err
	}
	s.offered++
	if s.unsent++; s.unsent == flushEvery {
		return s.flush()
	}
	return nil
}

func (s *sending) flush() error {
	s.unsent = 0
	return s.sink.flush()
}
