package qp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"pgregory.net/rapid"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// dice picks a number below n: from a seeded source, or from rapid's, which can
// find a smaller game with the same fault.
type dice func(n int) int

func (d dice) chance(of int) bool { return d(1000) < of }

// between picks a number from low to high.
func (d dice) between(low, high int) int { return low + d(high-low+1) }

func pick[T any](d dice, from ...T) T { return from[d(len(from))] }

// The memory of a host: bytes that messages are of, and then for each of its
// queue pairs the target, which the peer writes, reads and counts in, the
// results of its own READs and atomics, and buffers for messages. Guards stand
// before, behind, and not in the registered region.
const (
	modelGuard    = 4 << 10
	modelSource   = 64 << 10
	modelTarget   = 128 << 10
	modelResults  = 192 << 10
	modelBuffer   = 16<<10 + wire.GRHLen
	modelBuffers  = 16
	modelEnd      = modelTarget + modelResults + modelBuffers*modelBuffer
	modelLongest  = 48 << 10 // WRITE and READ
	modelMessage  = 16 << 10 // SEND
	modelCounters = 64       // eight-byte numbers at the beginning of a target
	modelSRQ      = 7
	modelPosted   = 24
	modelInline   = 100

	guardValue = 0xA5
)

const modelRights = mr.RemoteRead | mr.RemoteWrite | mr.RemoteAtomic | mr.FlushGlobal

// host is one side: memory, and its ends of the connections.
type host struct {
	table  *mr.Table
	pd     mr.PD
	arena  []byte
	mem    []byte // the registered part
	va     uint64
	region *mr.Region
	srq    *SRQ
	pool   *buffers // of the SRQ
}

func newHost(w *world, seed uint64, ends int) *host {
	h := &host{table: mr.NewTable(seed), arena: make([]byte, 2*modelGuard+modelSource+ends*modelEnd)}
	copy(h.arena, bytes.Repeat([]byte{guardValue}, modelGuard))
	copy(h.arena[len(h.arena)-modelGuard:], bytes.Repeat([]byte{guardValue}, modelGuard))
	h.mem = h.arena[modelGuard : len(h.arena)-modelGuard]
	rand.NewChaCha8([32]byte{byte(seed)}).Read(h.mem[:modelSource])
	h.pd = h.table.AllocPD()
	h.va = pick(w.dice, 1<<20, 0, -uint64(len(h.mem))-8) // up to the end of all addresses
	var err error
	h.region, err = h.table.Register(h.pd, h.mem, h.va, mr.LocalWrite|mr.BindWindow|modelRights)
	w.check(err)
	return h
}

// sgl is n bytes of the host's memory in up to most pieces.
func (h *host) sgl(d dice, at, n, most int) (list []SGE) {
	for most > 1 && d.chance(300) {
		cut := d(n + 1)
		list = append(list, h.piece(at, cut))
		at, n, most = at+cut, n-cut, most-1
	}
	return append(list, h.piece(at, n))
}

func (h *host) piece(at, n int) SGE {
	return SGE{Addr: h.va + uint64(at), Length: uint32(n), LKey: h.region.LKey()}
}

// guarded reports whether the memory around the region is as it was.
func (h *host) guarded() bool {
	for _, b := range [][]byte{h.arena[:modelGuard], h.arena[len(h.arena)-modelGuard:]} {
		for _, v := range b {
			if v != guardValue {
				return false
			}
		}
	}
	return true
}

// buffers are those of one receive queue.
type buffers struct {
	free   []int // where they are
	posted map[uint64]int
	count  uint64
}

// receiveID marks the IDs of receive requests.
const receiveID = 1 << 63

func newBuffers(at int) *buffers {
	b := &buffers{posted: map[uint64]int{}}
	for i := range modelBuffers {
		b.free = append(b.free, at+i*modelBuffer)
	}
	return b
}

func (b *buffers) take() (id uint64, at int) {
	at, b.free = b.free[0], b.free[1:]
	id = receiveID | b.count
	b.count++
	b.posted[id] = at
	return id, at
}

// back gives up a buffer whose request has ended.
func (b *buffers) back(id uint64) (at int, ok bool) {
	if at, ok = b.posted[id]; ok {
		delete(b.posted, id)
		b.free = append(b.free, at)
	}
	return at, ok
}

// end is a queue pair, what it is to do, and what was done to it.
type end struct {
	life
	w      *world
	name   string
	host   *host
	peer   *end
	q      *QP
	attr   Attributes
	policy Policy

	target  int // where it is in the host's memory
	pool    *buffers
	results ring
}

// life is what is known of an end from its connection to its reset.
type life struct {
	base   []byte // the target in the beginning
	shadow []byte // and after all that the peer has posted

	goal    int
	posted  []work
	known   int // posted[:known] are known to have ended
	good    int // posted[:good] to have succeeded
	failed  bool
	gaveUp  bool // its consumer has, because the peer never answers again
	poison  int  // the request that is to fail, -1 for none
	sent    int  // messages to the peer that are known to be there
	windows [2]opening
	fast    *mr.Region // to the source, while it is not invalidated
	renewed bool       // fast is valid

	inbox      []arrival
	arrived    int
	receives   uint64 // receive requests that have ended
	recvFailed bool
	events     [EventCE + 1]int
}

// arrival is one that is to arrive.
type arrival struct {
	data      []byte // nil: placed by a WRITE
	size      int
	immediate *uint32
	invalid   uint32
	solicited bool
}

// ring gives out pieces of memory that come back in the same order.
type ring struct{ at, size, head, tail int }

// take returns where n bytes are, or false if there is no room.
func (r *ring) take(n int) (at, release int, ok bool) {
	from := r.head
	if from%r.size+n > r.size {
		from += r.size - from%r.size
	}
	if from+n-r.tail > r.size {
		return 0, 0, false
	}
	r.head = from + n
	return r.at + from%r.size, r.head, true
}

// world is two hosts, the connections between them, and the net.
type world struct {
	rapid.TB
	dice  dice
	net   simNet
	hosts [2]*host
	ends  []*end
	mtu   int
	game
	paced   int // packets that an end sends at a time, 0 for all it can
	buf     []byte
	telling bool // keep the history, for a game that is to be looked at
	history []string
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%v\n%s", err, w.story())
	}
}

// game is what kind of net it is.
type game struct {
	// careless lets changed packets come through: then nothing is promised but
	// that no harm is done.
	careless bool
	// clean is a cable, and nothing is asked for that cannot be.
	clean bool
}

// newWorld makes everything as the dice say.
func newWorld(t rapid.TB, d dice, g game) *world {
	w := &world{TB: t, dice: d, game: g, telling: os.Getenv("ROCECAP_STORY") != "", mtu: pick(d, 256, 1024, 512, 2048, 4096)}
	w.net = simNet{rng: rand.New(rand.NewPCG(uint64(d(1<<30)), 2)), now: time.Unix(0, 0), impairments: randomImpairments(d)}
	switch {
	case w.careless:
		w.net.unnoticed = d.between(1, 100)
	case w.clean:
		w.net.impairments = impairments{}
	}
	if d.chance(300) {
		w.paced = d.between(1, 4)
	}
	w.buf = make([]byte, w.mtu+128)
	pairs := d.between(1, 3)
	shared := d.chance(300)
	for i := range w.hosts {
		w.hosts[i] = newHost(w, uint64(i+1), pairs+1)
		w.hosts[i].pool = newBuffers(modelSource + pairs*modelEnd)
		w.hosts[i].srq = NewSRQ(modelSRQ, w.hosts[i].pd, modelBuffers, 2)
	}
	for i := range pairs {
		w.connect(i, pick(d, RC, RC, RC, RC, RC, RC, XRCSend, UC, UD), shared)
	}
	return w
}

// randomImpairments lose up to a fifth of the packets.
func randomImpairments(d dice) (n impairments) {
	n.late = time.Duration(pick(d, 10, 100, 1000)) * time.Microsecond
	if d.chance(100) {
		return n
	}
	loss := d(201)
	n.corrupt = d(loss + 1)
	n.drop = loss - n.corrupt
	n.duplicate, n.reorder = d(201), d(201)
	return n
}

// connect makes one pair of ends.
func (w *world) connect(number int, typ Type, shared bool) {
	a, b := w.newEnd(0, number, typ, shared), w.newEnd(1, number, typ, shared)
	a.peer, b.peer = b, a
	w.ends = append(w.ends, a, b)
	w.begin(a, b)
}

func (w *world) newEnd(i, number int, typ Type, shared bool) *end {
	d, h := w.dice, w.hosts[i]
	at := modelSource + number*modelEnd
	e := &end{w: w, name: fmt.Sprintf("%c%d", 'A'+i, number), host: h, target: at, policy: randomPolicy(d)}
	c := Config{
		Number: uint32(10*(number+1) + i), Type: typ, PD: h.pd, Memory: h.table, MaxSend: modelPosted, MaxRecv: modelBuffers,
		MaxSGE: d.between(1, 4), Inline: modelInline, SignalAll: d.chance(300), Policy: e.policy, Trace: e.watch,
		FindSRQ: func(uint32) *SRQ { return h.srq },
	}
	switch {
	case typ == XRCSend && i == 1:
		c.Type, c.MaxSend, e.pool = XRCRecv, 0, h.pool
	case typ == RC && shared:
		c.SRQ, e.pool = h.srq, h.pool
	}
	if w.careless && d.chance(200) {
		c.Policy.Replay = ReplayAltered
	}
	var err error
	e.q, err = New(c)
	w.check(err)
	return e
}

// begin connects two ends in RESET.
func (w *world) begin(a, b *end) {
	d := w.dice
	depth := [2]int{d.between(1, 16), d.between(1, 16)} // each side's READs and atomics
	psn := [2]wire.PSN{nearWrap(d), nearWrap(d)}
	goal := d.between(1, 40)
	for i, e := range []*end{a, b} {
		e.attr = Attributes{
			Access: modelRights, QKey: 5, DestQP: e.peer.q.Number(), PathMTU: w.mtu, Address: &Address{},
			SQPSN: psn[i], RQPSN: psn[1-i], MaxRdAtomic: depth[i], MaxDestRdAtomic: depth[1-i] + pick(d, 0, 0, 3),
			MinRNRTimer: uint8(d.between(1, 20)), Timeout: uint8(pick(d, 8, 6, 10, 14)), RetryCount: uint8(pick(d, 7, 7, 7, 3, 1)),
			RNRRetry: uint8(pick(d, 7, 7, 3)),
		}
		switch {
		case w.clean:
			e.attr.RNRRetry = forever
		case w.careless:
			e.attr.Access &^= pick(d, 0, 0, mr.RemoteRead, mr.RemoteWrite, mr.RemoteAtomic, mr.FlushGlobal)
			e.attr.MaxDestRdAtomic = d(5)
		}
		e.revive(goal)
		for _, s := range []State{Init, RTR, RTS} {
			w.check(e.q.Modify(w.net.now, s, e.attr))
		}
		if e.goal > 0 && e.reliable() && !w.clean && d.chance(150) {
			e.poison = d(e.goal)
		}
	}
}

// revive forgets what was before.
func (e *end) revive(goal int) {
	h, results := e.host, e.target+modelTarget
	for i := range e.windows {
		if o := &e.windows[i]; o.window != nil {
			e.w.check(h.table.FreeWindow(o.window))
		}
	}
	if e.fast != nil {
		e.w.check(h.table.Deregister(e.fast))
	}
	e.life = life{goal: goal, poison: -1, base: bytes.Clone(h.mem[e.target:results])}
	if e.q.Type() == XRCRecv {
		e.goal = 0
	}
	e.shadow = bytes.Clone(e.base)
	e.results = ring{at: results, size: modelResults}
	if e.pool != h.pool {
		e.pool = newBuffers(results + modelResults)
	}
	var err error
	e.fast, err = h.table.AllocFast(h.pd, modelSource)
	e.w.check(err)
	e.renew()
}

// renew gives the key that was invalidated its memory again.
func (e *end) renew() {
	h := e.host
	e.w.check(h.table.FastRegister(h.pd, e.fast, uint32(e.w.dice(256)), h.mem[:modelSource], h.va, 0))
	e.renewed = true
}

func nearWrap(d dice) wire.PSN { return wire.PSN(0).Add(-d(300)) }

func randomPolicy(d dice) Policy {
	some := func() bool { return d.chance(200) }
	p := Policy{
		SilentDuplicates: some(), StrictReplay: some(), RecycleDepth: some(), Credits: some(), ClearMigReq: some(),
		DefaultPKey: some(), RepeatNak: some(), IgnoreUnknown: some(), NakInvalidate: some(), ExtraAck: some(),
		EchoCongestion: some(), LongSendOperational: some(), HonourCredits: some(), InfiniteRetry7: !some(), AcceptGhostAck: some(), FatalReserved: some(),
		AckEvery: pick(d, 0, 0, 1, 3, 1000), MaxUnacked: pick(d, 0, 0, 0, 1, 2, 16, 1000),
	}
	if some() {
		p.ReadGap = ReadGapWait
	}
	if d.chance(20) {
		p.Replay = ReplayRefuse
	}
	return p
}

func (e *end) reliable() bool { return e.q.Type().Reliable() }

// watch counts events and remembers the last ones for the story.
func (e *end) watch(v Event) {
	e.events[v.Kind]++
	e.w.tell("%s event %d PSN %v state %v syndrome %#x %s", e.name, v.Kind, v.PSN, v.State, v.Syndrome, v.Cause)
}

// tell adds a line to the story of a failed game.
func (w *world) tell(format string, args ...any) {
	if !w.telling {
		return
	}
	w.history = append(w.history, fmt.Sprintf("%v ", w.net.now.Sub(time.Unix(0, 0)))+fmt.Sprintf(format, args...))
}
