package conversation

import (
	"net/netip"
	"testing"
	"unsafe"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestSizesAreNotUnderestimated(t *testing.T) {
	for name, s := range map[string]struct{ is, said uintptr }{
		"message": {unsafe.Sizeof(message{}), messageBytes},
		"doubted": {unsafe.Sizeof(doubted{}), doubtedBytes},
		"hole":    {unsafe.Sizeof(hole{}), holeBytes},
		"point":   {unsafe.Sizeof(point{}), pointBytes},
		"Region":  {unsafe.Sizeof(Region{}), regionBytes},
		"moment":  {unsafe.Sizeof(moment{}), momentBytes},
		"time":    {unsafe.Sizeof(sentTime{}), timeBytes},
		"sign":    {unsafe.Sizeof(sign{}), signBytes},
		"early":   {unsafe.Sizeof(early{}), packetBytes},
	} {
		if s.is > s.said || s.said > 2*s.is {
			t.Errorf("%s: %d bytes, said to be %d", name, s.is, s.said)
		}
	}
}

// unanswered sends messages that nothing answers on many queue pairs: rounds of a
// number of them on each.
func unanswered(t *testing.T, track *Tracker, pairs, rounds, packets int) {
	t.Helper()
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	number := 0
	for round := range rounds {
		for qpn := range pairs {
			for i := range packets {
				number++
				track.Packet(&Packet{
					Number: number, Time: int64(number), Src: a, Dst: b, DestQP: uint32(qpn + 1),
					PSN: wire.PSN(round*packets + i), Opcode: wire.OpSendOnly, Payload: 16, PKey: 0xffff,
				})
				if track.held > track.limits.Bytes {
					t.Fatalf("packet %d: %d bytes are held", number, track.held)
				}
			}
		}
	}
}

// TestMessagesAreGivenUpBeforeConversations has all queue pairs go on: each loses
// its oldest messages.
func TestMessagesAreGivenUpBeforeConversations(t *testing.T) {
	const pairs, rounds, packets = 200, 50, 10
	track := NewTracker(Limits{Conversations: 1000, Pending: 10, Bytes: 1 << 20})
	unfinished := 0
	track.Closed = func(c *Conversation) { unfinished += c.Ends[0].Asks.Unfinished }
	unanswered(t, track, pairs, rounds, packets)
	if track.Evicted() != 0 || track.open != pairs {
		t.Errorf("%d conversations were given up, %d are open", track.Evicted(), track.open)
	}
	if track.Finish(); unfinished != pairs*rounds*packets {
		t.Errorf("%d messages without an answer, want %d", unfinished, pairs*rounds*packets)
	}
}

// TestSilentConversationsAreGivenUp has queue pairs send much, one after the
// other: those that were silent longest are given up, before there are too many.
func TestSilentConversationsAreGivenUp(t *testing.T) {
	const pairs = 500
	track := NewTracker(Limits{Conversations: 1000, Pending: 10, Bytes: 1 << 20})
	closed := 0
	track.Closed = func(c *Conversation) {
		if closed++; c.Evicted && int(c.Ends[1].QPN) != closed {
			t.Errorf("queue pair %d was given up as number %d", c.Ends[1].QPN, closed)
		}
	}
	unanswered(t, track, pairs, 1, 200)
	if n := track.Evicted(); n == 0 || n != closed || track.open < 5 {
		t.Errorf("%d were given up, %d closed, %d are open", n, closed, track.open)
	}
	track.Finish()
	if track.held != 0 || closed != pairs {
		t.Errorf("at the end %d bytes are held, and %d are closed", track.held, closed)
	}
}
