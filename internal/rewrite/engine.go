package rewrite

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Engine applies rules to frames. It is not for concurrent use.
type Engine struct {
	rules  *Rules
	shifts map[Endpoint]entry[int]
	peers  map[Endpoint]Endpoint
	fix    bool
	hits   []uint64
	live   *live // nil for an engine of rules alone

	hasher   icrc.Hasher
	src, dst netip.Addr // of the frame at hand, before it is changed
	to       Endpoint   // where it goes
	before   sums
	result   Result
}

// Result says what happened to a frame.
type Result struct {
	Changed bool // a byte may differ from before
	// Unsealed says that something that an ICRC covers was changed, but the
	// ICRC is not in the frame, or no rule is known for it.
	Unsealed bool
}

// New returns an engine. Facts of the capture may be nil when no rule moves
// PSNs. fix makes wrong checksums and CRCs right, in every frame.
func New(rules *Rules, facts *Facts, fix bool) *Engine {
	e := &Engine{rules: rules, fix: fix, hits: make([]uint64, len(rules.texts)), shifts: make(map[Endpoint]entry[int])}
	if facts == nil {
		return e
	}
	e.peers, _ = facts.Pairs()
	for _, to := range facts.order {
		if r, ok := lookup(rules.psn, to); ok {
			e.shifts[to] = entry[int]{r.to.shift(facts.streams[to].first), r.rule}
		}
	}
	return e
}

// Unused returns the rules that have concerned no frame so far.
func (e *Engine) Unused() []string {
	var texts []string
	for i, n := range e.hits {
		if n == 0 {
			texts = append(texts, e.rules.texts[i])
		}
	}
	return texts
}

// Apply changes a parsed frame in place. fcs is how many bytes of frame check
// sequence end it, -1 when that is not known. The frame's headers stay where
// they are: it needs no new parse, unless a port was changed from or to the one
// of RoCE.
func (e *Engine) Apply(f *wire.Frame, fcs int) Result {
	e.result = Result{}
	e.src, e.dst = f.Addresses()
	if e.fix {
		e.touch(f, fcs)
	}
	for i, h := range f.Headers() {
		if b := f.Whole(h); b != nil {
			e.header(change{f: f, fcs: fcs, at: i}, h.ID, b)
		}
	}
	if e.result.Changed {
		e.seal(f)
	}
	return e.result
}

// change is where something is about to be changed.
type change struct {
	f   *wire.Frame
	fcs int
	at  int // index of the header
}

// header applies the rules to one header.
func (e *Engine) header(c change, id wire.HeaderID, b []byte) {
	switch id {
	case wire.HdrEthernet:
		h := wire.Ethernet(b)
		set(e, c, e.rules.mac, h.Dst(), h.SetDst)
		set(e, c, e.rules.mac, h.Src(), h.SetSrc)
	case wire.HdrIPv4:
		h := wire.IPv4Header(b)
		set(e, c, e.rules.ip, h.Src(), func(a netip.Addr) { h.SetSrc(a.As4()) })
		set(e, c, e.rules.ip, h.Dst(), func(a netip.Addr) { h.SetDst(a.As4()) })
	case wire.HdrIPv6:
		h := wire.IPv6Header(b)
		set(e, c, e.rules.ip, h.Src().Unmap(), func(a netip.Addr) { h.SetSrc(a.As16()) })
		set(e, c, e.rules.ip, h.Dst().Unmap(), func(a netip.Addr) { h.SetDst(a.As16()) })
	case wire.HdrGRH:
		h := wire.GRH(b)
		set(e, c, e.rules.ip, h.SGID().Unmap(), h.SetSGID)
		set(e, c, e.rules.ip, h.DGID().Unmap(), h.SetDGID)
	case wire.HdrUDP:
		h := wire.UDP(b)
		set(e, c, e.rules.port, h.SrcPort(), h.SetSrcPort)
		set(e, c, e.rules.port, h.DstPort(), h.SetDstPort)
	case wire.HdrLRH:
		h := wire.LRH(b)
		set(e, c, e.rules.lid, h.SLID(), h.SetSLID)
		set(e, c, e.rules.lid, h.DLID(), h.SetDLID)
	case wire.HdrBTH:
		e.bth(c, wire.BTH(b))
	case wire.HdrDETH:
		h := wire.DETH(b)
		e.setQPN(c, e.src, h.SrcQP(), h.SetSrcQP)
		if e.live != nil {
			e.followQKey(c, h)
		}
	case wire.HdrRETH:
		h := wire.RETH(b)
		e.setVA(c, h.VA(), h.SetVA)
		set(e, c, e.rules.rkey, h.RKey(), h.SetRKey)
	case wire.HdrAtomicETH:
		h := wire.AtomicETH(b)
		e.setVA(c, h.VA(), h.SetVA)
		set(e, c, e.rules.rkey, h.RKey(), h.SetRKey)
	case wire.HdrIETH:
		h := wire.IETH(b)
		set(e, c, e.rules.rkey, h.RKey(), h.SetRKey)
	default:
		e.manager(c, id, b)
	}
}

// bth applies the rules for queue pairs and PSNs. A response counts in the
// stream to the queue pair that sends it.
func (e *Engine) bth(c change, h wire.BTH) {
	info := h.Opcode().Info()
	e.to = Endpoint{Addr: e.dst, QPN: h.DestQP()}
	stream := e.to
	if info.Response {
		stream = e.peers[stream]
	}
	if info.Service != wire.CNP {
		e.setPSN(c, stream, h.PSN(), h.SetPSN)
	}
	e.setQPN(c, e.dst, h.DestQP(), h.SetDestQP)
}

// manager applies the rules to the messages of the connection manager. The
// starting PSN that a side names is the one that the other side begins with
// (IBTA 12.7.31).
func (e *Engine) manager(c change, id wire.HeaderID, b []byte) {
	if e.live != nil {
		e.follow(c, id, b)
	}
	switch id {
	case wire.HdrCMReq:
		m := wire.CMReq(b)
		e.setPSN(c, Endpoint{e.src, m.LocalQPN()}, m.StartingPSN(), m.SetStartingPSN)
		e.setQPN(c, e.src, m.LocalQPN(), m.SetLocalQPN)
		e.path(c, m.PrimaryPath())
		e.path(c, m.AlternatePath())
	case wire.HdrCMRep:
		m := wire.CMRep(b)
		e.setPSN(c, Endpoint{e.src, m.LocalQPN()}, m.StartingPSN(), m.SetStartingPSN)
		e.setQPN(c, e.src, m.LocalQPN(), m.SetLocalQPN)
	case wire.HdrCMDreq:
		m := wire.CMDreq(b)
		e.setQPN(c, e.dst, m.RemoteQPN(), m.SetRemoteQPN)
	case wire.HdrCMSidrRep:
		m := wire.CMSidrRep(b)
		e.setQPN(c, e.src, m.QPN(), m.SetQPN)
	case wire.HdrCMLap:
		m := wire.CMLap(b)
		e.setQPN(c, e.dst, m.RemoteQPN(), m.SetRemoteQPN)
		set(e, c, e.rules.lid, m.LocalLID(), m.SetLocalLID)
		set(e, c, e.rules.lid, m.RemoteLID(), m.SetRemoteLID)
		set(e, c, e.rules.ip, m.LocalGID().Unmap(), m.SetLocalGID)
		set(e, c, e.rules.ip, m.RemoteGID().Unmap(), m.SetRemoteGID)
	case wire.HdrCMIPPrivate:
		m := wire.CMIPPrivate(b)
		set(e, c, e.rules.ip, m.Src(), m.SetSrc)
		set(e, c, e.rules.ip, m.Dst(), m.SetDst)
	}
}

// path applies the rules to a path of a connection request.
func (e *Engine) path(c change, p wire.CMPath) {
	set(e, c, e.rules.lid, p.LocalLID(), p.SetLocalLID)
	set(e, c, e.rules.lid, p.RemoteLID(), p.SetRemoteLID)
	set(e, c, e.rules.ip, p.LocalGID().Unmap(), p.SetLocalGID)
	set(e, c, e.rules.ip, p.RemoteGID().Unmap(), p.SetRemoteGID)
}

// set changes a value that there is a rule for.
func set[V comparable](e *Engine, c change, rules map[V]entry[V], old V, store func(V)) {
	if r, ok := rules[old]; ok {
		replace(e, c, r, old, store)
	}
}

func (e *Engine) setQPN(c change, host netip.Addr, old uint32, store func(uint32)) {
	if r, ok := lookup(e.rules.qp, Endpoint{host, old}); ok {
		replace(e, c, r, old, store)
	}
}

func (e *Engine) setPSN(c change, stream Endpoint, old wire.PSN, store func(wire.PSN)) {
	if r, ok := e.shifts[stream]; ok {
		replace(e, c, entry[wire.PSN]{old.Add(r.to), r.rule}, old, store)
	}
}

func (e *Engine) setVA(c change, old uint64, store func(uint64)) {
	i, ok := slices.BinarySearchFunc(e.rules.va, old, func(r entry[vaRule], va uint64) int { return cmp.Compare(r.to.from, va) })
	if !ok {
		i--
	}
	if i < 0 || old > e.rules.va[i].to.last {
		return
	}
	r := e.rules.va[i]
	replace(e, c, entry[uint64]{r.to.to + (old - r.to.from), r.rule}, old, store)
}

// lookup finds the rule for a queue pair, or for its number on every host.
func lookup[V any](rules map[Endpoint]entry[V], at Endpoint) (entry[V], bool) {
	r, ok := rules[at]
	if !ok {
		r, ok = rules[Endpoint{QPN: at.QPN}]
	}
	return r, ok
}

// replace stores what a rule says. Before the first change of a frame it is
// noted how right its checksums are.
func replace[V comparable](e *Engine, c change, r entry[V], old V, store func(V)) {
	e.hits[r.rule]++
	if r.to == old {
		return
	}
	e.touch(c.f, c.fcs)
	if int(c.f.Headers()[c.at].Off) >= c.f.Net && c.f.BTH >= 0 && !e.before.sealed {
		e.result.Unsealed = true
	}
	store(r.to)
}

// Peers returns who talks to whom once the rules are applied, both ways.
func (e *Engine) Peers() map[Endpoint]Endpoint {
	after := make(map[Endpoint]Endpoint, len(e.peers))
	for a, b := range e.peers {
		after[e.endpoint(a)] = e.endpoint(b)
	}
	return after
}

// endpoint is what the rules make of an endpoint.
func (e *Engine) endpoint(at Endpoint) Endpoint {
	to := at
	if r, ok := lookup(e.rules.qp, at); ok {
		to.QPN = r.to
	}
	if r, ok := e.rules.ip[at.Addr]; ok {
		to.Addr = r.to
	}
	return to
}
