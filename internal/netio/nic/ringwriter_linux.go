package nic

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ringWriter is a Writer over a ring shared with the kernel (PACKET_TX_RING),
// with a socket of its own: one with a send ring sends nothing else.
type ringWriter struct {
	link   *Link
	fd     int
	ring   *ring
	sent   atomic.Uint64
	next   int // the slot to reserve
	queued int // committed slots before it that the kernel has not taken
}

func newRingWriter(l *Link, bytes int) (*ringWriter, error) {
	w := &ringWriter{link: l}
	var err error
	w.fd, err = openSender(l, func(fd int) (err error) {
		w.ring, err = newRing(fd, unix.PACKET_TX_RING, align(transmitAt+l.slotLen()), bytes)
		return err
	})
	if err != nil {
		if w.ring != nil {
			w.ring.free()
		}
		return nil, err
	}
	return w, nil
}

func (w *ringWriter) descriptor() int { return w.fd }

func (w *ringWriter) Sent() uint64 { return w.sent.Load() }

func (w *ringWriter) Reserve(deadline time.Time) ([]byte, error) {
	if w.queued == min(sendBatch, w.ring.slots) {
		if err := w.Flush(deadline); err != nil {
			return nil, err
		}
	}
	if status(w.ring.slot(w.next)) != unix.TP_STATUS_AVAILABLE {
		if err := w.untilFree(deadline); err != nil {
			return nil, err
		}
	}
	return w.place(), nil
}

// untilFree waits until the interface is done with the next slot. The socket
// cannot be waited for: it has room as long as its own memory lasts.
func (w *ringWriter) untilFree(deadline time.Time) error {
	if err := w.link.gate.enter(); err != nil {
		return err
	}
	defer w.link.gate.leave()
	for status(w.ring.slot(w.next)) != unix.TP_STATUS_AVAILABLE {
		if err := w.link.gate.pause(deadline); err != nil {
			return err
		}
	}
	return nil
}

func (w *ringWriter) place() []byte {
	end := transmitAt + w.link.slotLen()
	return w.ring.slot(w.next)[transmitAt:end:end]
}

func (w *ringWriter) Commit(n int) error {
	if err := w.link.checkCommit(w.place(), n); err != nil {
		return err
	}
	slot := w.ring.slot(w.next)
	header(slot).Len = uint32(n)
	setStatus(slot, unix.TP_STATUS_SEND_REQUEST)
	w.next = w.ring.after(w.next)
	w.queued++
	return nil
}

func (w *ringWriter) Flush(deadline time.Time) error {
	if err := w.link.gate.enter(); err != nil {
		w.drop()
		return err
	}
	defer w.link.gate.leave()
	for w.queued > 0 {
		errno := kick(w.fd)
		w.settle()
		var err error
		switch errno {
		case 0:
		case unix.EAGAIN:
			err = w.link.gate.wait(w.fd, unix.POLLOUT, deadline)
		case unix.ENOBUFS:
			err = w.link.gate.pause(deadline)
		default:
			return w.refused(errno)
		}
		if err != nil {
			w.drop()
			return err
		}
	}
	return nil
}

// kick tells the kernel to take what is queued in shared memory. All of it can
// be taken and the call still fail. It does not wait, as in sendmmsg.
func kick(fd int) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return errno
}

// first is the first queued slot.
func (w *ringWriter) first() int {
	if i := w.next - w.queued; i >= 0 {
		return i
	}
	return w.next - w.queued + w.ring.slots
}

// settle counts the slots that the kernel has taken.
func (w *ringWriter) settle() {
	for w.queued > 0 {
		switch status(w.ring.slot(w.first())) {
		case unix.TP_STATUS_SEND_REQUEST, unix.TP_STATUS_WRONG_FORMAT:
			return
		}
		w.queued--
		w.sent.Add(1)
	}
}

// drop takes back what the kernel has not taken. It goes on at the same slot.
func (w *ringWriter) drop() {
	w.settle()
	first := w.first()
	for i := first; w.queued > 0; w.queued-- {
		setStatus(w.ring.slot(i), unix.TP_STATUS_AVAILABLE)
		i = w.ring.after(i)
	}
	w.next = first
}

// refused drops the rest and says why the kernel would not take the first.
func (w *ringWriter) refused(errno unix.Errno) error {
	err := ioError(errno)
	if errno == unix.EMSGSIZE && w.queued > 0 {
		slot := w.ring.slot(w.first())
		err = w.link.refused(slot[transmitAt : transmitAt+int(header(slot).Len)])
	}
	w.drop()
	return err
}

func (w *ringWriter) Close() { w.ring.free() }
