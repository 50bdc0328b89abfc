package capfile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestScaleReadsEveryResolution(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		name    string
		tsresol uint8
		offset  int64
		ticks   uint64
		want    int64
	}{
		{"microseconds", 6, 0, 1_500_000, 1_500_000_000},
		{"nanoseconds", 9, 0, 1_500_000_001, 1_500_000_001},
		{"10^0 is whole seconds", 0, 0, 3, 3_000_000_000},
		{"10^-1", 1, 0, 15, 1_500_000_000},
		{"picoseconds round down", 12, 0, 1_500_000_000_999, 1_500_000_000},
		{"10^-19", 19, 0, 15_000_000_000_000_000_000, 1_500_000_000},
		{"10^-20", 20, 0, math.MaxUint64, 184_467_440},
		{"10^-28", 28, 0, math.MaxUint64, 1},
		{"10^-29 is below a nanosecond", 29, 0, math.MaxUint64, 0},
		{"10^-64 does not panic", 64, 0, math.MaxUint64, 0},
		{"10^-127", 127, 0, math.MaxUint64, 0},
		{"2^0 is whole seconds", 0x80, 0, 3, 3_000_000_000},
		{"2^-1", 0x81, 0, 3, 1_500_000_000},
		{"2^-30", 0x80 | 30, 0, 3 << 29, 1_500_000_000},
		{"2^-32", 0x80 | 32, 0, 1<<32 | 1<<31, 1_500_000_000},
		{"2^-63", 0x80 | 63, 0, 3 << 62, 1_500_000_000},
		{"2^-64 does not panic", 0x80 | 64, 0, 1 << 63, 500_000_000},
		{"2^-93", 0x80 | 93, 0, math.MaxUint64, 1},
		{"2^-94 is below a nanosecond", 0x80 | 94, 0, math.MaxUint64, 0},
		{"2^-127", 0xff, 0, math.MaxUint64, 0},
		{"saturates", 0, 0, math.MaxUint64, most},
		{"the last nanosecond", 9, 0, most, most},
		{"one more saturates", 9, 0, most + 1, most},
		{"offset", 6, 1_000_000_000, 5, 1_000_000_000_000_005_000},
		{"negative offset", 6, -2, 500_000, -1_500_000_000},
		{"offset brings a large time back", 0, -10_000_000_000, 10_000_000_001, 1_000_000_000},
		{"offset saturates upward", 9, math.MaxInt64, 1, most},
		{"offset saturates downward", 9, math.MinInt64, 1, math.MinInt64},
	} {
		s := newScale(c.tsresol, c.offset)
		if got := s.nanos(c.ticks); got != c.want {
			t.Errorf("%s: if_tsresol %#x, offset %d, time %d is %d ns, want %d",
				c.name, c.tsresol, c.offset, c.ticks, got, c.want)
		}
	}
}

// TestScaleAgreesWithBigNumbers compares every resolution with arithmetic that
// has no limits.
func TestScaleAgreesWithBigNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	offsets := []int64{0, 1, -1, 1 << 33, -(1 << 33), math.MaxInt64, math.MinInt64}
	for tsresol := range 256 {
		base := big.NewInt(10)
		if tsresol&0x80 != 0 {
			base = big.NewInt(2)
		}
		units := new(big.Int).Exp(base, big.NewInt(int64(tsresol&0x7f)), nil)
		for range 40 {
			ticks := rng.Uint64() >> rng.UintN(64)
			offset := offsets[rng.IntN(len(offsets))]
			want := new(big.Int).SetUint64(ticks)
			want.Mul(want, big.NewInt(nanosPerSecond)).Div(want, units)
			want.Add(want, new(big.Int).Mul(big.NewInt(offset), big.NewInt(nanosPerSecond)))
			if !want.IsInt64() {
				limit := int64(math.MaxInt64)
				if want.Sign() < 0 {
					limit = math.MinInt64
				}
				want.SetInt64(limit)
			}
			s := newScale(uint8(tsresol), offset)
			if got := s.nanos(ticks); got != want.Int64() {
				t.Fatalf("if_tsresol %#x, offset %d, time %d is %d ns, want %d", tsresol, offset, ticks, got, want)
			}
		}
	}
}

func TestERFTimeIsRoundedToTheNearestNanosecond(t *testing.T) {
	for _, c := range []struct {
		time uint64
		want int64
	}{
		{0, 0},
		{1 << 32, 1_000_000_000},
		{1 << 31, 500_000_000},
		{2, 0},                          // 0.47 ns
		{3, 1},                          // 0.70 ns
		{math.MaxUint32, 1_000_000_000}, // carries into the second
		{math.MaxUint64, (1 << 32) * 1_000_000_000},
	} {
		if got := erfNanos(c.time); got != c.want {
			t.Errorf("ERF time %#x is %d ns, want %d", c.time, got, c.want)
		}
	}
}
