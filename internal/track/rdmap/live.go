package rdmap

import (
	"iter"
	"slices"
	"time"
)

// All gives the iWARP connections that go on, the one that was silent longest
// first.
func (t *Tracker) All() iter.Seq[*Connection] {
	return func(yield func(*Connection) bool) {
		for f := t.order.newer; f != &t.order; f = f.newer {
			if f.connection != nil && !yield(f.connection) {
				return
			}
		}
	}
}

// Sent is what was seen so far of the segments that the end sends.
func (e *End) Sent() TCP { return e.tcp.TCP }

// Copy copies what is known so far of a connection that goes on, as if it were
// over: the copy shares nothing with it, and is not followed.
func (c *Connection) Copy() *Connection {
	o := &Connection{First: c.First, Last: c.Last, Began: c.Began, Ended: c.Ended, Evicted: c.Evicted, Initiator: c.Initiator}
	for i := range c.Ends {
		e := c.Ends[i]
		e.TCP = e.Sent()
		e.Regions, e.Tallies = slices.Clone(e.Regions), slices.Clone(e.Tallies)
		for op := range e.Operations {
			if h := e.Operations[op].Latency; h != nil {
				own := h.Clone()
				e.Operations[op].Latency = &own
			}
		}
		if e.Terminate != nil {
			gone := *e.Terminate
			e.Terminate = &gone
		}
		e.report, e.tcp, e.stream = nil, half{}, stream{}
		o.Ends[i] = e
	}
	return o
}

// maxIdle is how long an open iWARP connection is kept of which nothing comes. Its
// ends may have gone without a word; if it does go on, the FPDUs have to be found
// without the start-up frame, which does not come again.
const maxIdle = time.Hour

// Expire ends the TCP connections of which nothing has come for a time and that are
// over, or carry no iWARP as far as is known, and after an hour the others.
func (t *Tracker) Expire(now int64, silence time.Duration) {
	for f := t.order.newer; f != &t.order && now-f.ended > int64(silence); {
		next := f.newer
		if f.connection == nil || f.over() || now-f.ended > int64(maxIdle) {
			t.take(t.cutter.End(f.addr[0], f.addr[1]), moment{}, true)
			t.close(f)
		}
		f = next
	}
}

// over reports whether both ends have said that they are through, or one that it
// forgets the connection.
func (f *flow) over() bool {
	a, b := f.halfOf(0), f.halfOf(1)
	return a.FIN && b.FIN || a.RST || b.RST
}
