package endpoint

import (
	"context"
	"sync"
)

// CQ is a completion queue.
type CQ struct {
	device   *Device
	capacity int
	ready    chan struct{} // has a token when there is something to poll or wait for

	mu   sync.Mutex // guards what is below; taken with the device locked, never the other way
	ring []Completion
	head int
	n    int
	lost bool // there was no room once
	err  error
}

// CreateCQ makes a completion queue for so many completions. One that has no
// room for another is broken, as with verbs: AsyncCQError tells it, and the queue
// pair whose completion is lost goes to the error state.
func (d *Device) CreateCQ(capacity int) *CQ {
	d.lock()
	defer d.unlock()
	c := &CQ{device: d, capacity: max(1, capacity), ready: make(chan struct{}, 1), err: d.closed}
	d.queues[c] = struct{}{}
	return c
}

// Poll takes completions that are there, in their order, and returns how many.
func (c *CQ) Poll(dst []Completion) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(dst), c.n)
	for i := range n {
		dst[i] = c.ring[c.head]
		if c.head++; c.head == len(c.ring) {
			c.head = 0
		}
	}
	c.n -= n
	return n
}

// Wait waits until there is a completion, the context ends, the queue is broken
// or the device is closed.
func (c *CQ) Wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		some, err := c.n > 0, c.err
		c.mu.Unlock()
		if some || err != nil {
			c.signal() // for others who wait
			if some {
				return nil
			}
			return err
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Next waits for a completion and takes it.
func (c *CQ) Next(ctx context.Context) (Completion, error) {
	var one [1]Completion
	for c.Poll(one[:]) == 0 {
		if err := c.Wait(ctx); err != nil {
			return Completion{}, err
		}
	}
	return one[0], nil
}

func (c *CQ) foreign(d *Device) bool { return c != nil && c.device != d }

func (c *CQ) signal() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// push adds a completion, if there is room.
func (c *CQ) push(done Completion) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == c.capacity {
		return false
	}
	if c.n == len(c.ring) {
		c.grow()
	}
	at := c.head + c.n
	if at >= len(c.ring) {
		at -= len(c.ring)
	}
	c.ring[at] = done
	if c.n++; c.n == 1 {
		c.signal()
	}
	return true
}

// overrun breaks the queue and reports whether it was whole before.
func (c *CQ) overrun() bool {
	c.mu.Lock()
	before := c.lost
	c.lost = true
	c.mu.Unlock()
	c.fail(ErrCQOverrun)
	return !before
}

// grow doubles the ring up to the capacity: 10,000 idle queues take little.
func (c *CQ) grow() {
	ring := make([]Completion, min(c.capacity, max(8, 2*len(c.ring))))
	n := copy(ring, c.ring[c.head:])
	copy(ring[n:], c.ring[:c.head])
	c.ring, c.head = ring, 0
}

// fail ends every wait once what is there has been polled.
func (c *CQ) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.signal()
}

// Destroy ends the queue; what waits returns ErrClosed. Queue pairs that use it
// lose their completions.
func (c *CQ) Destroy() {
	c.device.mu.Lock()
	delete(c.device.queues, c)
	c.device.mu.Unlock()
	c.fail(ErrClosed)
}
