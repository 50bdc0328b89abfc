package conversation

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// flow is a script of one requester that sends and gets CNPs.
type flow struct {
	*script
	psn wire.PSN
}

// newFlow has its directions joined by an answer that takes 10 us.
func newFlow(t *testing.T) *flow {
	f := &flow{newScript(t, DefaultLimits()), 100}
	f.data(0, false)
	f.wait(9 * time.Microsecond)
	f.answer()
	return f
}

// data sends a packet of 1000 bytes after a time.
func (f *flow) data(after time.Duration, ce bool) {
	f.wait(after)
	f.packet(alice, bob, 0x12, wire.OpSendOnly, f.psn, func(p *Packet) { p.CE, p.Payload, p.DSCP = ce, 1000, 26 })
	f.psn = f.psn.Add(1)
}

func (f *flow) answer() { f.ack(f.psn.Add(-1)) }

func (f *flow) cnp(after time.Duration) {
	f.wait(after)
	f.packet(bob, alice, 0x11, wire.OpcodeRoCECNP, 0, func(p *Packet) { p.Payload, p.DSCP = 0, 48 })
}

// end ends the capture and returns what there is about the sender.
func (f *flow) end() *Congestion {
	f.t.Helper()
	f.track.Finish()
	if len(f.closed) != 1 {
		f.t.Fatalf("%d conversations", len(f.closed))
	}
	for i := range f.closed[0].Ends {
		if e := &f.closed[0].Ends[i]; e.Addr == alice {
			return &e.Congestion
		}
	}
	f.t.Fatal("alice is no end")
	return nil
}

// kinds are the events about congestion, but for what each mark and CNP tells.
func (f *flow) kinds() (list []Event) {
	for _, e := range f.told {
		if e.Kind == CEUnanswered || e.Kind == CNPUnmarked || e.Kind == StallPaused {
			list = append(list, e)
		}
	}
	return list
}

func (f *flow) wantKinds(kinds ...Kind) {
	f.t.Helper()
	got := f.kinds()
	if len(got) != len(kinds) {
		f.t.Fatalf("told %v, want %v", got, kinds)
	}
	for i := range kinds {
		if got[i].Kind != kinds[i] {
			f.t.Fatalf("told %v, want %v", got, kinds)
		}
	}
}

func TestTheDelayRunsFromTheFirstMarkBehindACNP(t *testing.T) {
	f := newFlow(t)
	f.data(0, true)                  // t
	f.data(0, true)                  // t + 1 us
	f.data(0, false)                 // t + 2 us
	f.cnp(17 * time.Microsecond)     // t + 20 us
	f.data(0, false)                 // u = t + 21 us
	f.data(9*time.Microsecond, true) // v = t + 31 us
	f.cnp(38 * time.Microsecond)     // v + 39 us: 50 us behind the first
	f.cnp(99 * time.Microsecond)     // 100 us behind that, for a mark that was captured before it
	f.answer()
	g := f.end()
	if g.Marked != 3 || g.Notified != 3 || g.Early != 0 {
		t.Errorf("%d marks, %d CNPs, %d early", g.Marked, g.Notified, g.Early)
	}
	if h := g.Delay; h.Count() != 2 || h.Min() != 20*time.Microsecond || h.Max() != 39*time.Microsecond {
		t.Errorf("%d delays from %v to %v", h.Count(), h.Min(), h.Max())
	}
	if h := g.Interval; h.Count() != 2 || h.Min() != 50*time.Microsecond || h.Max() != 100*time.Microsecond {
		t.Errorf("%d intervals from %v to %v", h.Count(), h.Min(), h.Max())
	}
	if g.Data != (Class{DSCP: 26, Seen: true}) || g.CNP != (Class{DSCP: 48, Seen: true}) {
		t.Errorf("DSCP %+v, of the CNPs %+v", g.Data, g.CNP)
	}
	f.wantKinds()
}

func TestMarksWithoutACNPAreToldOnce(t *testing.T) {
	f := newFlow(t)
	for range 40 {
		f.data(99*time.Microsecond, true)
		f.answer()
	}
	f.cnp(0)
	for range 5 {
		f.data(99*time.Microsecond, true)
		f.answer()
	}
	f.end()
	f.wantKinds(CEUnanswered)
	e := f.kinds()[0]
	if e.Waited <= time.Millisecond || e.Waited > 1200*time.Microsecond || e.Packet != 3 || e.PSN != 101 {
		t.Errorf("%+v", e)
	}
}

func TestMarksAreNotUnansweredWhenNothingTells(t *testing.T) {
	t.Run("one direction", func(t *testing.T) {
		f := &flow{newScript(t, DefaultLimits()), 100}
		for range 40 {
			f.data(99*time.Microsecond, true)
		}
		f.end()
		f.wantKinds()
	})
	t.Run("answers that take long", func(t *testing.T) {
		f := &flow{newScript(t, DefaultLimits()), 100}
		f.data(0, false)
		f.wait(20 * time.Millisecond)
		f.answer()
		for range 40 {
			f.data(99*time.Microsecond, true)
		}
		f.answer()
		f.end()
		f.wantKinds()
	})
	t.Run("acknowledgements", func(t *testing.T) {
		f := newFlow(t)
		for range 40 {
			f.data(99*time.Microsecond, false)
			f.packet(bob, alice, 0x11, wire.OpAcknowledge, f.psn.Add(-1), func(p *Packet) { p.CE = true })
		}
		f.end()
		f.wantKinds()
	})
}

func TestACNPLongAfterTheMarksIsUnmarked(t *testing.T) {
	f := newFlow(t)
	f.cnp(0) // before any mark: the capture tells nothing
	f.data(0, true)
	f.cnp(0)
	for range 15 {
		f.data(99*time.Microsecond, false)
		f.answer()
	}
	f.cnp(0)
	g := f.end()
	f.wantKinds(CNPUnmarked)
	if e := f.kinds()[0]; g.Early != 1 || e.Packet != f.number || e.Waited < 1500*time.Microsecond {
		t.Errorf("%d early, %+v", g.Early, e)
	}
}

func TestACNPFindsTheOnlyStreamThatWaitsForOne(t *testing.T) {
	for _, others := range []int{0, 1, 2} {
		f := &flow{newScript(t, DefaultLimits()), 100}
		f.data(0, true)
		for i := range others {
			// The first has no mark, the second has.
			f.packet(alice, bob, 0x20+uint32(i), wire.OpSendOnly, 7, func(p *Packet) { p.CE = i == 1 })
		}
		f.cnp(0)
		h := f.track.halves[key{alice, bob, 0x12}]
		want := 1
		if others == 2 {
			want = 0
		}
		if got := h.sender().Congestion.Notified; got != want {
			t.Errorf("beside %d streams it got %d CNPs, want %d", others, got, want)
		}
	}
}

func TestTheRateBeforeAndAfterACNP(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after time.Duration // between packets
		end           time.Duration // of a last packet
		want          Reaction
	}{
		{"half as fast", 5 * time.Microsecond, 10 * time.Microsecond, 200 * time.Microsecond, Reaction{CNPs: 1, Slower: 1, Before: 20, After: 10}},
		{"as fast", 5 * time.Microsecond, 5 * time.Microsecond, 200 * time.Microsecond, Reaction{CNPs: 1, Before: 20, After: 20}},
		{"stopped for a while", 5 * time.Microsecond, time.Second, 200 * time.Microsecond, Reaction{CNPs: 1, Slower: 1, Before: 20}},
		{"stopped for ever", 5 * time.Microsecond, time.Second, 0, Reaction{}},
		{"too few before", 50 * time.Microsecond, 50 * time.Microsecond, 200 * time.Microsecond, Reaction{}},
	} {
		var r Reaction
		at := int64(1700000000) * int64(time.Second)
		for since := at - int64(time.Millisecond); since < at; since += int64(test.before) {
			r.pass(since, 1000)
		}
		r.notify(at)
		if test.before == test.after {
			r.notify(at + 1) // within the window
		}
		for since := at; since < at+int64(150*time.Microsecond); since += int64(test.after) {
			if test.after < time.Second {
				r.pass(since, 1000)
			}
		}
		if test.end > 0 {
			r.pass(at+int64(test.end), 1000)
		}
		if r.CNPs != test.want.CNPs || r.Slower != test.want.Slower {
			t.Errorf("%s: %d CNPs, %d slower", test.name, r.CNPs, r.Slower)
		}
		// One slot begins within the window.
		for _, n := range [][2]int64{{r.Before, test.want.Before}, {r.After, test.want.After}} {
			if got := n[0] / 1000; got > n[1] || got < n[1]*7/8-1 {
				t.Errorf("%s: %d packets, want %d", test.name, got, n[1])
			}
		}
		if test.want.CNPs == 1 && (r.Windows > ReactionWindow || r.Windows < ReactionWindow*7/8) {
			t.Errorf("%s: a window of %v", test.name, r.Windows)
		}
	}
}

func TestStallsAndPauses(t *testing.T) {
	const us = time.Microsecond
	for _, test := range []struct {
		name    string
		answers time.Duration // how long they take
		silence time.Duration
		paused  time.Duration
		done    bool // nothing is outstanding
		want    Stalls
		kinds   []Kind
	}{
		{"short", 10 * us, 90 * us, 90 * us, false, Stalls{}, nil},
		{"not paused", 10 * us, 500 * us, 0, false, Stalls{Count: 1, Time: 500 * us, Longest: 500 * us}, nil},
		{"paused a little", 10 * us, 500 * us, 100 * us, false, Stalls{Count: 1, Time: 500 * us, Longest: 500 * us, Paused: 1, PausedTime: 100 * us}, nil},
		{"paused", 10 * us, 500 * us, 400 * us, false, Stalls{Count: 1, Time: 500 * us, Longest: 500 * us, Paused: 1, PausedTime: 400 * us}, []Kind{StallPaused}},
		{"nothing outstanding", 10 * us, 500 * us, 400 * us, true, Stalls{}, nil},
		{"answers take longer", 600 * us, 500 * us, 400 * us, false, Stalls{}, nil},
	} {
		f := &flow{newScript(t, DefaultLimits()), 100}
		f.data(0, false)
		f.wait(test.answers - us)
		f.answer()
		if !test.done {
			f.data(0, false)
		}
		f.wait(test.silence - us)
		f.packet(alice, bob, 0x12, wire.OpSendOnly, f.psn, func(p *Packet) { p.Paused = test.paused })
		if test.want.Count > 0 {
			test.want.LongestAt = f.number
		}
		f.track.Finish()
		got := f.closed[0].Ends[0].Asks.Stalls
		got.begun, got.last, got.clock = false, 0, 0
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		f.wantKinds(test.kinds...)
	}
}

func TestAWaitThatAnRNRNakTellsIsNoStall(t *testing.T) {
	f := newFlow(t)
	f.data(0, false)
	f.nak(f.psn.Add(-1), wire.RNRNak, 14) // 1.28 ms
	f.wait(1300 * time.Microsecond)
	f.packet(alice, bob, 0x12, wire.OpSendOnly, f.psn.Add(-1), func(p *Packet) { p.Paused = time.Millisecond })
	f.answer()
	f.track.Finish()
	if got := f.closed[0].Ends[0].Asks.Stalls.Count; got != 0 {
		t.Errorf("%d stalls", got)
	}
}

func TestHostileCongestion(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	track := NewTracker(Limits{Conversations: 16, Pending: 16})
	track.Closed = func(c *Conversation) {
		for i := range c.Ends {
			g := &c.Ends[i].Congestion
			if g.Marked > c.Ends[i].CE || g.Reaction.Before < 0 || g.Reaction.After < 0 || g.Reaction.Slower > g.Reaction.CNPs {
				t.Errorf("%+v", g)
			}
		}
	}
	times := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1 << 62}
	opcodes := []wire.Opcode{wire.OpcodeRoCECNP, wire.OpcodeCNP, wire.OpSendOnly, wire.OpAcknowledge, wire.OpReadRequest, wire.OpReadResponseOnly}
	now := int64(0)
	for i := range 100000 {
		now += dice.Int64N(int64(50 * time.Microsecond))
		p := Packet{
			Number: i + 1, Time: now, Src: alice, Dst: bob, DestQP: uint32(dice.IntN(3)), Opcode: opcodes[dice.IntN(len(opcodes))],
			PSN: wire.PSN(dice.IntN(100)), CE: dice.IntN(2) == 0, Payload: dice.IntN(4096), DSCP: uint8(dice.IntN(64)),
			Paused: time.Duration(dice.Int64()),
		}
		if dice.IntN(2) == 0 {
			p.Src, p.Dst = p.Dst, p.Src
		}
		switch dice.IntN(20) {
		case 0:
			p.Time = times[dice.IntN(len(times))]
		case 1:
			p.Opcode, p.Syndrome = wire.Opcode(dice.Uint32()), wire.Syndrome(dice.Uint32())
		}
		track.Packet(&p)
	}
	track.Finish()
}

func TestCongestionNeedsNoMemory(t *testing.T) {
	track := NewTracker(DefaultLimits())
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	number, now := 0, int64(0)
	send := func(src, dst netip.Addr, qp uint32, op wire.Opcode, psn wire.PSN, payload int) {
		number++
		now += 10000
		p := Packet{
			Number: number, Time: now, Src: src, Dst: dst, DestQP: qp, Opcode: op, PSN: psn, Payload: payload, CE: payload > 0,
			Syndrome: wire.NewSyndrome(wire.Ack, wire.CreditsInvalid), Paused: time.Duration(now / 2),
		}
		track.Packet(&p)
	}
	psn := wire.PSN(0)
	round := func() {
		send(a, b, 0x12, wire.OpSendOnly, psn, 100)
		send(b, a, 0x11, wire.OpcodeRoCECNP, 0, 0)
		now += 200000
		send(b, a, 0x11, wire.OpAcknowledge, psn, 0)
		psn = psn.Add(1)
	}
	for range 100 {
		round()
	}
	if allocs := testing.AllocsPerRun(1000, round); allocs != 0 {
		t.Errorf("%v allocations a round", allocs)
	}
}
