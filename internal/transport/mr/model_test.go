package mr

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// dice picks a number below n: from a seeded source, or from a fuzzer's bytes.
type dice func(n int) int

// model is the table once more, as lists that are searched and arithmetic
// without a width.
type model struct {
	*testing.T
	table *Table
	pds   []PD
	dice  dice
	arena []byte // where all regions lie, side by side with guards
	used  int
	// starts are where memory was taken, each behind a guard.
	starts []int

	regions []*modelRegion
	windows []*modelWindow
	keys    []uint32 // all that were ever seen
}

type modelRegion struct {
	real        *Region
	from, size  int // in the arena
	va          uint64
	access      Access
	pd          PD
	fast, valid bool
}

type modelWindow struct {
	real   *Window
	pd     PD
	typ    WindowType
	under  *modelRegion // nil unless bound
	was    Kind         // what an access meets while not bound
	va, n  uint64
	access Access
	qpn    uint32
}

const (
	arenaSize = 1 << 14
	guardByte = 0xA5
	guardSize = 16
)

var startAddresses = []uint64{0, 1, 0x1000, 1 << 32, 1<<63 - 8, 1<<64 - 256, 1<<64 - 64, 1<<64 - 1}

func newModel(t *testing.T, seed uint64, d dice) *model {
	m := &model{T: t, table: NewTable(seed), dice: d, arena: bytes.Repeat([]byte{guardByte}, arenaSize)}
	for range 3 {
		m.pds = append(m.pds, m.table.AllocPD())
	}
	return m
}

func (m *model) expect(what string, err error, want Kind) {
	m.Helper()
	if got := kindOf(err); got != want {
		m.Fatalf("%s: %v, want %v", what, err, want)
	}
}

// The next three pick so that most calls get past the first checks.

func (m *model) pd() PD { return m.pds[max(0, m.dice(12)-9)] }

func (m *model) qpn() uint32 { return uint32(max(0, m.dice(6)-3)) }

func (m *model) rights() Access {
	if m.dice(2) == 0 {
		return everything
	}
	return Access(m.dice(1<<10)) & regionRights
}

func (m *model) memory(n int) ([]byte, int, bool) {
	from := m.used + guardSize
	if from+n+guardSize > len(m.arena) {
		return nil, 0, false
	}
	m.used = from + n
	m.starts = append(m.starts, from)
	return m.arena[from : from+n], from, true
}

// address is one near an end of the range, or anywhere.
func (m *model) address(va uint64, size int) uint64 {
	switch m.dice(4) {
	case 0:
		return va + uint64(size) - uint64(m.dice(4))
	case 1:
		return startAddresses[m.dice(len(startAddresses))] - uint64(m.dice(8))
	default:
		return va + uint64(m.dice(size+3)) - 1
	}
}

func (m *model) step() {
	switch m.dice(24) {
	case 0, 1:
		m.register()
	case 2, 3:
		m.fast()
	case 4:
		m.deregister()
	case 5, 6:
		m.allocWindow()
	case 7:
		m.freeWindow()
	case 8, 9, 10, 11, 12:
		m.bind()
	case 13, 14:
		m.invalidate()
	case 15:
		m.releaseQP()
	default:
		m.access()
	}
}

func badRights(a Access) bool { return a&(RemoteWrite|RemoteAtomic) != 0 && a&LocalWrite == 0 }

func wraps(va uint64, n int) bool {
	end := new(big.Int).Add(new(big.Int).SetUint64(va), big.NewInt(int64(n)))
	return end.BitLen() > 64
}

func (m *model) register() {
	mem, from, ok := m.memory(m.dice(80))
	if !ok {
		return
	}
	r := &modelRegion{
		from: from, size: len(mem), pd: m.pd(), access: m.rights(), valid: true,
		va: startAddresses[m.dice(len(startAddresses))],
	}
	if r.access&ZeroBased != 0 {
		r.va = 0
	}
	var want Kind
	switch {
	case wraps(r.va, r.size):
		want = BadRange
	case badRights(r.access):
		want = BadAccess
	}
	var err error
	r.real, err = m.table.Register(r.pd, mem, r.va, r.access)
	m.expect("register", err, want)
	if want == 0 {
		m.regions = append(m.regions, r)
		m.keys = append(m.keys, r.real.RKey())
	}
}

// fast allocates a region for fast registration or registers one.
func (m *model) fast() {
	i := slices.IndexFunc(m.regions, func(r *modelRegion) bool { return r.fast && !r.valid })
	if i < 0 || m.dice(3) == 0 {
		r := &modelRegion{pd: m.pd(), fast: true}
		var err error
		r.real, err = m.table.AllocFast(r.pd, 64)
		m.expect("alloc fast", err, 0)
		m.regions = append(m.regions, r)
		return
	}
	r := m.regions[i]
	mem, from, ok := m.memory(m.dice(64))
	if !ok {
		return
	}
	r.from, r.size, r.va, r.access, r.valid = from, len(mem), 0x1000, LocalWrite|m.rights()&^ZeroBased, true
	m.expect("fast register", m.table.FastRegister(r.pd, r.real, uint32(m.dice(256)), mem, r.va, r.access), 0)
	m.keys = append(m.keys, r.real.RKey())
}

func (m *model) covered(r *modelRegion) bool {
	return slices.ContainsFunc(m.windows, func(w *modelWindow) bool { return w.under == r })
}

func (m *model) deregister() {
	if len(m.regions) == 0 {
		return
	}
	i := m.dice(len(m.regions))
	var want Kind
	if m.covered(m.regions[i]) {
		want = Busy
	}
	m.expect("deregister", m.table.Deregister(m.regions[i].real), want)
	if want == 0 {
		m.regions = slices.Delete(m.regions, i, i+1)
	}
}

func (m *model) allocWindow() {
	w := &modelWindow{pd: m.pd(), typ: Type1 + WindowType(m.dice(2)), was: NotBound}
	var err error
	w.real, err = m.table.AllocWindow(w.pd, w.typ)
	m.expect("alloc window", err, 0)
	m.windows = append(m.windows, w)
	m.keys = append(m.keys, w.real.RKey())
}

func (m *model) freeWindow() {
	if len(m.windows) == 0 {
		return
	}
	i := m.dice(len(m.windows))
	m.expect("free window", m.table.FreeWindow(m.windows[i].real), 0)
	m.windows = slices.Delete(m.windows, i, i+1)
}

func (m *model) bind() {
	if len(m.windows) == 0 || len(m.regions) == 0 {
		return
	}
	w, r := m.windows[m.dice(len(m.windows))], m.regions[m.dice(len(m.regions))]
	pd, qpn := m.pd(), m.qpn()
	va, n, access := m.address(r.va, r.size), uint64(m.dice(r.size+2)), m.rights()&windowRights
	var want Kind
	switch {
	case w.pd != pd:
		want = WrongPD
	case w.typ == Type1 && access&ZeroBased != 0:
		want = BadAccess
	case w.typ == Type2 && w.under != nil:
		want = AlreadyValid
	case w.typ == Type2 && n == 0:
		want = BadRange
	case n == 0:
	case r.pd != pd:
		want = WrongPD
	case !r.valid:
		want = Invalidated
	case r.access&BindWindow == 0:
		want = NoRight
	case r.access&ZeroBased != 0, badRights(access | r.access&LocalWrite), access&flushRights&^r.access != 0:
		want = BadAccess
	case !inside(r.va, uint64(r.size), va, int64(n)):
		want = Bounds
	}
	m.expect("bind", m.table.Bind(pd, qpn, w.real, uint32(m.dice(256)), r.real, va, n, access), want)
	if want != 0 {
		return
	}
	m.keys = append(m.keys, w.real.RKey())
	if w.under != nil {
		w.under, w.was = nil, NotBound
	}
	if n > 0 {
		w.under, w.va, w.n, w.access, w.qpn = r, va, n, access, qpn
	}
}

func (m *model) releaseQP() {
	qpn := m.qpn()
	m.table.ReleaseQP(qpn)
	for _, w := range m.windows {
		if w.under != nil && w.typ == Type2 && w.qpn == qpn {
			w.under, w.was = nil, Invalidated
		}
	}
}

// find searches for the object of a key.
func (m *model) find(key uint32) (r *modelRegion, w *modelWindow, kind Kind) {
	kind = NoKey
	for _, r := range m.regions {
		if r.real.RKey() == key {
			return r, nil, 0
		}
		if r.real.RKey()>>8 == key>>8 {
			kind = StaleKey
		}
	}
	for _, w := range m.windows {
		if w.real.RKey() == key {
			return nil, w, 0
		}
		if w.real.RKey()>>8 == key>>8 {
			kind = StaleKey
		}
	}
	return nil, nil, kind
}

// key is mostly that of something alive; else one that was seen, one bit off, or
// any.
func (m *model) key() uint32 {
	roll, live := m.dice(20), m.dice(len(m.regions)+len(m.windows)+1)
	switch {
	case roll < 15 && live < len(m.regions):
		return m.regions[live].real.RKey()
	case roll < 15 && live < len(m.regions)+len(m.windows):
		return m.windows[live-len(m.regions)].real.RKey()
	case roll == 19 || len(m.keys) == 0:
		return uint32(m.dice(1 << 16))
	}
	key := m.keys[m.dice(len(m.keys))]
	if roll == 18 {
		key ^= 1 << m.dice(32)
	}
	return key
}

func (m *model) invalidate() {
	key, pd, qpn, remote := m.key(), m.pd(), m.qpn(), m.dice(2) == 0
	r, w, want := m.find(key)
	switch {
	case want != 0:
	case r != nil && r.pd != pd, w != nil && w.pd != pd:
		want = WrongPD
	case r != nil && !r.fast:
		want = CannotInvalidate
	case r != nil && remote && !r.valid:
		want = Invalidated
	case r != nil && m.covered(r):
		want = Busy
	case r != nil:
		r.valid = false
	case remote && w.under == nil:
		want = w.was
	case w.typ == Type1:
		want = CannotInvalidate
	case remote && w.qpn != qpn:
		want = WrongQP
	case w.under != nil:
		w.under, w.was = nil, Invalidated
	}
	if remote {
		m.expect("invalidate remote", m.table.InvalidateRemote(pd, qpn, key), want)
	} else {
		m.expect("invalidate local", m.table.InvalidateLocal(pd, key), want)
	}
}

// inside compares without a width.
func inside(start, size, va uint64, n int64) bool {
	lo, hi := new(big.Int).SetUint64(start), new(big.Int).SetUint64(size)
	hi.Add(hi, lo)
	from := new(big.Int).SetUint64(va)
	to := new(big.Int).Add(from, big.NewInt(n))
	return n >= 0 && from.Cmp(lo) >= 0 && to.Cmp(hi) <= 0
}

func (m *model) access() {
	key, pd, qpn := m.key(), m.pd(), m.qpn()
	need := []Access{RemoteWrite, RemoteRead, RemoteAtomic, FlushGlobal, FlushPersistent}[m.dice(5)]
	r, w, want := m.find(key)
	var start, size uint64
	var first int // of the range, in the arena
	var have Access
	switch {
	case want != 0:
	case r != nil:
		start, size, first, have = r.va, uint64(r.size), r.from, r.access
		if r.pd != pd {
			want = WrongPD
		} else if !r.valid {
			want = Invalidated
		}
	case w.pd != pd:
		want = WrongPD
	case w.under == nil:
		want = w.was
	case w.typ == Type2 && w.qpn != qpn:
		want = WrongQP
	default:
		start, size, have = w.va, w.n, w.access
		first = w.under.from + int(w.va-w.under.va)
		if w.access&ZeroBased != 0 {
			start = 0
		}
	}
	va, n := m.address(start, int(size)), m.dice(int(size)+3)-1
	if want == 0 && have&need == 0 {
		want = NoRight
	} else if want == 0 && !inside(start, size, va, int64(n)) {
		want = Bounds
	}
	b, err := m.table.Remote(pd, qpn, key, va, n, need)
	m.expect(fmt.Sprintf("%v of %d bytes at 0x%x through 0x%08x", need, n, va, key), err, want)
	if want == 0 && n > 0 {
		if len(b) != n || cap(b) != n || unsafe.SliceData(b) != &m.arena[first+int(va-start)] {
			m.Fatalf("%d bytes at 0x%x: not those", n, va)
		}
		clear(b)
		_ = append(b, 0)
	}
}

// guards checks that what lies beside all regions, past and present, is as it
// was.
func (m *model) guards() {
	for _, from := range append(m.starts, len(m.arena)) {
		for at := from - guardSize; at < from; at++ {
			if m.arena[at] != guardByte {
				m.Fatalf("byte %d, before a region at %d, has changed", at, from)
			}
		}
	}
}

func TestTableAgreesWithAModel(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := newModel(t, seed, rng.IntN)
		for range 400 {
			m.step()
		}
		m.guards()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzTableAgreesWithAModel(f *testing.F) {
	f.Add([]byte("\x00\x28\x00\x07\x03\xff\x03\x00\x01\x05\x00\x00\x00\x00\x00\x08\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newModel(t, uint64(len(data)), func(n int) int {
			v := 0
			for bound := n; bound > 1 && len(data) > 0; bound >>= 8 {
				v, data = v<<8|int(data[0]), data[1:]
			}
			return v % n
		})
		for len(data) > 0 {
			m.step()
		}
		m.guards()
	})
}
