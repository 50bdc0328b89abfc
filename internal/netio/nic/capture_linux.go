package nic

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Capture is an interface that is listened to, by one reader or several. Their
// goroutines sleep in the kernel, each in a thread of its own: Go's poller would
// be told of every frame.
type Capture struct {
	iface   net.Interface
	gate    *gate
	clock   Clock
	timeout time.Duration
	readers []*CaptureReader
	own     *counters // nil when the kernel has none
	stopped atomic.Bool
}

// OpenCapture begins to capture. Everything that needs CAP_NET_RAW is done when
// it returns.
func OpenCapture(o CaptureOptions) (*Capture, error) {
	c, err := openCapture(o)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", o.Interface, err)
	}
	return c, nil
}

func openCapture(o CaptureOptions) (*Capture, error) {
	if o.SnapLen < 0 || o.RingBytes < 0 || o.BlockTimeout < 0 || o.Readers < 0 {
		return nil, errors.New("lengths, times and counts must not be negative")
	}
	iface, err := net.InterfaceByName(o.Interface)
	if err != nil {
		return nil, ErrUnknownInterface
	}
	if o.RingBytes == 0 {
		o.RingBytes = DefaultCaptureBytes
	}
	if o.BlockTimeout == 0 {
		o.BlockTimeout = DefaultBlockTimeout
	}
	c := &Capture{iface: *iface, timeout: max(o.BlockTimeout, time.Millisecond)}
	if c.gate, err = newGate(); err != nil {
		return nil, err
	}
	if err := c.open(o); err != nil {
		_ = c.free()
		return nil, err
	}
	return c, nil
}

func (c *Capture) open(o CaptureOptions) error {
	if o.Clock == HardwareClock && stamps(c.iface.Name) {
		c.clock = HardwareClock
	}
	for range max(1, o.Readers) {
		r, err := newCaptureReader(c, o)
		if err != nil {
			return err
		}
		c.readers = append(c.readers, r)
	}
	if len(c.readers) > 1 {
		if err := c.share(); err != nil {
			return err
		}
	}
	filter := o.Filter
	if len(filter) == 0 {
		filter = wholeFrames
	}
	if o.SnapLen > 0 {
		filter = shortened(filter, o.SnapLen)
	}
	// Kernels before 4.7 do not know the question; the capture does without.
	c.own, _ = newCounters(c.iface.Index)
	for _, r := range c.readers {
		if err := attach(r.fd, filter); err != nil {
			return err
		}
	}
	return nil
}

// share lets the kernel give each frame to one of the readers, by a hash over its
// addresses and ports, so that the frames of a flow stay in their order.
func (c *Capture) share() error {
	first := c.readers[0].fd
	const newGroup = (unix.PACKET_FANOUT_HASH | unix.PACKET_FANOUT_FLAG_UNIQUEID) << 16
	if err := setOption(first, unix.PACKET_FANOUT, newGroup, "PACKET_FANOUT"); err != nil {
		return err
	}
	group, err := unix.GetsockoptInt(first, unix.SOL_PACKET, unix.PACKET_FANOUT)
	if err != nil {
		return err
	}
	for _, r := range c.readers[1:] {
		if err := setOption(r.fd, unix.PACKET_FANOUT, group&0xFFFF|unix.PACKET_FANOUT_HASH<<16, "PACKET_FANOUT"); err != nil {
			return err
		}
	}
	return nil
}

// stamps reports whether an interface stamps the frames that it receives, all or
// some.
func stamps(name string) bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	config, err := unix.IoctlGetHwTstamp(fd, name)
	return err == nil && config.Rx_filter != unix.HWTSTAMP_FILTER_NONE
}

// Name is the interface's name.
func (c *Capture) Name() string { return c.iface.Name }

// Clock is what frames get their time from. With HardwareClock a frame may still
// have the kernel's, as those that this machine sends do; Frame.HardwareTime tells.
func (c *Capture) Clock() Clock { return c.clock }

// Readers are the readers, as many as were asked for.
func (c *Capture) Readers() []*CaptureReader { return c.readers }

// Stop lets nothing more in. Readers hand out what came before, then return
// ErrStopped.
func (c *Capture) Stop() error {
	if err := c.gate.enter(); err != nil {
		return err
	}
	defer c.gate.leave()
	if c.stopped.Load() {
		return nil
	}
	for _, r := range c.readers {
		if err := attach(r.fd, rejectAll); err != nil {
			return err
		}
	}
	c.stopped.Store(true)
	return c.gate.ring()
}

// Stats returns the counts since OpenCapture, of all readers together.
func (c *Capture) Stats() (CaptureStats, error) {
	err := c.gate.enter()
	if err == nil {
		err = c.count()
		c.gate.leave()
	}
	var s CaptureStats
	if c.own != nil {
		n := c.own.told()
		s.Told, s.InterfaceCame, s.InterfaceDropped = true, n.received, n.dropped
	}
	for _, r := range c.readers {
		s.Received += r.received.Load()
		s.Dropped += r.dropped.Load()
		s.Freezes += r.freezes.Load()
	}
	return s, err
}

func (c *Capture) count() error {
	if c.own != nil {
		c.own.look()
	}
	for _, r := range c.readers {
		if err := r.count(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the capture: readers that wait return net.ErrClosed at once, and
// what they have not read is lost. Blocks stay readable until they are released,
// and Stats tells the last counts.
func (c *Capture) Close() error {
	if err := c.gate.enter(); err != nil {
		return err
	}
	err := c.count() // for the last time
	c.gate.leave()
	if fault := c.free(); fault != nil {
		return fault
	}
	return err
}

// free closes the sockets and frees the rings.
func (c *Capture) free() error {
	var fds []int
	for _, r := range c.readers {
		fds = append(fds, r.fd)
	}
	if c.own != nil {
		fds = append(fds, c.own.fd)
	}
	if err := c.gate.close(fds); err != nil {
		return err
	}
	for _, r := range c.readers {
		r.close()
	}
	return nil
}
