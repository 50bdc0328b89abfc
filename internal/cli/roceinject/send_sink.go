package roceinject

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	maxSenders = 64
	// ahead is how many batches each sender may have waiting.
	ahead = 4
)

// linkSink sends on an interface, in batches. With one link the caller's
// goroutine sends, at the moment of the flush, and frames stay in order. With
// more, each link has a goroutine of its own.
type linkSink struct {
	tally  *tally
	direct bool // one link
	links  []*nic.Link
	now    *batch // being filled

	free, full chan *batch
	senders    sync.WaitGroup
	finished   bool

	failure chan error // the first
	ending  sync.Once
}

// batch is memory for frames, and those in it.
type batch struct {
	memory []byte
	slot   int
	frames [][]byte
}

func newLinkSink(t *tally, direct bool) *linkSink {
	return &linkSink{
		tally: t, direct: direct,
		free:    make(chan *batch, maxSenders*ahead),
		full:    make(chan *batch, maxSenders*ahead),
		failure: make(chan error, 1),
	}
}

// add gives the sink one more link to send on.
func (l *linkSink) add(link *nic.Link) {
	l.links = append(l.links, link)
	slot := link.MTU() + wire.EthernetLen + wire.VLANLen
	for range ahead {
		l.free <- &batch{memory: make([]byte, slot*flushEvery), slot: slot, frames: make([][]byte, 0, flushEvery)}
	}
	if !l.direct {
		l.senders.Go(func() {
			for b := range l.full {
				l.send(link, b)
			}
		})
	}
}

func (l *linkSink) reserve() ([]byte, error) {
	if l.now == nil {
		l.now = <-l.free
	}
	return l.now.place(), nil
}

func (b *batch) place() []byte {
	at := len(b.frames) * b.slot
	return b.memory[at : at+b.slot : at+b.slot]
}

func (l *linkSink) commit(length int, _ int64) error {
	l.now.frames = append(l.now.frames, l.now.place()[:length])
	return nil
}

// flush hands the batch over. Its error may be that of an earlier one.
func (l *linkSink) flush() error {
	if b := l.now; b != nil && len(b.frames) > 0 {
		l.now = nil
		if l.direct {
			l.send(l.links[0], b)
		} else {
			l.full <- b
		}
	}
	select {
	case err := <-l.failure:
		return err
	default:
		return nil
	}
}

func (l *linkSink) finish() error {
	err := l.flush()
	if !l.finished {
		l.finished = true
		close(l.full)
	}
	l.senders.Wait()
	return errors.Join(err, l.flush())
}

// send sends a batch and gives it back. A frame that the interface does not
// take is left out; any other error ends the run.
func (l *linkSink) send(link *nic.Link, b *batch) {
	for frames := b.frames; len(frames) > 0; {
		n, err := link.Send(frames, time.Time{})
		bytes := 0
		for _, f := range frames[:n] {
			bytes += len(f)
		}
		l.tally.count(n, bytes)
		frames = frames[n:]
		switch {
		case err == nil:
		case errors.Is(err, nic.ErrFrameTooLong), errors.Is(err, nic.ErrFrameTooShort):
			l.tally.refuse(1, err)
			frames = frames[1:]
		default:
			if !errors.Is(err, net.ErrClosed) {
				l.tally.refuse(len(frames), err)
			}
			select {
			case l.failure <- err:
			default:
			}
			frames = nil
		}
	}
	b.frames = b.frames[:0]
	l.free <- b
}

// close closes the links, which wakes a send that waits.
func (l *linkSink) close() {
	l.ending.Do(func() {
		for _, link := range l.links {
			_ = link.Close() // nothing is lost: what was sent is counted
		}
	})
}
