package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestEveryKindOfEventHasOneCodeAndAnExplanation(t *testing.T) {
	kinds := map[any]bool{}
	names := map[string]bool{}
	for _, c := range Codes() {
		if kinds[c.Kind] || names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		kinds[c.Kind], names[c.Name] = true, true
		if c.Title == "" || c.Next == "" || c.Means == "" || c.Cause == "" || c.Name != strings.ToUpper(c.Name) {
			t.Errorf("%s lacks a text", c.Name)
		}
		found, ok := Find(strings.ToLower(c.Name))
		if !ok || found.Kind != c.Kind {
			t.Errorf("%s is not found by its name", c.Name)
		}
		for line := range strings.Lines(string(c.Append(nil))) {
			if width := len(line) - 1; width > 120 || strings.HasSuffix(line, " \n") {
				t.Errorf("%s: a line of %d: %q", c.Name, width, line)
			}
		}
		for text := range strings.FieldsSeq(c.Means + " " + c.Cause + " " + c.Next) {
			name := strings.Trim(text, ".,;:")
			if strings.Count(name, "-") > 0 && name == strings.ToUpper(name) && len(name) > 4 {
				if _, ok := Find(name); !ok {
					t.Errorf("%s speaks of %s, which is no code", c.Name, name)
				}
			}
		}
	}
	if want := int(conversation.Kinds) + int(connect.Kinds) + int(pause.Kinds) + int(rdmap.Kinds) + 1; len(kinds) != want {
		t.Errorf("%d kinds have a code, there are %d", len(kinds), want)
	}
	if _, ok := Find("NOTHING"); ok {
		t.Error("a code that is none is found")
	}
}

// sample is a report of two conversations: one with an RNR NAK, one that is fine.
func sample() *Report {
	r := &Report{File: "x.pcap", Counts: survey.Counts{Seen: 9, TCP: 1, Pause: 2}, Span: survey.Span{Last: 3000000}}
	track := conversation.NewTracker(conversation.DefaultLimits())
	track.Closed = r.Add
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	number := 0
	packet := func(src, dst netip.Addr, qp uint32, op wire.Opcode, psn wire.PSN, s wire.Syndrome) {
		number++
		p := conversation.Packet{
			Number: number, Time: int64(number) * int64(time.Millisecond), Src: src, Dst: dst, DestQP: qp, Opcode: op, PSN: psn,
			Syndrome: s, Payload: 100, WireLen: 162,
		}
		track.Packet(&p)
	}
	for qp := range uint32(2) {
		psn := wire.PSN(1000 * (1 + qp))
		packet(a, b, 0x21+qp, wire.OpSendOnly, psn, 0)
		if qp == 0 {
			packet(b, a, 0x11, wire.OpAcknowledge, psn, wire.NewSyndrome(wire.RNRNak, 1))
			packet(a, b, 0x21, wire.OpSendOnly, psn, 0)
		}
		packet(b, a, 0x11+qp, wire.OpAcknowledge, psn, wire.NewSyndrome(wire.Ack, wire.CreditsInvalid))
	}
	track.Finish()
	r.Seen = track.Seen()
	return r
}

func TestTheSummaryNamesTheWorstFirst(t *testing.T) {
	var b bytes.Buffer
	text := Text{Style: NewStyle(false), Conversations: 1}
	if err := text.Write(&b, sample()); err != nil {
		t.Fatal(err)
	}
	const want = `x.pcap: 9 packets, 2 conversations
not followed: 1 TCP segment, 2 pause frames
who talks to whom:
  RC     192.0.2.1 and 192.0.2.2 in 2 conversations: 2 messages, 200 B; 33% of the request packets sent again, warnings in 1
the worst findings:
  RNR-NAK          once: the responder had no receive request for a message (packet 2)
                   192.0.2.1 QP 0x000011 to 192.0.2.2 QP 0x000021
                   look at the depth of the receive queue against the sender's; the minimal RNR
                   timer (code 0 is 655 ms)
  RESEND-RNR       once: the requester sent again after an RNR NAK (packet 3)
                   192.0.2.1 QP 0x000011 to 192.0.2.2 QP 0x000021
                   look at how many receive requests the responder posts, and when
  look closer      rocecap flow --around 2 x.pcap

1  RC  192.0.2.1 QP 0x000011 and 192.0.2.2 QP 0x000021
   packets 1 to 4 in 3.00 ms; the two directions belong together by 2 answers
   192.0.2.1 QP 0x000011 asks
     SEND              1 message           100 B  50% in 3.00 ms, 99% in 3.00 ms, all in 3.00 ms
     sent again 1 of 2 request packets, 100 B of them for nothing
     throughput 267 kbit/s in 3.00 ms, at most 48.8 Mbit/s in 16.4 us
     outstanding at most 1 packet, 100 B
     from the RNR NAK to sending again: once, in 1.00 ms
     RNR-NAK                   1  packet 2
     RESEND-RNR                1  packet 3
     counters: rnr_nak_retry_err 1, duplicate_request 1

not listed: 1 conversation; -n tells how many are
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestColoursChangeNothingElse(t *testing.T) {
	var plain, coloured bytes.Buffer
	for buffer, style := range map[*bytes.Buffer]*Style{&plain: NewStyle(false), &coloured: NewStyle(true)} {
		text := Text{Style: style, Conversations: 9}
		if err := text.Write(buffer, sample()); err != nil {
			t.Fatal(err)
		}
	}
	stripped := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[33m", "").Replace(coloured.String())
	if !strings.Contains(coloured.String(), "\x1b[33m") || stripped != plain.String() {
		t.Errorf("coloured %q\nplain %q", coloured.String(), plain.String())
	}
}

func TestJSONHoldsEverything(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	r.QPs = []uint32{0x22} // chosen when added: changes nothing now
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got jsonReport
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first := got.Conversations[0]
	counters := first.Ends[0].Counters
	switch {
	case got.Version != 1, len(got.Conversations) != 2, got.Seen != 2, len(got.Findings) != 2:
		t.Errorf("%+v", got)
	case first.Joined != "agreement", first.Agreements != 2, *first.Ends[0].QP != 0x11, first.Ends[0].Requests.SentAgain != 1:
		t.Errorf("%+v", first)
	case len(counters) != 13, counters["rnr_nak_retry_err"] != 1, counters["duplicate_request"] != 1:
		t.Errorf("%v", counters)
	case first.Ends[0].Operations[0].Latency.Max != int64(3*time.Millisecond):
		t.Errorf("%+v", first.Ends[0].Operations[0].Latency)
	}
}

func TestConversationsAreChosen(t *testing.T) {
	for _, test := range []struct {
		qps   []uint32
		hosts []string
		want  int
	}{
		{nil, nil, 2},
		{[]uint32{0x22}, nil, 1},
		{[]uint32{0x11, 0x12}, nil, 2},
		{nil, []string{"192.0.2.2"}, 2},
		{nil, []string{"192.0.2.9"}, 0},
		{[]uint32{0x22}, []string{"192.0.2.9"}, 0},
	} {
		r := &Report{QPs: test.qps}
		for _, h := range test.hosts {
			r.Hosts = append(r.Hosts, netip.MustParseAddr(h))
		}
		for _, c := range sample().list() {
			r.Add(c)
		}
		if got := len(r.list()); got != test.want {
			t.Errorf("%v %v choose %d conversations, want %d", test.qps, test.hosts, got, test.want)
		}
	}
}

func TestDurationsHaveThreeDigits(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"},
		{999, "999 ns"},
		{1500, "1.50 us"},
		{67108864, "67.1 ms"},
		{262443983, "262 ms"},
		{4290 * time.Millisecond, "4.29 s"},
		{8796 * time.Second, "8796 s"},
	} {
		if got := Duration(test.d); got != test.want {
			t.Errorf("%d is written %q, want %q", test.d, got, test.want)
		}
	}
	for d, want := range map[time.Duration]int{4096: 0, 8192: 1, 67108864: 14, 67108863: 13, 86567299: 14} {
		if got := setting(d); got != want {
			t.Errorf("%s", fmt.Sprint(d, got, want))
		}
	}
}

func TestWhatIsNotListedIsCounted(t *testing.T) {
	r := &Report{}
	for _, c := range sample().list() {
		for range maxFindings + 10 {
			r.Add(c)
		}
	}
	// The first has an RNR NAK and leaves no room for the second, which has nothing.
	if len(r.list()) != maxFindings || r.unlisted != 10+maxFindings+10 {
		t.Errorf("%d listed, %d not", len(r.list()), r.unlisted)
	}
	if s := r.sums(Error, Warning)[0]; s.worst.Code.Name != "RNR-NAK" || s.count != maxFindings+10 || s.where != maxFindings+10 {
		t.Errorf("%+v", s)
	}
}
