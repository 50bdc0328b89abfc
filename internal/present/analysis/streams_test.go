package analysis

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/track/rdmap"
)

func TestEventsOfIWARPAreWrittenInALine(t *testing.T) {
	for _, test := range []struct {
		e    rdmap.Event
		want string
	}{
		{rdmap.Event{Kind: rdmap.MsnOrder, Queue: 1, Got: 7, Want: 6}, "IW-MSN-ORDER: a message does not have the sequence number that follows in its queue (MSN 7 instead of 6 on queue 1)"},
		{rdmap.Event{Kind: rdmap.MoOrder, Got: 4, Want: 0}, "IW-MO-ORDER: a segment does not begin where the one before it ended (MO 4 instead of 0 on queue 0)"},
		{rdmap.Event{Kind: rdmap.ReadSink, Got: 0x20, Want: 0x10, Cause: 5}, "IW-READ-SINK: a READ response goes elsewhere than its request says (0x20 instead of 0x10, because of packet 5)"},
		{rdmap.Event{Kind: rdmap.ReadDepth, Got: 3, Want: 2}, "IW-READ-DEPTH: more READs are outstanding than the other end can take (3 instead of 2)"},
		{rdmap.Event{Kind: rdmap.InvalidSTag, Got: 0x77, Cause: 5}, "IW-STAG-INVALID: an STag was used after its invalidation (STag 0x00000077, because of packet 5)"},
		{rdmap.Event{Kind: rdmap.Terminated, Got: 0x1201}, "IW-TERMINATE: an end gave the connection up and said why (DDP, Untagged Buffer Error, Invalid QN)"},
		{rdmap.Event{Kind: rdmap.Resent, Bytes: 1400}, "TCP-RESENT: TCP sent bytes again that had passed (1400 B)"},
		{rdmap.Event{Kind: rdmap.BadCRC}, "IW-CRC: FPDUs have a wrong CRC32c"},
	} {
		l := Events{}
		test.e.Packet = 9
		l.AddStream(nil, 0, test.e)
		if got := l.Comments(9); len(got) != 1 || got[0] != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// stream is a connection with one event at its first end, or none.
func stream(first, events int) *rdmap.Connection {
	c := &rdmap.Connection{First: first, Last: first + 9, Ended: 5e6, Initiator: 0}
	for i := range c.Ends {
		c.Ends[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}), 4000)
	}
	for range events {
		c.Ends[0].Tallies.Add(rdmap.Resent, first, 1)
	}
	return c
}

func TestIWARPConnectionsHaveParts(t *testing.T) {
	r := &Report{File: "x.pcap"}
	a, b := stream(20, 2), stream(1, 0)
	a.Ends[0].Start = rdmap.Start{Packet: 20, Revision: 1, CRC: true, Markers: true}
	a.Ends[1].Start = rdmap.Start{Packet: 21, Revision: 1}
	a.Ends[0].TCP.ZeroWindows, a.Ends[0].Missing, a.Ends[0].Unframed = 1, 7, 8
	b.Initiator = -1
	r.AddStream(b)
	r.AddStream(a)
	r.AddStream(stream(99, 0))
	r.Counts.Seen, r.Span.Last = 30, 5e6
	var out bytes.Buffer
	text := Text{Style: NewStyle(false), Conversations: 2}
	if err := text.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	const want = `x.pcap: 30 packets, 3 iWARP connections
who talks to whom:
  iWARP  192.0.2.1 and 192.0.2.2 in 3 conversations: 0 packets; warnings in 1
the worst findings:
  TCP-RESENT       2 times: TCP sent bytes again that had passed (packets 20, 20)
                   192.0.2.1:4000 to 192.0.2.2:4000
                   look at drop counters behind the capture point, and on the way of the
                   acknowledgements

iWARP 1  192.0.2.1:4000 and 192.0.2.2:4000
   packets 1 to 10 in 5.00 ms; the start-up frames were not captured
   192.0.2.1:4000 asks
     sends 0 FPDUs in 0 TCP segments
   192.0.2.2:4000 asks
     sends 0 FPDUs in 0 TCP segments

iWARP 2  192.0.2.1:4000 and 192.0.2.2:4000
   packets 20 to 29 in 5.00 ms; MPA revision 1, with CRCs, with markers in what 192.0.2.2:4000 sends
   192.0.2.1:4000 asks
     sends 0 FPDUs in 0 TCP segments
     had no room once, for 0 ns
     the capture lacks 7 B of what it sends
     in 8 B no FPDU was found
     TCP-RESENT                2  packets 20, 20
   192.0.2.2:4000 asks
     sends 0 FPDUs in 0 TCP segments

not listed: 1 iWARP connection; -n tells how many are
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestIWARPConnectionsThatAreNotListedAreCounted(t *testing.T) {
	r := &Report{}
	for n := range maxFindings + 10 {
		r.AddStream(stream(n, 1))
	}
	if len(r.streams.list) != maxFindings || r.streams.unlisted != 10 {
		t.Errorf("%d listed, %d not", len(r.streams.list), r.streams.unlisted)
	}
	if s := r.sums(Error, Warning)[0]; s.worst.Code.Name != "TCP-RESENT" || s.count != maxFindings+10 || s.where != maxFindings+10 {
		t.Errorf("%+v", s)
	}
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"iwarp_connections_unlisted":10,`) {
		t.Errorf("%v, %.300s", err, out.String())
	}
}
