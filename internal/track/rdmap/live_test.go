package rdmap

import (
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// TestWhatIsSilentAndOverIsForgotten lets time pass behind connections that are
// open, closed by both ends, by one, reset, and not iWARP.
func TestWhatIsSilentAndOverIsForgotten(t *testing.T) {
	const silence = time.Minute
	iw := func(ends ...func(x *talk)) func(x *talk) {
		return func(x *talk) {
			x.connect()
			x.say(0, send(last, 1, 0, 10))
			for _, end := range ends {
				end(x)
			}
		}
	}
	fin := func(from int) func(x *talk) {
		return func(x *talk) { x.segment(from, tcpstream.FIN|tcpstream.ACK, nil) }
	}
	for _, test := range []struct {
		name string
		say  func(x *talk)
		gone time.Duration // after which silence
	}{
		{"open", iw(), maxIdle},
		{"closed by both ends", iw(fin(0), fin(1)), silence},
		{"closed by one", iw(fin(1)), maxIdle},
		{"reset", iw(func(x *talk) { x.segment(1, tcpstream.RST, nil) }), silence},
		{"not iWARP", func(x *talk) { x.segment(0, tcpstream.SYN, nil); x.segment(1, tcpstream.SYN|tcpstream.ACK, nil) }, silence},
	} {
		x := newTalk()
		test.say(x)
		track := NewTracker(iwarp.DefaultLimits())
		closed := 0
		track.Closed = func(c *Connection) { closed += c.Ends[0].Operations[Send].Messages }
		for i := range x.all {
			track.Segment(&x.all[i])
		}
		track.Expire(x.now+int64(test.gone), silence)
		if len(track.flows) != 1 {
			t.Errorf("%s: forgotten too early", test.name)
		}
		track.Expire(x.now+int64(test.gone)+1, silence)
		if left := track.cutter.Flush(); len(track.flows) != 0 || len(left) != 0 {
			t.Errorf("%s: %d connections and %d PDUs are left", test.name, len(track.flows), len(left))
		}
		if want := len(x.all) / 5; closed != want { // those with a message have five segments or more
			t.Errorf("%s: %d messages in closed connections, want %d", test.name, closed, want)
		}
	}
}
