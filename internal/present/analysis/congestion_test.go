package analysis

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

// congested is a report of a sender that is marked, notified, slower, and paused.
func congested() *Report {
	r := &Report{File: "x.pcap"}
	track := survey.NewTracker()
	track.Conversations.Closed = r.Add
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var facts survey.Facts
	number, msn := 0, uint32(0)
	packet := func(at int64, src, dst netip.Addr, qp uint32, op wire.Opcode, psn wire.PSN) *conversation.Packet {
		number++
		p := conversation.Packet{
			Number: number, Time: at * int64(time.Microsecond), Src: src, Dst: dst, DestQP: qp, Opcode: op, PSN: psn, WireLen: 1000,
			MSN: msn,
		}
		facts.Packets = append(facts.Packets, p)
		return &facts.Packets[len(facts.Packets)-1]
	}
	send := func(at int64, mark bool) {
		msn++
		p := packet(at, a, b, 0x12, wire.OpSendOnly, wire.PSN(msn))
		p.Payload, p.CE, p.DSCP = 1000, mark, 26
	}
	answer := func(at int64) {
		packet(at, b, a, 0x11, wire.OpAcknowledge, wire.PSN(msn)).Syndrome = wire.NewSyndrome(wire.Ack, wire.CreditsInvalid)
	}
	cnp := func(at int64) { packet(at, b, a, 0x11, wire.OpcodeRoCECNP, 0).DSCP = 48 }
	flow := func(at int64, class int, quanta uint16) {
		number++
		f := pause.Frame{Number: number, Time: at * int64(time.Microsecond), Src: pause.MAC{2}, Dst: pause.MAC{1, 0x80, 0xC2, 0, 0, 1}}
		f.Plain, f.Quanta[max(0, class)] = class == pause.All, quanta
		if !f.Plain {
			f.Enabled = 1 << class
		}
		facts.Pauses = append(facts.Pauses, f)
	}
	// 5 us apart up to 200 us; then 10 us apart; nothing from 400 us to 1000 us.
	for at := int64(0); at < 200; at += 5 {
		send(at, at == 180)
		answer(at + 4)
	}
	cnp(200)
	for at := int64(210); at < 400; at += 10 {
		send(at, at == 210)
		answer(at + 4)
	}
	cnp(400)
	send(401, false)
	flow(500, 3, 0xFFFF) // 335.5 us at 100 Gbit/s
	flow(900, pause.All, 100)
	flow(901, pause.All, 0)
	send(1001, false)
	answer(1005)
	facts.Span = survey.Span{First: 0, Last: int64(1005 * time.Microsecond)}
	track.Take(&facts)
	track.Span = facts.Span
	track.Finish()
	r.Finish(track)
	return r
}

func TestCongestionIsWritten(t *testing.T) {
	var b bytes.Buffer
	text := Text{Style: NewStyle(false), Conversations: 1}
	if err := text.Write(&b, congested()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`
flow control, on links of 100 Gbit/s
   02:00:00:00:00:00 pauses its peer, in 3 frames
     all priorities       1 XOFF      1 XON  paused once for 512 ns, 0.051% of the time; longest 512 ns, from packet 123
                     once from XOFF to XON, 1.00 us
     priority 3           1 XOFF      0 XON  paused once for 336 us, 33% of the time; longest 336 us, from packet 122
     PAUSE-PLAIN               1  packet 123
     PFC-PAUSE                 1  packet 122
     counters of the peer: rx_global_pause 2, rx_global_pause_transition 1, rx_prio3_pause 1, rx_prio3_pause_duration 335
`,
		`
     2 packets of it marked, 2 CNPs came back
     from the first mark to a CNP: 2 times, at least 20.0 us, 50% in 20.0 us
     from one CNP to the next: once, at least 200 us, 50% in 200 us
     slower after 2 of 2 CNPs: 1.14 Gbit/s in the 100 us before, 411 Mbit/s behind, 36% of it
     DSCP 26, of the CNPs 48
     nothing came once while a message was outstanding, for 600 us, longest 600 us before packet 125
     meanwhile something was paused once, for 336 us
     STALL-PAUSED              1  packet 125
`,
		"np_ecn_marked_roce_packets 2, np_cnp_sent 2, rp_cnp_handled 2\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want%s in\n%s", want, b.String())
		}
	}
}

func TestCongestionIsInJSON(t *testing.T) {
	var b bytes.Buffer
	if err := congested().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got jsonReport
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	link := got.FlowControl.Links[0]
	if got.FlowControl.Speed != pause.DefaultSpeed || len(link.Channels) != 2 || link.Channels[0].Priority != nil || *link.Channels[1].Priority != 3 {
		t.Errorf("%+v", got.FlowControl)
	}
	if c := link.Channels[1]; c.Paused != 335539 || c.XOFF != 1 || link.Counters["tx_prio3_pause_duration"] != 335 {
		t.Errorf("%+v, %v", c, link.Counters)
	}
	e := got.Conversations[0].Ends[0]
	if g := e.Congestion; g.Marked != 2 || g.CNPs != 2 || g.Measured != 2 || g.Slower != 2 || *g.DSCP != 26 || *g.CNPDSCP != 48 || g.Interval.P50 != 200000 {
		t.Errorf("%+v", g)
	}
	if s := e.Requests.Stalls; s.Count != 1 || s.Time != 600000 || s.Paused != 1 || s.PausedFor != 336051 {
		t.Errorf("%+v", s)
	}
}

func TestFindingsOfFlowControlAreListedAndAnnotated(t *testing.T) {
	var names []string
	for _, f := range congested().Findings() {
		if f.Conversation == 0 {
			names = append(names, f.Code.Name+" "+f.Where)
		}
	}
	const where = " 02:00:00:00:00:00 to its peer"
	if got, want := strings.Join(names, "\n"), "PAUSE-PLAIN"+where+"\nPFC-PAUSE"+where; got != want {
		t.Errorf("got %q", got)
	}
	var l Events
	l.AddPause(nil, pause.Event{Kind: pause.Paused, Packet: 7, Class: 3})
	l.AddPause(nil, pause.Event{Kind: pause.Odd, Packet: 7, Class: pause.All})
	got := strings.Join(l.Comments(7), "\n")
	want := "PFC-PAUSE: PFC frames paused a priority (priority 3)\nPFC-INVALID: flow control frames are not as the standards want them"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSpeedsAreWritten(t *testing.T) {
	for bits, want := range map[int64]string{1: "1 bit/s", 2500: "2.5 kbit/s", 25e9: "25 Gbit/s", 100e9: "100 Gbit/s", 1600e9: "1.6 Tbit/s"} {
		if got := speed(bits); got != want {
			t.Errorf("%d is written %q, want %q", bits, got, want)
		}
	}
}
