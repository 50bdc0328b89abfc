package qp

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// work is a request that was posted, and what it leads to.
type work struct {
	wr       WorkRequest
	signaled bool
	release  int // of the ring of results
	// change is what it does to the peer's target.
	change *change
	// reads is the part of the peer's target that it reads, and result what has
	// to come.
	readAt, readLen int
	result          int // where
	want            []byte
	// fails are the statuses that it may have and others not; none for one that
	// is right.
	fails []Status
	done  func() // when it has succeeded
}

// change is new bytes at a place in a target.
type change struct {
	at   int
	data []byte
}

// opening is a window of an end into its own target, for the peer.
type opening struct {
	window   *mr.Window
	typ      mr.WindowType
	state    openingState
	at, size int
	va       uint64
	lastUse  int // the peer's request
}

type openingState uint8

const (
	closed openingState = iota
	opens
	open
	closes
)

// post posts one random request, if there is room for it.
func (e *end) post() {
	d, i := e.w.dice, len(e.posted)
	s := work{wr: WorkRequest{ID: uint64(i), SRQ: modelSRQ, RKey: e.peer.host.region.RKey()}}
	if d.chance(100) {
		s.wr.Flags |= Fence
	}
	if d.chance(300) {
		s.wr.Flags |= Solicited
	}
	s.signaled = d.chance(700)
	ok := false
	switch {
	case i == e.poison:
		ok = e.makePoison(&s)
	case e.q.Type() == UD:
		ok = e.makeDatagram(&s)
	case e.q.Type() == UC:
		ok = e.makeUnreliable(&s)
	default:
		ok = e.makeReliable(&s)
	}
	if !ok {
		return
	}
	if s.signaled {
		s.wr.Flags |= Signaled
	}
	s.signaled = s.signaled || e.q.cfg.SignalAll
	e.w.check(e.q.PostSend(e.w.net.now, s.wr))
	e.w.tell("%s posts %d %v flags %v remote %#x key %#x length %d", e.name, i, s.wr.Op, s.wr.Flags, s.wr.RemoteAddr, s.wr.RKey, length(&s.wr))
	e.posted = append(e.posted, s)
}

func length(wr *WorkRequest) (n int) {
	n = len(wr.Inline)
	for _, s := range wr.SGL {
		n += int(s.Length)
	}
	return n
}

// size is a message's length up to most: often at a border of packets, seldom
// long.
func (e *end) size(most int) int {
	d, mtu := e.w.dice, e.w.mtu
	n := 0
	switch d(10) {
	case 0:
		n = 0
	case 1, 2, 3:
		n = d(mtu + 1)
	case 4, 5:
		n = d(6) * mtu
	case 6, 7, 8:
		n = d(5*mtu + 1)
	case 9:
		n = d(most + 1)
	}
	return min(n, most)
}

// source gives a request n bytes to send, and returns them.
func (e *end) source(s *work, n int) []byte {
	d := e.w.dice
	at := d(modelSource - n)
	data := e.host.mem[at : at+n]
	if n > 0 && n <= modelInline && d.chance(500) {
		s.wr.Inline = bytes.Clone(data)
	} else {
		s.wr.SGL = e.host.sgl(d, at, n, e.q.cfg.MaxSGE)
		if e.renewed && d.chance(300) {
			for i := range s.wr.SGL {
				s.wr.SGL[i].LKey = e.fast.LKey()
			}
		}
	}
	return data
}

func (e *end) makeReliable(s *work) bool {
	d := e.w.dice
	switch d(16) {
	case 0, 1, 2:
		return e.makeSend(s, e.size(modelMessage))
	case 3, 4, 5, 6:
		return e.makeWrite(s)
	case 7, 8, 9:
		return e.makeRead(s)
	case 10, 11:
		return e.makeAtomic(s)
	case 12:
		s.wr.Op = AtomicWrite
		at := 8 * d(modelTarget/8)
		if !e.aim(s, &at, 8) {
			at = 8 * d(modelTarget/8)
			s.wr.RKey, s.wr.RemoteAddr = e.peer.host.region.RKey(), e.peer.address(at)
		}
		if s.wr.RemoteAddr%8 != 0 { // a zero-based window
			return false
		}
		e.alter(s, at, e.source(s, 8))
	case 13:
		s.wr.Op, s.wr.Length, s.wr.Placement, s.wr.WholeMR = Flush, uint32(d(1000)), wire.FlushGlobal, d.chance(300)
		s.wr.RemoteAddr = e.peer.address(d(modelTarget - 1000))
	default:
		return e.makeOpening(s)
	}
	return true
}

// address is where a place in the target is for the peer.
func (e *end) address(at int) uint64 { return e.host.va + uint64(e.target+at) }

func (e *end) makeSend(s *work, n int) bool {
	d := e.w.dice
	m := arrival{solicited: s.wr.Flags&Solicited != 0, size: n}
	s.wr.Op = pick(d, Send, SendImmediate)
	m.data = e.source(s, n)
	if s.wr.Op == SendImmediate {
		s.wr.Immediate = uint32(len(e.posted)) | 0x80000000
		m.immediate = &s.wr.Immediate
	} else if o := e.usable(); o != nil && o.typ == mr.Type2 && d.chance(500) && e.q.Type() == RC {
		// Duplicates of READs would no longer find the memory.
		s.wr.Op, s.wr.Invalidate, m.invalid = SendInvalidate, o.window.RKey(), o.window.RKey()
		s.wr.Flags |= Fence
		o.state = closes
		s.done = func() { o.state = closed }
	}
	if m.immediate != nil {
		v := *m.immediate
		m.immediate = &v
	}
	e.peer.inbox = append(e.peer.inbox, m)
	return true
}

func (e *end) makeWrite(s *work) bool {
	d := e.w.dice
	n := e.size(modelLongest)
	at := d(modelTarget - n + 1)
	s.wr.Op = Write
	e.aim(s, &at, n)
	data := e.source(s, n)
	if d.chance(200) {
		s.wr.Op, s.wr.Immediate = WriteImmediate, uint32(len(e.posted))|0x40000000
		v := s.wr.Immediate
		e.peer.inbox = append(e.peer.inbox, arrival{immediate: &v, size: n, solicited: s.wr.Flags&Solicited != 0})
	}
	e.alter(s, at, data)
	return true
}

func (e *end) makeRead(s *work) bool {
	n := e.size(modelLongest)
	at := e.w.dice(modelTarget - n + 1)
	s.wr.Op = Read
	e.aim(s, &at, n)
	if !e.resultOf(s, n) {
		return false
	}
	s.readAt, s.readLen, s.want = at, n, bytes.Clone(e.peer.shadow[at:at+n])
	return true
}

func (e *end) makeAtomic(s *work) bool {
	d := e.w.dice
	at := 8 * d(modelCounters)
	if !e.resultOf(s, 8) {
		return false
	}
	s.wr.RemoteAddr = e.peer.address(at)
	before := binary.NativeEndian.Uint64(e.peer.shadow[at:])
	s.want = binary.NativeEndian.AppendUint64(nil, before)
	after := before
	if d.chance(500) {
		s.wr.Op, s.wr.SwapAdd = FetchAdd, uint64(d(1<<30))-1<<29
		after += s.wr.SwapAdd
	} else {
		s.wr.Op, s.wr.SwapAdd, s.wr.Compare = CompareSwap, uint64(d(1<<30)), before
		if d.chance(300) {
			s.wr.Compare++
		} else {
			after = s.wr.SwapAdd
		}
	}
	e.alter(s, at, binary.NativeEndian.AppendUint64(nil, after))
	return true
}

// aim says where in the peer's target the request goes: to a place in the
// region, or through an open window, which moves the place.
func (e *end) aim(s *work, at *int, n int) (windowed bool) {
	s.wr.RemoteAddr = e.peer.address(*at)
	o := e.usable()
	if o == nil || n > o.size || e.w.dice.chance(300) {
		return false
	}
	within := e.w.dice(o.size - n + 1)
	*at = o.at + within
	s.wr.RKey, s.wr.RemoteAddr = o.window.RKey(), o.va+uint64(within)
	o.lastUse = len(e.posted)
	return true
}

// usable is an open window of the peer.
func (e *end) usable() *opening {
	for i := range e.peer.windows {
		if o := &e.peer.windows[i]; o.state == open {
			return o
		}
	}
	return nil
}

// alter notes what the request does to the target. READs of the same bytes that
// are not known to be complete might find it done, if they are asked for again:
// a fence keeps it behind them.
func (e *end) alter(s *work, at int, data []byte) {
	s.change = &change{at, data}
	copy(e.peer.shadow[at:], data)
	for i := e.known; i < len(e.posted); i++ {
		if r := &e.posted[i]; r.readLen > 0 && at < r.readAt+r.readLen && r.readAt < at+len(data) {
			s.wr.Flags |= Fence
		}
	}
}

// resultOf finds room for what comes.
func (e *end) resultOf(s *work, n int) (ok bool) {
	s.result, s.release, ok = e.results.take(n)
	if ok {
		s.wr.SGL = e.host.sgl(e.w.dice, s.result, n, e.q.cfg.MaxSGE)
	}
	return ok
}

// makeOpening opens a window for the peer, or closes one.
func (e *end) makeOpening(s *work) bool {
	d := e.w.dice
	if e.q.Type() != RC {
		return false
	}
	o := &e.windows[d(len(e.windows))]
	s.signaled = true
	switch {
	case e.renewed && d.chance(300): // what goes before it still needs the key
		s.wr.Op, s.wr.Invalidate = LocalInvalidate, e.fast.LKey()
		e.renewed, s.done = false, e.renew
	case o.state == closed:
		if o.window == nil {
			o.typ = pick(d, mr.Type1, mr.Type2)
			var err error
			o.window, err = e.host.table.AllocWindow(e.host.pd, o.typ)
			e.w.check(err)
		}
		o.size = d.between(1, modelTarget/2)
		o.at = d(modelTarget - o.size)
		o.va, o.lastUse = e.address(o.at), -1
		b := Bind{
			Window: o.window, Region: e.host.region, NewRKey: uint32(d(256)), Addr: o.va, Length: uint64(o.size),
			Access: mr.RemoteRead | mr.RemoteWrite,
		}
		if o.typ == mr.Type2 && d.chance(300) {
			b.Access, o.va = b.Access|mr.ZeroBased, 0
		}
		s.wr.Op, s.wr.Bind = BindWindow, b
		o.state = opens
		s.done = func() { o.state = open }
	case o.state == open && o.lastUse < e.peer.known:
		o.state = closes
		s.wr.Op, s.wr.Invalidate = LocalInvalidate, o.window.RKey()
		if o.typ == mr.Type1 {
			s.wr.Op, s.wr.Bind = BindWindow, Bind{Window: o.window}
		}
		s.done = func() { o.state = closed }
	default:
		return false
	}
	return true
}

// makePoison makes a request that has to fail, and says how.
func (e *end) makePoison(s *work) bool {
	d := e.w.dice
	s.wr.SGL = e.host.sgl(d, 0, 8, 1)
	s.wr.RemoteAddr = e.peer.address(0)
	end := e.peer.host.va + uint64(len(e.peer.host.mem))
	switch d(10) {
	case 0:
		s.wr.Op, s.wr.RKey, s.fails = Write, s.wr.RKey^0x100, []Status{RemoteAccessError}
	case 1:
		s.wr.Op, s.wr.RKey, s.fails = Read, s.wr.RKey+1, []Status{RemoteAccessError}
	case 2:
		s.wr.Op, s.wr.RemoteAddr, s.fails = Write, end-7, []Status{RemoteAccessError}
	case 3:
		s.wr.Op, s.wr.RemoteAddr, s.fails = Read, e.peer.host.va-1, []Status{RemoteAccessError}
	case 4:
		s.wr.Op, s.wr.RemoteAddr, s.fails = FetchAdd, s.wr.RemoteAddr+4, []Status{RemoteInvalidRequest}
	case 5:
		s.wr.Op, s.wr.RKey, s.wr.Placement, s.fails = Flush, 0, wire.FlushGlobal, []Status{RemoteAccessError}
		s.wr.SGL = nil
	case 6:
		s.wr.Op, s.fails = Send, []Status{LocalProtectionError}
		s.wr.SGL[0].LKey ^= 0x200
	case 7:
		s.wr.Op, s.fails = Read, []Status{LocalProtectionError}
		s.wr.SGL[0].Addr = e.host.va + uint64(len(e.host.mem)) - 4
	case 8: // class J: the peer says nothing and is dead
		s.wr.Op, s.wr.Invalidate, s.fails = SendInvalidate, e.peer.host.region.RKey(), []Status{RetryExceeded}
		if e.peer.policy.NakInvalidate {
			s.fails = []Status{RemoteAccessError}
		}
	case 9:
		s.wr.Op, s.fails = Send, []Status{RemoteInvalidRequest}
		if e.peer.policy.LongSendOperational {
			s.fails = []Status{RemoteOperationError}
		}
		s.wr.SGL = e.host.sgl(d, 0, modelBuffer+1, 1)
	}
	s.signaled = true
	return true
}

// Messages of unreliable services say which they are: number, then bytes that
// follow from it.
func numbered(number, n int) []byte {
	m := binary.BigEndian.AppendUint32(make([]byte, 0, n), uint32(number))
	for len(m) < n {
		m = append(m, byte(number*31+len(m)*7))
	}
	return m
}

// staged puts a numbered message of n bytes, at least four, where it stays until
// it was sent.
func (e *end) staged(s *work, n int) bool {
	at, release, ok := e.results.take(n)
	if !ok {
		return false
	}
	s.release = release
	copy(e.host.mem[at:], numbered(len(e.posted), n))
	s.wr.SGL = e.host.sgl(e.w.dice, at, n, e.q.cfg.MaxSGE)
	s.wr.Op = pick(e.w.dice, Send, SendImmediate)
	s.wr.Immediate = uint32(len(e.posted))
	return true
}

func (e *end) makeDatagram(s *work) bool {
	s.wr.To, s.wr.DestQP, s.wr.QKey = e.attr.Address, e.attr.DestQP, 5
	return e.staged(s, 4+e.w.dice(e.w.mtu-3))
}

// makeUnreliable makes a message, or a WRITE of bytes that follow from their
// address, since nobody knows which will come.
func (e *end) makeUnreliable(s *work) bool {
	if e.w.dice.chance(600) {
		return e.staged(s, max(4, e.size(modelMessage)))
	}
	n := e.size(modelLongest)
	from, release, ok := e.results.take(n)
	if !ok {
		return false
	}
	at := e.w.dice(modelTarget - n + 1)
	for i := range n {
		e.host.mem[from+i] = byAddress(at + i)
	}
	s.release = release
	s.wr.Op, s.wr.SGL, s.wr.RemoteAddr = Write, e.host.sgl(e.w.dice, from, n, e.q.cfg.MaxSGE), e.peer.address(at)
	if e.w.dice.chance(200) {
		s.wr.Op, s.wr.Immediate = WriteImmediate, uint32(len(e.posted))
	}
	return true
}

func byAddress(at int) byte { return byte(at*13 + at>>8 + 1) }

func (s *work) String() string { return fmt.Sprintf("request %d, %v", s.wr.ID, s.wr.Op) }
