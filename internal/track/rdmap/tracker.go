package rdmap

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// Tracker takes the TCP segments of a capture and knows its iWARP connections.
type Tracker struct {
	// Closed is called with each iWARP connection that is over: its ports are
	// used again, it is evicted, or the capture has ended. May be nil.
	Closed func(*Connection)
	// Report is called with each event, and with the end whose stream it is in.
	// May be nil.
	Report func(c *Connection, end int, e Event)

	limits   iwarp.Limits
	held     int // bytes, beside a fixed part of each connection
	cutter   *iwarp.Tracker
	flows    map[key]*flow
	recent   *flow
	order    flow // head of the ring of flows, in the order of last use
	seen     int
	evicted  int
	segments int
}

// key is a connection's two ends, in one order.
type key struct{ a, b netip.AddrPort }

func keyOf(src, dst netip.AddrPort) key {
	if src.Compare(dst) > 0 {
		return key{dst, src}
	}
	return key{src, dst}
}

// flow is a TCP connection, of which little is kept until it turns out to carry
// iWARP.
type flow struct {
	key          key
	addr         [2]netip.AddrPort
	tcp          [2]half
	first, last  int
	began, ended int64
	segments     int
	held         int         // bytes, when it was weighed last
	connection   *Connection // nil: not iWARP, as far as is known
	idler, newer *flow
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker(l iwarp.Limits) *Tracker {
	t := &Tracker{limits: l, cutter: iwarp.NewTracker(l), flows: make(map[key]*flow)}
	t.order.idler, t.order.newer = &t.order, &t.order
	return t
}

// Seen is how many iWARP connections there were.
func (t *Tracker) Seen() int { return t.seen }

// Evicted is how many of them had to be given up.
func (t *Tracker) Evicted() int { return t.evicted }

// Segments is how many TCP segments belong to the iWARP connections that are
// over.
func (t *Tracker) Segments() int { return t.segments }

// Segment takes the next TCP segment of the capture.
func (t *Tracker) Segment(s *Segment) {
	pdus := t.cutter.Segment(s.Packet)
	now := moment{int(s.Number), s.Time}
	f := t.find(s.Src, s.Dst)
	if f != nil && f.half(s.Src).restarts(s) {
		pdus = t.take(pdus, now, false)
		t.close(f)
		f = nil
	}
	if f == nil {
		f = t.begin(s)
	} else {
		f.unlink()
	}
	f.link(&t.order)
	f.segment(s)
	t.take(pdus, now, true)
	t.weigh(f)
	if len(t.flows) > t.limits.Conns {
		t.evict(t.order.newer)
	}
}

// Finish ends the capture: every connection is over.
func (t *Tracker) Finish() {
	t.take(t.cutter.Flush(), moment{}, true)
	for len(t.flows) > 0 {
		t.close(t.order.newer)
	}
}

// take hands PDUs to their connections: all of them, or those before the first
// that the present segment has a part of. It returns the others.
func (t *Tracker) take(pdus []*iwarp.PDU, now moment, all bool) []*iwarp.PDU {
	for i, p := range pdus {
		if !all && int(p.Last) == now.number {
			return pdus[i:]
		}
		f := t.find(p.Src, p.Dst)
		if f == nil {
			continue
		}
		if f.connection == nil {
			t.recognise(f)
		}
		at := now
		if at.number == 0 {
			at = moment{f.last, f.ended}
		}
		f.connection.take(p, at)
	}
	return nil
}

// recognise begins to follow what a TCP connection carries.
func (t *Tracker) recognise(f *flow) {
	t.seen++
	c := newConnection(f)
	f.connection = c
	if t.Report == nil {
		return
	}
	for i := range c.Ends {
		c.Ends[i].report = func(e Event) { t.Report(c, i, e) }
	}
}

func (t *Tracker) find(src, dst netip.AddrPort) *flow {
	k := keyOf(src, dst)
	if t.recent == nil || t.recent.key != k {
		t.recent = t.flows[k]
	}
	return t.recent
}

func (t *Tracker) begin(s *Segment) *flow {
	f := &flow{key: keyOf(s.Src, s.Dst), addr: [2]netip.AddrPort{s.Src, s.Dst}, first: int(s.Number), began: s.Time}
	t.flows[f.key] = f
	t.recent = f
	return f
}

func (t *Tracker) close(f *flow) {
	f.unlink()
	delete(t.flows, f.key)
	t.recent = nil
	t.held -= f.held
	if f.connection == nil {
		return
	}
	t.segments += f.segments
	f.connection.close(f)
	if t.Closed != nil {
		t.Closed(f.connection)
	}
}

func (f *flow) link(head *flow) {
	f.idler, f.newer = head.idler, head
	f.idler.newer, head.idler = f, f
}

func (f *flow) unlink() { f.idler.newer, f.newer.idler = f.newer, f.idler }

// end is the end that sends from an address.
func (f *flow) end(src netip.AddrPort) int {
	if src == f.addr[0] {
		return 0
	}
	return 1
}

// half is what was seen of the segments from an address.
func (f *flow) half(src netip.AddrPort) *half { return f.halfOf(f.end(src)) }

func (f *flow) halfOf(end int) *half {
	if f.connection != nil {
		return &f.connection.Ends[end].tcp
	}
	return &f.tcp[end]
}

// segment follows TCP itself.
func (f *flow) segment(s *Segment) {
	f.last, f.ended = int(s.Number), s.Time
	f.segments++
	if c := f.connection; c != nil {
		c.Last, c.Ended = f.last, f.ended
	}
	end := f.end(s.Src)
	h, other := f.halfOf(end), f.halfOf(1-end)
	over := h.FIN && other.FIN
	kind, bytes, told := h.push(s)
	if kind == Reset && over {
		told = false // both ends were through
	}
	f.tell(end, told, Event{Kind: kind, Packet: f.last, Bytes: bytes})
	f.tell(end, h.window(s), Event{Kind: ZeroWindow, Packet: f.last})
	if s.Flags&tcpstream.ACK == 0 {
		return
	}
	other.acknowledge(s.Ack)
	if f.connection != nil {
		f.connection.Ends[1-end].acknowledged(s.Time)
	}
}

// tell reports an event of a connection that carries iWARP.
func (f *flow) tell(end int, told bool, e Event) {
	if told && f.connection != nil {
		f.connection.Ends[end].tell(e)
	}
}
