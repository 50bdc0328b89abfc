package nic

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ringWriter is a Writer over a ring shared with the kernel, with a socket of
// its own: one with a send ring sends nothing else.
type ringWriter struct {
	link     *Link
	sock     *socket
	ring     *ring
	sent     atomic.Uint64
	deadline time.Time // the one that is set on the socket
	next     int       // the slot to reserve
	queued   int       // committed slots before it that the kernel has not taken

	// One wait's result and functions, kept here so that it allocates nothing.
	errno   unix.Errno
	trySend func(fd uintptr) bool
	isFree  func(fd uintptr) bool
}

func newRingWriter(l *Link, bytes int) (*ringWriter, error) {
	w := &ringWriter{link: l}
	w.trySend = w.send
	w.isFree = func(uintptr) bool { return status(w.ring.slot(w.next)) == unix.TP_STATUS_AVAILABLE }
	var err error
	w.sock, err = openSender(l, func(fd int) (err error) {
		w.ring, err = newRing(fd, unix.PACKET_TX_RING, align(transmitAt+l.slotLen()), bytes)
		return err
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *ringWriter) Reserve(deadline time.Time) ([]byte, error) {
	if w.queued == min(sendBatch, w.ring.slots) {
		if err := w.Flush(deadline); err != nil {
			return nil, err
		}
	}
	if !w.isFree(0) {
		if err := w.wait(w.isFree, deadline); err != nil {
			return nil, err
		}
	}
	return w.place(), nil
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
	for w.queued > 0 {
		if err := w.wait(w.trySend, deadline); err != nil {
			w.drop()
			return err
		}
		w.settle()
		switch w.errno {
		case 0:
		case unix.ENOBUFS:
			if err := pause(deadline); err != nil {
				w.drop()
				return err
			}
		default:
			return w.refused()
		}
	}
	return nil
}

// wait lets the poller call step until it returns true.
func (w *ringWriter) wait(step func(uintptr) bool, deadline time.Time) error {
	if !deadline.Equal(w.deadline) {
		if err := w.sock.file.SetWriteDeadline(deadline); err != nil {
			return w.link.waitError(err)
		}
		w.deadline = deadline
	}
	return w.link.waitError(w.sock.raw.Write(step))
}

// send tells the kernel to take what is queued. All of it can be taken and the
// call still fail; settle sees what was. It does not wait, as in trySend.
func (w *ringWriter) send(fd uintptr) bool {
	_, _, w.errno = unix.RawSyscall6(unix.SYS_SENDTO, fd, 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return w.errno != unix.EAGAIN
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
func (w *ringWriter) refused() error {
	err := ioError(w.errno)
	if w.errno == unix.EMSGSIZE && w.queued > 0 {
		slot := w.ring.slot(w.first())
		err = w.link.refused(slot[transmitAt : transmitAt+int(header(slot).Len)])
	}
	w.drop()
	return err
}

func (w *ringWriter) Close() {
	if w.ring != nil {
		w.ring.free()
	}
}
