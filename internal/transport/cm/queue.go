package cm

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// fifo is a queue of values that reuses its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

// push adds a zero value and returns it; it is valid until the next push.
func (f *fifo[T]) push() *T {
	if len(f.items) == cap(f.items) && f.head > len(f.items)/2 {
		f.items = f.items[:copy(f.items, f.items[f.head:])]
		f.head = 0
	}
	var zero T
	f.items = append(f.items, zero)
	return &f.items[len(f.items)-1]
}

// pop takes the oldest value, which is valid until the next push; nil when
// there is none.
func (f *fifo[T]) pop() *T {
	if f.len() == 0 {
		return nil
	}
	item := &f.items[f.head]
	if f.head++; f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	return item
}

// datagram waits to be sent.
type datagram struct {
	to  Peer
	mad [wire.MADLen]byte
}

// Emit writes the next datagram to send, and tells whom to send it to: as a UD
// SEND to the peer's queue pair 1 with its well-known Q_Key.
func (m *Manager) Emit(mad *[wire.MADLen]byte) (to Peer, ok bool) {
	next := m.queue.pop()
	if next == nil {
		return Peer{}, false
	}
	*mad = next.mad
	return next.to, true
}

// format begins a message and returns what is behind the common header, all
// zero.
func format(mad *[wire.MADLen]byte, tid uint64, attribute uint16) []byte {
	clear(mad[:])
	header := wire.MAD(mad[:])
	header.SetBaseVersion(wire.MADBaseVersion)
	header.SetMgmtClass(wire.ClassCM)
	header.SetClassVersion(classVersion)
	header.SetMethod(methodSend)
	header.SetTransactionID(tid)
	header.SetAttributeID(attribute)
	return header.Data()
}

// answer queues a message that is not resent and returns it to be filled in,
// nil when the queue is full: whoever made it necessary asks again.
func (m *Manager) answer(to Peer, tid uint64, attribute uint16) []byte {
	if m.queue.len() >= m.MaxQueue {
		return nil
	}
	d := m.queue.push()
	d.to = to
	return format(&d.mad, tid, attribute)
}

// send queues the connection's message, which is not resent by itself.
func (m *Manager) send(c *conn) {
	d := m.queue.push()
	d.to, d.mad = c.peer, c.message
}

// sendAgain queues the connection's message once more, unless it would stand
// behind too many others.
func (m *Manager) sendAgain(c *conn) {
	if m.queue.len() < m.MaxQueue {
		m.send(c)
	}
}

// sendUntilAnswered queues the connection's message and resends it.
func (m *Manager) sendUntilAnswered(now time.Time, c *conn) {
	m.send(c)
	c.resend = resend{left: c.retries, interval: c.interval}
	m.timers.arm(c, now.Add(c.interval))
}

// put copies private data or additional information into its place in a message.
func put(place, data []byte) error {
	if len(data) > len(place) {
		return ErrTooLong
	}
	copy(place, data)
	return nil
}
