package mr

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"unsafe"
)

const (
	everything = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic | BindWindow | FlushGlobal | FlushPersistent
	qpn        = 17
)

// device is a table with a domain of its own.
type device struct {
	*testing.T
	*Table
	pd PD
}

func newDevice(t *testing.T) *device {
	table := NewTable(7)
	return &device{t, table, table.AllocPD()}
}

func (d *device) region(n int, va uint64, access Access) *Region {
	d.Helper()
	r, err := d.Register(d.pd, make([]byte, n), va, access)
	if err != nil {
		d.Fatal(err)
	}
	return r
}

func (d *device) window(typ WindowType) *Window {
	d.Helper()
	w, err := d.AllocWindow(d.pd, typ)
	if err != nil {
		d.Fatal(err)
	}
	return w
}

func (d *device) bound(typ WindowType, r *Region, va, n uint64, access Access) *Window {
	d.Helper()
	w := d.window(typ)
	d.want(0, d.Bind(d.pd, qpn, w, w.RKey()+5, r, va, n, access))
	return w
}

// read is a remote access whose bytes do not matter.
func (d *device) read(key uint32, va uint64, n int) error {
	_, err := d.Remote(d.pd, qpn, key, va, n, RemoteRead)
	return err
}

func (d *device) want(kind Kind, err error) {
	d.Helper()
	if got := kindOf(err); got != kind {
		d.Errorf("got %v (%v), want %v", got, err, kind)
	}
}

// kindOf is 0 for no error.
func kindOf(err error) Kind {
	if err == nil {
		return 0
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Kind
	}
	return math.MaxUint8
}

func TestADomainInUseStays(t *testing.T) {
	d := newDevice(t)
	r, w := d.region(8, 0, 0), d.window(Type1)
	d.want(0, d.HoldPD(d.pd))
	d.want(Busy, d.DeallocPD(d.pd))
	d.want(0, d.Deregister(r))
	d.want(Busy, d.DeallocPD(d.pd))
	d.want(0, d.FreeWindow(w))
	d.want(Busy, d.DeallocPD(d.pd))
	d.ReleasePD(d.pd)
	d.want(0, d.DeallocPD(d.pd))
	d.want(WrongPD, d.DeallocPD(d.pd))
	d.want(WrongPD, d.HoldPD(d.pd))
	if _, err := d.Register(d.pd, nil, 0, 0); kindOf(err) != WrongPD {
		t.Errorf("a region in a domain that has ended: %v", err)
	}
	if _, err := d.AllocWindow(d.pd, Type1); kindOf(err) != WrongPD {
		t.Errorf("a window in a domain that has ended: %v", err)
	}
	if pd := d.AllocPD(); pd == d.pd || pd == 0 {
		t.Errorf("domain %d after %d", pd, d.pd)
	}
}

func TestRegistrationRefusesWhatVerbsRefuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		va     uint64
		access Access
		want   Kind
	}{
		{"nothing asked", 0x1000, 0, 0},
		{"all rights", 0x1000, everything, 0},
		{"last place without a wrap", math.MaxUint64 - 16, LocalWrite, 0},
		{"va + len wraps", math.MaxUint64 - 15, LocalWrite, BadRange},
		{"zero-based at an address that would wrap", math.MaxUint64, ZeroBased, 0},
		{"remote write without local write", 0, RemoteWrite, BadAccess},
		{"remote atomic without local write", 0, RemoteAtomic, BadAccess},
		{"remote read alone", 0, RemoteRead, 0},
		{"unknown right", 0, 1 << 7, BadAccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t)
			_, err := d.Register(d.pd, make([]byte, 16), c.va, c.access)
			d.want(c.want, err)
		})
	}
}

func TestRemoteAccessIsCheckedExactly(t *testing.T) {
	const top = math.MaxUint64 - 2048 // the region's first byte in the "end" rows
	for _, c := range []struct {
		name   string
		start  uint64
		access Access
		va     uint64
		n      int
		need   Access
		want   Kind
	}{
		{"whole region", 0x1000, everything, 0x1000, 2048, RemoteWrite, 0},
		{"last byte", 0x1000, everything, 0x17FF, 1, RemoteRead, 0},
		{"one before", 0x1000, everything, 0xFFF, 16, RemoteRead, Bounds},
		{"one behind", 0x1000, everything, 0x1000, 2049, RemoteRead, Bounds},
		{"behind the end", 0x1000, everything, 0x1801, 1, RemoteRead, Bounds},
		{"wraps", 0x1000, everything, math.MaxUint64 - 1023, 2048, RemoteRead, Bounds},
		{"offset wraps to inside", 0x1000, everything, 0, 0x1001, RemoteRead, Bounds},
		{"region at the end of the address space", top, everything, top, 2048, RemoteRead, 0},
		{"wraps from a region there", top, everything, math.MaxUint64 - 1023, 2048, RemoteRead, Bounds},
		{"to the very end", top, everything, math.MaxUint64, 1, RemoteRead, Bounds},
		{"longest length", top, everything, top, math.MaxInt, RemoteRead, Bounds},
		{"negative length", 0x1000, everything, 0x1000, -1, RemoteRead, Bounds},
		{"negative length that wraps to inside", 0x1000, everything, 0x1010, -16, RemoteRead, Bounds},
		{"zero-based", 0x1000, everything | ZeroBased, 0, 2048, RemoteRead, 0},
		{"zero-based by address", 0x1000, everything | ZeroBased, 0x1000, 1, RemoteRead, Bounds},
		{"no remote write", 0, LocalWrite | RemoteRead, 0, 1, RemoteWrite, NoRight},
		{"no remote read", 0, LocalWrite | RemoteWrite, 0, 1, RemoteRead, NoRight},
		{"no atomic", 0, LocalWrite | RemoteWrite | RemoteRead, 0, 8, RemoteAtomic, NoRight},
		{"one flush right of two", 0, FlushGlobal, 0, 8, FlushGlobal | FlushPersistent, NoRight},
		{"no rights before bounds", 0, 0, 5000, 1, RemoteRead, NoRight},
		{"flush of nothing", 0x1000, everything, 0x1000, 0, FlushGlobal, 0},
		{"flush of nothing at the end", 0x1000, everything, 0x1800, 0, FlushGlobal, 0},
		{"flush of nothing outside", 0x1000, everything, 0x1801, 0, FlushGlobal, Bounds},
		{"flush of nothing without the right", 0x1000, RemoteRead, 0x1000, 0, FlushGlobal, NoRight},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t)
			r := d.region(2048, c.start, c.access)
			b, err := d.Remote(d.pd, qpn, r.RKey(), c.va, c.n, c.need)
			d.want(c.want, err)
			if c.want == 0 && (len(b) != c.n || cap(b) != c.n) {
				t.Errorf("len %d cap %d, want %d", len(b), cap(b), c.n)
			}
			if c.want == 0 && c.n > 0 && unsafe.SliceData(b) != &r.mem[c.va-r.VA()] {
				t.Error("not the bytes at the address")
			}
		})
	}
}

func TestKeysThatOpenNothing(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0x1000, everything)
	for _, key := range []uint32{0, math.MaxUint32, r.RKey() ^ 1<<20, r.RKey() ^ windowBit} {
		d.want(NoKey, d.read(key, 0x1000, 1))
	}
	d.want(StaleKey, d.read(r.RKey()^1, 0x1000, 1))
	_, err := d.Remote(d.AllocPD(), qpn, r.RKey(), 0x1000, 1, RemoteRead)
	d.want(WrongPD, err)

	other := NewTable(8)
	d.want(NoKey, other.Deregister(r))
	d.want(0, d.Deregister(r))
	d.want(NoKey, d.read(r.RKey(), 0x1000, 1))
	d.want(NoKey, d.Deregister(r))
	next := d.region(64, 0x1000, everything)
	if next.RKey()>>8 != r.RKey()>>8 {
		t.Fatalf("0x%x does not follow 0x%x: the case below shows nothing", next.RKey(), r.RKey())
	}
	d.want(NoKey, d.Deregister(r))
	d.want(StaleKey, d.read(r.RKey(), 0x1000, 1))
}

func TestLocalAccess(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0x1000, RemoteRead|BindWindow)
	w := d.bound(Type1, r, 0x1000, 64, RemoteRead)
	for _, c := range []struct {
		name string
		pd   PD
		key  uint32
		va   uint64
		n    int
		need Access
		want Kind
	}{
		{"read needs no right", d.pd, r.LKey(), 0x1000, 64, 0, 0},
		{"write needs one", d.pd, r.LKey(), 0x1000, 64, LocalWrite, NoRight},
		{"too long", d.pd, r.LKey(), 0x1000, 65, 0, Bounds},
		{"nothing", d.pd, r.LKey(), 0x1040, 0, 0, 0},
		{"other domain", d.AllocPD(), r.LKey(), 0x1000, 64, 0, WrongPD},
		{"a window's key", d.pd, w.RKey(), 0x1000, 64, 0, NoKey},
	} {
		_, err := d.Local(c.pd, c.key, c.va, c.n, c.need)
		if got := kindOf(err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestWholeIsAllThatAKeyCovers(t *testing.T) {
	d := newDevice(t)
	r := d.region(64, 0x1000, everything)
	w := d.bound(Type2, r, 0x1010, 16, FlushGlobal)
	for _, c := range []struct {
		key  uint32
		need Access
		len  int
		want Kind
	}{
		{r.RKey(), FlushGlobal, 64, 0},
		{w.RKey(), FlushGlobal, 16, 0},
		{w.RKey(), FlushPersistent, 0, NoRight},
		{w.RKey() ^ 1, FlushGlobal, 0, StaleKey},
	} {
		b, err := d.RemoteWhole(d.pd, qpn, c.key, c.need)
		d.want(c.want, err)
		if len(b) != c.len {
			t.Errorf("key 0x%x: %d bytes, want %d", c.key, len(b), c.len)
		}
	}
}

// Whoever writes, or appends to, what the table hands out changes nothing
// beside the region.
func TestGuardBytesStay(t *testing.T) {
	const guard, size = 64, 256
	arena := bytes.Repeat([]byte{0xA5}, guard+size+guard)
	d := newDevice(t)
	r, err := d.Register(d.pd, arena[guard:guard+size], 0x1000, everything)
	if err != nil {
		t.Fatal(err)
	}
	w := d.bound(Type1, r, 0x1080, 128, RemoteWrite)
	for va := uint64(0x1000 - guard); va <= 0x1000+size+guard; va++ {
		for _, n := range []int{0, 1, 63, 64, 65, 128, size, size + 1} {
			for _, key := range []uint32{r.RKey(), w.RKey()} {
				b, err := d.Remote(d.pd, qpn, key, va, n, RemoteWrite)
				if err != nil {
					continue
				}
				clear(b)
				_ = append(b, 1, 2, 3)
			}
		}
	}
	if want := bytes.Repeat([]byte{0xA5}, guard); !bytes.Equal(arena[:guard], want) || !bytes.Equal(arena[guard+size:], want) {
		t.Error("bytes beside the region have changed")
	}
	if want := make([]byte, size); !bytes.Equal(arena[guard:guard+size], want) {
		t.Error("bytes of the region were not reached, or an append went into the next ones")
	}
}

func TestALookupThatSucceedsAllocatesNothing(t *testing.T) {
	d := newDevice(t)
	r := d.region(4096, 0x1000, everything)
	w1, w2 := d.bound(Type1, r, 0x1000, 64, RemoteWrite), d.bound(Type2, r, 0x1000, 64, RemoteWrite)
	got := testing.AllocsPerRun(100, func() {
		for _, key := range []uint32{r.RKey(), w1.RKey(), w2.RKey()} {
			if _, err := d.Remote(d.pd, qpn, key, 0x1010, 8, RemoteWrite); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Local(d.pd, r.LKey(), 0x1010, 8, LocalWrite); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkRemote(b *testing.B) {
	const n = 50000
	table := NewTable(1)
	pd := table.AllocPD()
	rkeys := make([]uint32, n)
	mem := make([]byte, 4096)
	for i := range rkeys {
		r, err := table.Register(pd, mem, 0x1000, everything)
		if err != nil {
			b.Fatal(err)
		}
		rkeys[i] = r.RKey()
	}
	at := 0
	for b.Loop() {
		if at++; at == n {
			at = 0
		}
		if _, err := table.Remote(pd, qpn, rkeys[at], 0x1000, 1024, RemoteWrite); err != nil {
			b.Fatal(err)
		}
	}
}
