package cm

import "time"

// maxTimeCode is the largest code of five bits.
const maxTimeCode = 31

// CodeDuration is the time that a code of five bits stands for: 4.096 µs times
// two to the code (IBTA vol. 1, 12.7.4). Linux rounds it to milliseconds.
func CodeDuration(code uint8) time.Duration {
	return 4096 * time.Nanosecond << min(code, maxTimeCode)
}

// ackTimeout is the code of a time long enough for a packet to go there, be
// acknowledged, and the acknowledgement to come back: twice the lifetime and
// the delay, rounded up to a power of two only where that matters (Linux
// cm_ack_timeout).
func ackTimeout(delay, lifetime uint8) uint8 {
	code := lifetime + 1
	switch {
	case delay > code:
		code = delay
		if lifetime+1 >= delay-1 {
			code++
		}
	case delay >= lifetime:
		code++
	}
	return min(code, maxTimeCode)
}

// resend is how a message is repeated until there is an answer.
type resend struct {
	left     uint8
	interval time.Duration
}

const unarmed = -1

// timer is when something happens to a connection, and its place among the
// others.
type timer struct {
	at    time.Time
	index int
}

// timers are the armed ones, as a binary heap.
type timers []*conn

func (t *timers) arm(c *conn, at time.Time) {
	t.disarm(c)
	c.timer = timer{at, len(*t)}
	*t = append(*t, c)
	t.up(c.timer.index)
}

func (t *timers) disarm(c *conn) {
	i := c.timer.index
	if i == unarmed {
		return
	}
	last := len(*t) - 1
	t.swap(i, last)
	(*t)[last] = nil
	*t = (*t)[:last]
	c.timer.index = unarmed
	if i < last {
		t.down(i)
		t.up(i)
	}
}

func (t timers) before(i, j int) bool { return t[i].timer.at.Before(t[j].timer.at) }

func (t timers) swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].timer.index, t[j].timer.index = i, j
}

func (t timers) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(i, parent) {
			return
		}
		t.swap(i, parent)
		i = parent
	}
}

func (t timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t) {
			return
		}
		if child+1 < len(t) && t.before(child+1, child) {
			child++
		}
		if !t.before(child, i) {
			return
		}
		t.swap(i, child)
		i = child
	}
}

// Deadline is when Advance has something to do, the zero time when it never has.
func (m *Manager) Deadline() time.Time {
	if len(m.timers) == 0 {
		return time.Time{}
	}
	return m.timers[0].timer.at
}

// Advance does what is due: messages are resent or given up, and timewait ends.
func (m *Manager) Advance(now time.Time) {
	for len(m.timers) > 0 && !m.timers[0].timer.at.After(now) {
		c := m.timers[0]
		m.timers.disarm(c)
		m.expire(now, c)
	}
}

func (m *Manager) expire(now time.Time, c *conn) {
	switch {
	case c.state == timewait:
		m.event(TimewaitExit, c)
		m.close(c)
	case c.resend.left > 0:
		c.resend.left--
		m.sendAgain(c)
		m.timers.arm(c, now.Add(c.resend.interval))
	default:
		m.giveUp(now, c)
	}
}

// giveUp ends what got no answer to the last resend (Linux
// cm_process_send_error).
func (m *Manager) giveUp(now time.Time, c *conn) {
	if c.state == disconnectSent {
		m.event(Disconnected, c).TimedOut = true
		m.linger(now, c)
		return
	}
	m.event(Unreachable, c).TimedOut = true
	if m.RejectOnTimeout && c.state != sidrSent {
		m.rejectTimeout(c)
	}
	m.close(c)
}
