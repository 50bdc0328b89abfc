package conversation

import (
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// TestHolesAreTheSetOfWhatIsMissing compares with a set of PSNs, across the wrap.
func TestHolesAreTheSetOfWhatIsMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const base, room = wire.PSN(0xFFFFC0), 128
	for range 2000 {
		var list holes
		missing := map[wire.PSN]bool{}
		for range 30 {
			at, n := base.Add(rng.IntN(room)), 1+rng.IntN(9)
			switch rng.IntN(3) {
			case 0, 1:
				list.insert(hole{from: at, to: at.Add(n)})
				for i := range n {
					missing[at.Add(i)] = true
				}
			case 2:
				h, ok := list.fill(at, n)
				if ok != missing[at] || ok && (h.from != at || h.len() < 1 || h.len() > n) {
					t.Fatalf("filling %v, %d of them, gave %+v %v", at, n, h, ok)
				}
				for i := range h.len() {
					delete(missing, at.Add(i))
				}
			}
			total := 0
			for i, h := range list {
				total += h.len()
				if i > 0 && h.from.Less(list[i-1].to) {
					t.Fatalf("out of order: %+v", list)
				}
			}
			if total != len(missing) {
				t.Fatalf("%d PSNs are missing, %d in %+v", len(missing), total, list)
			}
			for i := range room + 10 {
				if psn := base.Add(i); (list.find(psn) != nil) != missing[psn] {
					t.Fatalf("%v in %+v", psn, list)
				}
			}
		}
		floor := base.Add(rng.IntN(room))
		for h, ok := list.before(floor); ok; h, ok = list.before(floor) {
			if floor.Less(h.to) || h.len() <= 0 {
				t.Fatalf("%+v is not before %v", h, floor)
			}
		}
		for psn := range missing {
			if (list.find(psn) != nil) == psn.Less(floor) {
				t.Fatalf("%v, with what is before %v taken out: %+v", psn, floor, list)
			}
		}
	}
}

func TestOnlyTheFirstOfAHoleIsAskedFor(t *testing.T) {
	list := holes{{from: 10, to: 20, asked: true}}
	if h, _ := list.fill(15, 1); h.asked {
		t.Error("the middle is asked for")
	}
	if h, _ := list.fill(10, 1); !h.asked || h.len() != 1 {
		t.Errorf("the first is %+v", h)
	}
	for _, h := range list {
		if h.asked {
			t.Errorf("%+v is still asked for", h)
		}
	}
}
