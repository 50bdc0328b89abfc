package conversation

import (
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// TestASlowRequesterGoesOnSendingAgain pauses within what is sent again, before
// any time of an answer is known.
func TestASlowRequesterGoesOnSendingAgain(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for psn := range wire.PSN(4) {
		s.send(100 + psn)
	}
	s.nak(100, wire.RNRNak, 18) // 5.12 ms
	s.wait(8 * time.Millisecond)
	for psn := range wire.PSN(4) {
		s.send(100 + psn)
		s.wait(500 * time.Microsecond)
	}
	s.ack(103)
	s.track.Finish()
	s.want(RNRNak, RetransmitRNR)
}

// TestALatePacketIsSureWhenNothingWasAskedFor has many late packets close
// together, which puts other verdicts in doubt.
func TestALatePacketIsSureWhenNothingWasAskedFor(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	for _, psn := range []wire.PSN{102, 101, 104, 103, 106, 105, 107} {
		s.send(psn)
	}
	s.ack(107)
	s.track.Finish()
	s.want(Reordered, Reordered, Reordered)
}

// TestALateCopyBehindANakIsNoAnswerToIt lets a packet come too soon behind the
// NAK that asks for it; the requester goes back later.
func TestALateCopyBehindANakIsNoAnswerToIt(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for _, psn := range []wire.PSN{100, 102, 103} {
		s.send(psn)
	}
	s.nak(101, wire.Nak, wire.NakPSNSequence)
	s.now -= 900
	s.send(101)
	s.wait(5 * time.Microsecond)
	for psn := range wire.PSN(3) {
		s.send(101 + psn)
	}
	s.send(104)
	s.ack(104)
	s.track.Finish()
	var again []int
	for _, e := range s.told {
		if e.Kind == RetransmitNak {
			again = append(again, e.Packet)
		}
	}
	if !slices.Equal(again, []int{6}) {
		t.Errorf("sent again with packets %v: %v", again, s.told)
	}
}
