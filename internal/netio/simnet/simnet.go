// Package simnet is a cable in memory: two links, each of which receives what
// the other sends. It needs no rights and no kernel, and in a bubble of
// testing/synctest it keeps virtual time. Frames are not copied, and none is
// allocated once there have been as many as are ever on their way.
package simnet

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// maxBatch is how many frames one Receive returns, and how many a Writer
	// keeps before it sends by itself; nic has the same.
	maxBatch = 256
	// depth is how many frames wait to be received. More are lost, as in a
	// network card: a sender that waited for a receiver that sends would wait
	// for ever.
	depth = 8192
)

// Link is one end of a cable.
type Link struct {
	mac  net.HardwareAddr
	mtu  int
	in   *queue
	out  *queue
	done chan struct{}
	once sync.Once
	held [][]byte // the frames of the last batch
}

// Pair makes a cable for IP packets of up to mtu bytes.
func Pair(mtu int) (left, right *Link) {
	size := mtu + wire.EthernetLen + wire.VLANLen
	a, b := newQueue(size), newQueue(size)
	return newLink(1, mtu, a, b), newLink(2, mtu, b, a)
}

func newLink(number byte, mtu int, in, out *queue) *Link {
	mac := net.HardwareAddr{0x02, 's', 'i', 'm', 0, number} // locally administered
	return &Link{mac: mac, mtu: mtu, in: in, out: out, done: make(chan struct{})}
}

// MTU is the longest IP packet.
func (l *Link) MTU() int { return l.mtu }

// MAC is the link's own address.
func (l *Link) MAC() net.HardwareAddr { return l.mac }

// Close ends every Receive with net.ErrClosed. The other end sends into the void.
func (l *Link) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { close(l.done); err = nil })
	return err
}

// Lost is how many frames came while too many waited.
func (l *Link) Lost() uint64 {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.lost
}

// Receive waits for frames and returns those that are there. The frames of the
// Receive before are not valid any more.
func (l *Link) Receive(b *nic.Batch, deadline time.Time) error {
	b.Frames = b.Frames[:0]
	l.in.release(l.held)
	l.held = l.held[:0]
	for {
		select {
		case <-l.done:
			return net.ErrClosed
		default:
		}
		if l.held = l.in.take(l.held); len(l.held) > 0 {
			break
		}
		if err := l.wait(deadline); err != nil {
			return err
		}
	}
	now := time.Now().UnixNano()
	for _, data := range l.held {
		b.Frames = append(b.Frames, nic.Frame{Data: data, WireLen: len(data), Time: now})
	}
	return nil
}

func (l *Link) wait(deadline time.Time) error {
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-l.in.ready:
		return nil
	case <-l.done:
		return net.ErrClosed
	case <-late:
		return os.ErrDeadlineExceeded
	}
}

// Writer returns a writer to the other end.
func (l *Link) Writer() (nic.Writer, error) { return &writer{link: l}, nil }

// writer is a nic.Writer. What it reserves is memory of the other end's queue.
type writer struct {
	link   *Link
	place  []byte
	frames [][]byte
	sent   uint64
}

func (w *writer) Reserve(deadline time.Time) ([]byte, error) {
	if len(w.frames) == maxBatch {
		if err := w.Flush(deadline); err != nil {
			return nil, err
		}
	}
	if w.place == nil {
		w.place = w.link.out.buffer()
	}
	return w.place, nil
}

func (w *writer) Commit(n int) error {
	if n < wire.EthernetLen {
		return fmt.Errorf("%w: %d bytes", nic.ErrFrameTooShort, n)
	}
	if n > len(w.place) {
		return fmt.Errorf("%w: %d bytes", nic.ErrFrameTooLong, n)
	}
	w.frames = append(w.frames, w.place[:n])
	w.place = nil
	return nil
}

func (w *writer) Flush(time.Time) error {
	select {
	case <-w.link.done:
		w.link.out.release(w.frames)
		w.frames = w.frames[:0]
		return net.ErrClosed
	default:
	}
	w.sent += uint64(len(w.frames))
	w.link.out.add(w.frames)
	w.frames = w.frames[:0]
	return nil
}

// Sent is how many frames have left.
func (w *writer) Sent() uint64 { return w.sent }

func (w *writer) Close() {}

// queue holds the frames that are on their way to one end.
type queue struct {
	size  int
	ready chan struct{} // has a token when frames have come

	mu     sync.Mutex // guards what is below
	frames [][]byte
	free   [][]byte
	lost   uint64
}

func newQueue(size int) *queue { return &queue{size: size, ready: make(chan struct{}, 1)} }

// buffer is memory for a frame.
func (q *queue) buffer() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b[:q.size]
	}
	return make([]byte, q.size)
}

func (q *queue) add(frames [][]byte) {
	if len(frames) == 0 {
		return
	}
	q.mu.Lock()
	n := min(len(frames), depth-len(q.frames))
	q.frames = append(q.frames, frames[:n]...)
	q.free = append(q.free, frames[n:]...)
	q.lost += uint64(len(frames) - n)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take moves frames to dst.
func (q *queue) take(dst [][]byte) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.frames), maxBatch)
	dst = append(dst, q.frames[:n]...)
	q.frames = append(q.frames[:0], q.frames[n:]...)
	return dst
}

func (q *queue) release(frames [][]byte) {
	if len(frames) == 0 {
		return
	}
	q.mu.Lock()
	q.free = append(q.free, frames...)
	q.mu.Unlock()
}
