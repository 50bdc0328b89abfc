package conversation

import (
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestInOneDirectionWhatIsSentAgainSoonHasNoCauseThatWasCaptured(t *testing.T) {
	for name, c := range map[string]struct {
		wait    time.Duration
		answers bool
		want    Kind
	}{
		"a NAK may have come":           {10 * time.Millisecond, false, RetransmitUnseen},
		"too long for any answer":       {60 * time.Millisecond, false, RetransmitTimeout},
		"answers come, but none before": {10 * time.Millisecond, true, RetransmitTimeout},
	} {
		s := newScript(t, DefaultLimits())
		s.send(100)
		s.send(101)
		s.send(102)
		s.wait(c.wait)
		s.send(100)
		s.send(101)
		s.send(102)
		if c.answers {
			s.ack(102)
			s.send(103)
			s.packet(bob, alice, 0x11, wire.OpAcknowledge, 103, func(p *Packet) { p.MSN = 1 })
		}
		s.track.Finish()
		if len(s.told) != 1 || s.told[0].Kind != c.want || s.told[0].Packet != 4 {
			t.Errorf("%s: told %+v", name, s.told)
		}
		shortest := s.closed[0].Ends[0].Asks.ShortestTimeout
		if (shortest > 0) != (c.want == RetransmitTimeout) {
			t.Errorf("%s: the shortest timeout is %v", name, shortest)
		}
	}
}

func TestSuspectsAreBounded(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for psn := range wire.PSN(100) {
		for range 2 {
			s.send(2 * psn)
			s.send(2*psn + 1)
			s.wait(time.Millisecond)
		}
		if n := len(s.track.halves[key{alice, bob, 0x12}].sender().Asks.suspects); n > maxSuspects {
			t.Fatalf("%d wait for an answer", n)
		}
	}
	s.track.Finish()
	unseen := 0
	for _, e := range s.told {
		if e.Kind == RetransmitUnseen {
			unseen++
		}
	}
	if unseen != 100 {
		t.Errorf("%d of 100 are told", unseen)
	}
}

func TestNAKsAreToldWithoutTheRequests(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.ack(99)
	s.nak(100, wire.Nak, wire.NakRemoteAccess)
	s.nak(200, wire.Nak, wire.NakPSNSequence)
	s.nak(200, wire.RNRNak, 14)
	s.want(NakAccess, NakSequence, RNRNak)
	s.track.Finish()
	if c := s.closed[0]; c.Ends[0].Strange != 4 || c.Ends[1].Asks.Tallies.Of(NakAccess).Count != 1 {
		t.Errorf("%+v", c.Ends)
	}
}

func TestNAKsBeforeTheDirectionsAreJoinedStayCounted(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.nak(100, wire.Nak, wire.NakPSNSequence)
	s.send(100)
	s.ack(100)
	s.track.Finish()
	if len(s.closed) != 1 || s.closed[0].Ends[1].Asks.Tallies.Of(NakSequence).Count != 1 {
		t.Errorf("%d conversations, %+v", len(s.closed), s.closed[0].Ends)
	}
}

func TestACopyIsCountedAndNotFollowed(t *testing.T) {
	s := newScript(t, DefaultLimits())
	again := func(p *Packet) { p.Copy = true }
	s.send(100)
	s.packet(alice, bob, 0x12, wire.OpSendOnly, 100, again)
	s.send(101)
	s.wait(time.Second)
	s.packet(alice, bob, 0x12, wire.OpSendOnly, 101, again)
	s.ack(101)
	s.packet(bob, alice, 0x11, wire.OpAcknowledge, 101, again)
	s.want(Duplicate, Duplicate)
	s.track.Finish()
	c := s.closed[0]
	if asks := c.Ends[0].Asks; asks.Requests != 2 || asks.Again != 0 || asks.DuplicateReqs != 2 || asks.DuplicateAcks != 0 || c.Packets() != 6 {
		t.Errorf("%+v of %d packets", asks, c.Packets())
	}
}

// Of a capture that is cut behind 64 bytes the RETH is not whole.
func TestWithoutADMALengthNothingIsSaidAboutLengths(t *testing.T) {
	s := newScript(t, DefaultLimits())
	cut := func(payload int) func(p *Packet) {
		return func(p *Packet) { p.Payload, p.Unsized = payload, true }
	}
	s.packet(alice, bob, 0x12, wire.OpWriteFirst, 100, cut(1024))
	s.packet(alice, bob, 0x12, wire.OpWriteLast, 101, func(p *Packet) { p.Payload = 500 })
	s.packet(alice, bob, 0x12, wire.OpReadRequest, 102, cut(0))
	s.ack(101)
	answer := func(op wire.Opcode, psn wire.PSN) {
		s.packet(bob, alice, 0x11, op, psn, func(p *Packet) { p.Payload = 1024 })
	}
	answer(wire.OpReadResponseFirst, 102)
	answer(wire.OpReadResponseMiddle, 103)
	answer(wire.OpReadResponseLast, 104)
	s.packet(alice, bob, 0x12, wire.OpReadRequest, 105, cut(0))
	s.send(107)
	answer(wire.OpReadResponseFirst, 105)
	answer(wire.OpReadResponseLast, 106)
	s.ack(107)
	s.track.Finish()
	s.want()
	asks := &s.closed[0].Ends[0].Asks
	if w, r := asks.Operations[Write].Messages, asks.Operations[Read].Messages; w != 1 || r != 2 || asks.Unfinished != 0 || len(asks.Asked().Regions) != 0 {
		t.Errorf("%d WRITEs, %d READs, %d not finished, regions %v", w, r, asks.Unfinished, asks.Asked().Regions)
	}
}

func TestTalliesOfBothPlacesAreJoined(t *testing.T) {
	var a, b Tallies
	a.Add(Lost, 9, 1)
	b.Add(Lost, 4, 2)
	b.Add(Missed, 5, 1)
	a.Join(b)
	if lost := a.Of(Lost); lost.Count != 2 || lost.Packets != 3 || !slices.Equal(lost.First(), []int{4, 9}) || a.Of(Missed).Count != 1 {
		t.Errorf("%+v", a)
	}
}
