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

	"github.com/rocecap/rocecap/internal/wire"
)

// CaptureReader hands out the frames of a Capture, or its share of them. Next is
// for one goroutine.
type CaptureReader struct {
	capture *Capture
	fd      int
	snapLen int
	blocks  []Block
	next    int       // the block that the kernel hands over next
	fault   error     // why no more comes, once the blocks are read
	drained time.Time // when to give up waiting for the last block
	down    bool      // the interface was down when it was looked at last

	received, dropped, freezes atomic.Uint64

	mu     sync.Mutex // guards what is below
	ring   *blockRing
	held   int // blocks that are not released
	closed bool
}

func newCaptureReader(c *Capture, o CaptureOptions) (*CaptureReader, error) {
	fd, err := newSocket()
	if err != nil {
		return nil, err
	}
	r := &CaptureReader{capture: c, fd: fd, snapLen: o.SnapLen}
	if r.snapLen == 0 {
		r.snapLen = math.MaxInt
	}
	if err := r.setUp(o); err != nil {
		_ = unix.Close(fd)
		if r.ring != nil {
			r.ring.free()
		}
		return nil, err
	}
	return r, nil
}

// setUp binds the socket last, to a filter that passes nothing: readers that
// are not yet together would each get every frame.
func (r *CaptureReader) setUp(o CaptureOptions) (err error) {
	fd := r.fd
	if err := setOption(fd, unix.PACKET_RESERVE, wire.VLANLen, "PACKET_RESERVE"); err != nil {
		return err
	}
	if r.ring, err = newBlockRing(fd, o.RingBytes, o.BlockTimeout); err != nil {
		return err
	}
	r.blocks = make([]Block, r.ring.blocks)
	for i := range r.blocks {
		r.blocks[i].reader, r.blocks[i].memory = r, r.ring.block(i)
	}
	if r.capture.clock == HardwareClock {
		if err := setOption(fd, unix.PACKET_TIMESTAMP, unix.SOF_TIMESTAMPING_RAW_HARDWARE, "PACKET_TIMESTAMP"); err != nil {
			return err
		}
	}
	if r.capture.iface.Flags&net.FlagLoopback != 0 { // what leaves a loopback also arrives
		if err := setOption(fd, unix.PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"); err != nil {
			return err
		}
	}
	if o.Promiscuous {
		if err := promiscuous(fd, r.capture.iface.Index); err != nil {
			return err
		}
	}
	if err := attach(fd, rejectAll); err != nil {
		return err
	}
	if err := bind(fd, r.capture.iface.Index, unix.ETH_P_ALL); err != nil {
		return err
	}
	return pendingError(fd) // an interface that is down takes the binding
}

// Next waits for frames. It fails with os.ErrDeadlineExceeded, and may be called
// again, as it may after ErrDown: frames come when the interface is up again.
// After ErrGone none do. All frames that came before are handed out first.
func (r *CaptureReader) Next(deadline time.Time) (*Block, error) {
	g := r.capture.gate
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer g.leave()
	for {
		if b := r.take(); b != nil {
			return b, nil
		}
		if err := r.await(deadline); err != nil {
			return nil, err
		}
	}
}

// take takes the next block, if the kernel has handed it over and nobody holds
// it from the ring's last round.
func (r *CaptureReader) take() *Block {
	b := &r.blocks[r.next]
	if b.held.Load() || !r.ring.filled(r.next) {
		return nil
	}
	r.next = (r.next + 1) % len(r.blocks)
	r.down = false
	r.mu.Lock()
	r.held++
	r.mu.Unlock()
	b.open()
	return b
}

// await returns nil when it is worth looking for a block.
func (r *CaptureReader) await(deadline time.Time) error {
	if r.capture.gate.closed.Load() {
		return net.ErrClosed
	}
	if r.fault == nil && r.capture.stopped.Load() {
		r.end(ErrStopped)
	}
	if r.fault != nil {
		return r.drain(deadline)
	}
	step := deadline
	if next := time.Now().Add(downStep); r.down && (deadline.IsZero() || next.Before(deadline)) {
		step = next
	}
	err := r.wait(step)
	switch {
	case r.down && errors.Is(err, os.ErrDeadlineExceeded):
		// The kernel does not wake a socket when an interface that is down is
		// removed (packet_notifier in net/packet/af_packet.c).
		if gone(r.fd) {
			r.end(ErrGone)
		} else if step.Equal(deadline) {
			return err
		}
		return nil
	case errors.Is(err, net.ErrClosed) && !r.capture.gate.closed.Load():
		return nil // the bell rang for Stop
	case err != nil:
		return err
	}
	if r.ring.filled(r.next) {
		return nil // what is wrong with the interface is told after its frames
	}
	if err := pendingError(r.fd); err != nil {
		if errors.Is(err, ErrDown) && gone(r.fd) {
			err = ErrGone
		}
		r.end(err)
	}
	return nil
}

// wait sleeps until there may be a block.
func (r *CaptureReader) wait(deadline time.Time) error {
	g := r.capture.gate
	previous := (r.next + len(r.blocks) - 1) % len(r.blocks)
	if r.blocks[previous].held.Load() || r.blocks[r.next].held.Load() {
		// Poll reports the socket readable until the block that the kernel
		// handed over last is released (packet_poll in net/packet/af_packet.c).
		return g.sleep(drainStep, deadline)
	}
	return g.wait(r.fd, unix.POLLIN, deadline)
}

// downStep is how often to look whether an interface that is down was removed.
const downStep = 100 * time.Millisecond

// drainStep is how often to look whether the last block has come.
const drainStep = time.Millisecond

// end says why nothing comes any more. The kernel hands over a block that it had
// begun within two block timeouts.
func (r *CaptureReader) end(fault error) {
	const patience = 10
	r.fault = fault
	r.drained = time.Now().Add(patience * r.capture.timeout)
}

// drain waits for the block that the kernel was filling, then returns the fault.
func (r *CaptureReader) drain(deadline time.Time) error {
	now := time.Now()
	empty := !r.blocks[r.next].held.Load() && !r.ring.filled(r.next) && r.ring.filling(r.next) == 0
	switch {
	case empty || now.After(r.drained):
		err := r.fault
		if errors.Is(err, ErrDown) {
			r.fault, r.down = nil, true // it may come up again
		}
		return err
	case !deadline.IsZero() && now.After(deadline):
		return os.ErrDeadlineExceeded
	}
	time.Sleep(drainStep)
	return nil
}

func (r *CaptureReader) release(b *Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	giveBack(b.memory)
	b.held.Store(false)
	r.held--
	if r.closed && r.held == 0 {
		r.ring.free()
	}
}

// count adds what the kernel counted since the last call: its counters start
// again when they are read, and tp_packets counts the dropped too.
func (r *CaptureReader) count() error {
	stats, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	r.dropped.Add(uint64(stats.Drops))
	r.received.Add(uint64(stats.Packets - stats.Drops))
	r.freezes.Add(uint64(stats.Freeze_q_cnt))
	return nil
}

// close frees the ring: at once, or when the last block is released.
func (r *CaptureReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.held == 0 {
		r.ring.free()
	}
}
