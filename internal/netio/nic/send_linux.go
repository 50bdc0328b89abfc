package nic

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/wire"
)

// sendBatch is how many frames one system call sends.
const sendBatch = 256

// sender sends frames that lie anywhere, with sendmmsg(2).
type sender struct {
	link     *Link
	sock     *socket
	sent     atomic.Uint64
	deadline time.Time // the one that is set on the socket

	headers [sendBatch]unix.Mmsghdr
	vectors [sendBatch]unix.Iovec
	// One batch's state, kept here so that it allocates nothing.
	count, done int
	errno       unix.Errno
	step        func(fd uintptr) bool
}

func newSender(l *Link) (*sender, error) {
	sock, err := openSender(l, nil)
	if err != nil {
		return nil, err
	}
	s := &sender{link: l, sock: sock}
	s.step = s.trySend
	for i := range s.headers {
		s.headers[i].Hdr.Iov = &s.vectors[i]
		s.headers[i].Hdr.SetIovlen(1)
	}
	return s, nil
}

// openSender makes a socket that only sends. prepare, if there is one, is
// called before it is bound.
func openSender(l *Link, prepare func(fd int) error) (*socket, error) {
	fd, err := newSocket()
	if err != nil {
		return nil, err
	}
	if l.bypass {
		err = setOption(fd, unix.PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS")
	}
	if err == nil && prepare != nil {
		err = prepare(fd)
	}
	var sock *socket
	if err == nil {
		sock, err = bind(fd, l.iface.Index, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return sock, nil
}

// Send sends frames in their order and returns how many the kernel accepted,
// which is less than all only with an error: that of the frame after them. It
// waits while the interface has no room. One goroutine may send at a time.
func (l *Link) Send(frames [][]byte, deadline time.Time) (sent int, err error) {
	s := l.tx
	if !deadline.Equal(s.deadline) {
		if err := s.sock.file.SetWriteDeadline(deadline); err != nil {
			return 0, l.waitError(err)
		}
		s.deadline = deadline
	}
	for err == nil && sent < len(frames) {
		var n int
		n, err = s.send(frames[sent:min(len(frames), sent+sendBatch)], deadline)
		sent += n
	}
	s.sent.Add(uint64(sent))
	clear(s.vectors[:min(len(frames), sendBatch)]) // the frames are the caller's again
	return sent, err
}

// send sends at most sendBatch frames.
func (s *sender) send(frames [][]byte, deadline time.Time) (int, error) {
	s.count, s.done = 0, 0
	for i, frame := range frames {
		if len(frame) < wire.EthernetLen {
			break
		}
		s.vectors[i].Base = &frame[0]
		s.vectors[i].SetLen(len(frame))
		s.count++
	}
	for s.done < s.count {
		if err := s.sock.raw.Write(s.step); err != nil {
			return s.done, s.link.waitError(err)
		}
		switch {
		case s.errno == 0:
		case s.errno == unix.ENOBUFS:
			if err := pause(deadline); err != nil {
				return s.done, err
			}
		case s.errno == unix.EMSGSIZE:
			return s.done, s.link.refused(frames[s.done])
		default:
			return s.done, ioError(s.errno)
		}
	}
	if s.count < len(frames) {
		return s.done, tooShort(len(frames[s.count]))
	}
	return s.done, nil
}

// trySend is what the poller calls until it returns true: always, except when
// the socket has no room. The call does not wait; telling Go's scheduler of it
// all the same would cost a context switch for each batch.
func (s *sender) trySend(fd uintptr) bool {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd,
		uintptr(unsafe.Pointer(&s.headers[s.done])), uintptr(s.count-s.done),
		unix.MSG_DONTWAIT, 0, 0)
	s.errno = errno
	if errno == 0 {
		s.done += int(n)
	}
	return errno != unix.EAGAIN
}
