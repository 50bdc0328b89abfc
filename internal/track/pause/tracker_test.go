package pause

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// quantumPerNanosecond is the speed at which a quantum lasts one nanosecond.
const quantumPerNanosecond = 512e9

var (
	left  = MAC{2, 0, 0, 0, 0, 0xA}
	right = MAC{2, 0, 0, 0, 0, 0xB}
)

// pfc is a frame that sets one priority.
func pfc(number int, at int64, src MAC, class int, quanta uint16) *Frame {
	f := &Frame{Number: number, Time: at, Src: src, Dst: group, Enabled: 1 << class}
	f.Quanta[class] = quanta
	return f
}

func plain(number int, at int64, src MAC, quanta uint16) *Frame {
	return &Frame{Number: number, Time: at, Src: src, Dst: group, Plain: true, Quanta: [wire.PFCClasses]uint16{quanta}}
}

func TestPausesEndByTheirTimeOrByAFrame(t *testing.T) {
	type frame struct {
		at     int64
		quanta uint16
	}
	for _, test := range []struct {
		name   string
		frames []frame
		end    int64
		want   Channel
	}{
		{"by its time", []frame{{100, 50}}, 1000, Channel{XOFF: 1, Pauses: 1, Paused: 50, Longest: 50, LongestAt: 1}},
		{"by an XON", []frame{{100, 50}, {120, 0}}, 1000, Channel{XOFF: 1, XON: 1, Pauses: 1, Paused: 20, Longest: 20, LongestAt: 1, Ended: 1, Held: 20}},
		{"by the end of the capture", []frame{{100, 50}}, 130, Channel{XOFF: 1, Pauses: 1, Paused: 30, Longest: 30, LongestAt: 1}},
		{"by a late XON", []frame{{100, 50}, {400, 0}}, 1000, Channel{XOFF: 1, XON: 1, Pauses: 1, Paused: 50, Longest: 50, LongestAt: 1, Ended: 1, Held: 300}},
		{"longer by another", []frame{{100, 50}, {140, 50}}, 1000, Channel{XOFF: 2, Pauses: 1, Paused: 90, Longest: 90, LongestAt: 1}},
		{"shorter by another", []frame{{100, 50}, {110, 5}}, 1000, Channel{XOFF: 2, Pauses: 1, Paused: 15, Longest: 15, LongestAt: 1}},
		{"without a break", []frame{{100, 50}, {150, 50}}, 1000, Channel{XOFF: 2, Pauses: 1, Paused: 100, Longest: 100, LongestAt: 1}},
		{"with a break", []frame{{100, 50}, {151, 60}}, 1000, Channel{XOFF: 2, Pauses: 2, Paused: 110, Longest: 60, LongestAt: 2}},
		{"twice", []frame{{100, 50}, {110, 0}, {110, 50}, {130, 0}}, 1000, Channel{XOFF: 2, XON: 2, Pauses: 2, Paused: 30, Longest: 20, LongestAt: 3, Ended: 2, Held: 30}},
		{"none", []frame{{100, 0}, {110, 0}}, 1000, Channel{XON: 2}},
		{"times that go back", []frame{{100, 50}, {90, 10}, {105, 0}}, 1000, Channel{XOFF: 2, XON: 1, Pauses: 1, Paused: 5, Longest: 5, LongestAt: 1, Ended: 1, Held: 5}},
	} {
		for _, every := range []bool{false, true} {
			track := NewTracker()
			track.Speed = quantumPerNanosecond
			for i, f := range test.frames {
				if every {
					track.Frame(plain(i+1, f.at, left, f.quanta))
				} else {
					track.Frame(pfc(i+1, f.at, left, 3, f.quanta))
				}
			}
			track.Finish(test.end)
			l := track.Links()[0]
			got := results(&l.Classes[3])
			if every {
				got = results(&l.Plain)
			}
			if got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
			}
			if at := track.Clock(test.end); at != test.want.Paused {
				t.Errorf("%s: the clock of pauses shows %d at the end", test.name, at)
			}
		}
	}
}

// results leaves out what a channel has for its own use.
func results(c *Channel) Channel {
	return Channel{
		XOFF: c.XOFF, XON: c.XON, Pauses: c.Pauses, Paused: c.Paused, Longest: c.Longest, LongestAt: c.LongestAt,
		Ended: c.Ended, Held: c.Held,
	}
}

func TestTheSpeedSaysHowLongAQuantumIs(t *testing.T) {
	for speed, want := range map[int64]time.Duration{
		0:             33553920 * time.Second, // no link has it
		1e9:           33553920,
		10e9:          3355392,
		25e9:          1342156,
		100e9:         335539,
		400e9:         83884,
		math.MaxInt64: 0,
	} {
		track := NewTracker()
		track.Speed = speed
		track.Frame(pfc(1, 0, left, 0, math.MaxUint16))
		track.Finish(maxTime)
		if got := track.Links()[0].Classes[0].Paused; got != want {
			t.Errorf("at %d bit/s the longest pause is %v, want %v", speed, got, want)
		}
	}
}

func TestPrioritiesAndLinksAreApart(t *testing.T) {
	track := NewTracker()
	track.Speed = quantumPerNanosecond
	several := pfc(1, 100, left, 3, 50)
	several.Enabled |= 1 << 4 // an XON
	track.Frame(several)
	track.Frame(pfc(2, 110, right, 3, 50))
	track.Frame(plain(3, 120, right, 5))
	track.Frame(pfc(4, 130, left, 3, 0))
	track.Finish(1000)
	l, r := track.Links()[0], track.Links()[1]
	if l.Src != left || r.Src != right || l.Frames != 2 || r.Frames != 2 {
		t.Errorf("%v has %d frames, %v %d", l.Src, l.Frames, r.Src, r.Frames)
	}
	for _, test := range []struct {
		name string
		c    *Channel
		want Channel
	}{
		{"left 3", &l.Classes[3], Channel{XOFF: 1, XON: 1, Pauses: 1, Paused: 30, Longest: 30, LongestAt: 1, Ended: 1, Held: 30}},
		{"left 4", &l.Classes[4], Channel{XON: 1}},
		{"left 5", &l.Classes[5], Channel{}},
		{"right 3", &r.Classes[3], Channel{XOFF: 1, Pauses: 1, Paused: 50, Longest: 50, LongestAt: 2}},
		{"right all", &r.Plain, Channel{XOFF: 1, Pauses: 1, Paused: 5, Longest: 5, LongestAt: 3}},
	} {
		if got := results(test.c); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
	if got := track.Clock(1000); got != 60 {
		t.Errorf("something was paused for %d ns, want 60: from 100 to 160", got)
	}
}

func TestFindings(t *testing.T) {
	const longest = 65535 * 512 // ns at 1 Gbit/s: 33.6 ms
	track := NewTracker()
	track.Speed = 1e9
	var told []Event
	track.Report = func(_ *Link, e Event) { told = append(told, e) }
	for i := range 10 { // without a break: 305 ms
		track.Frame(pfc(1+i, int64(i)*30e6, left, 3, math.MaxUint16))
	}
	track.Frame(pfc(11, 1e9, left, 3, math.MaxUint16))
	track.Frame(plain(12, 2e9, left, 100))
	track.Frame(pfc(13, 3e9, left, 3, 0))
	track.Finish(4e9)
	l := track.Links()[0]
	want := map[Kind]int{Storm: 1, Paused: 2, Plain: 1, Odd: 0}
	for kind, n := range want {
		if got := l.Tallies.Of(kind).Count; got != n {
			t.Errorf("kind %d was found %d times, want %d", kind, got, n)
		}
	}
	if want := []Event{{Paused, 1, 3}, {Storm, 1, 3}, {Paused, 11, 3}, {Plain, 12, All}}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if first := l.Tallies.Of(Storm); first.First()[0] != 1 {
		t.Errorf("the storm began with packet %v", first.First())
	}
	if got := l.Classes[3].Longest; got != 9*30e6+longest {
		t.Errorf("the longest took %v", got)
	}
}

func TestWhatFramesMustNotBe(t *testing.T) {
	unicast, multicast := MAC{2, 0, 0, 0, 0, 1}, MAC{1, 0, 0, 0, 0, 1}
	for _, test := range []struct {
		name  string
		frame Frame
		odd   bool
	}{
		{"PFC", Frame{Dst: group, Enabled: 0xFF}, false},
		{"PFC to a station", Frame{Dst: unicast, Enabled: 1}, true},
		{"PFC of no priority", Frame{Dst: group}, true},
		{"PFC with reserved bits", Frame{Dst: group, Enabled: 0x101}, true},
		{"PAUSE", Frame{Dst: group, Plain: true}, false},
		{"PAUSE to a station", Frame{Dst: unicast, Plain: true}, false},
		{"PAUSE to another group", Frame{Dst: multicast, Plain: true}, true},
	} {
		track := NewTracker()
		track.Frame(&test.frame)
		if got := track.Links()[0].Tallies.Of(Odd).Count == 1; got != test.odd {
			t.Errorf("%s: odd %v, want %v", test.name, got, test.odd)
		}
	}
}

// model is what is paused, nanosecond by nanosecond: one more way to count.
type model struct {
	until map[MAC]*[1 + wire.PFCClasses]int64
	count map[MAC]*[1 + wire.PFCClasses]time.Duration
	any   time.Duration
}

func (m *model) frame(f *Frame) {
	if m.until[f.Src] == nil {
		m.until[f.Src], m.count[f.Src] = new([1 + wire.PFCClasses]int64), new([1 + wire.PFCClasses]time.Duration)
	}
	if f.Plain {
		m.until[f.Src][0] = f.Time + int64(f.Quanta[0])
		return
	}
	for class := range wire.PFCClasses {
		if f.Enabled&(1<<class) != 0 {
			m.until[f.Src][1+class] = f.Time + int64(f.Quanta[class])
		}
	}
}

// tick counts the nanosecond that begins now.
func (m *model) tick(now int64) {
	anything := false
	for src, until := range m.until {
		for i := range until {
			if now < until[i] {
				m.count[src][i]++
				anything = true
			}
		}
	}
	if anything {
		m.any++
	}
}

func TestTimeIsCountedAsNanosecondByNanosecond(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 5))
		track, truth := NewTracker(), &model{until: map[MAC]*[9]int64{}, count: map[MAC]*[9]time.Duration{}}
		track.Speed = quantumPerNanosecond
		const end = 2000
		number := 0
		for now := range int64(end) {
			if got := track.Clock(now); got != truth.any {
				t.Fatalf("seed %d: at %d ns the clock of pauses shows %d, want %d", seed, now, got, truth.any)
			}
			for dice.IntN(40) == 0 {
				number++
				f := Frame{Number: number, Time: now, Src: MAC{5: byte(dice.IntN(3))}, Dst: group, Plain: dice.IntN(4) == 0, Enabled: uint16(dice.IntN(256))}
				for class := range f.Quanta {
					f.Quanta[class] = uint16(dice.IntN(2) * dice.IntN(100))
				}
				track.Frame(&f)
				truth.frame(&f)
			}
			truth.tick(now)
		}
		track.Finish(end)
		for _, l := range track.Links() {
			got := [1 + wire.PFCClasses]time.Duration{l.Plain.Paused}
			for class := range l.Classes {
				got[1+class] = l.Classes[class].Paused
			}
			if got != *truth.count[l.Src] {
				t.Fatalf("seed %d: %v paused for %v, want %v", seed, l.Src, got, *truth.count[l.Src])
			}
		}
	}
}

func TestHostileFrames(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	track := NewTracker()
	track.Speed = 1
	times := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64, math.MaxInt64 - 1, 1 << 62}
	for i := range 20000 {
		f := Frame{Number: i, Time: times[dice.IntN(len(times))], Plain: dice.IntN(2) == 0, Enabled: uint16(dice.Uint32())}
		if dice.IntN(2) == 0 {
			f.Time = int64(dice.Uint64())
		}
		f.Src[0], f.Src[1] = byte(dice.IntN(2)), byte(dice.Uint32())
		for class := range f.Quanta {
			f.Quanta[class] = uint16(dice.Uint32())
		}
		track.Frame(&f)
		if track.Clock(f.Time) < 0 {
			t.Fatal("the clock of pauses is negative")
		}
	}
	track.Finish(math.MaxInt64)
	for _, l := range track.Links() {
		for class := All; class < wire.PFCClasses; class++ {
			c := l.Channel(class)
			if c.Paused < 0 || c.Longest < 0 || c.Held < 0 || c.Longest > c.Paused {
				t.Errorf("%v: %+v", l.Src, *c)
			}
		}
	}
	if len(track.Links()) != maxLinks || track.Unlisted == 0 || track.Backwards == 0 {
		t.Errorf("%d links, %d frames unlisted, %d backwards", len(track.Links()), track.Unlisted, track.Backwards)
	}
}

func TestFramesNeedNoMemory(t *testing.T) {
	track := NewTracker()
	frames := []*Frame{pfc(1, 0, left, 3, 50), pfc(2, 0, right, 3, 0), plain(3, 0, left, 9)}
	n := 0
	if allocs := testing.AllocsPerRun(1000, func() {
		n++
		f := frames[n%3]
		f.Time += 1000
		track.Frame(f)
	}); allocs != 0 {
		t.Errorf("%v allocations a frame", allocs)
	}
}
