package nic

import (
	"errors"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// gate keeps a Link's descriptors open while somebody uses one, and wakes who
// waits when the Link closes.
//
// The sockets are no files of Go's poller: the kernel would tell that of every
// frame that comes or has gone (epoll's callback in sock_def_readable and
// sock_def_write_space), which costs a twentieth of what sending one does, and
// to wake a goroutine by it takes a second thread. Whoever waits sleeps in
// ppoll(2).
type gate struct {
	mu     sync.RWMutex // held for reading by who uses a descriptor
	closed atomic.Bool
	bell   int // an eventfd(2) that nobody reads
}

func newGate() (*gate, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &gate{bell: fd}, nil
}

// enter begins the use of a descriptor, unless the Link is closed. leave ends it.
func (g *gate) enter() error {
	g.mu.RLock()
	if g.closed.Load() {
		g.mu.RUnlock()
		return net.ErrClosed
	}
	return nil
}

func (g *gate) leave() { g.mu.RUnlock() }

// close wakes who waits and closes the descriptors when nobody uses them.
func (g *gate) close(fds []int) error {
	if g.closed.Swap(true) {
		return net.ErrClosed
	}
	err := g.ring()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fd := range append(fds, g.bell) {
		err = errors.Join(err, unix.Close(fd))
	}
	return err
}

// ring wakes who waits, now and from now on.
func (g *gate) ring() error {
	_, err := unix.Write(g.bell, []byte{1, 1, 1, 1, 1, 1, 1, 1}) // any number but 0
	return err
}

// wait sleeps until the socket is ready for an event, the deadline comes or the
// Link closes. Who calls it has entered.
func (g *gate) wait(fd int, event int16, deadline time.Time) error {
	fds := [2]unix.PollFd{{Fd: int32(g.bell), Events: unix.POLLIN}, {Fd: int32(fd), Events: event}}
	return poll(fds[:], deadline)
}

// pause waits for a queue of the interface to drain. Poll cannot do that: the
// socket itself has room.
func (g *gate) pause(deadline time.Time) error {
	const backOff = 50 * time.Microsecond
	return g.sleep(backOff, deadline)
}

// sleep waits for some time, unless the Link closes or the deadline comes before.
func (g *gate) sleep(d time.Duration, deadline time.Time) error {
	until := time.Now().Add(d)
	short := !deadline.IsZero() && deadline.Before(until)
	if short {
		until = deadline
	}
	fds := [1]unix.PollFd{{Fd: int32(g.bell), Events: unix.POLLIN}}
	err := poll(fds[:], until)
	if errors.Is(err, os.ErrDeadlineExceeded) && !short {
		return nil
	}
	return err
}

// poll waits for one of the descriptors, of which the first is the bell, until
// a point in time; the zero time is none.
func poll(fds []unix.PollFd, deadline time.Time) error {
	for {
		var timeout *unix.Timespec
		if !deadline.IsZero() {
			left := min(max(time.Until(deadline), 0), math.MaxInt32*time.Second)
			t := unix.NsecToTimespec(int64(left))
			timeout = &t
		}
		n, err := unix.Ppoll(fds, timeout, nil)
		switch {
		case errors.Is(err, unix.EINTR): // a signal; Go sends some to itself
		case err != nil:
			return err
		case n == 0:
			return os.ErrDeadlineExceeded
		case fds[0].Revents != 0:
			return net.ErrClosed
		default:
			return nil
		}
	}
}
