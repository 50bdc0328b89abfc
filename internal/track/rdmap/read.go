package rdmap

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// request is a READ or atomic without its response.
type request struct {
	stag   uint32 // READ: the sink
	to     uint64
	size   int64
	id     uint32 // atomic
	packet int
	began  int64 // 0: not known
	unseen bool  // it was made in bytes that are missing; nothing else is known
}

// response is the READ response that is under way in a stream.
type response struct {
	open    bool
	request request
	known   bool   // request is the one that is answered
	stag    uint32 // of the segment before
	to      uint64 // where the next segment has to go
	bytes   int64
	broken  bool
	judged  bool // a verdict on where it goes was given
}

// abandon gives up what is under way, and counts it when it is known what it
// answers.
func (r *response) abandon() (requests int) {
	if r.open && r.known {
		requests = 1
	}
	r.open = false
	return requests
}

// settled is for how long no response may be under way before requests that are
// made then are sure to be answered by the next responses.
const settled = int64(time.Second)

// settle looks, before a request is made, whether the responses from now on are
// sure to answer the requests from now on.
func (e *End) settle(now int64) {
	if p := &e.stream.pairing; p.loose && len(e.stream.reads.items()) == 0 && now-p.quiet > settled {
		p.loose = false
	}
}

// readRequest takes a READ request.
func (c *Connection) readRequest(from int, f *fpdu) {
	e := &c.Ends[from]
	r := wire.RDMAPReadRequestHeader(f.Stack.View(wire.HdrRDMAPReadRequest))
	if len(r) < wire.RDMAPReadRequestLen {
		e.loosen(f.time) // cut
		return
	}
	e.settle(f.time)
	c.judgeSTag(from, r.SourceSTag(), f.packet)
	e.region(r.SourceSTag(), r.SourceOffset(), 0, int64(r.Size()))
	if e.answered() {
		return
	}
	q := request{stag: r.SinkSTag(), to: r.SinkOffset(), size: int64(r.Size()), packet: f.packet, began: f.time}
	if e.stream.reads.push(q, maxReads) {
		e.Unfinished++
		e.loosen(f.time)
	}
	if p := &e.stream.pairing; p.loose || p.adrift {
		return // some may have been answered
	}
	if e.stream.hasUnseen() || f.time == 0 {
		return // responses may be before the request although they were captured behind it
	}
	n := len(e.stream.reads.items())
	e.MostReads = max(e.MostReads, n)
	other := &c.Ends[1-from]
	if limit := int(other.Start.IRD); other.Start.Enhanced && limit != wire.MPANotNegotiated && n > limit && other.stream.cut >= other.tcp.acked {
		e.tell(Event{Kind: ReadDepth, Packet: f.packet, Got: uint64(n), Want: uint64(limit)})
	}
}

// certain reports that every request that an end can be answering was seen: the
// stream of the other end was cut as far as it was acknowledged.
func (c *Connection) certain(from int) bool {
	asks := &c.Ends[1-from]
	p := &asks.stream.pairing
	return !p.loose && !p.adrift && asks.stream.cut >= asks.tcp.acked
}

// readResponse takes a segment of a READ response, which the end from sends.
func (c *Connection) readResponse(from int, f *fpdu, t wire.DDPTagged) {
	r := &c.Ends[from].stream.responses
	stag, to := t.STag(), t.Offset()
	p := &c.Ends[1-from].stream.pairing
	p.quiet = max(p.quiet, f.time)
	c.find(from, f, stag, to)
	if r.open && r.bytes == r.request.size && r.known && f.bytes > 0 && c.isNext(from, stag, to) {
		c.tellResponse(from, Event{Kind: LastFlag, Packet: f.packet})
		c.answer(from, f, r)
	}
	if !r.open {
		*r = response{open: true, broken: p.loose}
		r.request, r.known = c.match(from, f, stag, to)
	} else if !r.judged && (stag != r.stag || to != r.to) {
		got, want := differ(stag, to, r.stag, r.to)
		r.judged = c.tellResponse(from, Event{Kind: ReadSink, Packet: f.packet, Cause: r.request.packet, Got: got, Want: want})
	}
	r.stag, r.to = stag, to+uint64(f.bytes)
	r.bytes += f.bytes
	r.broken = r.broken || f.broken
	if r.known && !r.judged && r.bytes > r.request.size {
		r.judged = c.tellResponse(from, Event{
			Kind: ReadBounds, Packet: f.packet, Cause: r.request.packet, Got: uint64(r.bytes), Want: uint64(r.request.size),
		})
	}
	if !f.last {
		return
	}
	if r.known && !r.judged && r.bytes < r.request.size {
		c.tellResponse(from, Event{
			Kind: ReadShort, Packet: f.packet, Cause: r.request.packet, Got: uint64(r.bytes), Want: uint64(r.request.size),
		})
	}
	c.answer(from, f, r)
}

// isNext reports that a segment goes where the request says that is outstanding
// longest, and not where the present response goes on.
func (c *Connection) isNext(from int, stag uint32, to uint64) bool {
	r := &c.Ends[from].stream.responses
	reads := c.Ends[1-from].stream.reads.items()
	return len(reads) > 0 && !reads[0].unseen && reads[0].stag == stag && reads[0].to == to && (stag != r.stag || to != r.to)
}

// tellResponse tells an event of a response, if it is certain what it answers.
func (c *Connection) tellResponse(from int, e Event) bool {
	if !c.certain(from) {
		return false
	}
	c.Ends[from].tell(e)
	return true
}

// match finds the request that a response answers, and takes it out of those
// that are outstanding. Responses come in the order of the requests (RFC 5040
// section 5.5).
func (c *Connection) match(from int, f *fpdu, stag uint32, to uint64) (r request, known bool) {
	asks := &c.Ends[1-from]
	if asks.unexplained() {
		return request{}, false
	}
	reads := asks.stream.reads.items()
	got, want := uint64(0), uint64(0)
	if len(reads) > 0 {
		got, want = differ(stag, to, reads[0].stag, reads[0].to)
	}
	i := slices.IndexFunc(reads, func(q request) bool { return q.stag == stag && q.to == to || q.size == 0 && f.bytes == 0 && f.last })
	switch {
	case len(reads) == 0:
		if !c.tellResponse(from, Event{Kind: ResponseUnasked, Packet: f.packet}) {
			asks.loosen(f.time)
		}
		return request{}, false
	case i == 0:
	case i > 0 && c.certain(from):
		c.tellResponse(from, Event{Kind: ReadOrder, Packet: f.packet, Cause: reads[i].packet})
		r = reads[i]
		asks.stream.reads.remove(i)
		return r, true
	case i > 0:
		asks.loosen(f.time)
		asks.Unfinished += i
		asks.stream.reads.drop(i)
	case c.tellResponse(from, Event{Kind: ReadSink, Packet: f.packet, Cause: reads[0].packet, Got: got, Want: want}):
	default:
		asks.loosen(f.time)
		return request{}, false
	}
	r = asks.stream.reads.items()[0]
	asks.stream.reads.drop(1)
	return r, true
}

// answer ends a response.
func (c *Connection) answer(from int, f *fpdu, r *response) {
	r.open = false
	c.Ends[1-from].forgive()
	if !r.known {
		return
	}
	o := &c.Ends[1-from].Operations[Read]
	o.complete(r.bytes, r.broken)
	if !c.Ends[1-from].stream.pairing.loose && r.request.began > 0 && f.time > 0 {
		o.took(f.time - r.request.began)
	}
}

// atomicRequest takes an atomic request (RFC 7306 section 5).
func (c *Connection) atomicRequest(from int, f *fpdu) {
	e := &c.Ends[from]
	a := wire.RDMAPAtomicRequestHeader(f.Stack.View(wire.HdrRDMAPAtomicRequest))
	if len(a) < wire.RDMAPAtomicRequestLen {
		e.loosen(f.time)
		return
	}
	c.judgeSTag(from, a.STag(), f.packet)
	if e.answered() {
		return
	}
	if e.stream.atomics.push(request{id: a.RequestID(), packet: f.packet, began: f.time}, maxReads) {
		e.Unfinished++
		e.loosen(f.time)
	}
}

// atomicResponse takes an atomic response, which repeats the request's
// identifier.
func (c *Connection) atomicResponse(from int, f *fpdu) {
	a := wire.RDMAPAtomicResponseHeader(f.Stack.View(wire.HdrRDMAPAtomicResponse))
	if len(a) < wire.RDMAPAtomicResponseLen {
		return
	}
	asks := &c.Ends[1-from]
	asks.forgive()
	i := slices.IndexFunc(asks.stream.atomics.items(), func(q request) bool { return q.id == a.RequestID() })
	if i < 0 {
		if asks.unexplained() {
			return
		}
		c.tellResponse(from, Event{Kind: ResponseUnasked, Packet: f.packet})
		return
	}
	q := asks.stream.atomics.items()[i]
	asks.stream.atomics.remove(i)
	o := &asks.Operations[Atomic]
	o.complete(8, false)
	if q.began > 0 && f.time > 0 {
		o.took(f.time - q.began)
	}
}
