package dcqcn

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// start is any time: the machine knows no other clock.
var start = time.Unix(1_000_000, 0)

const us = time.Microsecond

func at(d time.Duration) time.Time { return start.Add(d) }

// flow40 is a flow on the paper's 40 Gb/s link.
func flow40(change func(*Params)) *Rate {
	p := Defaults(40_000)
	if change != nil {
		change(&p)
	}
	r := NewRate(&p, start)
	return &r
}

func want(t *testing.T, r *Rate, current, target, alpha float64) {
	t.Helper()
	if r.Current() != current || r.Target() != target || r.Alpha() != alpha {
		t.Errorf("R_C %v R_T %v alpha %v, want %v %v %v", r.Current(), r.Target(), r.Alpha(), current, target, alpha)
	}
}

func TestAFlowStartsAtLineRate(t *testing.T) {
	r := flow40(nil)
	want(t, r, 40_000, 40_000, 1)
	for range 1000 {
		if next := r.Next(start); !next.Equal(start) {
			t.Fatalf("a packet has to wait until %v", next)
		}
		r.Sent(start, 1<<20)
	}
}

// Equation 1 with alpha 1: the first cuts halve the rate, and alpha stays.
func TestCNPCutsTheRate(t *testing.T) {
	r := flow40(nil)
	r.CNP(at(0))
	want(t, r, 20_000, 40_000, 1)
	r.CNP(at(50 * us))
	want(t, r, 10_000, 20_000, 1)
}

// With g = 1/2: alpha is 1, 1/2, 1/4 after one and two periods of silence. Then
// the cut is by 1/8, and alpha 1/4 * 1/2 + 1/2.
func TestAlphaFallsInSilenceAndRisesWithACNP(t *testing.T) {
	r := flow40(func(p *Params) { p.Gain = 0.5 })
	r.Advance(at(55*us - 1))
	want(t, r, 40_000, 40_000, 1)
	r.Advance(at(55 * us))
	want(t, r, 40_000, 40_000, 0.5)
	r.Advance(at(110 * us))
	want(t, r, 40_000, 40_000, 0.25)
	r.CNP(at(120 * us))
	want(t, r, 35_000, 40_000, 0.625)
	// The CNP has started the period anew, and the timer with it.
	r.Advance(at(175*us - 1))
	want(t, r, 35_000, 40_000, 0.625)
	r.Advance(at(175 * us))
	want(t, r, 37_500, 40_000, 0.3125)
}

func TestAlphaWithThePapersGain(t *testing.T) {
	r := flow40(nil)
	r.Advance(at(110 * us))
	want(t, r, 40_000, 40_000, 255.0*255/65536)
	r.CNP(at(111 * us))
	if want := 255.0*255*255/(1<<24) + 1.0/256; r.Alpha() != want {
		t.Errorf("alpha %v, want %v", r.Alpha(), want)
	}
}

// slowed has had two CNPs, 50 us apart: R_T is 20000, R_C 10000.
func slowed(change func(*Params)) *Rate {
	r := flow40(change)
	r.CNP(at(0))
	r.CNP(at(50 * us))
	return r
}

func TestTimerRecoversFastThenAdditively(t *testing.T) {
	r := slowed(nil)
	for i, c := range []struct{ current, target float64 }{
		{15_000, 20_000},
		{17_500, 20_000},
		{18_750, 20_000},
		{19_375, 20_000},
		{19_687.5, 20_000}, // F = 5
		{19_863.75, 20_040},
		{19_971.875, 20_080},
		{20_045.9375, 20_120},
	} {
		expiry := at(50*us + time.Duration(i+1)*55*us)
		before := r.Current()
		if r.Advance(expiry.Add(-1)); r.Current() != before {
			t.Errorf("R_C is %v before timer %d, was %v", r.Current(), i+1, before)
		}
		if r.Advance(expiry); r.Current() != c.current || r.Target() != c.target {
			t.Errorf("timer %d: R_C %v R_T %v, want %v %v", i+1, r.Current(), r.Target(), c.current, c.target)
		}
	}
}

func TestByteCounterRecoversLikeTheTimer(t *testing.T) {
	r := slowed(func(p *Params) { p.Timer = time.Hour })
	now := at(51 * us)
	for i, current := range []float64{15_000, 17_500, 18_750, 19_375, 19_687.5, 19_863.75} {
		r.Sent(now, 9_999_999)
		before := r.Current()
		r.Sent(now, 1)
		if r.Current() != current {
			t.Errorf("after %d times 10 MB: %v from %v, want %v", i+1, r.Current(), before, current)
		}
	}
	r.Sent(now, 5_000_000)
	r.CNP(now) // starts the counter anew
	cut := r.Current()
	if r.Sent(now, 9_999_999); r.Current() != cut {
		t.Errorf("%v, want %v", r.Current(), cut)
	}
}

// The 10000 Mb/s that are missing halve to 0.0012 and then 0.0006 Mb/s.
func TestFastRecoveryReachesItsTarget(t *testing.T) {
	r := slowed(func(p *Params) { p.FastRecovery = 100 })
	for i, there := range map[int]bool{23: false, 24: true} {
		r := *r
		r.Advance(at(50*us + time.Duration(i)*55*us))
		if got := r.Current() == r.Target(); got != there {
			t.Errorf("after %d timers: R_C %v R_T %v", i, r.Current(), r.Target())
		}
	}
}

func TestHyperIncreaseNeedsBothCounters(t *testing.T) {
	r := slowed(func(p *Params) { p.ByteCounter = 1000 })
	now := at(50*us + 5*55*us)
	r.Advance(now) // five timers: 19687.5
	r.Sent(now, 5000)
	// Five times half of the 312.5 that are missing: no counter is past F.
	if r.Current() != 19_990.234375 || r.Target() != 20_000 {
		t.Fatalf("R_C %v R_T %v", r.Current(), r.Target())
	}
	r.Sent(now, 1000) // bytes 6, timer 5
	if r.Current() != 20_015.1171875 || r.Target() != 20_040 {
		t.Errorf("R_C %v R_T %v, want additive increase", r.Current(), r.Target())
	}
	r.Advance(now.Add(55 * us)) // 6 and 6: one step of 400
	if r.Current() != 20_227.55859375 || r.Target() != 20_440 {
		t.Errorf("R_C %v R_T %v, want hyper increase", r.Current(), r.Target())
	}
	r.Sent(now.Add(55*us), 1000) // 6 and 7: one step
	if r.Current() != 20_533.779296875 || r.Target() != 20_840 {
		t.Errorf("R_C %v R_T %v, want hyper increase", r.Current(), r.Target())
	}
	r.Advance(now.Add(110 * us)) // 7 and 7: two steps
	if r.Target() != 21_640 {
		t.Errorf("R_T %v, want 21640", r.Target())
	}
}

func TestAFloodOfCNPsLeavesTheLeastRate(t *testing.T) {
	r := flow40(func(p *Params) { p.MinRate = 100 })
	for i := range 1000 {
		r.CNP(at(time.Duration(i) * us))
	}
	want(t, r, 100, 100, 1)
	r.Sent(at(1000*us), 1000)
	if next := r.Next(at(1000 * us)); next.After(at(1080*us)) || !next.After(at(1000*us)) {
		t.Errorf("the next packet after %v, want at most 80us", next.Sub(at(1000*us)))
	}
}

func TestSilenceBringsTheLineRateBack(t *testing.T) {
	r := flow40(nil)
	for i := range 20 {
		r.CNP(at(time.Duration(i) * us))
	}
	// 40 Gb/s by 40 Mb/s is 1000 timers; a year of them takes no longer.
	r.Advance(at(1100 * 55 * us))
	if r.Current() != 40_000 {
		t.Errorf("R_C %v after 1100 timers", r.Current())
	}
	r.Advance(at(365 * 24 * time.Hour))
	want(t, r, 40_000, 40_000, 0)
	r.CNP(at(365*24*time.Hour + us))
	want(t, r, 40_000, 40_000, 1.0/256)
	r.CNP(at(365*24*time.Hour + 2*us))
	want(t, r, 40_000*(1-1.0/512), 40_000, 255.0/65536+1.0/256)
}

// 1000 bytes take 400 ns at 20 Gb/s.
func TestPacketsAreSpacedAtTheRate(t *testing.T) {
	r := flow40(func(p *Params) { p.Slack = 0 })
	r.CNP(start)
	now := start
	for i := range 100 {
		if next := r.Next(now); !next.Equal(at(time.Duration(i) * 400)) {
			t.Fatalf("packet %d leaves after %v, want %v", i, next.Sub(start), time.Duration(i)*400)
		}
		now = r.Next(now)
		r.Sent(now, 1000)
	}
}

// 64 bytes take 25.6 ns: the parts of a nanosecond are not lost.
func TestPartsOfANanosecondAddUp(t *testing.T) {
	r := flow40(func(p *Params) { p.Slack = 0 })
	r.CNP(start)
	for range 1000 {
		r.Sent(start, 64)
	}
	if got := r.Next(start).Sub(start); got < 25_599 || got > 25_600 {
		t.Errorf("1000 packets take %v, want 25.6us", got)
	}
}

func TestALateSenderCatchesUpBySlackAlone(t *testing.T) {
	r := flow40(func(p *Params) { p.Slack = 2 * us })
	r.CNP(start)
	now, sent := at(50*us), 0
	for r.Next(now).Equal(now) {
		r.Sent(now, 1000)
		sent++
	}
	if sent != 6 { // 2 us are 5 packets, and the one that is due
		t.Errorf("%d packets at once, want 6", sent)
	}
}

// A packet of 8000 bits has 80 us to wait at 100 Mb/s. After 55 us the rate goes
// to 150 Mb/s, at which the 2500 bits that are left take 16.667 us.
func TestAWaitingPacketGoesByTheRateThatIsNow(t *testing.T) {
	p := Defaults(200)
	r := NewRate(&p, start)
	r.CNP(start)
	r.Sent(start, 1000)
	if next := r.Next(at(54 * us)); !next.Equal(at(80 * us)) {
		t.Errorf("next after %v, want 80us", next.Sub(start))
	}
	if next := r.Next(at(55 * us)); !next.Equal(at(55*us + 16_666)) {
		t.Errorf("next after %v, want 71.666us", next.Sub(start))
	}

	// One of 16000 bits, asked after two timers: 5500 bits drain until the first,
	// 8250 until the second, and 2250 at 175 Mb/s.
	r = NewRate(&p, start)
	r.CNP(start)
	r.Sent(start, 2000)
	if next := r.Next(at(110 * us)); !next.Equal(at(122*us + 857)) {
		t.Errorf("next after %v, want 122.857us", next.Sub(start))
	}
}

// Random CNPs and packets: the values stay in their ranges, what is sent is no
// more than the rates allow, and a second run does the same.
func TestRandomFlowsKeepToTheRates(t *testing.T) {
	run := func(seed uint64) (trace []float64) {
		rng := rand.New(rand.NewPCG(seed, 2))
		r := flow40(func(p *Params) { p.ByteCounter, p.MinRate = 100_000, 50 })
		now, bits, allowed := start, 0.0, 0.0
		for range 20_000 {
			step := time.Duration(rng.IntN(3000))
			r.Advance(now)
			before := r.Current()
			now = now.Add(step)
			r.Advance(now)
			// The rate rises within the step: it is never more than at its end.
			allowed += max(before, r.Current()) * float64(step) / 1000
			if rng.IntN(40) == 0 {
				r.CNP(now)
			}
			if n := 1 + rng.IntN(4096); r.limited() && r.Next(now).Equal(now) {
				r.Sent(now, n)
				bits += 8 * float64(n)
			}
			if c, tgt, a := r.Current(), r.Target(), r.Alpha(); c < 50 || c > tgt || tgt > 40_000 || a < 0 || a > 1 || math.IsNaN(a) {
				t.Fatalf("seed %d: R_C %v R_T %v alpha %v", seed, c, tgt, a)
			}
			trace = append(trace, r.Current())
		}
		slack := 8*4096 + 40_000*10.0 // a packet, and 10 us
		if bits > allowed+slack || bits == 0 {
			t.Errorf("seed %d: %v bits were sent, %v allowed", seed, bits, allowed)
		}
		return trace
	}
	for seed := range uint64(20) {
		first, second := run(seed), run(seed)
		for i := range first {
			if first[i] != second[i] {
				t.Fatalf("seed %d: two runs differ at step %d", seed, i)
			}
		}
	}
}

func TestParametersThatCannotWorkAreNamed(t *testing.T) {
	for name, change := range map[string]func(*Params){
		"line rate":     func(p *Params) { p.LineRate = 0 },
		"least rate":    func(p *Params) { p.MinRate = 40_001 },
		"initial alpha": func(p *Params) { p.InitialAlpha = 1.5 },
		"gain":          func(p *Params) { p.Gain = math.NaN() },
		"alpha period":  func(p *Params) { p.AlphaPeriod = 0 },
		"timer":         func(p *Params) { p.Timer = -1 },
		"byte counter":  func(p *Params) { p.ByteCounter = 0 },
		"fast recovery": func(p *Params) { p.FastRecovery = -1 },
		"additive step": func(p *Params) { p.Additive = 0 },
		"hyper step":    func(p *Params) { p.Hyper = -1 },
		"slack":         func(p *Params) { p.Slack = -1 },
	} {
		p := Defaults(40_000)
		if err := p.Check(); err != nil {
			t.Fatalf("the defaults: %v", err)
		}
		change(&p)
		if err := p.Check(); err == nil || len(err.Error()) < len(name) || err.Error()[:len("dcqcn: ")+len(name)] != "dcqcn: "+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPacketCostsNoAllocation(t *testing.T) {
	r := flow40(nil)
	now := start
	got := testing.AllocsPerRun(1000, func() {
		now = r.Next(now.Add(us))
		r.Sent(now, 4096)
		if now.Sub(start)%7 == 0 {
			r.CNP(now)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
