package survey

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

const us = int64(time.Microsecond)

// read takes the facts of an Ethernet frame in hexadecimal.
func read(t *testing.T, f *Facts, at Stamp, text string) {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	var frame wire.Frame
	frame.Parse(wire.LinkEthernet, data, len(data))
	f.Read(&frame, at)
}

const (
	pfcOff = "0180c2000001 02000000000b 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000"
	pfcOn  = "0180c2000001 02000000000b 8808 0101 0008 0000 0000 0000 0000 0000 0000 0000 0000"
)

func TestFlowControlFramesAreFacts(t *testing.T) {
	var f Facts
	read(t, &f, Stamp{1, 10}, pfcOff)
	read(t, &f, Stamp{2, 20}, "0180c2000001 02000000000a 8808 0001 0007")
	read(t, &f, Stamp{3, 30}, "0180c2000001 02000000000b 8808 0101 0008") // cut
	if f.Counts.Pause != 3 || len(f.Pauses) != 2 {
		t.Fatalf("%d frames, %d with facts", f.Counts.Pause, len(f.Pauses))
	}
	group := pause.MAC{1, 0x80, 0xC2, 0, 0, 1}
	want := []pause.Frame{
		{Number: 1, Time: 10, Src: pause.MAC{2, 0, 0, 0, 0, 0xB}, Dst: group, Enabled: 8, Quanta: [8]uint16{3: 0xFFFF}},
		{Number: 2, Time: 20, Src: pause.MAC{2, 0, 0, 0, 0, 0xA}, Dst: group, Plain: true, Quanta: [8]uint16{7}},
	}
	for i := range want {
		if f.Pauses[i] != want[i] {
			t.Errorf("got %+v, want %+v", f.Pauses[i], want[i])
		}
	}
	if f.Span.First != 10 || f.Span.Last != 30 {
		t.Errorf("from %d to %d", f.Span.First, f.Span.Last)
	}
	if f.Reset(); len(f.Pauses) != 0 || cap(f.Pauses) == 0 || f.Span != (Span{}) {
		t.Error("not reset, or the memory is lost")
	}
}

// paused makes the facts of a capture in which a sender is paused: it has a
// message outstanding from 10 us on, and goes on at 310 us. From 50 us to 250 us
// its link is paused.
func paused(t *testing.T) (facts []*Facts) {
	t.Helper()
	all := &Facts{}
	number := 0
	stamp := func(at int64) Stamp {
		number++
		return Stamp{number, at * us}
	}
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	packet := func(at int64, src, dst netip.Addr, qp uint32, op wire.Opcode, psn wire.PSN) {
		s := stamp(at)
		all.Packets = append(all.Packets, conversation.Packet{
			Number: s.Number, Time: s.Time, Src: src, Dst: dst, DestQP: qp, Opcode: op, PSN: psn, WireLen: 62,
			Syndrome: wire.NewSyndrome(wire.Ack, wire.CreditsInvalid), MSN: uint32(psn),
		})
	}
	packet(0, a, b, 0x12, wire.OpSendOnly, 1)
	packet(5, b, a, 0x11, wire.OpAcknowledge, 1)
	packet(10, a, b, 0x12, wire.OpSendOnly, 2)
	read(t, all, stamp(50), pfcOff)
	read(t, all, stamp(250), pfcOn)
	packet(310, a, b, 0x12, wire.OpSendOnly, 3)
	packet(315, b, a, 0x11, wire.OpAcknowledge, 3)
	read(t, all, stamp(400), pfcOff)
	read(t, all, stamp(500), pfcOn)
	return []*Facts{all}
}

// apart cuts facts into those of one frame each.
func apart(all *Facts) (facts []*Facts) {
	pauses := all.Pauses
	before := func(number int) {
		for len(pauses) > 0 && pauses[0].Number < number {
			facts = append(facts, &Facts{Pauses: pauses[:1]})
			pauses = pauses[1:]
		}
	}
	for i := range all.Packets {
		before(all.Packets[i].Number)
		facts = append(facts, &Facts{Packets: all.Packets[i : i+1]})
	}
	before(everything)
	return facts
}

func TestPausesAndPacketsAreTakenInTheirOrder(t *testing.T) {
	for name, facts := range map[string][]*Facts{"together": paused(t), "apart": apart(paused(t)[0])} {
		track := NewTracker()
		var told []conversation.Event
		track.Conversations.Report = func(_ *conversation.Conversation, _ int, e conversation.Event) { told = append(told, e) }
		var c *conversation.Conversation
		track.Conversations.Closed = func(closed *conversation.Conversation) { c = closed }
		for _, f := range facts {
			track.Take(f)
		}
		track.Finish()
		s := c.Ends[0].Asks.Stalls
		if s.Count != 1 || s.Time != 300*time.Microsecond || s.Paused != 1 || s.PausedTime != 200*time.Microsecond {
			t.Errorf("%s: %+v", name, s)
		}
		if len(told) != 1 || told[0].Kind != conversation.StallPaused || told[0].Packet != 6 {
			t.Errorf("%s: told %+v", name, told)
		}
		l := track.Pauses.Links()[0]
		if p := l.Classes[3]; p.Paused != 300*time.Microsecond || p.Ended != 2 || p.Held != p.Paused {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
