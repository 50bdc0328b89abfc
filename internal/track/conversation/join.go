package conversation

import (
	"slices"

	"github.com/rocecap/rocecap/internal/wire"
)

// wait makes a half be compared with answers that belong to none yet.
func (t *Tracker) wait(h *half) {
	if h.waiting {
		return
	}
	h.waiting = true
	at := pair{h.key.src, h.key.dst}
	list := append(t.waiting[at], h)
	if len(list) > maxWaiting {
		list[0].waiting = false
		list = slices.Delete(list, 0, 1)
	}
	t.waiting[at] = list
}

func (t *Tracker) stopWaiting(h *half) {
	if !h.waiting {
		return
	}
	h.waiting = false
	at := pair{h.key.src, h.key.dst}
	list := t.waiting[at]
	if i := slices.Index(list, h); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(t.waiting, at)
		return
	}
	t.waiting[at] = list
}

// asker finds the one half that an answer of a stream can be to: it goes the
// other way, and has a request of that PSN outstanding. When there are several,
// it is none: a later answer may tell.
func (t *Tracker) asker(answers key, p *Packet) (found *half) {
	for _, other := range t.waiting[pair{answers.dst, answers.src}] {
		if other.key == answers || !other.sender().Asks.outstanding(p) {
			continue
		}
		if found != nil {
			return nil
		}
		found = other
	}
	return found
}

// join makes a stream that is known the other half of what its answer is to.
func (t *Tracker) join(h *half, p *Packet) bool {
	found := t.asker(h.key, p)
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
	found := t.asker(k, p)
	if found == nil {
		return nil
	}
	t.stopWaiting(found)
	c := found.conversation
	h := &half{conversation: c, end: 1 - found.end, key: k}
	c.halves[h.end], t.halves[k] = h, h
	c.Ends[found.end].QPN, c.Ends[found.end].Known = k.qpn, true
	c.Joined = ByAgreement
	return h
}

// leadIn is how many PSNs before the first request that was seen an answer may
// speak of: the capture began in between, or the first ones were lost.
const leadIn = 128

// outstanding reports whether an answer can be to one of the requests that are
// not answered yet.
func (d *Direction) outstanding(p *Packet) bool {
	from := d.acked
	if d.leading {
		from = from.Add(-leadIn)
	}
	return d.begun && p.PSN.InRange(from, max(0, d.furthest().Diff(from)))
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
	t.unlink(gone)
	t.open--
	t.seen--
	c.held += gone.held
	// What b's end has sent it sends as the other end of c.
	from, to := gone.Ends[b.end], &c.Ends[1-a.end]
	from.QPN, from.Known = to.QPN, true
	*to = from
	t.listen(c)
	own := &c.Ends[a.end]
	own.QPN, own.Known = b.key.qpn, true
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

// exchange learns from a CM REQ or REP which queue pairs belong together.
func (t *Tracker) exchange(p *Packet) {
	e := p.CM
	if !e.Reply {
		if len(t.pending) >= t.limits.Pending {
			clear(t.pending)
		}
		t.pending[commID{p.Src, e.ID}] = e
		return
	}
	req := t.pending[commID{p.Dst, e.RemoteID}]
	if req == nil {
		return
	}
	delete(t.pending, commID{p.Dst, e.RemoteID})
	t.connect(key{p.Dst, p.Src, e.QPN}, key{p.Src, p.Dst, req.QPN}, req, p)
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
