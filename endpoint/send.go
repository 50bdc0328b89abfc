package endpoint

import (
	"errors"
	"net"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// burst is how many packets a queue pair sends before it is the next one's
	// turn.
	burst = 16
	// budget is how many packets are sent in one go with the device locked.
	budget = 256
)

// sender is the sending side of a device.
type sender struct {
	writer Writer
	hasher icrc.Hasher
	frame  wire.Frame
	sum    doubled
	queue  []*QP // ready, in their order, from head on
	head   int
	ident  uint16 // of the last IPv4 packet
	dirty  bool   // something is committed and not flushed

	nowhere []byte // where frames are built that the link has no place for
	lost    bool   // the frame in hand is one of those
	gone    error  // the link will not come back
}

// ready notes that a queue pair may have something to send or to tell.
func (d *Device) ready(q *QP) {
	if !q.queued {
		q.queued = true
		d.out.queue = append(d.out.queue, q)
	}
}

// pump sends what queue pairs have, in turn, and delivers their completions.
func (d *Device) pump() {
	s := &d.out
	for left := budget; left > 0 && s.head < len(s.queue) && !d.loopback.full(); {
		q := s.queue[s.head]
		s.queue[s.head] = nil
		s.head++
		n := d.emit(q, min(burst, left))
		left -= n
		q.queued = false
		if n == min(burst, left+n) && !q.destroyed {
			d.ready(q)
		}
		d.settle(q)
		if s.head == len(s.queue) {
			s.queue, s.head = s.queue[:0], 0
		}
	}
	_ = d.flush() // it is counted
	if len(s.queue) > 0 {
		copy(s.queue, s.queue[s.head:])
		clear(s.queue[len(s.queue)-s.head:])
		s.queue, s.head = s.queue[:len(s.queue)-s.head], 0
		d.wakeKeeper()
	}
}

// settle delivers a queue pair's completions and notes its deadline.
func (d *Device) settle(q *QP) {
	if q.destroyed {
		return
	}
	for {
		c, ok := q.engine.Completion()
		if !ok {
			break
		}
		d.complete(q, c)
	}
	d.timers.set(q, q.engine.Deadline())
	if q.agent != nil {
		d.timers.set(q, q.agent.manager.Deadline())
	}
}

// emit sends up to limit packets of a queue pair and returns how many.
func (d *Device) emit(q *QP, limit int) int {
	if q.destroyed {
		return 0
	}
	for n := range limit {
		if until, held := q.held(d.now); held {
			d.timers.set(q, until)
			return n
		}
		place, _ := d.reserve()
		// Where the packet goes, and with that the length of what stands before
		// it, is known afterwards. That of a datagram is likely the last one's.
		head := q.headLen
		room := place[head : len(place)-icrc.Len]
		length, to := q.engine.Emit(d.now, room)
		if length == 0 {
			return n
		}
		if size := len(to.Head) + length + icrc.Len; !d.canBeHead(to.Head) || size > len(place) {
			d.stats.SendErrors++ // Mutate has made it too long, or somebody has changed the address
			continue
		}
		if len(to.Head) != head {
			copy(place[len(to.Head):], room[:length])
			q.headLen = len(to.Head)
		}
		d.stats.SentPackets++
		copy(place, to.Head)
		if d.moved {
			d.redirect(place, to)
		}
		frame := place[:len(to.Head)+length+icrc.Len]
		d.seal(frame, len(to.Head))
		if q.rate != nil {
			q.rate.Sent(d.now, len(frame))
		}
		d.commit(frame)
	}
	return limit
}

// reserve gives the place for a frame. One for which the link has none is built
// all the same and lost: packets get lost on a link that is down, and what waits
// for one would not be told when it is up again.
func (d *Device) reserve() ([]byte, error) {
	place, err := d.out.writer.Reserve(time.Time{})
	d.out.lost = err != nil
	if err != nil {
		d.sendFailed(err)
		place = d.out.nowhere
	}
	return place, err
}

// commit sends the frame in the place that was reserved last, if the hook lets it.
func (d *Device) commit(frame []byte) {
	if d.options.BeforeSend != nil && !hooked(d.options.BeforeSend, frame, &d.out.frame, &d.out.hasher) {
		d.stats.HookDropped++
		return
	}
	d.put(frame)
}

// put sends the frame in the place that was reserved last.
func (d *Device) put(frame []byte) {
	if !d.looped(frame) {
		if d.out.lost {
			return
		}
		if err := d.out.writer.Commit(len(frame)); err != nil {
			d.sendFailed(err)
			return
		}
		d.out.dirty = true
	}
	d.stats.SentFrames++
	d.stats.SentBytes += uint64(len(frame))
	d.recorder.add(frame, d.now.UnixNano())
}

func (d *Device) flush() error {
	if !d.out.dirty {
		return nil
	}
	d.out.dirty = false
	err := d.out.writer.Flush(time.Time{})
	if err != nil {
		d.sendFailed(err)
	}
	return err
}

// sendFailed counts. A link that is down may come up again; one that is gone
// ends the device.
func (d *Device) sendFailed(err error) {
	if errors.Is(err, nic.ErrGone) {
		d.out.gone = err
	}
	if !errors.Is(err, net.ErrClosed) {
		d.stats.SendErrors++
	}
}

// Inject sends a whole Ethernet frame as it is. BeforeSend does not see it.
func (d *Device) Inject(frame []byte) error {
	d.lock()
	defer d.unlock()
	if d.closed != nil {
		return d.closed
	}
	place, err := d.reserve()
	if err != nil {
		return err
	}
	if len(frame) > len(place) {
		return ErrMTU
	}
	d.put(place[:copy(place, frame)])
	return nil
}

// complete delivers a completion to the queue that it belongs to.
func (d *Device) complete(q *QP, c Completion) {
	if q.agent != nil {
		q.agent.complete(c)
		return
	}
	cq := q.sendCQ
	if c.Op == Receive || c.Op == ReceiveWrite {
		cq = q.recvCQ
	}
	if cq == nil || cq.push(c) {
		return
	}
	// It is told once; each queue pair that loses a completion ends (IBTA 11.6.3.2).
	if cq.overrun() {
		d.tell(AsyncEvent{Kind: AsyncCQError, QPN: q.QPN(), Err: ErrCQOverrun})
	}
	q.die()
}
