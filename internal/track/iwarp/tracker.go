package iwarp

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
	"github.com/rocecap/rocecap/internal/wire"
)

// Limits bounds the memory of a Tracker, and of who follows its connections.
type Limits struct {
	tcpstream.Limits
	Conns int // connections that are followed at once; the idlest gives way
	// Messages is about how many bytes may be remembered of the connections'
	// messages, by package rdmap, beside a fixed part of each; 0 for any.
	Messages int
}

// DefaultLimits suits captures of busy hosts.
func DefaultLimits() Limits {
	return Limits{Limits: tcpstream.DefaultLimits(), Conns: 16384, Messages: 64 << 20}
}

// Tracker follows the TCP connections of a capture. The zero value is not
// usable; NewTracker makes one.
type Tracker struct {
	limits Limits
	budget *tcpstream.Budget
	conns  map[key]*conn
	order  conn // head of the ring of connections, in the order of last use
	out    output
}

// key is a connection's two ends in a fixed order.
type key struct{ a, b netip.AddrPort }

// keyOf is the connection of a packet, and which of its directions the packet
// belongs to.
func keyOf(src, dst netip.AddrPort) (k key, dir int) {
	if src.Compare(dst) > 0 {
		return key{dst, src}, 1
	}
	return key{src, dst}, 0
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker(l Limits) *Tracker {
	t := &Tracker{
		limits: l,
		budget: tcpstream.NewBudget(l.Limits),
		conns:  make(map[key]*conn),
	}
	t.order.idler, t.order.busier = &t.order, &t.order
	return t
}

// Segment takes the next packet of the capture and returns the PDUs that it
// completes, in the order of their streams. They and what they point to are
// valid until the next call of Segment, End or Flush.
func (t *Tracker) Segment(p Packet) []*PDU {
	t.out.reset(p.Number)
	c, dir := t.conn(p.Src, p.Dst)
	for t.Full() && t.order.busier != c {
		t.evict(t.order.busier)
	}
	s := tcpstream.Segment{
		Number: p.Number, Seq: p.Seq, Ack: p.Ack, Flags: p.Flags,
		Payload: p.Payload, Len: p.WireLen, Offset: p.Offset,
	}
	if c.tcp.Restarts(dir, s) {
		c.finish()
		c.begin(t.budget)
	}
	if c.hopeless() {
		return nil
	}
	c.tcp.Push(dir, s)
	if s.Flags&tcpstream.RST != 0 {
		c.tcp.Flush()
	}
	c.drain()
	return t.out.pdus()
}

// Flush returns the PDUs that lie behind holes, and reports the bytes that could
// not be framed. The tracker is empty afterwards.
func (t *Tracker) Flush() []*PDU {
	t.out.reset(0)
	for len(t.conns) > 0 {
		t.evict(t.order.busier)
	}
	return t.out.pdus()
}

// End ends a connection of which no more is to come, and returns the PDUs that lie
// behind its holes, as Flush does.
func (t *Tracker) End(src, dst netip.AddrPort) []*PDU {
	t.out.reset(0)
	k, _ := keyOf(src, dst)
	if c := t.conns[k]; c != nil {
		t.evict(c)
	}
	return t.out.pdus()
}

// Full reports that the connections hold more than they may. The next Segment
// then gives up those that were idle longest.
func (t *Tracker) Full() bool { return t.budget.Full() }

// conn returns the connection of a packet, and which of its directions the
// packet belongs to.
func (t *Tracker) conn(src, dst netip.AddrPort) (c *conn, dir int) {
	k, dir := keyOf(src, dst)
	c, ok := t.conns[k]
	if ok {
		c.unlink()
	} else {
		if len(t.conns) > 0 && len(t.conns) >= t.limits.Conns {
			t.evict(t.order.busier)
		}
		c = &conn{out: &t.out, addr: [2]netip.AddrPort{k.a, k.b}}
		c.begin(t.budget)
		t.conns[k] = c
	}
	c.linkBefore(&t.order)
	return c, dir
}

// evict takes a connection out of the tracker; its last PDUs go to the output.
func (t *Tracker) evict(c *conn) {
	c.unlink()
	delete(t.conns, key{c.addr[0], c.addr[1]})
	c.finish()
}

func (c *conn) linkBefore(next *conn) {
	c.idler, c.busier = next.idler, next
	c.idler.busier, next.idler = c, c
}

func (c *conn) unlink() {
	c.idler.busier, c.busier.idler = c.busier, c.idler
}

// output collects the PDUs of one call and the memory that they point to.
type output struct {
	number uint64 // of the packet being looked at
	pool   []*PDU
	used   int
	arena  []byte
}

// reset begins a call. What only a stream behind a filled hole needed is given
// back.
func (o *output) reset(number uint64) {
	const maxPool, maxArena = 256, 256 << 10
	o.number, o.used, o.arena = number, 0, o.arena[:0]
	if len(o.pool) > maxPool {
		o.pool = nil
	}
	if cap(o.arena) > maxArena {
		o.arena = nil
	}
}

func (o *output) pdus() []*PDU { return o.pool[:o.used] }

// add returns a new PDU of the call.
func (o *output) add(kind Kind, c *conn, dir int) *PDU {
	if o.used == len(o.pool) {
		o.pool = append(o.pool, &PDU{})
	}
	p := o.pool[o.used]
	o.used++
	*p = PDU{
		Kind: kind, Src: c.addr[dir], Dst: c.addr[1-dir],
		Markers: p.Markers[:0], Issues: p.Issues[:0], Offset: -1,
		Stack: wire.Stack{},
	}
	return p
}

// keep copies b into the memory of the call.
func (o *output) keep(b []byte) []byte {
	from := len(o.arena)
	o.arena = append(o.arena, b...)
	return o.arena[from:len(o.arena):len(o.arena)]
}
