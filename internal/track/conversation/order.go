package conversation

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// order has conversations in the order of their last packets.
type order struct {
	which          int // of the neighbours of each
	newest, oldest *Conversation
}

// orders is how many a conversation can be in.
const orders = 2

type neighbours struct{ newer, older *Conversation }

func (o *order) add(c *Conversation) {
	at := &c.beside[o.which]
	at.older, at.newer = o.newest, nil
	if o.newest != nil {
		o.newest.beside[o.which].newer = c
	}
	o.newest = c
	if o.oldest == nil {
		o.oldest = c
	}
}

func (o *order) remove(c *Conversation) {
	at := &c.beside[o.which]
	if at.older != nil {
		at.older.beside[o.which].newer = at.newer
	} else {
		o.oldest = at.newer
	}
	if at.newer != nil {
		at.newer.beside[o.which].older = at.older
	} else {
		o.newest = at.older
	}
	*at = neighbours{}
}

func (o *order) renew(c *Conversation) {
	if o.newest != c {
		o.remove(c)
		o.add(c)
	}
}

// add takes a conversation into the tracker.
func (t *Tracker) add(c *Conversation) {
	t.open++
	t.silent.add(c)
	if c.answering {
		t.aside.add(c)
	}
}

func (t *Tracker) remove(c *Conversation) {
	t.open--
	t.silent.remove(c)
	if c.answering {
		t.aside.remove(c)
	}
}

// renew notes that a packet of a conversation came.
func (t *Tracker) renew(c *Conversation) {
	t.silent.renew(c)
	if c.answering {
		t.aside.renew(c)
	}
}

// A stream of answers to nothing that was captured, or to one of several streams
// so far, is followed as long as there is room for it. It takes none from others.

// asks notes that something of a conversation asks.
func (t *Tracker) asks(c *Conversation) {
	if c.answering {
		t.aside.remove(c)
		c.answering = false
	}
}

// answers reports whether a packet is of those that only come when something was
// asked for or sent the other way.
func answers(p *Packet) bool {
	info := p.Opcode.Info()
	return info.Response || info.Service == wire.CNP
}

// patience is how long a stream of answers has to be silent before it makes room
// for another: with less, streams that take turns would push out each other.
const patience = int64(time.Second)

// admits reports whether there is room for the conversation that a packet begins.
func (t *Tracker) admits(p *Packet) bool {
	if !answers(p) || t.open < t.limits.Conversations {
		return true
	}
	oldest := t.aside.oldest
	if oldest == nil || p.Time-oldest.Ended < patience {
		return false
	}
	t.evict(oldest)
	return true
}

// leaver is the conversation that makes room for another: the one that was silent
// longest, of answers alone if there are some.
func (t *Tracker) leaver() *Conversation {
	if t.aside.oldest != nil {
		return t.aside.oldest
	}
	return t.silent.oldest
}

// Unplaced is how many packets, answers to nothing that was captured or to one of
// several streams, were not followed for want of room.
func (t *Tracker) Unplaced() int { return t.strange }
