package mr

import (
	"math"
	"testing"
)

func TestBindRules(t *testing.T) {
	const va, size = 0x1000, 256
	type bind struct {
		typ        WindowType
		region     Access
		va, n      uint64
		access     Access
		foreign    bool // the QP is in another domain
		noRegion   bool
		regionGone bool
	}
	for _, c := range []struct {
		name string
		bind bind
		want Kind
	}{
		{"type 1", bind{typ: Type1, region: everything, va: va, n: size, access: RemoteWrite | RemoteRead}, 0},
		{"type 2", bind{typ: Type2, region: everything, va: va + 8, n: 8, access: RemoteAtomic}, 0},
		{"C10-72: QP in another domain", bind{typ: Type2, region: everything, va: va, n: 8, foreign: true}, WrongPD},
		{"C10-73: region without MW_BIND", bind{typ: Type1, region: everything &^ BindWindow, va: va, n: 8}, NoRight},
		{"C10-74: write, region not writable", bind{typ: Type1, region: BindWindow, va: va, n: 8, access: RemoteWrite}, BadAccess},
		{"C10-74: atomic, region not writable", bind{typ: Type2, region: BindWindow, va: va, n: 8, access: RemoteAtomic}, BadAccess},
		{"read that the region itself does not grant", bind{typ: Type2, region: BindWindow, va: va, n: 8, access: RemoteRead}, 0},
		{"C10-75: before the region", bind{typ: Type1, region: everything, va: va - 1, n: 8}, Bounds},
		{"C10-75: behind the region", bind{typ: Type1, region: everything, va: va, n: size + 1}, Bounds},
		{"C10-75: length wraps", bind{typ: Type1, region: everything, va: va + 8, n: math.MaxUint64 - 4}, Bounds},
		{"C10-75: address wraps", bind{typ: Type2, region: everything, va: math.MaxUint64, n: va + 8}, Bounds},
		{"o10-36.2.2: zero-based type 1", bind{typ: Type1, region: everything, va: va, n: 8, access: ZeroBased}, BadAccess},
		{"zero-based type 2", bind{typ: Type2, region: everything, va: va, n: 8, access: ZeroBased}, 0},
		{"zero-based region", bind{typ: Type2, region: everything | ZeroBased, va: 0, n: 8}, BadAccess},
		{"o10-37.2.40: type 2 of nothing", bind{typ: Type2, region: everything, va: va}, BadRange},
		{"type 1 of nothing", bind{typ: Type1, region: everything, va: va}, 0},
		{"type 1 of nothing without a region", bind{typ: Type1, noRegion: true}, 0},
		{"bytes without a region", bind{typ: Type1, noRegion: true, n: 1}, BadRange},
		{"flush right that the region lacks", bind{typ: Type1, region: everything &^ FlushPersistent, va: va, n: 8, access: FlushPersistent}, BadAccess},
		{"a right that windows do not give", bind{typ: Type1, region: everything, va: va, n: 8, access: LocalWrite}, BadAccess},
		{"deregistered region", bind{typ: Type1, region: everything, va: va, n: 8, regionGone: true}, NoKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t)
			w, pd := d.window(c.bind.typ), d.pd
			var r *Region
			if !c.bind.noRegion {
				r = d.region(size, va, c.bind.region)
			}
			if c.bind.regionGone {
				d.want(0, d.Deregister(r))
			}
			if c.bind.foreign {
				pd = d.AllocPD()
			}
			before := w.RKey()
			err := d.Bind(pd, qpn, w, before+9, r, c.bind.va, c.bind.n, c.bind.access)
			d.want(c.want, err)
			if bound := c.want == 0 && c.bind.n > 0; w.Bound() != bound {
				t.Errorf("bound is %v, want %v", w.Bound(), bound)
			}
			if changed := w.RKey() != before; changed != (c.want == 0) {
				t.Errorf("key was 0x%x, is 0x%x", before, w.RKey())
			}
		})
	}
}

func TestBindNeedsRegionAndWindowOfOneDomainAndTable(t *testing.T) {
	d := newDevice(t)
	w, r := d.window(Type1), d.region(64, 0, everything)
	other := d.AllocPD()
	foreign, err := d.Register(other, make([]byte, 64), 0, everything)
	d.want(0, err)
	d.want(WrongPD, d.Bind(d.pd, qpn, w, 0, foreign, 0, 8, 0))
	d.want(WrongPD, d.Bind(other, qpn, w, 0, foreign, 0, 8, 0))
	d.want(NoKey, NewTable(9).Bind(d.pd, qpn, w, 0, r, 0, 8, 0))
	d.want(0, d.FreeWindow(w))
	d.want(NoKey, d.Bind(d.pd, qpn, w, 0, r, 0, 8, 0))
	d.want(NoKey, d.FreeWindow(w))
	_, err = d.AllocWindow(d.pd, 3)
	d.want(BadAccess, err)
}

func TestKeyChangesWithEachBinding(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0, everything)
	w1, w2 := d.window(Type1), d.window(Type2)
	before := w1.RKey()
	for range 300 {
		old := w1.RKey()
		d.want(0, d.Bind(d.pd, qpn, w1, 0, r, 0, 64, RemoteRead))
		if w1.RKey() != withLow(old, old+1) {
			t.Fatalf("type 1: key 0x%x after 0x%x", w1.RKey(), old)
		}
		d.want(StaleKey, d.read(old, 0, 1))
		d.want(0, d.read(w1.RKey(), 0, 1))
	}
	if w1.RKey()>>lowBits != before>>lowBits {
		t.Errorf("type 1: the index changed from 0x%x to 0x%x", before, w1.RKey())
	}

	d.want(0, d.Bind(d.pd, qpn, w2, 0xABCDEF42, r, 0, 64, RemoteRead))
	if w2.RKey()&lowMask != 0x42 {
		t.Errorf("type 2: key 0x%x, want the consumer's low byte 0x42", w2.RKey())
	}
	old := w2.RKey()
	d.want(AlreadyValid, d.Bind(d.pd, qpn, w2, 0x43, r, 0, 64, RemoteRead))
	d.want(0, d.InvalidateLocal(d.pd, old))
	d.want(0, d.Bind(d.pd, qpn, w2, 0x43, r, 0, 64, RemoteRead))
	d.want(StaleKey, d.read(old, 0, 1))
	d.want(0, d.read(w2.RKey(), 0, 1))
}

func TestAccessThroughWindows(t *testing.T) {
	d := newDevice(t)
	r := d.region(256, 0x1000, LocalWrite|BindWindow|RemoteWrite)
	type1 := d.bound(Type1, r, 0x1040, 64, RemoteRead)
	type2 := d.bound(Type2, r, 0x1040, 64, RemoteWrite)
	zero := d.bound(Type2, r, 0x1040, 64, RemoteRead|ZeroBased)
	for _, c := range []struct {
		name string
		pd   PD
		qpn  uint32
		w    *Window
		va   uint64
		n    int
		need Access
		want Kind
	}{
		{"type 1", d.pd, qpn, type1, 0x1040, 64, RemoteRead, 0},
		{"type 1 by any QP of the domain", d.pd, qpn + 1, type1, 0x1040, 64, RemoteRead, 0},
		{"C10-76.2.1: type 1 from another domain", d.AllocPD(), qpn, type1, 0x1040, 64, RemoteRead, WrongPD},
		{"C10-77: the region's right is not the window's", d.pd, qpn, type1, 0x1040, 1, RemoteWrite, NoRight},
		{"inside the region, before the window", d.pd, qpn, type1, 0x103F, 2, RemoteRead, Bounds},
		{"inside the region, behind the window", d.pd, qpn, type1, 0x1040, 65, RemoteRead, Bounds},
		{"type 2", d.pd, qpn, type2, 0x107F, 1, RemoteWrite, 0},
		{"o10-37.2.43: type 2 by another QP", d.pd, qpn + 1, type2, 0x107F, 1, RemoteWrite, WrongQP},
		{"zero-based", d.pd, qpn, zero, 0, 64, RemoteRead, 0},
		{"zero-based by address", d.pd, qpn, zero, 0x1040, 64, RemoteRead, Bounds},
	} {
		b, err := d.Remote(c.pd, c.qpn, c.w.RKey(), c.va, c.n, c.need)
		if got := kindOf(err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want == 0 && (len(b) != c.n || cap(b) != c.n || &b[0] != &r.mem[0x40+c.va-c.w.start]) {
			t.Errorf("%s: not the window's bytes", c.name)
		}
	}
}

func TestRegionUnderAWindowStays(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0, everything)
	a, b := d.bound(Type1, r, 0, 8, RemoteRead), d.bound(Type2, r, 8, 8, RemoteRead)
	d.want(Busy, d.Deregister(r))
	d.want(0, d.FreeWindow(a))
	d.want(Busy, d.Deregister(r))
	d.want(0, d.read(b.RKey(), 8, 8))
	d.want(0, d.InvalidateLocal(d.pd, b.RKey()))
	d.want(0, d.Deregister(r))
}

func TestTypeOneMovesFromRegionToRegion(t *testing.T) {
	d := newDevice(t)
	a, b := d.region(64, 0, everything), d.region(64, 0x100, everything)
	w := d.bound(Type1, a, 0, 8, RemoteRead)
	d.want(0, d.Bind(d.pd, qpn, w, 0, b, 0x100, 8, RemoteRead))
	d.want(0, d.Deregister(a))
	d.want(0, d.read(w.RKey(), 0x100, 8))
	d.want(0, d.Bind(d.pd, qpn, w, 0, nil, 0, 0, 0))
	d.want(NotBound, d.read(w.RKey(), 0x100, 8))
	d.want(0, d.Deregister(b))
}

func TestInvalidation(t *testing.T) {
	type keysOf struct {
		user, fast, free, type1, type2, never uint32
	}
	for _, c := range []struct {
		name          string
		pick          func(k keysOf) uint32
		local, remote Kind
	}{
		{"user's region: o10-37.2.13", func(k keysOf) uint32 { return k.user }, CannotInvalidate, CannotInvalidate},
		{"fast region", func(k keysOf) uint32 { return k.fast }, 0, 0},
		{"fast region that is not valid", func(k keysOf) uint32 { return k.free }, 0, Invalidated},
		{"type 1: o10-37.2.26", func(k keysOf) uint32 { return k.type1 }, CannotInvalidate, CannotInvalidate},
		{"type 2", func(k keysOf) uint32 { return k.type2 }, 0, 0},
		{"type 2 never bound", func(k keysOf) uint32 { return k.never }, 0, NotBound},
		{"no region", func(k keysOf) uint32 { return k.user ^ 1<<20 }, NoKey, NoKey},
		{"no window", func(k keysOf) uint32 { return k.type2 ^ 1<<20 }, NoKey, NoKey},
		{"old key of a region", func(k keysOf) uint32 { return k.fast ^ 1 }, StaleKey, StaleKey},
		{"old key of a window", func(k keysOf) uint32 { return k.type2 ^ 1 }, StaleKey, StaleKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, remote := range []bool{false, true} {
				d := newDevice(t)
				user := d.region(64, 0, everything)
				fast, err := d.AllocFast(d.pd, 64)
				d.want(0, err)
				d.want(0, d.FastRegister(d.pd, fast, 0, make([]byte, 64), 0, everything))
				free, err := d.AllocFast(d.pd, 64)
				d.want(0, err)
				key := c.pick(keysOf{
					user: user.RKey(), fast: fast.RKey(), free: free.RKey(),
					type1: d.bound(Type1, user, 0, 64, RemoteRead).RKey(),
					type2: d.bound(Type2, user, 0, 64, RemoteRead).RKey(),
					never: d.window(Type2).RKey(),
				})
				before := kindOf(d.read(key, 0, 1))
				invalidate, want := d.InvalidateLocal, c.local
				if remote {
					invalidate = func(pd PD, key uint32) error { return d.InvalidateRemote(pd, qpn, key) }
					want = c.remote
				}
				if c.local != NoKey && c.local != StaleKey {
					kind := kindOf(invalidate(d.AllocPD(), key))
					if kind != WrongPD {
						t.Errorf("from another domain: %v", kind)
					}
				}
				d.want(want, invalidate(d.pd, key))
				after := kindOf(d.read(key, 0, 1))
				if before == 0 && want == 0 && after != Invalidated || want != 0 && after != before {
					t.Errorf("remote %v: a read had %v, has %v", remote, before, after)
				}
			}
		})
	}
}

func TestAnotherQPCannotInvalidateAWindow(t *testing.T) {
	d := newDevice(t)
	w := d.bound(Type2, d.region(64, 0, everything), 0, 64, RemoteRead)
	d.want(WrongQP, d.InvalidateRemote(d.pd, qpn+1, w.RKey()))
	d.want(0, d.read(w.RKey(), 0, 1))
	d.want(0, d.InvalidateRemote(d.pd, qpn, w.RKey()))
	d.want(Invalidated, d.InvalidateRemote(d.pd, qpn, w.RKey()))
}

func TestFastRegistration(t *testing.T) {
	d := newDevice(t)
	r, err := d.AllocFast(d.pd, 64)
	d.want(0, err)
	mem := make([]byte, 65)
	d.want(Invalidated, d.read(r.RKey(), 0x1000, 1))
	d.want(BadRange, d.FastRegister(d.pd, r, 0, mem, 0x1000, everything))
	d.want(BadAccess, d.FastRegister(d.pd, r, 0, mem[:64], 0x1000, RemoteWrite))
	d.want(BadRange, d.FastRegister(d.pd, r, 0, mem[:64], math.MaxUint64, everything))
	d.want(WrongPD, d.FastRegister(d.AllocPD(), r, 0, mem[:64], 0x1000, everything))
	d.want(BadAccess, d.FastRegister(d.pd, d.region(64, 0, everything), 0, mem[:64], 0x1000, everything))

	d.want(0, d.FastRegister(d.pd, r, 0x77, mem[:64], 0x1000, everything))
	if r.RKey()&lowMask != 0x77 {
		t.Errorf("key 0x%x, want the consumer's low byte 0x77", r.RKey())
	}
	d.want(AlreadyValid, d.FastRegister(d.pd, r, 0x78, mem[:64], 0x1000, everything))
	d.want(0, d.read(r.RKey(), 0x1000, 64))
	w := d.bound(Type1, r, 0x1000, 64, RemoteRead)
	d.want(Busy, d.InvalidateLocal(d.pd, r.RKey()))
	d.want(0, d.FreeWindow(w))
	d.want(0, d.InvalidateRemote(d.pd, qpn, r.RKey()))
	d.want(Invalidated, d.Bind(d.pd, qpn, d.window(Type1), 0, r, 0x1000, 8, RemoteRead))
	d.want(0, d.Deregister(r))
	d.want(NoKey, d.FastRegister(d.pd, r, 0, mem[:64], 0x1000, everything))
	if _, err := d.AllocFast(99, 64); kindOf(err) != WrongPD {
		t.Errorf("a region in no domain: %v", err)
	}
}

func TestAQPsEndTakesItsTypeTwoWindows(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0, everything)
	type1, mine := d.bound(Type1, r, 0, 8, RemoteRead), d.bound(Type2, r, 0, 8, RemoteRead)
	other := d.window(Type2)
	d.want(0, d.Bind(d.pd, qpn+1, other, 1, r, 0, 8, RemoteRead))
	d.ReleaseQP(qpn)
	d.want(0, d.read(type1.RKey(), 0, 8))
	d.want(Invalidated, d.read(mine.RKey(), 0, 8))
	_, err := d.Remote(d.pd, qpn+1, other.RKey(), 0, 8, RemoteRead)
	d.want(0, err)
	d.ReleaseQP(qpn + 1)
	if len(d.Table.bound) != 0 {
		t.Errorf("%d QPs are remembered", len(d.Table.bound))
	}
	d.want(0, d.FreeWindow(type1))
	d.want(0, d.Deregister(r))
}
