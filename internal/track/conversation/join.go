package conversation

import (
	"github.com/rocecap/rocecap/internal/wire"
)

// join makes a stream that is known the other half of what its answer is to.
func (t *Tracker) join(h *half, p *Packet) bool {
	found := t.asker(h.key, p.PSN)
	if found == nil {
		return false
	}
	t.unite(found, h, ByAgreement)
	return true
}

// attach makes a stream that begins with an answer the other half of what that
// is to, nil when nothing tells.
func (t *Tracker) attach(p *Packet) *half {
	info := p.Opcode.Info()
	if !info.Response || !info.Defined() || info.Service != wire.RC && info.Service != wire.XRC {
		return nil
	}
	k := keyOf(p)
	found := t.asker(k, p.PSN)
	if found == nil {
		return nil
	}
	t.stopWaiting(found)
	c := found.conversation
	h := &half{conversation: c, end: 1 - found.end, key: k}
	c.halves[h.end] = h
	t.keep(h)
	c.Ends[found.end].QPN, c.Ends[found.end].Known = k.qpn, true
	c.Joined = ByAgreement
	return h
}

// leadIn is how many PSNs before the first request that was seen an answer may
// speak of: the capture began in between, or the first ones were lost.
const leadIn = 128

// outstanding is the PSNs, the first and how many, that an answer to one of the
// requests that are not answered yet can carry.
func (d *Direction) outstanding() (from wire.PSN, n int) {
	if !d.begun {
		return 0, 0
	}
	from = d.acked
	if d.leading {
		from = from.Add(-leadIn)
	}
	return from, max(0, d.furthest().Diff(from))
}

// furthest is one past the last PSN that what was sent can have taken: that of
// a READ of unknown path MTU is longest with the smallest.
func (d *Direction) furthest() wire.PSN {
	open := d.messages.open()
	if len(open) == 0 || !open[len(open)-1].unsized {
		return d.frontier
	}
	m := &open[len(open)-1]
	return m.first.Add(packets(uint32(m.bytes), minMTU))
}

// unite makes one conversation of two halves; what the younger one's
// conversation has counted goes over to the older's.
func (t *Tracker) unite(a, b *half, why Joined) {
	if b.conversation.First < a.conversation.First {
		a, b = b, a
	}
	c, gone := a.conversation, b.conversation
	t.stopWaiting(a)
	t.stopWaiting(b)
	t.remove(gone)
	t.seen--
	t.asks(c)
	c.held += gone.held
	// What b's end has sent it sends as the other end of c.
	from, to := gone.Ends[b.end], &c.Ends[1-a.end]
	from.QPN, from.Known = to.QPN, true
	from.Asks.Tallies.Join(to.Asks.Tallies)
	*to = from
	t.listen(c)
	own := &c.Ends[a.end]
	own.QPN, own.Known = b.key.qpn, true
	own.Asks.Tallies.Join(gone.Ends[1-b.end].Asks.Tallies)
	b.conversation, b.end = c, 1-a.end
	c.halves[b.end] = b
	if t.United != nil {
		t.United(c, b.end, gone)
	}
	c.Joined = why
	c.Last, c.Ended = max(c.Last, gone.Last), max(c.Ended, gone.Ended)
	if own.Asks.mtu == 0 {
		own.Asks.mtu = to.Asks.mtu
	}
}

// requests are the CM REQs that have no reply yet, in a ring that begins with the
// oldest.
type requests struct {
	by   map[commID]*request
	ring request
	gone int // that were given up
}

type request struct {
	id           commID
	exchange     *Exchange
	newer, older *request
}

// add takes a REQ, or one that comes again; the oldest makes room for it.
func (r *requests) add(id commID, e *Exchange, limit int) {
	if again := r.take(id); again == nil && len(r.by) >= limit {
		r.take(r.ring.newer.id)
		r.gone++
	}
	newest := &request{id, e, &r.ring, r.ring.older}
	newest.older.newer, r.ring.older = newest, newest
	r.by[id] = newest
}

func (r *requests) take(id commID) *Exchange {
	found := r.by[id]
	if found == nil {
		return nil
	}
	delete(r.by, id)
	found.older.newer, found.newer.older = found.newer, found.older
	return found.exchange
}

// RequestsEvicted is how many CM requests had to be given up before a reply.
func (t *Tracker) RequestsEvicted() int { return t.pending.gone }

// exchange learns from a CM REQ or REP which queue pairs belong together.
func (t *Tracker) exchange(p *Packet) {
	e := p.CM
	if !e.Reply {
		t.pending.add(commID{p.Src, e.ID}, e, t.limits.Pending)
		return
	}
	if req := t.pending.take(commID{p.Dst, e.RemoteID}); req != nil {
		t.connect(key{p.Dst, p.Src, e.QPN}, key{p.Src, p.Dst, req.QPN}, req, p)
	}
}

// connect begins the conversation of a connection. What there was between the
// two queue pairs belongs to an earlier one.
func (t *Tracker) connect(asked, asking key, req *Exchange, p *Packet) {
	for _, k := range [...]key{asked, asking} {
		if h := t.halves[k]; h != nil {
			t.close(h.conversation)
		}
	}
	a := t.begin(asked, req.Service, p)
	t.begin(asking, req.Service, p)
	b := t.halves[asking]
	if t.halves[asked] != a || b == nil {
		return // a limit of one conversation
	}
	t.unite(a, b, ByCM)
	c := a.conversation
	c.AckTimeout = req.AckTimeout
	c.agree(a.end, req, p.CM)
	for i := range c.Ends {
		c.Ends[i].Asks.mtu = req.PathMTU
	}
}
