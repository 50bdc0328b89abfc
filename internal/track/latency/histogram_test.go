package latency

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestEveryDurationIsToldWithinAThirtySecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		d := time.Duration(rng.Int64N(1 << (1 + rng.IntN(39))))
		got := middle(bucket(d))
		if diff := max(got-d, d-got); float64(diff) > float64(d)/32+0.5 {
			t.Fatalf("%d is told as %d", d, got)
		}
	}
	for i := range buckets - 1 {
		if got := bucket(middle(i)); got != i {
			t.Fatalf("the middle of bucket %d is in %d", i, got)
		}
	}
}

func TestQuantilesAreThoseOfTheSortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h, even, odd Histogram
	var all []time.Duration
	for i := range 10_001 {
		d := time.Duration(rng.ExpFloat64() * float64(50*time.Microsecond))
		all = append(all, d)
		h.Add(d)
		if i%2 == 0 {
			even.Add(d)
		} else {
			odd.Add(d)
		}
	}
	slices.Sort(all)
	even.Merge(&odd)
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[int(q*float64(len(all)-1))]
		got := h.Quantile(q)
		if diff := max(got-want, want-got); float64(diff) > float64(want)/30+1 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
		if merged := even.Quantile(q); merged != got {
			t.Errorf("quantile %v of the halves together is %v, of all %v", q, merged, got)
		}
	}
	if h.Min() != all[0] || h.Max() != all[len(all)-1] || h.Count() != uint64(len(all)) {
		t.Errorf("%v to %v in %d", h.Min(), h.Max(), h.Count())
	}
}

func TestBordersAreCounted(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 || h.Mean() != 0 {
		t.Error("an empty histogram has values")
	}
	h.Add(-time.Second)
	h.Add(1 << 62)
	if h.Min() != 0 || h.Max() != 1<<62 || h.Count() != 2 {
		t.Errorf("%v to %v in %d", h.Min(), h.Max(), h.Count())
	}
	if got := testing.AllocsPerRun(100, func() { h.Add(time.Millisecond) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestSinceIsWhatWasAddedLater(t *testing.T) {
	var h Histogram
	for d := range 1000 {
		h.Add(time.Duration(d) * time.Microsecond)
	}
	before := h.Clone()
	if since := h.Since(&before); since.Count() != 0 || since.Max() != 0 {
		t.Errorf("nothing was added: %d, %v", since.Count(), since.Max())
	}
	for range 10 {
		h.Add(5 * time.Second)
	}
	since := h.Since(&before)
	if since.Count() != 10 || since.Mean() != 5*time.Second {
		t.Errorf("%d of %v, want 10 of 5s", since.Count(), since.Mean())
	}
	for _, d := range []time.Duration{since.Min(), since.Quantile(0.5), since.Quantile(0.99), since.Max()} {
		if d < 4800*time.Millisecond || d > 5200*time.Millisecond {
			t.Errorf("%v is not about 5s", d)
		}
	}
}

func TestWithinCountsTheShorter(t *testing.T) {
	var h Histogram
	for d := range 1000 {
		h.Add(time.Duration(d) * time.Microsecond)
	}
	for d, want := range map[time.Duration]float64{-1: 1, 0: 1, 100 * time.Microsecond: 101, 500 * time.Microsecond: 501, time.Second: 1000} {
		if got := float64(h.Within(d)); got < want*0.9 || got > want*1.1 {
			t.Errorf("%v durations within %v, want about %v", got, d, want)
		}
	}
}

// TestFewAreCountedLikeMany compares what short lists tell with what the buckets
// do, on both sides of where one becomes the other.
func TestFewAreCountedLikeMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 3 * fewKept {
		var h, one, two, sum Histogram
		wide := Histogram{counts: &[buckets]uint32{}}
		for i := range n {
			d := time.Duration(rng.Int64N(1 << (1 + rng.IntN(39))))
			h.Add(d)
			wide.Add(d)
			if i < n/2 {
				one.Add(d)
			} else {
				two.Add(d)
			}
		}
		sum.Merge(&one)
		before := sum
		sum.Merge(&two)
		since := sum.Since(&before)
		if since.Count() != two.Count() || before.Count() != one.Count() || before.Quantile(0.5) != one.Quantile(0.5) {
			t.Fatalf("of %d: %d since, %d before", n, since.Count(), before.Count())
		}
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			if h.Quantile(q) != wide.Quantile(q) || sum.Quantile(q) != wide.Quantile(q) {
				t.Fatalf("quantile %v of %d: %v, %v together, want %v", q, n, h.Quantile(q), sum.Quantile(q), wide.Quantile(q))
			}
			if d := wide.Quantile(q); h.Within(d) != wide.Within(d) {
				t.Fatalf("%d of %d are within %v, want %d", h.Within(d), n, d, wide.Within(d))
			}
		}
	}
}
