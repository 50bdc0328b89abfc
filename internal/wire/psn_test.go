package wire

import (
	"math/rand/v2"
	"testing"
)

const psnSpace = 1 << 24

// ahead counts from q to p in a circle, the short way round: the reference for
// Diff.
func ahead(p, q PSN) int {
	d := (int(p) - int(q) + psnSpace) % psnSpace
	if d >= psnSpace/2 {
		return d - psnSpace
	}
	return d
}

func TestPSNComparesAcrossTheWrap(t *testing.T) {
	for _, tc := range []struct {
		p, q PSN
		want int
	}{
		{5, 3, 2},
		{3, 5, -2},
		{0, 0xFFFFFF, 1},
		{0xFFFFFF, 0, -1},
		{4, 0xFFFFF0, 20},
		{0x7FFFFF, 0, 0x7FFFFF},
		{0x800000, 0, -0x800000}, // half the circle counts as behind
		{0, 0x800000, -0x800000},
		{7, 7, 0},
	} {
		if got := tc.p.Diff(tc.q); got != tc.want {
			t.Errorf("%#x.Diff(%#x) = %d, want %d", tc.p, tc.q, got, tc.want)
		}
		if got := tc.p.Less(tc.q); got != (tc.want < 0) {
			t.Errorf("%#x.Less(%#x) = %v", tc.p, tc.q, got)
		}
	}
}

func TestPSNArithmeticAgainstAReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 100_000 {
		p, q := PSN(rng.Uint32N(psnSpace)), PSN(rng.Uint32N(psnSpace))
		if got, want := p.Diff(q), ahead(p, q); got != want {
			t.Fatalf("%#x.Diff(%#x) = %d, want %d", p, q, got, want)
		}
		if got := q.Add(p.Diff(q)); got != p {
			t.Fatalf("%#x.Add(%d) = %#x, want %#x", q, p.Diff(q), got, p)
		}
		n := int(rng.Uint32N(2*psnSpace)) - psnSpace
		if got, want := p.Add(n), PSN((int(p)+n+psnSpace)%psnSpace); got != want {
			t.Fatalf("%#x.Add(%d) = %#x, want %#x", p, n, got, want)
		}
		if got, want := p.InRange(q, n), (int(p)-int(q)+psnSpace)%psnSpace < n; got != want {
			t.Fatalf("%#x.InRange(%#x, %d) = %v", p, q, n, got)
		}
	}
}

func TestPSNRangeIncludesItsFirstAndNotTheOneBehindIt(t *testing.T) {
	for _, tc := range []struct {
		p, first PSN
		n        int
		want     bool
	}{
		{10, 10, 1, true},
		{10, 10, 0, false},
		{11, 10, 1, false},
		{9, 10, 5, false},
		{1, 0xFFFFFE, 4, true},
		{2, 0xFFFFFE, 4, false},
		{0xFFFFFD, 0xFFFFFE, 4, false},
		{9, 10, psnSpace, true},
	} {
		if got := tc.p.InRange(tc.first, tc.n); got != tc.want {
			t.Errorf("%#x in %d from %#x: %v, want %v", tc.p, tc.n, tc.first, got, tc.want)
		}
	}
}
