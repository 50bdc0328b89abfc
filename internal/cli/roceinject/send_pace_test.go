package roceinject

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatesAreRead(t *testing.T) {
	for text, want := range map[string]rate{
		"100kpps":  {perSecond: 100_000},
		"2.5Gbps":  {perSecond: 2_500_000_000, bits: true},
		"1Mpps":    {perSecond: 1_000_000},
		"64 kbps":  {perSecond: 64_000, bits: true},
		"500":      {perSecond: 500},
		"1.5k":     {perSecond: 1_500},
		"0.1tBPS":  {perSecond: 100_000_000_000, bits: true},
		"10000000": {perSecond: 10_000_000},
		"max":      {},
		"MAX":      {},
	} {
		got, err := parseRate(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "pps", "0", "0.1pps", "-5", "fast", "1e300", "NaN", "inf", "10kb", "1e16", "5 kpps bps", "0x10pps!"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("%q: read as %v", text, got)
		}
	}
}

func TestTimingsAreRead(t *testing.T) {
	for text, want := range map[string]float64{"keep": 1, "2x": 2, "0.5x": 0.5, "100x": 100} {
		if got, err := parseTiming(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "2", "0x", "-1x", "keepx", "NaNx", "infx", "1e99x"} {
		if got, err := parseTiming(text); err == nil {
			t.Errorf("%q: read as %v", text, got)
		}
	}
}

// dues asks a pace that is never late for the times of frames of a length.
func dues(p pace, n, length int) (list []int64) {
	now := int64(1000)
	for range n {
		now = p.due(now, frame{length: length})
		list = append(list, now-1000)
	}
	return list
}

func TestASteadyPaceSpacesFrames(t *testing.T) {
	for _, c := range []struct {
		name  string
		pace  *steady
		bytes int
		want  []int64
	}{
		{"packets", &steady{rate: rate{perSecond: 1000}, burst: 1}, 100, []int64{0, 1_000_000, 2_000_000, 3_000_000}},
		{"bits", &steady{rate: rate{perSecond: 1_000_000, bits: true}, burst: 1}, 125, []int64{0, 1_000_000, 2_000_000, 3_000_000}},
		{"bursts", &steady{rate: rate{perSecond: 1000}, burst: 2}, 100, []int64{0, 0, 2_000_000, 2_000_000, 4_000_000}},
		{"bursts of bits", &steady{rate: rate{perSecond: 1_000_000, bits: true}, burst: 3}, 125, []int64{0, 0, 0, 3_000_000, 3_000_000, 3_000_000, 6_000_000}},
		{"thirds", &steady{rate: rate{perSecond: 3}, burst: 1}, 1, []int64{0, 333_333_333, 666_666_666, 1_000_000_000}},
	} {
		if d := cmp.Diff(c.want, dues(c.pace, len(c.want), c.bytes)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// An hour at a rate that no whole number of nanoseconds divides ends on the
// nanosecond.
func TestASteadyPaceDoesNotDrift(t *testing.T) {
	for _, r := range []uint64{7, 300, 9_999, 333_333} {
		p := &steady{rate: rate{perSecond: r}, burst: 1}
		last := int64(0)
		for range min(r*3600, 1_000_000) + 1 {
			last = p.due(last, frame{length: 100})
		}
		want := min(r*3600, 1_000_000) * second / r
		if last != int64(want) {
			t.Errorf("%d pps: the last frame is due at %d, want %d", r, last, want)
		}
	}
	most := rate{perSecond: 1_000_000_000_000, bits: true}
	if got := most.timeOf(math.MaxInt64); got != math.MaxInt64/1000 {
		t.Errorf("2^63 bits at 1 Tbps take %d ns", got)
	}
}

func TestALittleDelayIsMadeUpForAndALongOneIsNot(t *testing.T) {
	p := &steady{rate: rate{perSecond: 1000}, burst: 1}
	p.due(0, frame{})
	if got := p.due(5_000_000, frame{}); got != 1_000_000 {
		t.Errorf("4 ms late: due at %d, want as planned", got)
	}
	const pause = 60 * second
	first := p.due(pause, frame{})
	if first != pause-maxLate {
		t.Errorf("after a minute: due at %d, want %d", first, int64(pause-maxLate))
	}
	atOnce := 0
	for p.due(pause, frame{}) <= pause {
		atOnce++
	}
	if atOnce != 10 {
		t.Errorf("%d frames follow a pause of a minute at once, want those of 10 ms", atOnce)
	}
}

func TestARecordedPaceKeepsTheTimes(t *testing.T) {
	at := func(time int64) frame { return frame{time: time, hasTime: true} }
	p := &recorded{speed: 2}
	var got []int64
	now := int64(50)
	for _, f := range []frame{at(1000), at(1010), at(1006), {}, at(1100)} { // one out of order, one without a time
		now = max(now, p.due(now, f))
		got = append(got, now)
	}
	p.again()
	for _, f := range []frame{at(1000), at(1010)} {
		now = max(now, p.due(now, f))
		got = append(got, now)
	}
	if d := cmp.Diff([]int64{50, 55, 55, 55, 100, 100, 105}, got); d != "" {
		t.Error(d)
	}
}

func TestFramesWithoutTimesGoAtOnce(t *testing.T) {
	p := &recorded{speed: 1}
	for _, now := range []int64{5, 10} {
		if got := p.due(now, frame{}); got > now {
			t.Errorf("at %d: due at %d", now, got)
		}
	}
}
