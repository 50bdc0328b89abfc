package analysis

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestRatesAreRoundedIntoTheNextUnit(t *testing.T) {
	for bits, want := range map[int64]string{
		0: "0 bit/s", 999: "999 bit/s", 999_499: "999 kbit/s", 999_500: "1 Mbit/s", 999_999_999: "1 Gbit/s", 100e9: "100 Gbit/s", 999_700e9: "1 Pbit/s",
	} {
		if got := speed(bits); got != want {
			t.Errorf("%d is %s, want %s", bits, got, want)
		}
	}
}

func TestAClockThatWasSetBackIsNoLongNumber(t *testing.T) {
	for d, want := range map[time.Duration]string{-1388 * time.Second: "-1388 s", -5: "-5 ns", 0: "0 ns", time.Hour: "3600 s"} {
		if got := Duration(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}

func TestALIDIsNoIPv6Address(t *testing.T) {
	for addr, want := range map[netip.Addr]string{wire.LIDAddr(4): "LID 4", netip.MustParseAddr("::4"): "::4"} {
		if got := Address(addr); got != want {
			t.Errorf("%v is %s, want %s", addr, got, want)
		}
	}
	if wire.LIDAddr(4) == netip.MustParseAddr("::4") {
		t.Error("they are the same to a tracker")
	}
}

func TestAStreamWithoutAnswersIsNotSaidToLackThem(t *testing.T) {
	for service, want := range map[wire.Service]string{
		wire.UC: "one direction, which has no answers", wire.RD: "reliable datagrams, one direction", wire.UD: "datagrams, one direction",
		wire.RC: "one direction, no answer was seen", wire.CNP: "notifications of congestion, to a queue pair of which nothing else was captured",
	} {
		if got := JoinedBy(&conversation.Conversation{Service: service}); got != want {
			t.Errorf("%s: %s", service, got)
		}
	}
}

func TestAnEndThatAsksNothingIsNotSaidToAsk(t *testing.T) {
	c := &conversation.Conversation{Service: wire.RC}
	c.Ends[0].Asks.Requests, c.Ends[1].Strange = 1, 3
	var b strings.Builder
	text := Text{Style: NewStyle(false)}
	text.part(&b, 1, c, nil)
	if got := b.String(); strings.Count(got, " asks\n") != 1 || !strings.Contains(got, "sent 3 packets that nothing captured explains") {
		t.Errorf("got:\n%s", got)
	}
}
