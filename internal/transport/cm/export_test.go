package cm

import (
	"fmt"
	"maps"
	"slices"
)

// Check reports what is inconsistent in the Manager's tables.
func (m *Manager) Check() error {
	pending, armed := 0, 0
	for id, c := range m.conns {
		if c.id != id || id == 0 {
			return fmt.Errorf("connection %#x is kept as %#x", c.id, id)
		}
		if c.state.pending() {
			pending++
		}
		if c.timer.index != unarmed {
			armed++
			if m.timers[c.timer.index] != c {
				return fmt.Errorf("connection %#x is not where its timer is", id)
			}
		}
		switch c.state {
		case requestSent, replySent, disconnectSent, timewait, sidrSent:
			if c.timer.index == unarmed {
				return fmt.Errorf("connection %#x in state %d has no timer: it is stuck", id, c.state)
			}
		default:
			if c.timer.index != unarmed {
				return fmt.Errorf("connection %#x in state %d has a timer", id, c.state)
			}
		}
	}
	if pending != m.pending || armed != len(m.timers) {
		return fmt.Errorf("%d pending, counted as %d; %d timers of %d connections", pending, m.pending, len(m.timers), armed)
	}
	for i := range m.timers {
		if i > 0 && m.timers.before(i, (i-1)/2) {
			return fmt.Errorf("timer %d is before its parent", i)
		}
	}
	return m.checkKeys()
}

func (m *Manager) checkKeys() error {
	for key, c := range m.remotes {
		if m.conns[c.id] != c || c.remote != key {
			return fmt.Errorf("remote %v names a connection that is not it", key)
		}
	}
	for key, c := range m.queuePairs {
		if m.conns[c.id] != c || c.remoteQPN != key {
			return fmt.Errorf("queue pair %v names a connection that is not it", key)
		}
	}
	for key, c := range m.sidr {
		if m.conns[c.id] != c || c.remote.number != key.id {
			return fmt.Errorf("SIDR request %v names one that is not it", key)
		}
	}
	return nil
}

// ACKTimeout is for a test of its table.
func ACKTimeout(delay, lifetime uint8) uint8 { return ackTimeout(delay, lifetime) }

// IDs are those of all connections.
func (m *Manager) IDs() []ConnID { return slices.Sorted(maps.Keys(m.conns)) }

// NextID makes an ID the next one, if it is free.
func (m *Manager) NextID(id uint32) { m.lastID = (id ^ m.idMask) - 1 }
