package mr

import (
	"math/rand/v2"
	"testing"
)

func newTestKeys(seed uint64) keys[int] {
	return newKeys[int](windowBit, rand.New(rand.NewPCG(seed, 0)))
}

func TestKeysOfALargeTableAreDistinctAndFound(t *testing.T) {
	const n = 60000
	table := NewTable(1)
	pd := table.AllocPD()
	seen := map[uint32]bool{}
	for i := range n {
		r, err := table.Register(pd, make([]byte, 1), uint64(i), RemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		w, err := table.AllocWindow(pd, Type2)
		if err != nil {
			t.Fatal(err)
		}
		if r.LKey() != r.RKey() {
			t.Fatalf("region %d has lkey 0x%x and rkey 0x%x", i, r.LKey(), r.RKey())
		}
		if r.RKey()>>31 != 0 || w.RKey()>>31 != 1 {
			t.Fatalf("region key 0x%x, window key 0x%x: the top bit does not tell them apart", r.RKey(), w.RKey())
		}
		for _, key := range []uint32{r.RKey() >> 8, w.RKey() >> 8} {
			if seen[key] {
				t.Fatalf("index 0x%x was given twice", key)
			}
			seen[key] = true
		}
		if _, err := table.Remote(pd, 1, r.RKey(), uint64(i), 1, RemoteRead); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSeedDecidesTheKeys(t *testing.T) {
	a, b, c := newTestKeys(1), newTestKeys(1), newTestKeys(2)
	same, near := 0, 0
	var before uint32
	for range 1000 {
		ka, _ := a.add(new(int))
		kb, _ := b.add(new(int))
		kc, _ := c.add(new(int))
		if ka != kb {
			t.Fatalf("same seed, keys 0x%x and 0x%x", ka, kb)
		}
		if ka == kc {
			same++
		}
		if ka>>lowBits == before>>lowBits+1 {
			near++
		}
		before = ka
	}
	if same > 1 || near > 1 {
		t.Errorf("%d keys agree under another seed, %d follow the one before", same, near)
	}
}

// long is a table that so many keys were taken from, which are free now but not
// given again.
func long(k keys[int], n int) keys[int] {
	k.slots = make([]slot[int], n, n+2)
	return k
}

// 0 and 0xffffffff are what uninitialised memory looks like.
func TestNoKeyHasAReservedIndex(t *testing.T) {
	for _, reserved := range []uint32{0, indexMask} {
		k := newTestKeys(0)
		for seed := uint64(1); k.place(reserved<<lowBits) > 1<<12; seed++ {
			k = newTestKeys(seed) // until the table meets the index early
		}
		k = long(k, int(k.place(reserved<<lowBits)))
		item := 0
		for range 2 {
			key, ok := k.add(&item)
			if index := key >> lowBits & indexMask; !ok || index == reserved {
				t.Errorf("key 0x%08x was given", key)
			}
			if got, kind := k.find(key); got != &item || kind != 0 {
				t.Errorf("key 0x%08x: %v", key, kind)
			}
		}
		for low := range uint32(lowMask + 1) {
			if _, kind := k.find(k.top | reserved<<lowBits | low); kind != NoKey {
				t.Fatalf("index 0x%x, low byte 0x%x: %v, want %v", reserved, low, kind, NoKey)
			}
		}
	}
}

func TestAFullTableSaysSo(t *testing.T) {
	k := long(newTestKeys(3), indexMask)
	last, ok := k.add(new(int))
	if !ok {
		t.Fatal("full with one place left")
	}
	if key, ok := k.add(new(int)); ok {
		t.Errorf("key 0x%08x beyond the last", key)
	}
	k.remove(last)
	if key, ok := k.add(new(int)); !ok || key>>lowBits != last>>lowBits {
		t.Errorf("key 0x%08x, want the index of 0x%08x, which is free", key, last)
	}
}

func TestAFreedIndexComesBackLastAndUnderAnotherKey(t *testing.T) {
	k := newTestKeys(4)
	a, _ := k.add(new(int))
	b, _ := k.add(new(int))
	k.remove(b)
	k.remove(a)
	if _, kind := k.find(a); kind != NoKey {
		t.Errorf("a freed key: %v", kind)
	}
	if c, _ := k.add(new(int)); c>>lowBits != b>>lowBits || c == b {
		t.Errorf("0x%x follows 0x%x, freed first", c, b)
	}
	if _, kind := k.find(b); kind != StaleKey {
		t.Errorf("the old key of an index in use: %v, want %v", kind, StaleKey)
	}
	for i := range lowMask - 1 {
		c, _ := k.add(new(int))
		if c == a {
			t.Fatalf("key 0x%x is back after %d uses", a, i+1)
		}
		k.remove(c)
	}
}
