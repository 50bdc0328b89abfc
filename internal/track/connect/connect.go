// Package connect follows connection management (IBTA vol. 1, chapter 12): which
// connections were asked for, what both ends said and agreed on, and how it ended.
//
// It is pure and passes over a capture once: Message.Read takes a message out of
// a frame, Tracker.Take follows it, Tracker.Finish ends the capture. Messages
// belong together by communication IDs and addresses; each is kept as it came,
// for package wire to read, up to a number for each connection. Connections are
// kept up to a limit.
package connect

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Limit is how many connections are kept at a time: 24 MB when each has as many
// messages as are kept, and 12 MB with the usual five.
const Limit = 1 << 12

// identifier is a communication ID, if there is one.
type identifier struct {
	value uint32
	set   bool
}

// identity is a communication ID of one end towards another. SIDR counts its
// own.
type identity struct {
	owner, peer netip.Addr
	id          uint32
	datagram    bool
}

// Tracker takes the messages of a capture and knows their connections.
type Tracker struct {
	// Closed is called with each connection that is over: its ID is used again,
	// it is evicted, or the capture has ended. May be nil.
	Closed func(*Connection)
	// Report is called with each event. May be nil.
	Report func(*Connection, Event)

	limit   int
	ids     map[identity]*Connection
	newest  *Connection
	oldest  *Connection
	open    int
	seen    int
	evicted int
	now     int64
}

// NewTracker returns a tracker that has seen nothing and keeps so many
// connections at a time.
func NewTracker(limit int) *Tracker {
	return &Tracker{limit: limit, ids: make(map[identity]*Connection)}
}

// Seen is how many connections there were.
func (t *Tracker) Seen() int { return t.seen }

// Evicted is how many had to be given up before their end.
func (t *Tracker) Evicted() int { return t.evicted }

// Take takes the next message of the capture, and returns its connection.
func (t *Tracker) Take(m *Message) *Connection {
	t.now = m.Time
	c, agrees := t.find(m)
	if c == nil {
		c = t.begin(m)
	}
	c.heard = m.Time
	t.unlink(c)
	t.link(c)
	if !agrees {
		t.tell(c, Event{Kind: Mismatch, Packet: m.Number})
	}
	if kept := c.again(m); kept != nil {
		kept.Repeats++
		kept.Repeated = m.Time
		if forms[m.Attribute].asks {
			t.tell(c, Event{Kind: Repeated, Packet: m.Number, Cause: kept.Number})
		}
		return c
	}
	if asked, late := c.late(m); late {
		t.tell(c, Event{Kind: Late, Packet: m.Number, Cause: asked.Number})
	}
	kind, wrong := c.follow(m)
	if len(c.Messages) < maxKept {
		c.Messages = append(c.Messages, *m)
	} else {
		c.Unkept++
	}
	if wrong {
		t.tell(c, Event{Kind: kind, Packet: m.Number})
	}
	return c
}

func (t *Tracker) tell(c *Connection, e Event) {
	c.Tallies.Add(e.Kind, e.Packet, 1)
	if t.Report != nil {
		t.Report(c, e)
	}
}

// identityOf is what an ID of an end is known by.
func identityOf(c *Connection, end int) identity {
	return identity{c.Ends[end].Addr, c.Ends[1-end].Addr, c.Ends[end].ID, c.Datagram}
}

// find returns the connection that a message belongs to, nil for none, and sets
// its sender. It does not agree when one of the two IDs is another one's.
func (t *Tracker) find(m *Message) (c *Connection, agrees bool) {
	local, remote := m.ids()
	if remote.set {
		c = t.ids[identity{m.Dst, m.Src, remote.value, m.datagram()}]
	}
	if c != nil {
		m.Sender = 1 - c.owner(m.Dst, remote.value)
		return t.learn(c, m, m.Sender, local)
	}
	if local.set {
		c = t.ids[identity{m.Src, m.Dst, local.value, m.datagram()}]
	}
	if c == nil {
		return nil, true
	}
	m.Sender = c.owner(m.Src, local.value)
	if m.is(wire.CMAttrReq) || m.is(wire.CMAttrSidrReq) {
		if kept := c.again(m); kept != nil {
			return c, true
		}
		t.close(c) // the ID is used again
		return nil, true
	}
	return t.learn(c, m, 1-m.Sender, remote)
}

// owner is the end with an ID.
func (c *Connection) owner(addr netip.Addr, id uint32) int {
	if e := &c.Ends[0]; e.Known && e.Addr == addr && e.ID == id {
		return 0
	}
	return 1
}

// learn compares the ID of an end with what is known of it. When the connection
// is over, another ID than before is another connection's; but an end that has
// refused a request takes a copy of it for a new one, and answers with a new ID.
func (t *Tracker) learn(c *Connection, m *Message, end int, id identifier) (of *Connection, agrees bool) {
	e := &c.Ends[end]
	switch {
	case !id.set || e.Known && e.ID == id.value:
		return c, true
	case e.Known && !c.Outcome.over():
		return c, false
	case e.Known && !c.answers(m):
		t.close(c)
		return nil, true
	}
	t.forget(c, end)
	e.ID, e.Known = id.value, true
	t.register(c, end)
	return c, true
}

// forget makes a connection unknown by the ID of one end.
func (t *Tracker) forget(c *Connection, end int) {
	if k := identityOf(c, end); c.Ends[end].Known && t.ids[k] == c {
		delete(t.ids, k)
	}
}

// register makes a connection known by the ID of one end; who had that before
// is over.
func (t *Tracker) register(c *Connection, end int) {
	k := identityOf(c, end)
	if other := t.ids[k]; other != nil && other != c {
		t.close(other)
	}
	t.ids[k] = c
}

// begin makes a connection of which nothing is known.
func (t *Tracker) begin(m *Message) *Connection {
	if t.open >= t.limit {
		if !t.oldest.Outcome.over() {
			t.oldest.Evicted = true
			t.evicted++
		}
		t.close(t.oldest)
	}
	t.seen++
	t.open++
	c := &Connection{Datagram: m.datagram()}
	t.link(c)
	local, remote := m.ids()
	c.Ends[0] = End{Addr: m.Src, ID: local.value, Known: local.set}
	c.Ends[1] = End{Addr: m.Dst, ID: remote.value, Known: remote.set}
	for end := range c.Ends {
		if c.Ends[end].Known {
			t.register(c, end)
		}
	}
	m.Sender = 0
	return c
}

// close takes a connection out of the tracker.
func (t *Tracker) close(c *Connection) {
	t.unlink(c)
	t.open--
	for end := range c.Ends {
		t.forget(c, end)
	}
	if m := c.unanswered(t.now); m != nil {
		t.tell(c, Event{Kind: Unanswered, Packet: m.Number})
	}
	if t.Closed != nil {
		t.Closed(c)
	}
}

// Expire ends the connections of which nothing has come for a time, but for those
// that are up: they end with a message.
func (t *Tracker) Expire(now int64, silence time.Duration) {
	t.now = max(t.now, now)
	for c := t.oldest; c != nil && now-c.heard > int64(silence); {
		next := c.newer
		if c.Outcome != Established {
			t.close(c)
		}
		c = next
	}
}

// Finish ends the capture, at the time of its last packet.
func (t *Tracker) Finish(now int64) {
	t.now = max(t.now, now)
	for t.oldest != nil {
		t.close(t.oldest)
	}
}

func (t *Tracker) link(c *Connection) {
	c.older, c.newer = t.newest, nil
	if t.newest != nil {
		t.newest.newer = c
	}
	t.newest = c
	if t.oldest == nil {
		t.oldest = c
	}
}

func (t *Tracker) unlink(c *Connection) {
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		t.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		t.newest = c.older
	}
	c.older, c.newer = nil, nil
}
