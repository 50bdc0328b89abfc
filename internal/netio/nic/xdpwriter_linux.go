package nic

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// xdpWriter is a Writer over an AF_XDP socket in copy mode, which every driver
// has. The kernel sends a frame of it in two thirds of the time that one of a
// packet socket takes: it does not look into the frame, and need not hold the
// memory's pages.
type xdpWriter struct {
	link   *Link
	fd     int
	memory *umem
	number int // among those that share the memory
	ring   xdpRing
	sent   atomic.Uint64

	free     []uint64 // chunks to fill; the last one is reserved next
	made     uint32   // the ring's producer: committed so far
	consumed uint32   // as last seen: taken by the kernel
}

// noChunk is an offset that the kernel skips as wrong.
const noChunk = ^uint64(0)

// newXDPWriters makes the Writers of a Link, if the kernel has such sockets,
// nobody else sends by one on the interface, and frames are not longer than a
// page.
func newXDPWriters(l *Link, o Options) (writers []sharedWriter, err error) {
	var u *umem
	for range max(1, o.Writers) {
		w, err := newXDPWriter(l, o, u)
		if err != nil {
			return nil, errors.Join(err, closeWriters(writers))
		}
		u = w.memory
		writers = append(writers, w)
	}
	return writers, nil
}

// newXDPWriter makes one that shares memory with others, or the first.
func newXDPWriter(l *Link, o Options, u *umem) (*xdpWriter, error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, openError(err)
	}
	address := &unix.SockaddrXDP{Ifindex: uint32(l.iface.Index), Flags: unix.XDP_COPY}
	if u != nil {
		address.Flags, address.SharedUmemFD = unix.XDP_SHARED_UMEM, uint32(u.owner)
	} else if u, err = newUmem(fd, l.slotLen(), o); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	w := &xdpWriter{link: l, fd: fd, memory: u, number: u.join()}
	w.ring, err = newXDPRing(fd, unix.XDP_TX_RING, u.each)
	if err == nil {
		err = ioError(unix.Bind(fd, address))
	}
	if err != nil {
		w.Close()
		return nil, errors.Join(err, unix.Close(fd))
	}
	// More than the 32 frames that a call sends otherwise. Old kernels cannot.
	_ = unix.SetsockoptInt(fd, unix.SOL_XDP, unix.XDP_MAX_TX_SKB_BUDGET, u.each)
	return w, nil
}

func (w *xdpWriter) descriptor() int { return w.fd }

func (w *xdpWriter) Sent() uint64 { return w.sent.Load() }

func (w *xdpWriter) Reserve(deadline time.Time) ([]byte, error) {
	if w.made-w.consumed == min(sendBatch, w.ring.size) {
		if err := w.Flush(deadline); err != nil {
			return nil, err
		}
	}
	if len(w.free) == 0 {
		if err := w.untilFree(deadline); err != nil {
			return nil, err
		}
	}
	return w.place(), nil
}

// untilFree waits until the interface is done with a chunk. The socket cannot
// be waited for: there is room in its ring.
func (w *xdpWriter) untilFree(deadline time.Time) error {
	if err := w.link.gate.enter(); err != nil {
		return err
	}
	defer w.link.gate.leave()
	for w.collect(); len(w.free) == 0; w.collect() {
		if err := w.link.gate.pause(deadline); err != nil {
			return err
		}
	}
	return nil
}

func (w *xdpWriter) collect() { w.free = w.memory.collect(w.number, w.free) }

func (w *xdpWriter) place() []byte { return w.frame(w.free[len(w.free)-1], w.link.slotLen()) }

// frame is a frame of length n in its chunk.
func (w *xdpWriter) frame(offset uint64, n int) []byte {
	end := int(offset) + n
	return w.memory.memory[offset:end:end]
}

func (w *xdpWriter) Commit(n int) error {
	if err := w.link.checkCommit(w.place(), n); err != nil {
		return err
	}
	last := len(w.free) - 1
	*w.ring.descriptor(w.made) = unix.XDPDesc{Addr: w.free[last], Len: uint32(n)}
	w.free = w.free[:last]
	w.made++
	return nil
}

func (w *xdpWriter) Flush(deadline time.Time) error {
	if err := w.link.gate.enter(); err != nil {
		w.drop()
		return err
	}
	defer w.link.gate.leave()
	for w.consumed != w.made {
		atomic.StoreUint32(w.ring.producer, w.made)
		errno := kick(w.fd)
		moved := w.settle()
		w.collect()
		var err error
		switch errno {
		case 0:
		case unix.EBUSY: // it took one and could not send it
			w.takeBack()
			err = w.link.gate.pause(deadline)
		case unix.EAGAIN, unix.ENOBUFS:
			if !moved { // else it was the end of what it does in one call
				err = w.link.gate.pause(deadline)
			}
		default:
			err = ioError(errno)
		}
		if err != nil {
			w.drop()
			return err
		}
	}
	return nil
}

// settle counts the frames that the kernel has taken.
func (w *xdpWriter) settle() (moved bool) {
	now := atomic.LoadUint32(w.ring.consumer)
	moved = now != w.consumed
	n := uint64(0)
	for ; w.consumed != now; w.consumed++ {
		if w.ring.descriptor(w.consumed).Addr != noChunk {
			n++
		}
	}
	w.sent.Add(n)
	return moved
}

// takeBack puts the frame that the kernel took last back in front of the queue.
func (w *xdpWriter) takeBack() {
	last := *w.ring.descriptor(w.consumed - 1)
	i := slices.Index(w.free, last.Addr)
	if i < 0 {
		return
	}
	w.free = slices.Delete(w.free, i, i+1)
	for n := w.made; n != w.consumed; n-- {
		*w.ring.descriptor(n) = *w.ring.descriptor(n - 1)
	}
	*w.ring.descriptor(w.consumed) = last
	w.made++
	w.sent.Add(^uint64(0)) // one less
}

// drop takes back what the kernel has not taken. The kernel may have read how
// far the ring is filled, so the places stay, and hold what it skips.
func (w *xdpWriter) drop() {
	for n := w.consumed; n != w.made; n++ {
		d := w.ring.descriptor(n)
		if d.Addr != noChunk {
			w.free = append(w.free, d.Addr)
			d.Addr = noChunk
		}
	}
}

func (w *xdpWriter) Close() {
	if w.memory != nil {
		w.ring.unmap()
		w.memory.leave()
		w.memory = nil
	}
}
