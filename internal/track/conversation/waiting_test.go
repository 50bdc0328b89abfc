package conversation

import (
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// talker is a queue pair of the one host that talks to one of the other.
type talker struct {
	asking, answering uint32 // the queue pairs that the packets go to
	psn               wire.PSN
	unanswered        int
}

// talk lets queue pairs of two hosts talk interleaved, as chance will have it: they
// send messages, and a few of theirs are acknowledged together. At the end each
// has an answer.
func talk(track *Tracker, rng *rand.Rand, talkers []talker, packets int) {
	number := 0
	say := func(p Packet) {
		number++
		p.Number, p.Time, p.WireLen = number, int64(number)*100, 80
		track.Packet(&p)
	}
	send := func(one *talker) {
		say(Packet{Src: alice, Dst: bob, DestQP: one.asking, Opcode: wire.OpSendOnly, PSN: one.psn, Payload: 16})
		one.psn = one.psn.Add(1)
		one.unanswered++
	}
	answer := func(one *talker) {
		say(Packet{Src: bob, Dst: alice, DestQP: one.answering, Opcode: wire.OpAcknowledge, PSN: one.psn.Add(-1), Syndrome: wire.NewSyndrome(wire.Ack, wire.CreditsInvalid)})
		one.unanswered = 0
	}
	for number < packets-2*len(talkers) {
		if one := &talkers[rng.IntN(len(talkers))]; one.unanswered > 0 && rng.IntN(3) == 0 {
			answer(one)
		} else {
			send(one)
		}
	}
	for i := range talkers {
		send(&talkers[i])
		answer(&talkers[i])
	}
}

// talkersOf makes some whose queue pair numbers tell who belongs to
// whom, and who begin with PSNs that begin chooses.
func talkersOf(n int, begin func(i int) wire.PSN) []talker {
	list := make([]talker, n)
	for i := range list {
		list[i] = talker{asking: uint32(0x10000 + i), answering: uint32(0x20000 + i), psn: begin(i)}
	}
	return list
}

// joins counts the conversations that are joined, and fails for one whose two
// directions do not belong together.
func joins(t *testing.T, track *Tracker) (joined, alone int) {
	t.Helper()
	for c := range track.All() {
		if c.Joined == NotJoined {
			alone++
			continue
		}
		joined++
		a, b := c.Ends[0].QPN, c.Ends[1].QPN
		if max(a, b)-min(a, b) != 0x10000 {
			t.Fatalf("QP %#x is joined with %#x", a, b)
		}
	}
	return joined, alone
}

func TestThousandsOfQueuePairsBetweenTwoHostsAreJoined(t *testing.T) {
	for _, test := range []struct {
		name   string
		n      int
		begin  func(rng *rand.Rand, i int) wire.PSN
		joined int // at least
	}{
		{"apart", 3000, func(_ *rand.Rand, i int) wire.PSN { return wire.PSN(i * 4096) }, 3000},
		{"random", 3000, func(rng *rand.Rand, _ int) wire.PSN { return wire.PSN(rng.Uint32N(psns)) }, 3000},
		{"across the wrap", 200, func(_ *rand.Rand, i int) wire.PSN { return wire.PSN(0).Add(i*500 - 50_000) }, 200},
		{"crowded", 2000, func(rng *rand.Rand, _ int) wire.PSN { return wire.PSN(rng.Uint32N(1 << 17)) }, 100},
		{"all alike", 2000, func(*rand.Rand, int) wire.PSN { return 0 }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(2) {
				rng := rand.New(rand.NewPCG(seed, 1))
				track := NewTracker(DefaultLimits())
				talk(track, rng, talkersOf(test.n, func(i int) wire.PSN { return test.begin(rng, i) }), 25*test.n)
				joined, alone := joins(t, track)
				t.Logf("%d joined, %d halves alone", joined, alone)
				if joined < test.joined || 2*joined+alone != 2*test.n || track.Evicted() != 0 || track.Unplaced() != 0 {
					t.Errorf("%d joined, %d alone, %d evicted, %d packets had no room", joined, alone, track.Evicted(), track.Unplaced())
				}
				if joined+alone != track.Seen() {
					t.Errorf("%d conversations, %d are said to have been seen", joined+alone, track.Seen())
				}
				filed(t, track)
			}
		})
	}
}

// filed checks that each half that waits is filed once in each heap, and where it
// says.
func filed(t *testing.T, track *Tracker) {
	t.Helper()
	waiting := 0
	for _, c := range track.waiting {
		in := 0
		for id, cell := range c.cells {
			if cell.id != id || len(cell.heaps[byBegin]) != len(cell.heaps[byEnd]) || len(cell.heaps[byBegin]) == 0 {
				t.Fatalf("cell %+v is %+v", id, cell)
			}
			for by, list := range cell.heaps {
				for i, h := range list {
					if h.cell != cell || h.crowd != c || h.at[by] != i || i > 0 && h.ranks[by] < list[(i-1)/2].ranks[by] {
						t.Fatalf("half %d of a heap: %+v", i, h.place)
					}
				}
			}
			in += len(cell.heaps[byBegin])
		}
		sizes := 0
		for _, n := range c.sizes {
			sizes += n
		}
		if in != sizes || in > c.halves || len(c.marked) > c.halves {
			t.Fatalf("%d filed, %d by size, %d marked, of %d", in, sizes, len(c.marked), c.halves)
		}
		waiting += c.halves
	}
	if waiting > track.open {
		t.Fatalf("%d halves of %d conversations wait", waiting, track.open)
	}
}

// TestTheIndexFindsWhatComparingWithAllFinds files windows of any size anywhere,
// changes and removes some, and compares with all of them.
func TestTheIndexFindsWhatComparingWithAllFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	track := NewTracker(Limits{Conversations: 1 << 10, Pending: 1})
	var halves []*half
	for qp := range uint32(300) {
		c := &Conversation{}
		c.Ends[0].Asks.begun = true
		h := &half{conversation: c, key: key{alice, bob, qp}}
		halves = append(halves, h)
		track.waitAt(rng, h)
	}
	found, none, several := 0, 0, 0
	for range 20_000 {
		if h := halves[rng.IntN(len(halves))]; rng.IntN(8) == 0 {
			track.stopWaiting(h)
		} else {
			track.waitAt(rng, h)
		}
		psn := wire.PSN(rng.Uint32N(psns))
		if rng.IntN(2) == 0 {
			psn = wire.PSN(0).Add(rng.IntN(1024) - 512)
		}
		var want *half
		n := 0
		for _, h := range halves {
			from, length := h.sender().Asks.outstanding()
			if h.crowd != nil && psn.InRange(from, length) {
				want = h
				n++
			}
		}
		switch {
		case n == 0:
			none++
		case n > 1:
			want = nil
			several++
		default:
			found++
		}
		if got := track.asker(key{bob, alice, 99}, psn); got != want {
			t.Fatalf("PSN %v: found %+v, want %+v of %d", psn, got, want, n)
		}
	}
	t.Logf("one %d times, none %d times, several %d times", found, none, several)
	if found < 1000 || none < 1000 || several < 1000 {
		t.Error("not all cases were tried")
	}
	track.open = len(halves)
	filed(t, track)
}

// waitAt files a half with a window of any size, somewhere or near PSN 0.
func (t *Tracker) waitAt(rng *rand.Rand, h *half) {
	d := &h.sender().Asks
	d.acked = wire.PSN(rng.Uint32N(psns))
	if rng.IntN(2) == 0 {
		d.acked = wire.PSN(0).Add(rng.IntN(1024) - 512)
	}
	d.frontier = d.acked.Add(rng.IntN(1 << rng.IntN(20)))
	t.wait(h)
}

// TestAHostThatTalksToItselfIsNoAnswerToItself has both directions between the
// same addresses.
func TestAHostThatTalksToItselfIsNoAnswerToItself(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for _, psn := range []wire.PSN{100, 101} {
		s.packet(alice, alice, 0x12, wire.OpSendOnly, psn, nil)
	}
	s.packet(alice, alice, 0x12, wire.OpAcknowledge, 101, nil)
	if c := s.track.silent.newest; c.Joined != NotJoined || c.Ends[0].Strange != 1 {
		t.Errorf("an answer of its own joined it: %+v", c)
	}
	s.packet(alice, alice, 0x11, wire.OpAcknowledge, 101, nil)
	if c := s.track.silent.newest; c.Joined != ByAgreement || s.track.Seen() != 1 {
		t.Errorf("%d conversations", s.track.Seen())
	}
}

func TestAnswersToNothingTakeNoRoomFromOthers(t *testing.T) {
	const room = 100
	s := newScript(t, Limits{Conversations: room, Pending: 1})
	for qp := range uint32(room - 10) {
		s.packet(alice, bob, qp, wire.OpSendOnly, 50_000, nil)
	}
	for range 3 { // ten find room
		for qp := range uint32(1000) {
			var op wire.Opcode = wire.OpAcknowledge
			if qp%2 == 0 {
				op = wire.OpcodeRoCECNP
			}
			s.packet(bob, alice, 0x1000+qp, op, 7, nil)
		}
	}
	if s.track.Evicted() != 0 || s.track.open != room || s.track.Unplaced() != 3*990 {
		t.Fatalf("%d evicted, %d open, %d packets had no room", s.track.Evicted(), s.track.open, s.track.Unplaced())
	}
	// One that is silent for long makes room for another.
	s.wait(2e9)
	s.packet(bob, alice, 0x5000, wire.OpAcknowledge, 7, nil)
	if s.track.Evicted() != 1 || len(s.closed) != 1 || s.closed[0].Ends[1].QPN != 0x1000 {
		t.Fatalf("%d evicted", s.track.Evicted())
	}
	// Requests push out answers, the longest silent first, and then requests.
	for qp := range uint32(20) {
		s.packet(alice, bob, 0x2000+qp, wire.OpSendOnly, 50_000, nil)
	}
	if s.track.Evicted() != 21 || s.track.aside.oldest != nil || s.track.open != room {
		t.Fatalf("%d evicted, %d open", s.track.Evicted(), s.track.open)
	}
	for i, c := range s.closed[1:] {
		want := uint32(0x1001 + i)
		switch {
		case i == 9:
			want = 0x5000
		case i > 9:
			want = uint32(i - 10)
		}
		if c.Ends[1].QPN != want {
			t.Errorf("QP %#x is evicted as number %d, want %#x", c.Ends[1].QPN, i, want)
		}
	}
	// An answer to something finds it, although there is no room.
	s.packet(alice, bob, 0x3000, wire.OpSendOnly, 9_000_000, nil)
	s.packet(bob, alice, 0x3001, wire.OpAcknowledge, 9_000_000, nil)
	if c := s.track.silent.newest; c.Joined != ByAgreement {
		t.Errorf("not joined: %+v", c)
	}
}

func TestTheOldestRequestOfCMMakesRoom(t *testing.T) {
	s := newScript(t, Limits{Conversations: 1000, Pending: 3})
	const cm = wire.BaseUD + wire.OpSendOnly
	ask := func(id uint32) {
		s.packet(alice, bob, 1, cm, 0, func(p *Packet) { p.CM = &Exchange{ID: id, QPN: 0x100 + id, Service: wire.RC} })
	}
	reply := func(id uint32) {
		s.packet(bob, alice, 1, cm, 0, func(p *Packet) { p.CM = &Exchange{Reply: true, ID: 900 + id, RemoteID: id, QPN: 0x200 + id} })
	}
	for _, id := range []uint32{1, 2, 3, 1, 4} { // 1 comes again: 2 is the oldest
		ask(id)
	}
	if s.track.RequestsEvicted() != 1 || len(s.track.pending.by) != 3 {
		t.Fatalf("%d evicted, %d are kept", s.track.RequestsEvicted(), len(s.track.pending.by))
	}
	for id := range uint32(5) {
		reply(id)
	}
	joined := 0
	for c := range s.track.All() {
		if c.Joined == ByCM {
			joined++
			if c.Ends[0].QPN == 0x102 || c.Ends[1].QPN == 0x102 {
				t.Error("what was given up is joined")
			}
		}
	}
	if joined != 3 || len(s.track.pending.by) != 0 || s.track.pending.ring.newer != &s.track.pending.ring {
		t.Errorf("%d joined, %d are kept", joined, len(s.track.pending.by))
	}
}

func TestStreamsThatWaitCostNoAllocation(t *testing.T) {
	track := NewTracker(DefaultLimits())
	const pairs = 64
	number := 0
	round := func() {
		psn := wire.PSN(number / (2 * pairs))
		for qp := range uint32(pairs) {
			number++
			track.Packet(&Packet{Number: number, Time: int64(number) * 100, Src: alice, Dst: bob, DestQP: qp, Opcode: wire.OpSendOnly, PSN: psn, Payload: 16})
		}
		for qp := range uint32(pairs) {
			number++
			track.Packet(&Packet{Number: number, Time: int64(number) * 100, Src: bob, Dst: alice, DestQP: 0x100 + qp, Opcode: wire.OpAcknowledge, PSN: psn, Syndrome: 31})
		}
	}
	// All windows grow alike, and the lists of what is open with them up to their ends.
	for range 9000 {
		round()
	}
	if track.Seen() != 2*pairs {
		t.Fatalf("%d conversations: not all wait", track.Seen())
	}
	if got := testing.AllocsPerRun(100, round); got != 0 {
		t.Errorf("%v allocations in %d packets", got, 2*pairs)
	}
}

func BenchmarkManyBetweenTwoHosts(b *testing.B) {
	for name, begin := range map[string]func(i int) wire.PSN{
		"random": func(i int) wire.PSN { return wire.PSN(i*7919*1024) & (psns - 1) },
		"alike":  func(int) wire.PSN { return 0 },
	} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			track := NewTracker(DefaultLimits())
			list := talkersOf(DefaultLimits().Conversations, begin)
			b.ReportAllocs()
			talk(track, rng, list, b.N)
			b.ReportMetric(float64(track.Seen()), "conversations")
			b.ReportMetric(float64(track.Unplaced()), "unplaced")
			b.ReportMetric(float64(track.Evicted()), "evicted")
		})
	}
}
