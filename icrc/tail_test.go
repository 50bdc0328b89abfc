package icrc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// TestTailGivesTheSumOfTheWholePacket changes the head before one tail.
func TestTailGivesTheSumOfTheWholePacket(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var h icrc.Hasher
	for _, f := range forms {
		for _, length := range []int{0, 1, 3, 4, 15, 16, 17, 64, 100, 1024, 4096, 65535} {
			tail := randomBytes(rnd, length)
			known := icrc.NewTail(tail)
			for range 20 {
				head := randomBytes(rnd, f.bth+wire.BTHLen+rnd.IntN(200))
				got := known.After(h.Sum(f.form, head))
				if want := h.Sum(f.form, append(head, tail...)); got != want {
					t.Fatalf("%v, %d bytes and a tail of %d: %08x, want %08x", f.form, len(head), length, got, want)
				}
			}
		}
	}
}

func TestTailDoesNotAllocate(t *testing.T) {
	var h icrc.Hasher
	head, known := make([]byte, 60), icrc.NewTail(make([]byte, 1024))
	if n := testing.AllocsPerRun(100, func() { known.After(h.Sum(icrc.RoCEv2IPv4, head)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzTail(f *testing.F) {
	f.Add(make([]byte, 60), 44)
	f.Add([]byte("a packet of which a part is the end that others have, too"), 47)
	f.Fuzz(func(t *testing.T, packet []byte, at int) {
		const least = wire.IPv4MinLen + wire.UDPLen + wire.BTHLen
		if at < least || at > len(packet) {
			return // no head and tail
		}
		got := icrc.NewTail(packet[at:]).After(icrc.Compute(icrc.RoCEv2IPv4, packet[:at]))
		if want := icrc.Compute(icrc.RoCEv2IPv4, packet); got != want {
			t.Fatalf("%08x, want %08x", got, want)
		}
	})
}

func BenchmarkTail(b *testing.B) {
	var h icrc.Hasher
	head, known := make([]byte, 56), icrc.NewTail(make([]byte, 1024))
	for b.Loop() {
		known.After(h.Sum(icrc.RoCEv2IPv4, head))
	}
}
