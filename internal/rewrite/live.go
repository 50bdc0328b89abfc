package rewrite

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// live is what a live peer calls otherwise than the recorded one: keys are the
// recorded names, with the peer's address.
type live struct {
	ids          map[named[uint32]]uint32 // communication IDs, and request IDs
	transactions map[named[uint64]]uint64 // of those that the peer has begun
	qkeys        map[Endpoint]uint32
}

type named[V comparable] struct {
	host netip.Addr
	was  V
}

// Follow returns an engine that has no rules, but changes what a live peer calls
// otherwise than the recorded one, once Learn has told it. Peers says who talks
// to whom.
func Follow(peers map[Endpoint]Endpoint) *Engine {
	rules := &Rules{texts: []string{"live"}, qp: make(map[Endpoint]entry[uint32])}
	e := New(rules, nil, false)
	e.peers = peers
	e.live = &live{make(map[named[uint32]]uint32), make(map[named[uint64]]uint64), make(map[Endpoint]uint32)}
	return e
}

// Learn takes a message of the connection manager that a live peer has sent, and
// the one that the recorded peer sent in its place. It returns how far the PSNs
// of requests to which queue pair, by its recorded number, now move.
func (e *Engine) Learn(was, is *wire.Frame) (stream Endpoint, by int) {
	then, old := cmHeader(was)
	now, next := cmHeader(is)
	if then != now || then == wire.HdrNone {
		return stream, 0
	}
	host, _ := was.Addresses()
	oldIDs, _ := CMOf(was)
	nextIDs, _ := CMOf(is)
	if then != wire.HdrCMSidrRep { // its ID is ours
		e.live.ids[named[uint32]{host, oldIDs.Local}] = nextIDs.Local
	}
	if begins(then) {
		e.live.transactions[named[uint64]{host, transactionOf(was)}] = transactionOf(is)
	}
	switch then {
	case wire.HdrCMReq:
		o, n := wire.CMReq(old), wire.CMReq(next)
		return e.learnQP(Endpoint{host, o.LocalQPN()}, n.LocalQPN(), o.StartingPSN(), n.StartingPSN())
	case wire.HdrCMRep:
		o, n := wire.CMRep(old), wire.CMRep(next)
		return e.learnQP(Endpoint{host, o.LocalQPN()}, n.LocalQPN(), o.StartingPSN(), n.StartingPSN())
	case wire.HdrCMSidrRep:
		o, n := wire.CMSidrRep(old), wire.CMSidrRep(next)
		at := Endpoint{host, o.QPN()}
		e.live.qkeys[at] = n.QKey()
		return e.learnQP(at, n.QPN(), 0, 0)
	}
	return stream, 0
}

// learnQP takes a queue pair's number, and the PSN that the requests to it begin
// with: the side that receives them names it (wire.CMRep.StartingPSN).
func (e *Engine) learnQP(was Endpoint, is uint32, old, next wire.PSN) (Endpoint, int) {
	by := next.Diff(old)
	e.rules.qp[was] = entry[uint32]{to: is}
	e.shifts[was] = entry[int]{to: by}
	return was, by
}

func transactionOf(f *wire.Frame) uint64 {
	if mad := f.View(wire.HdrMAD); len(mad) >= wire.MADHeaderLen {
		return wire.MAD(mad).TransactionID()
	}
	return 0
}

// follow changes a message of the connection manager to the live peer.
func (e *Engine) follow(c change, id wire.HeaderID, b []byte) {
	if m := connectedOf(id, b); m != nil {
		e.setLive(c, m.RemoteCommID(), m.SetRemoteCommID)
	} else if id == wire.HdrCMSidrRep {
		m := wire.CMSidrRep(b)
		e.setLive(c, m.RequestID(), m.SetRequestID)
	} else {
		return
	}
	mad := wire.MAD(c.f.View(wire.HdrMAD))
	if len(mad) < wire.MADHeaderLen || begins(id) || id == wire.HdrCMRtu { // the transaction is ours
		return
	}
	if is, ok := e.live.transactions[named[uint64]{e.dst, mad.TransactionID()}]; ok {
		replace(e, c, entry[uint64]{to: is}, mad.TransactionID(), mad.SetTransactionID)
	}
}

func (e *Engine) setLive(c change, was uint32, store func(uint32)) {
	if is, ok := e.live.ids[named[uint32]{e.dst, was}]; ok {
		replace(e, c, entry[uint32]{to: is}, was, store)
	}
}

// followQKey changes the key of a datagram to what the live peer asks for.
func (e *Engine) followQKey(c change, h wire.DETH) {
	if is, ok := e.live.qkeys[e.to]; ok {
		replace(e, c, entry[uint32]{to: is}, h.QKey(), h.SetQKey)
	}
}
