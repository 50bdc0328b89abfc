package analysis

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// told is a report with messages, of what talk sends.
func told(chosen []uint32, talk func(send func(from int, p conversation.Packet))) *Report {
	r := &Report{File: "x.pcap", QPs: chosen}
	track := conversation.NewTracker(conversation.DefaultLimits())
	track.Closed = r.Add
	r.Messages = &Messages{Chosen: r.Chosen}
	r.Messages.Listen(track)
	ends := [2]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	number := 0
	talk(func(from int, p conversation.Packet) {
		number++
		p.Number, p.Time = number, int64(number)*int64(time.Microsecond)
		p.Src, p.Dst = ends[from], ends[1-from]
		if p.DestQP == 0 {
			p.DestQP = [2]uint32{0x21, 0x11}[from]
		}
		track.Packet(&p)
	})
	track.Finish()
	return r
}

func talk(send func(from int, p conversation.Packet)) {
	send(0, conversation.Packet{Opcode: wire.OpWriteFirst, PSN: 100, Payload: 256, RKey: 0xAB, VA: 0x7f00_0000_1000, DMALen: 300})
	send(0, conversation.Packet{Opcode: wire.OpWriteLastImmediate, PSN: 101, Payload: 44, Immediate: 7, Solicited: true})
	send(0, conversation.Packet{Opcode: wire.OpSendOnlyInvalidate, PSN: 102, Payload: 5, RKey: 0xCD})
	send(1, conversation.Packet{Opcode: wire.OpAcknowledge, PSN: 100, Syndrome: wire.NewSyndrome(wire.Ack, 31)})
	send(1, conversation.Packet{Opcode: wire.OpAcknowledge, PSN: 101, Syndrome: wire.NewSyndrome(wire.Nak, wire.NakPSNSequence)})
	send(0, conversation.Packet{Opcode: wire.OpWriteLastImmediate, PSN: 101, Payload: 44, Immediate: 7, Solicited: true})
	send(0, conversation.Packet{Opcode: wire.OpSendOnlyInvalidate, PSN: 102, Payload: 5, RKey: 0xCD})
	send(1, conversation.Packet{Opcode: wire.OpAcknowledge, PSN: 102, Syndrome: wire.NewSyndrome(wire.Ack, 31), MSN: 2})
	send(1, conversation.Packet{Opcode: wire.OpFetchAdd, PSN: 9, RKey: 0xEF, VA: 0x40})
	send(0, conversation.Packet{Opcode: wire.OpAcknowledge, PSN: 9, Syndrome: wire.NewSyndrome(wire.Nak, wire.NakRemoteAccess), MSN: 1})
}

func TestMessagesAreATable(t *testing.T) {
	r := told(nil, talk)
	var b strings.Builder
	text := Text{Style: NewStyle(false)}
	text.messages(&b, r.Messages, r.list()[0])
	const want = `   messages: -> 192.0.2.1 QP 0x000011 asks, <- 192.0.2.2 QP 0x000021
          packet       to        at  operation         bytes      PSN       to  rkey       address            ended by      MSN     after
     ->        1        6      0 ns  WRITE imm           300      100      101  0x000000ab 0x00007f0000001000        8        2   7.00 us  immediate 0x00000007, SE, sent again from PSN 101
     ->        3        7   2.00 us  SEND inv              5      102      102  -          -                         8        2   5.00 us  invalidates 0x000000cd, sent again
     <-        9        9   8.00 us  FETCH ADD             8        9        9  0x000000ef 0x0000000000000040       10        1         -  NAK Remote Access Error
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestMessagesAreInJSONWhenAskedFor(t *testing.T) {
	r := told(nil, talk)
	var got struct {
		Messages []map[string]any `json:"messages"`
		Talks    []struct {
			Ends []struct {
				Asked      map[string]any `json:"asked"`
				OTG        map[string]int `json:"otg"`
				Throughput struct {
					Payload int              `json:"payload_bytes"`
					Window  []map[string]int `json:"window"`
				} `json:"throughput"`
				Reactions struct {
					Restarts int                       `json:"restarts"`
					Times    map[string]map[string]int `json:"times_ns"`
				} `json:"reactions"`
			} `json:"ends"`
		} `json:"conversations"`
	}
	read := func() (text string) {
		t.Helper()
		var b bytes.Buffer
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		text = b.String()
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		return text
	}
	read()
	if len(got.Messages) != 3 {
		t.Fatalf("%d messages", len(got.Messages))
	}
	for key, want := range map[string]any{
		"conversation": 1.0, "end": 0.0, "operation": "WRITE", "opcode": "RC RDMA WRITE Last Immediate", "bytes": 300.0, "first_packet": 1.0,
		"last_packet": 6.0, "first_psn": 100.0, "last_psn": 101.0, "start_ns": 0.0, "rkey": "0x000000ab", "va": "0x00007f0000001000",
		"dma_length": 300.0, "immediate": 7.0, "solicited": true, "ended_by_packet": 8.0, "completion_ns": 7000.0, "msn": 2.0,
		"sent_again": true, "restarts": 1.0, "restart_psn": 101.0, "partial": false, "unfinished": false,
	} {
		if got.Messages[0][key] != want {
			t.Errorf("%s is %v, not %v", key, got.Messages[0][key], want)
		}
	}
	if m := got.Messages[1]; m["invalidated_rkey"] != "0x000000cd" || m["rkey"] != nil {
		t.Errorf("%v", m)
	}
	if m := got.Messages[2]; m["nak"] != "NAK Remote Access Error" || m["completion_ns"] != nil || m["unfinished"] != true || m["end"] != 1.0 {
		t.Errorf("%v", m)
	}
	end := got.Talks[0].Ends[0]
	for name, want := range map[string]int{
		"data_frames_tx": 5, "data_frames_retransmitted": 2, "message_tx": 2, "message_complete_rx": 2, "message_fail": 0, "ack_rx": 2, "nak_rx": 1, "nak_tx": 1,
	} {
		if end.OTG[name] != want {
			t.Errorf("%s is %d, not %d", name, end.OTG[name], want)
		}
	}
	if end.Throughput.Payload != 305 || len(end.Throughput.Window) != 1 || end.Throughput.Window[0]["acknowledged_bytes"] != 305 {
		t.Errorf("%+v", end.Throughput)
	}
	if end.Reactions.Restarts != 1 || end.Reactions.Times["nak_to_resend"]["max"] != 1000 || end.Asked["with_immediate"] != 1.0 {
		t.Errorf("%+v, %v", end.Reactions, end.Asked)
	}
	r.Messages = nil
	if text := read(); strings.Contains(text, `"first_psn"`) {
		t.Errorf("messages that were not asked for: %s", text)
	}
}

// TestMessagesFindTheirConversation lets a stream be so long without answers that
// its first messages are given up before the two directions are joined.
func TestMessagesFindTheirConversation(t *testing.T) {
	long := func(send func(from int, p conversation.Packet)) {
		for i := range 1500 {
			send(0, conversation.Packet{Opcode: wire.OpSendOnly, PSN: wire.PSN(i), Payload: 1})
			send(1, conversation.Packet{Opcode: wire.OpSendOnly, PSN: wire.PSN(100_000 + i), Payload: 1})
		}
		send(1, conversation.Packet{Opcode: wire.OpAcknowledge, PSN: 1499, Syndrome: wire.NewSyndrome(wire.Ack, 31), MSN: 1500})
	}
	for qp, want := range map[uint32]int{0x21: 3000, 0x11: 3000, 0x99: 0} {
		r := told([]uint32{qp}, long)
		listed := 0
		for _, c := range r.list() {
			listed += len(r.Messages.list(c))
		}
		if listed != want {
			t.Errorf("of QP %#x %d messages, want %d", qp, listed, want)
		}
	}
	r := told(nil, long)
	ends := map[int]int{}
	for _, m := range r.Messages.list(r.list()[0]) {
		ends[m.end]++
		if (m.First >= 100_000) != (m.end == 1) {
			t.Fatalf("PSN %d is said to be of end %d", m.First, m.end)
		}
	}
	if ends[0] != 1500 || ends[1] != 1500 {
		t.Errorf("%v", ends)
	}
}

func TestTheListOfMessagesIsBounded(t *testing.T) {
	l := &Messages{}
	c := &conversation.Conversation{}
	for range maxMessages + 5 {
		l.Add(c, 0, &conversation.Message{})
	}
	if len(l.list(c)) != maxMessages || l.Dropped != 5 {
		t.Errorf("%d messages, %d dropped", len(l.list(c)), l.Dropped)
	}
	var b strings.Builder
	(&Text{}).dropped(&b, l)
	if want := "not listed: 5 messages that ended behind the first 131072\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestRKeysAreListedUpToANumber(t *testing.T) {
	r := told(nil, func(send func(from int, p conversation.Packet)) {
		for i := range 5 {
			send(0, conversation.Packet{Opcode: wire.OpWriteOnly, PSN: wire.PSN(i), Payload: 16, RKey: uint32(i), VA: 0x100, DMALen: 16 * uint32(i)})
		}
	})
	var b strings.Builder
	(&Text{}).memory(&b, &r.list()[0].Ends[0].Asks)
	const want = `     rkey 0x00000000  1 message, 0 B
     rkey 0x00000001  addresses 0x0000000000000100 to 0x000000000000010f, 1 message, 16 B
     rkey 0x00000002  addresses 0x0000000000000100 to 0x000000000000011f, 1 message, 32 B
     and 2 more rkeys; --json has them
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
