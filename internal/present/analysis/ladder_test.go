package analysis

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestAnEventIsDescribedInALine(t *testing.T) {
	for _, test := range []struct {
		e    conversation.Event
		want string
	}{
		{conversation.Event{Kind: conversation.NakSequence, PSN: 5, N: 1}, "NAK-SEQUENCE: the responder missed a PSN and said so (PSN 5)"},
		{conversation.Event{Kind: conversation.Missed, PSN: 5, N: 3}, "CAPTURE-MISSED: the capture misses requests that arrived (PSN 5 and 2 behind it)"},
		{
			conversation.Event{Kind: conversation.RetransmitNak, PSN: 5, N: 1, Cause: 7, Waited: time.Millisecond},
			"RESEND-NAK: the requester sent again after a NAK PSN sequence error (PSN 5, because of packet 7, after 1.00 ms)",
		},
		{
			conversation.Event{Kind: conversation.RNRNak, PSN: 5, N: 1, Waited: 5 * time.Millisecond},
			"RNR-NAK: the responder had no receive request for a message (PSN 5, to wait 5.00 ms)",
		},
	} {
		if got := Describe(test.e); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// rungs draws three packets of two ends and one of others.
func rungs(t *testing.T, lines bool) string {
	t.Helper()
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	c := &conversation.Conversation{Service: wire.RC, First: 1, Last: 4}
	c.Ends = [2]conversation.End{{Addr: a, QPN: 1, Known: true}, {Addr: b, QPN: 2, Known: true}}
	events := &Events{}
	events.Add(c, 0, conversation.Event{Kind: conversation.NakSequence, Packet: 3, PSN: 8, N: 1})
	l := Ladder{Style: NewStyle(false), Lines: lines, Conversation: c, Events: events}
	out := &strings.Builder{}
	if err := l.Head(out); err != nil {
		t.Fatal(err)
	}
	for _, p := range []conversation.Packet{
		{Number: 1, Src: a, Dst: b, DestQP: 2, Opcode: wire.OpReadRequest, PSN: 7, DMALen: 100},
		{Number: 2, Src: a, Dst: b, DestQP: 3, Opcode: wire.OpSendOnly},
		{Number: 3, Time: 2500, Src: b, Dst: a, DestQP: 1, Opcode: wire.OpAcknowledge, PSN: 8, Syndrome: wire.NewSyndrome(wire.Nak, wire.NakPSNSequence)},
		{Number: 4, Time: 1500, Src: b, Dst: a, DestQP: 1, Opcode: wire.OpReadResponseOnly, PSN: 7, Payload: 100},
		{Number: 5, Src: a, Dst: b, DestQP: 2, Opcode: wire.OpSendOnly},
	} {
		if l.Sender(&p) < 0 {
			continue
		}
		if err := l.Packet(out, &p); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestTheLadderShowsWhoSentWhat(t *testing.T) {
	const want = `RC, packets 1 to 4
  packet         time     delta  192.0.2.1 QP 0x000001                    192.0.2.2 QP 0x000002
       1     0.000000            |-- RC RDMA READ Request PSN 7, for 100 B ------------------>|
       3     0.000003  +2.50 us  |<--------------------------- NAK PSN Sequence Error PSN 8 --|
                                 ! NAK-SEQUENCE: the responder missed a PSN and said so (PSN 8)
       4     0.000002  -1.00 us  |<---------------- RC RDMA READ Response Only PSN 7, 100 B --|
`
	got := rungs(t, false)
	if got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if line = strings.TrimRight(line, "\n"); strings.Contains(line, "|") && len(line) != 33+rungWidth+2 {
			t.Errorf("a line of %d: %s", len(line), line)
		}
	}
	if text := rungs(t, true); !strings.Contains(text, "│◀───") || !strings.Contains(text, "─▶│") {
		t.Errorf("no lines:\n%s", text)
	}
}
