package nic

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// umem is memory that the XDP sockets of one Link send from (AF_XDP, kernel
// documentation networking/af_xdp): an equal part of its chunks for each
// Writer, and one ring by which the kernel gives chunks back. The first
// Writer's socket registers it, the others share it, which they must when they
// send by one queue of the interface.
type umem struct {
	memory []byte
	chunk  int // bytes
	each   int // chunks of a Writer, a power of two
	owner  int // the socket that registered it

	mu        sync.Mutex // guards what is below
	completed xdpRing
	free      [][]uint64 // offsets of the chunks that each Writer may fill
	users     int
}

var errChunk = errors.New("the frames are too long for XDP")

// newUmem makes the memory of a Link's Writers and registers it with a socket.
func newUmem(fd, slotLen int, o Options) (*umem, error) {
	writers := max(1, o.Writers)
	u := &umem{owner: fd, chunk: 2048} // the shortest that the kernel allows
	for u.chunk < slotLen {
		u.chunk *= 2
	}
	if u.chunk > unix.Getpagesize() {
		return nil, errChunk
	}
	u.each = powerOfTwo(max(o.SendRingBytes/u.chunk, minChunks))
	var err error
	u.memory, err = unix.Mmap(-1, 0, writers*u.each*u.chunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("memory for an XDP socket: %w", err)
	}
	for w := range writers {
		var free []uint64
		for i := range u.each {
			free = append(free, uint64((w*u.each+i)*u.chunk))
		}
		slices.Reverse(free) // they are taken from the end
		u.free = append(u.free, free)
	}
	if err := u.register(fd, 2*powerOfTwo(writers*u.each)); err != nil {
		_ = unix.Munmap(u.memory)
		return nil, err
	}
	return u, nil
}

// minChunks is how many chunks a Writer has at least.
const minChunks = 16

// powerOfTwo is the largest that is not above n.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

func (u *umem) register(fd, completions int) error {
	request := unix.XDPUmemReg{
		Addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(u.memory)))),
		Len:  uint64(len(u.memory)),
		Size: uint32(u.chunk),
	}
	_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, unix.XDP_UMEM_REG,
		uintptr(unsafe.Pointer(&request)), unsafe.Sizeof(request), 0)
	if errno != 0 {
		return fmt.Errorf("socket option XDP_UMEM_REG: %w", openError(errno))
	}
	// Nothing is received, but a socket that registers memory must have both.
	if err := unix.SetsockoptInt(fd, unix.SOL_XDP, unix.XDP_UMEM_FILL_RING, 1); err != nil {
		return err
	}
	var err error
	u.completed, err = newXDPRing(fd, unix.XDP_UMEM_COMPLETION_RING, completions)
	return err
}

// collect takes back the chunks that the kernel is done with, and returns the
// free ones of a Writer.
func (u *umem) collect(writer int, free []uint64) []uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := &u.completed
	at, end := atomic.LoadUint32(r.consumer), atomic.LoadUint32(r.producer)
	for ; at != end; at++ {
		offset := *r.offset(at)
		w := int(offset) / u.chunk / u.each
		u.free[w] = append(u.free[w], offset)
	}
	atomic.StoreUint32(r.consumer, end)
	free = append(free, u.free[writer]...)
	u.free[writer] = u.free[writer][:0]
	return free
}

// join tells the number of a new user.
func (u *umem) join() (writer int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users++
	return u.users - 1
}

// leave says that a user has gone. The last one unmaps.
func (u *umem) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.users--; u.users == 0 {
		u.completed.unmap()
		_ = unix.Munmap(u.memory)
	}
}

// xdpRing is a ring of an XDP socket. Producer and consumer count without end.
type xdpRing struct {
	memory             []byte
	producer, consumer *uint32
	entries            unsafe.Pointer
	size               uint32 // a power of two
}

// newXDPRing makes the sending ring of a socket, or that of completions.
func newXDPRing(fd, option, size int) (xdpRing, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_XDP, option, size); err != nil {
		return xdpRing{}, fmt.Errorf("ring of an XDP socket: %w", err)
	}
	var all unix.XDPMmapOffsets
	length := uint32(unsafe.Sizeof(all))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS,
		uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return xdpRing{}, fmt.Errorf("socket option XDP_MMAP_OFFSETS: %w", errno)
	}
	at, page, entry := all.Tx, int64(unix.XDP_PGOFF_TX_RING), unsafe.Sizeof(unix.XDPDesc{})
	if option == unix.XDP_UMEM_COMPLETION_RING {
		at, page, entry = all.Cr, unix.XDP_UMEM_PGOFF_COMPLETION_RING, unsafe.Sizeof(uint64(0))
	}
	memory, err := unix.Mmap(fd, page, int(at.Desc)+size*int(entry), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return xdpRing{}, fmt.Errorf("mapping a ring of an XDP socket: %w", err)
	}
	base := unsafe.Pointer(unsafe.SliceData(memory))
	return xdpRing{
		memory:   memory,
		producer: (*uint32)(unsafe.Add(base, at.Producer)),
		consumer: (*uint32)(unsafe.Add(base, at.Consumer)),
		entries:  unsafe.Add(base, at.Desc),
		size:     uint32(size),
	}, nil
}

// descriptor is entry n of a sending ring.
func (r *xdpRing) descriptor(n uint32) *unix.XDPDesc {
	return (*unix.XDPDesc)(unsafe.Add(r.entries, uintptr(n&(r.size-1))*unsafe.Sizeof(unix.XDPDesc{})))
}

// offset is entry n of a ring of completions.
func (r *xdpRing) offset(n uint32) *uint64 {
	return (*uint64)(unsafe.Add(r.entries, uintptr(n&(r.size-1))*unsafe.Sizeof(uint64(0))))
}

func (r *xdpRing) unmap() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
		r.memory = nil
	}
}
