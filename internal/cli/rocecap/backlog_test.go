package rocecap

import (
	"testing"
	"time"
	"unsafe"

	"github.com/rocecap/rocecap/internal/netio/capfile"
)

// fill adds n packets, ten a second, of which each begins with its number.
func fill(b *backlog, from, n, size int) {
	for i := from; i < from+n; i++ {
		rec := capfile.Record{Data: make([]byte, size), Time: int64(i) * int64(100*time.Millisecond)}
		rec.Data[0], rec.Data[1] = byte(i>>8), byte(i)
		b.add(&rec)
	}
}

// taken lists the numbers of the packets since a time.
func taken(t *testing.T, b *backlog, since time.Duration) (list []int) {
	t.Helper()
	err := b.take(int64(since), func(rec *capfile.Record) error {
		list = append(list, int(rec.Data[0])<<8|int(rec.Data[1]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestBacklogGivesTheLastWhile(t *testing.T) {
	b := &backlog{span: 10 * time.Second, limit: 1 << 30}
	fill(b, 0, 1000, 50000)
	list := taken(t, b, 95*time.Second)
	if len(list) != 50 || list[0] != 950 || list[49] != 999 {
		t.Errorf("%d packets, %v", len(list), list)
	}
	if list := taken(t, b, 0); len(list) != 0 {
		t.Errorf("%d packets are taken twice", len(list))
	}
	fill(b, 1000, 10, 100)
	if list := taken(t, b, 0); len(list) != 10 || list[0] != 1000 {
		t.Errorf("afterwards %v", list)
	}
}

func TestBacklogForgetsWhatIsTooOldOrTooMuch(t *testing.T) {
	old := &backlog{span: 10 * time.Second, limit: 1 << 30}
	fill(old, 0, 5000, 50000) // 500 s
	// Whole chunks are forgotten: one of 20 packets may be kept for its last.
	if list := taken(t, old, 0); len(list) < 100 || len(list) > 100+2*20 || list[len(list)-1] != 4999 {
		t.Errorf("%d packets of 10 s are kept, want 100 to 140", len(list))
	}
	much := &backlog{span: time.Hour, limit: 8 << 20}
	fill(much, 0, 5000, 50000)
	if much.bytes > 8<<20 {
		t.Errorf("%d bytes are kept", much.bytes)
	}
	if list := taken(t, much, 0); len(list) < 7<<20/50000 || list[len(list)-1] != 4999 {
		t.Errorf("%d packets are kept", len(list))
	}
}

func TestBacklogReusesItsMemory(t *testing.T) {
	b := &backlog{span: time.Second, limit: 1 << 30}
	fill(b, 0, 2000, 1000)
	rec := capfile.Record{Data: make([]byte, 1000), Time: int64(200 * time.Second)}
	allocs := testing.AllocsPerRun(10_000, func() {
		rec.Time += int64(10 * time.Millisecond)
		b.add(&rec)
	})
	if allocs > 0.01 {
		t.Errorf("%g allocations a packet", allocs)
	}
}

// TestABacklogOfShortPacketsTakesNoMoreThanItMay has packets that are much shorter than
// what is kept besides.
func TestABacklogOfShortPacketsTakesNoMoreThanItMay(t *testing.T) {
	b := &backlog{span: time.Hour, limit: 4 << 20}
	for i := range 1_000_000 {
		b.add(&capfile.Record{Data: []byte{1}, WireLen: 1, Time: int64(i)})
	}
	took := 0
	for _, c := range b.chunks {
		took += cap(c.data) + cap(c.records)*int(unsafe.Sizeof(capfile.Record{}))
	}
	if took > 2*b.limit || b.bytes > b.limit+chunkBytes {
		t.Errorf("%d bytes, said to be %d, want at most about %d", took, b.bytes, b.limit)
	}
}
