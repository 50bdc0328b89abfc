package rdmap

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// queues is how many queues of untagged messages there are.
const queues = wire.QNAtomicResponse + 1

// stream is what is known of the messages in the stream that an end sends.
type stream struct {
	cut       int64 // offset behind the last byte that a PDU has accounted for
	queues    [queues]queue
	writes    tagged
	responses response
	unacked   list[pending]
	pairing   pairing
	reads     list[request] // that this end has outstanding
	atomics   list[request]
	invalid   []invalidated // memory of the other end
	recent    recents
}

// So many things are remembered of each stream.
const (
	maxUnacked = 256 // messages without a TCP acknowledgement; those before are not timed
	maxReads   = 256 // requests without a response
	maxInvalid = 64  // invalidated STags
	maxRegions = 64
	maxRecent  = 128 // segments that a Terminate may complain about
)

// moment is a packet of the capture and its time.
type moment struct {
	number int
	time   int64
}

// fpdu is an FPDU with what is needed of its place.
type fpdu struct {
	*iwarp.PDU
	op     wire.RDMAPOpcode
	packet int   // that has its last byte
	time   int64 // of that packet, 0 when it is not known
	bytes  int64 // behind the DDP header
	last   bool  // flag L
	broken bool  // bytes behind the headers are missing
	end    int64 // where it ends in the stream
}

// take takes the next PDU of the connection.
func (c *Connection) take(p *iwarp.PDU, now moment) {
	from := 0
	if c.Ends[0].Addr != p.Src {
		from = 1
	}
	e := &c.Ends[from]
	e.stream.cut = p.Stream + p.Len
	switch p.Kind {
	case iwarp.MPARequest, iwarp.MPAReply:
		c.start(from, p)
	case iwarp.Gap:
		e.Missing += p.Missing
		e.tell(Event{Kind: Gap, Packet: now.number, Bytes: p.Missing})
		c.lose(from, now.time)
	case iwarp.Skipped:
		e.Unframed += p.Len
		e.tell(Event{Kind: Unframed, Packet: now.number, Bytes: p.Len})
		c.lose(from, now.time)
	case iwarp.FPDU:
		c.fpdu(from, p, now)
	}
}

// start takes a start-up frame: what follows is the beginning of every queue.
func (c *Connection) start(from int, p *iwarp.PDU) {
	e := &c.Ends[from]
	m := wire.MPAStart(p.Stack.View(wire.HdrMPARequest))
	c.Initiator = from
	if p.Kind == iwarp.MPAReply {
		m = p.Stack.View(wire.HdrMPAReply)
		c.Initiator = 1 - from
	}
	if len(m) < wire.MPAStartLen {
		return
	}
	e.Start = Start{
		Packet: int(p.Last), Revision: m.Revision(), Markers: m.Markers(), CRC: m.CRC(), Reject: m.Reject(), Private: m.PrivateLen(),
	}
	if x := wire.MPAEnhanced(p.Stack.View(wire.HdrMPAEnhanced)); len(x) == wire.MPAEnhancedLen {
		e.Start.Enhanced, e.Start.PeerToPeer, e.Start.IRD, e.Start.ORD = true, x.PeerToPeer(), x.IRD(), x.ORD()
		e.Start.Private -= wire.MPAEnhancedLen
	}
	e.judgeFrame(p, int(p.Last))
	for i := range e.stream.queues {
		e.stream.queues[i] = queue{known: true, counted: true, msn: 1}
	}
	e.stream.writes.known = true
	// Requests and responses are known from the start when either end's first
	// message will be.
	a, b := &c.Ends[0], &c.Ends[1]
	if a.Start.Packet > 0 && b.Start.Packet > 0 && a.FPDUs+b.FPDUs == 0 {
		a.stream.pairing, b.stream.pairing = pairing{}, pairing{}
	}
}

// issueKinds are the events of what package iwarp finds in a PDU.
var issueKinds = map[iwarp.IssueKind]Kind{
	iwarp.IssueReject: Rejected, iwarp.IssueRevision: BadStart, iwarp.IssueReserved: ReservedBits, iwarp.IssuePad: ReservedBits,
	iwarp.IssuePrivateData: BadStart, iwarp.IssueFlagA: BadStart, iwarp.IssueCRC: BadCRC, iwarp.IssueMarker: BadMarker,
	iwarp.IssueExceeds: Unaligned, iwarp.IssueDDPVersion: BadHeader, iwarp.IssueRDMAPVersion: BadHeader,
	iwarp.IssueUnknownOpcode: BadHeader, iwarp.IssueQueue: BadHeader, iwarp.IssueLength: BadHeader,
}

// judgeFrame tells what is wrong with a PDU on its own, each kind once, and
// reports whether its headers can be followed.
func (e *End) judgeFrame(p *iwarp.PDU, packet int) bool {
	good := true
	var told [Kinds]bool
	for i := range p.Issues {
		k := issueKinds[p.Issues[i].Kind]
		if !told[k] {
			e.tell(Event{Kind: k, Packet: packet})
		}
		told[k] = true
		good = good && k != BadCRC && k != BadHeader
	}
	return good
}

// lose notes that bytes of a stream are not known.
func (c *Connection) lose(from int, now int64) {
	s := &c.Ends[from].stream
	for i := range s.queues {
		s.queues[i].known = false
	}
	s.writes.known = false
	c.Ends[from].missRequests(now)
	c.Ends[1-from].missResponses(&s.responses, now)
}

// fpdu takes an FPDU.
func (c *Connection) fpdu(from int, p *iwarp.PDU, now moment) {
	e := &c.Ends[from]
	e.FPDUs++
	e.Missing += p.Missing
	e.Markers += len(p.Markers)
	e.CRCs[p.CRC]++
	if p.Missing > 0 {
		e.Incomplete++
	}
	f := fpdu{PDU: p, packet: int(p.Last), broken: p.Missing > 0, end: p.Stream + p.Len}
	if f.packet == now.number {
		f.time = now.time
	}
	if f.packet == 0 {
		f.packet = now.number
	}
	if !e.judgeFrame(p, f.packet) {
		c.lose(from, now.time)
		return
	}
	if e.Terminate != nil {
		e.tell(Event{Kind: AfterTerminate, Packet: f.packet, Cause: e.Terminate.Packet})
	}
	tagged, untagged := wire.DDPTagged(p.Stack.View(wire.HdrDDPTagged)), wire.DDPUntagged(p.Stack.View(wire.HdrDDPUntagged))
	if len(tagged) < wire.DDPTaggedLen && len(untagged) < wire.DDPUntaggedLen {
		c.lose(from, now.time) // cut within its headers
		return
	}
	f.op, _ = p.Opcode()
	c.dispatch(from, &f, tagged, untagged)
}

// dispatch gives an FPDU with whole headers to its queue.
func (c *Connection) dispatch(from int, f *fpdu, t wire.DDPTagged, u wire.DDPUntagged) {
	e := &c.Ends[from]
	n := wire.FPDU(f.Stack.Data).ULPDULen()
	if len(t) > 0 {
		f.bytes, f.last = int64(n-wire.DDPTaggedLen), wire.DDP(t).Last()
	} else {
		f.bytes, f.last = int64(n-wire.DDPUntaggedLen), wire.DDP(u).Last()
	}
	e.count(f)
	e.stream.recent.add(placeOf(t, u, f.packet))
	switch {
	case len(u) > 0:
		c.untagged(from, f, u)
	case f.op == wire.RDMAPWrite:
		c.write(from, f, t)
	default:
		c.readResponse(from, f, t)
	}
}

func (e *End) count(f *fpdu) {
	o := &e.Opcodes[f.op]
	o.FPDUs++
	o.Bytes += f.bytes
	if f.last {
		o.Messages++
	}
}

// pending is a message whose last byte is not acknowledged.
type pending struct {
	end   int64 // stream offset behind it
	began int64
	op    Op
}

// sent notes that a message is complete, which began at a time, or is not timed
// when that is 0.
func (e *End) sent(op Op, f *fpdu, began int64) {
	if began == 0 || f.time == 0 || e.tcp.acked >= f.end {
		return
	}
	e.stream.unacked.push(pending{f.end, began, op}, maxUnacked)
}

// acknowledged looks which messages the other end has acknowledged by now.
func (e *End) acknowledged(now int64) {
	q := &e.stream.unacked
	for len(q.items()) > 0 && q.items()[0].end <= e.tcp.acked {
		p := q.items()[0]
		e.Operations[p.op].took(now - p.began)
		q.drop(1)
	}
}

// finish counts what is open at the end.
func (e *End) finish() {
	s := &e.stream
	for i := range s.queues {
		if s.queues[i].open {
			e.Unfinished++
		}
	}
	if s.writes.open {
		e.Unfinished++
	}
	s.reads.filter(func(q *request) bool { return !q.unseen })
	e.Unfinished += len(s.reads.items()) + len(s.atomics.items())
}

// region notes that an end uses memory of the other.
func (e *End) region(stag uint32, to uint64, written, read int64) {
	i := slices.IndexFunc(e.Regions, func(r Region) bool { return r.STag == stag })
	if i < 0 {
		if len(e.Regions) == maxRegions {
			e.MoreRegions++
			return
		}
		e.Regions = append(e.Regions, Region{STag: stag, Lowest: to, End: to})
		i = len(e.Regions) - 1
	}
	r := &e.Regions[i]
	r.Lowest = min(r.Lowest, to)
	r.End = max(r.End, to+uint64(written+read))
	r.Written += written
	r.Read += read
}

// list is a queue that keeps its memory.
type list[T any] struct {
	all  []T
	head int
}

func (l *list[T]) items() []T { return l.all[l.head:] }

// push adds an item; of more than limit the oldest is forgotten, which is
// reported.
func (l *list[T]) push(item T, limit int) (forgot bool) {
	if forgot = len(l.items()) == limit; forgot {
		l.drop(1)
	}
	if len(l.all) == cap(l.all) && l.head > len(l.all)/2 {
		l.all = l.all[:copy(l.all, l.items())]
		l.head = 0
	}
	l.all = append(l.all, item)
	return forgot
}

// drop forgets the first n items.
func (l *list[T]) drop(n int) {
	l.head += n
	if l.head == len(l.all) {
		l.all, l.head = l.all[:0], 0
	}
}

// remove forgets the item at i.
func (l *list[T]) remove(i int) {
	items := l.items()
	copy(items[1:], items[:i])
	l.drop(1)
}

// unshift adds an item before all others.
func (l *list[T]) unshift(item T) { l.all, l.head = slices.Concat([]T{item}, l.items()), 0 }

// filter keeps the items that are to be kept.
func (l *list[T]) filter(keep func(*T) bool) {
	l.all = slices.DeleteFunc(l.all[l.head:], func(item T) bool { return !keep(&item) })
	l.head = 0
}
