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
	link *Link
	fd   int
	sent atomic.Uint64

	headers [sendBatch]unix.Mmsghdr
	vectors [sendBatch]unix.Iovec
}

func newSender(l *Link) (*sender, error) {
	fd, err := openSender(l, nil)
	if err != nil {
		return nil, err
	}
	s := &sender{link: l, fd: fd}
	for i := range s.headers {
		s.headers[i].Hdr.Iov = &s.vectors[i]
		s.headers[i].Hdr.SetIovlen(1)
	}
	return s, nil
}

// openSender makes a socket that only sends. prepare, if there is one, is
// called before it is bound.
func openSender(l *Link, prepare func(fd int) error) (int, error) {
	fd, err := newSocket()
	if err != nil {
		return -1, err
	}
	if l.bypass {
		err = setOption(fd, unix.PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS")
	}
	if err == nil && prepare != nil {
		err = prepare(fd)
	}
	if err == nil {
		err = bind(fd, l.iface.Index, 0)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Send sends frames in their order and returns how many the kernel accepted,
// which is less than all only with an error: that of the frame after them. It
// waits while the interface has no room. One goroutine may send at a time.
func (l *Link) Send(frames [][]byte, deadline time.Time) (sent int, err error) {
	if err := l.gate.enter(); err != nil {
		return 0, err
	}
	defer l.gate.leave()
	return l.tx.sendAll(frames, deadline)
}

func (s *sender) sendAll(frames [][]byte, deadline time.Time) (sent int, err error) {
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
func (s *sender) send(frames [][]byte, deadline time.Time) (done int, err error) {
	count := 0
	for i, frame := range frames {
		if len(frame) < wire.EthernetLen {
			break
		}
		s.vectors[i].Base = &frame[0]
		s.vectors[i].SetLen(len(frame))
		count++
	}
	for done < count {
		n, errno := s.sendmmsg(s.headers[done:count])
		switch errno {
		case 0:
			done += n
		case unix.EAGAIN:
			err = s.link.gate.wait(s.fd, unix.POLLOUT, deadline)
		case unix.ENOBUFS:
			err = s.link.gate.pause(deadline)
		case unix.EMSGSIZE:
			err = s.link.refused(frames[done])
		default:
			err = ioError(errno)
		}
		if err != nil {
			return done, err
		}
	}
	if count < len(frames) {
		return done, tooShort(len(frames[count]))
	}
	return done, nil
}

// sendmmsg does not wait; telling Go's scheduler of it all the same would cost
// a context switch for each batch.
func (s *sender) sendmmsg(headers []unix.Mmsghdr) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd),
		uintptr(unsafe.Pointer(&headers[0])), uintptr(len(headers)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}
