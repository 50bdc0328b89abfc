package rates_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/wire"
)

// net is a tracker that is fed by hand.
type net struct {
	*conversation.Tracker
	number int
	now    int64
}

func newNet() *net {
	return &net{Tracker: conversation.NewTracker(conversation.DefaultLimits()), now: int64(time.Hour)}
}

// send lets an end of a connection send a packet.
func (n *net) send(from int, qp uint32, op wire.Opcode, psn wire.PSN, s wire.Syndrome, length int) {
	addrs := [...]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	n.number++
	n.Packet(&conversation.Packet{
		Number: n.number, Time: n.now, Src: addrs[from], Dst: addrs[1-from], DestQP: qp, PSN: psn, Opcode: op, Syndrome: s,
		Payload: length, WireLen: length + 62,
	})
}

// write sends a message of a packet, which is acknowledged after a time.
func (n *net) write(psn wire.PSN, length int, after time.Duration) {
	n.send(0, 0x12, wire.OpSendOnly, psn, 0, length)
	n.now += int64(after)
	n.send(1, 0x11, wire.OpAcknowledge, psn, wire.NewSyndrome(wire.Ack, 1), 0)
}

func TestRatesAreOfWhatCameSinceTheLookBefore(t *testing.T) {
	n, b := newNet(), rates.NewBoard()
	n.write(1, 938, time.Millisecond)
	if rows := b.Look(0, n.Tracker); len(rows) != 2 || rows[0].Bits != 0 || rows[0].Total.Messages != 1 || rows[0].P50 == 0 {
		t.Fatalf("first look: %+v", rows)
	}
	for psn := range wire.PSN(4) {
		n.write(2+psn, 938, 2*time.Millisecond)
	}
	n.send(0, 0x12, wire.OpSendOnly, 6, 0, 938)
	n.send(1, 0x11, wire.OpAcknowledge, 6, wire.NewSyndrome(wire.RNRNak, 1), 0)
	rows := b.Look(2*time.Second, n.Tracker)
	asks, answers := rows[0], rows[1]
	if asks.From.QPN != 0x11 || !asks.From.Known || asks.To.QPN != 0x12 || asks.Service != wire.RC {
		t.Errorf("from %v to %v by %v", asks.From, asks.To, asks.Service)
	}
	if asks.Bits != 5*1000*8/2 || asks.Packets != 2.5 || asks.Messages != 2 {
		t.Errorf("%g bit/s, %g packets/s, %g messages/s", asks.Bits, asks.Packets, asks.Messages)
	}
	if asks.New.RNRs != 1 || asks.New.NAKs != 0 || asks.Total.Messages != 5 || asks.New.Findings == 0 {
		t.Errorf("new %+v, in all %+v", asks.New, asks.Total)
	}
	if d := asks.P50 - 2*time.Millisecond; d > 100*time.Microsecond || d < -100*time.Microsecond {
		t.Errorf("half of the new messages took %v, want 2 ms", asks.P50)
	}
	if answers.Total.Messages != 0 || answers.New.Packets != 5 || answers.P50 != 0 || len(answers.Rates) != 2 {
		t.Errorf("answers: %+v", answers)
	}
	if total, fresh := rates.Sum(rows); total.Packets != 12 || fresh.Packets != 10 || fresh.RNRs != 1 {
		t.Errorf("sums %+v and %+v", total, fresh)
	}
}

func TestWhatHasEndedIsGone(t *testing.T) {
	n, b := newNet(), rates.NewBoard()
	n.write(1, 100, time.Millisecond)
	b.Look(time.Second, n.Tracker)
	n.Expire(n.now)
	if rows := b.Look(time.Second, n.Tracker); len(rows) != 2 {
		t.Errorf("%d rows, although the last packet has come now", len(rows))
	}
	n.Expire(n.now + 1)
	if rows := b.Look(time.Second, n.Tracker); len(rows) != 0 {
		t.Errorf("%d rows of what has ended", len(rows))
	}
}

func TestTheHistoryIsBounded(t *testing.T) {
	n, b := newNet(), rates.NewBoard()
	for i := range 3 * rates.History {
		n.write(wire.PSN(i), 938, time.Microsecond)
		b.Look(time.Second, n.Tracker)
	}
	rows := b.Look(time.Second, n.Tracker)
	if got := rows[0].Rates; len(got) != rates.History || got[0] != 8000 || got[rates.History-1] != 0 {
		t.Errorf("%d rates, %v", len(got), got)
	}
}

// TestNothingIsLostOrToldTwiceWhenConversationsEnd looks while two streams are not
// known to be one conversation, while they are, and when that is over.
func TestNothingIsLostOrToldTwiceWhenConversationsEnd(t *testing.T) {
	n, b := newNet(), rates.NewBoard()
	n.Closed, n.United = b.Close, b.Unite
	var sum rates.Counts
	look := func() {
		_, fresh := rates.Sum(b.Look(time.Second, n.Tracker))
		sum.Add(fresh)
		sum.Add(b.Ended)
	}
	n.send(1, 0x11, wire.OpSendOnly, 900, 0, 100)
	look()
	n.send(0, 0x12, wire.OpSendOnly, 7, 0, 100)
	look()
	n.send(0, 0x12, wire.OpAcknowledge, 900, wire.NewSyndrome(wire.Ack, 1), 0)
	n.send(1, 0x11, wire.OpAcknowledge, 7, wire.NewSyndrome(wire.Ack, 1), 0)
	look()
	if seen := n.Seen(); seen != 1 {
		t.Fatalf("%d conversations, want one of both streams", seen)
	}
	n.write(8, 100, time.Millisecond)
	n.Finish()
	look()
	look()
	if sum.Packets != 6 || sum.Messages != 3 || sum.Bytes != 3*162+3*62 {
		t.Errorf("in all %+v", sum)
	}
}
