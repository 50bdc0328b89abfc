package conversation

import (
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// TestSilenceBehindTheLastRetryIsTheEnd has a requester try again some times, and then
// nothing more, while another conversation goes on.
func TestSilenceBehindTheLastRetryIsTheEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		retries int
		silence time.Duration
		agreed  int // retries that CM agreed on, 0 for none
		want    bool
	}{
		{"seven retries and silence", 7, time.Second, 0, true},
		{"seven retries, and the capture ends", 7, 200 * time.Millisecond, 0, false},
		{"one retry, whose answer may not have been captured", 1, time.Second, 0, false},
		{"as many as agreed on", 1, time.Second, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(t, DefaultLimits())
			s.send(100)
			s.ack(100)
			if test.agreed > 0 {
				s.track.halves[key{alice, bob, 0x12}].sender().Asks.Terms = Terms{Agreed: true, Asked: true, Retries: test.agreed, RNRRetries: Unlimited}
			}
			s.send(101)
			for range test.retries {
				s.wait(70 * time.Millisecond)
				s.send(101)
			}
			last := s.number
			s.wait(test.silence)
			s.packet(alice, bob, 0x99, wire.OpSendOnly, 7, nil)
			s.track.Finish()
			var got *Event
			for i := range s.told {
				if s.told[i].Kind == RetriesSpent {
					got = &s.told[i]
				}
			}
			if (got != nil) != test.want {
				t.Fatalf("told %v", s.told)
			}
			if got != nil && (got.Packet != last || got.PSN != 101 || got.N != test.retries+1) {
				t.Errorf("told %+v", *got)
			}
		})
	}
}

func TestSilenceBehindTheLastRNRNakIsTheEnd(t *testing.T) {
	for _, until := range []time.Duration{20 * time.Millisecond, time.Second} {
		s := newScript(t, DefaultLimits())
		s.send(100)
		s.ack(100)
		s.send(101)
		for range 3 {
			s.nak(101, wire.RNRNak, 10) // 320 us
			s.wait(400 * time.Microsecond)
			s.send(101)
		}
		last := s.number
		s.nak(101, wire.RNRNak, 10)
		s.track.Until = s.now + int64(until)
		s.track.Finish()
		end := s.told[len(s.told)-1]
		if want := until == time.Second; (end.Kind == RNRSpent) != want {
			t.Fatalf("after %v told %+v", until, end)
		} else if want && (end.Packet != last || end.Cause != last+1 || end.N != 4) {
			t.Errorf("told %+v", end)
		}
	}
}
