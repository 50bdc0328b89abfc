package page

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

var (
	alice = netip.MustParseAddr("10.0.0.1")
	bob   = netip.MustParseAddr("10.0.0.2")
)

// talk is a tracker, its collector, and the packets that it is given.
type talk struct {
	tracker   *conversation.Tracker
	collector *Collector
	number    int
	closed    []*conversation.Conversation
}

func newTalk(limits Limits) *talk {
	t := &talk{tracker: conversation.NewTracker(conversation.DefaultLimits()), collector: NewCollector(limits)}
	l := t.collector
	t.tracker.Placed, t.tracker.United, t.tracker.Report, t.tracker.Message = l.Placed, l.United, l.Report, l.Message
	t.tracker.Closed = func(c *conversation.Conversation) {
		l.Closed(c)
		t.closed = append(t.closed, c)
	}
	return t
}

// packet gives the next packet, 1 us after the one before it.
func (t *talk) packet(p conversation.Packet) {
	t.number++
	p.Number, p.Time = t.number, int64(t.number)*1000
	p.WireLen = 100
	t.tracker.Packet(&p)
}

func (t *talk) send(psn int) {
	t.packet(conversation.Packet{Src: alice, Dst: bob, DestQP: 0xb, PSN: wire.PSN(psn & 0xffffff), Opcode: 0x04, Payload: 1024})
}

func (t *talk) ack(psn int, s wire.Syndrome) {
	t.packet(conversation.Packet{Src: bob, Dst: alice, DestQP: 0xa, PSN: wire.PSN(psn & 0xffffff), Opcode: 0x11, Syndrome: s})
}

const nakSequence = wire.Syndrome(0x60)

// only returns the one conversation when the capture has ended.
func (t *talk) only(tb testing.TB) (*conversation.Conversation, *series) {
	tb.Helper()
	t.tracker.Finish()
	if len(t.closed) != 1 {
		tb.Fatalf("%d conversations", len(t.closed))
	}
	return t.closed[0], t.collector.over[t.closed[0]]
}

// decode reads what encode wrote.
func decode(tb testing.TB, text string, n int) (columns [10][]int64) {
	tb.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	for c := range columns {
		previous := int64(0)
		for range n {
			d, size := binary.Varint(b)
			if size <= 0 {
				tb.Fatalf("column %d ends early", c)
			}
			b = b[size:]
			previous += d
			columns[c] = append(columns[c], previous)
		}
	}
	if len(b) > 0 {
		tb.Fatalf("%d bytes too many", len(b))
	}
	return columns
}

func TestBothDirectionsAreOneSeriesAcrossTheWrapOfPSNs(t *testing.T) {
	talk := newTalk(DefaultLimits())
	talk.ack(7, 0) // nothing tells yet whose it is
	for i := range 20 {
		talk.send(0xfffff8 + i)
	}
	talk.ack(0xfffff8+4, nakSequence)
	for i := 4; i < 20; i++ {
		talk.send(0xfffff8 + i)
	}
	talk.ack(0xfffff8+19, 0)
	c, s := talk.only(t)
	if c.Joined == conversation.NotJoined || len(s.marks) != talk.number {
		t.Fatalf("%d of %d packets, joined: %v", len(s.marks), talk.number, c.Joined)
	}
	asker := c.Ends[0].Addr
	columns := decode(t, encode(s.marks, 0), len(s.marks))
	old := 0
	for i := range s.marks {
		number, height, flag := columns[0][i], columns[2][i], flags(columns[7][i])
		sender := bob
		if (flag&flagEnd == 0) == (asker == alice) {
			sender = alice
		}
		if want := number == 1 || number == 22 || number == int64(talk.number); want != (sender == bob) {
			t.Errorf("packet %d is from %v", number, sender)
		}
		if number > 1 && (height < columns[2][1] || height > columns[2][1]+19) {
			t.Errorf("packet %d is at %d, the first request at %d", number, height, columns[2][1])
		}
		if flag&flagOld != 0 {
			old++
		}
	}
	if old != 16 || s.marks[21].kind != kindNak || s.marks[21].flags&flagFound == 0 {
		t.Errorf("%d packets were sent again; the NAK is %+v", old, s.marks[21])
	}
}

func TestAREADThatIsAskedForAgainInItsMiddleIsSentAgain(t *testing.T) {
	talk := newTalk(DefaultLimits())
	ask := func(psn wire.PSN, size uint32) {
		talk.packet(conversation.Packet{Src: alice, Dst: bob, DestQP: 0xb, PSN: psn, Opcode: 0x0c, DMALen: size})
	}
	answer := func(psn wire.PSN, opcode wire.Opcode) {
		talk.packet(conversation.Packet{Src: bob, Dst: alice, DestQP: 0xa, PSN: psn, Opcode: opcode, Payload: 1024})
	}
	ask(10, 2048) // 1, 2, 3: tells the path MTU
	answer(10, 0x0d)
	answer(11, 0x0f)
	ask(12, 4096) // 4, 5, 6: two of four
	answer(12, 0x0d)
	answer(13, 0x0e)
	ask(14, 2048) // 7, 8, 9: the others
	answer(14, 0x0d)
	answer(15, 0x0f)
	ask(16, 1024) // 10
	_, s := talk.only(t)
	for _, m := range s.marks {
		if want := m.number == 7; want != (m.flags&flagOld != 0) {
			t.Errorf("packet %d: sent again is %v", m.number, !want)
		}
	}
}

func TestThinningKeepsWhatPeopleLookForAndAllBytes(t *testing.T) {
	limits := DefaultLimits()
	limits.Packets = 1000
	talk := newTalk(limits)
	for i := range 5000 {
		talk.send(i)
		if i%500 == 499 {
			talk.ack(i-3, nakSequence)
			for j := i - 3; j <= i; j++ {
				talk.send(j)
			}
		}
	}
	c, s := talk.only(t)
	var bytes, naks, again int
	for _, m := range s.marks {
		bytes += int(m.wire)
		if m.kind == kindNak {
			naks++
		}
		if m.flags&flagOld != 0 {
			again++
		}
	}
	bytes += int(s.carry[0] + s.carry[1])
	if len(s.marks) >= limits.Packets || len(s.marks)+s.left[0]+s.left[1] != c.Packets() {
		t.Errorf("%d packets are kept and %v left out of %d", len(s.marks), s.left, c.Packets())
	}
	if naks != 10 || again != 40 || s.left[1] != 0 {
		t.Errorf("%d NAKs and %d packets sent again are kept, %d of such are left out", naks, again, s.left[1])
	}
	if bytes != 100*c.Packets() {
		t.Errorf("%d bytes of %d", bytes, 100*c.Packets())
	}
}

func TestWhereEverythingMattersEverythingIsThinned(t *testing.T) {
	limits := DefaultLimits()
	limits.Packets = 1000
	talk := newTalk(limits)
	for i := range 10_000 {
		talk.packet(conversation.Packet{Src: alice, Dst: bob, DestQP: 0xb, PSN: wire.PSN(i), Opcode: 0x04, CE: true})
	}
	c, s := talk.only(t)
	if n := len(s.marks); n >= limits.Packets || n < limits.Packets/4 || n+s.left[1] != c.Packets() {
		t.Errorf("%d packets are kept, %v left out", n, s.left)
	}
}

func TestFindingsAndMessagesAreBounded(t *testing.T) {
	limits := Limits{Packets: 1000, Conversations: 10, Events: 5, AllEvents: 8, Messages: 7, AllMessages: 100}
	talk := newTalk(limits)
	for i := range 100 {
		talk.send(i)
		talk.ack(i, 0)
		talk.packet(conversation.Packet{Src: alice, Dst: bob, DestQP: 0xb, PSN: wire.PSN(i + 1), Opcode: 0x04, TVer: 3, Reserved: true})
		talk.ack(i+1, 0)
	}
	_, s := talk.only(t)
	told := 0
	for _, n := range s.told {
		told += n
	}
	if len(s.events) != 8 || len(s.events)+s.untold != told {
		t.Errorf("%d events are kept and %d not, of %d", len(s.events), s.untold, told)
	}
	if len(s.asks) != 7 || s.unsaid == 0 {
		t.Errorf("%d messages are kept and %d not", len(s.asks), s.unsaid)
	}
}

func TestConversationsWithFindingsAreKept(t *testing.T) {
	limits := DefaultLimits()
	limits.Conversations = 3
	talk := newTalk(limits)
	for qp := range uint32(50) {
		for i := range 5 {
			p := conversation.Packet{Src: alice, Dst: bob, DestQP: qp, PSN: wire.PSN(i), Opcode: 0x04}
			if qp == 20 {
				p.TVer = 1
			}
			talk.packet(p)
		}
	}
	talk.tracker.Finish()
	l := talk.collector
	l.choose()
	if len(l.over) != 3 || len(l.open) != 0 {
		t.Fatalf("%d conversations are kept, %d are open", len(l.over), len(l.open))
	}
	found, marks := false, 0
	for c, s := range l.over {
		found = found || c.Ends[1].QPN == 20
		marks += len(s.marks)
	}
	if !found || marks != l.marks || marks != 15 {
		t.Errorf("%d packets are counted, %d kept; the conversation with a finding is there: %v", l.marks, marks, found)
	}
}

// Packets of any content, with the tracker's ways to begin, unite and end
// conversations, stay within the limits, and none is lost from the counts.
func TestRandomPacketsAreCountedAndBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		limits := Limits{Packets: 2000, Conversations: 20, Events: 10, AllEvents: 100, Messages: 10, AllMessages: 100}
		talk := newTalk(limits)
		for range 20_000 {
			src, dst := alice, bob
			if rng.IntN(2) == 0 {
				src, dst = bob, alice
			}
			psn := wire.PSN(rng.IntN(200))
			if rng.IntN(50) == 0 {
				psn = wire.PSN(rng.Uint32() & 0xffffff)
			}
			talk.packet(conversation.Packet{
				Src: src, Dst: dst, DestQP: rng.Uint32N(6), PSN: psn, Opcode: wire.Opcode(rng.Uint32()), Syndrome: wire.Syndrome(rng.Uint32()),
				Trust: conversation.Trust(rng.IntN(3)), CE: rng.IntN(9) == 0, Payload: rng.IntN(4097), DMALen: rng.Uint32(),
			})
			if l := talk.collector; l.marks >= limits.Packets || l.events > limits.AllEvents || l.messages > limits.AllMessages {
				t.Fatalf("%d packets, %d events, %d messages", l.marks, l.events, l.messages)
			}
		}
		talk.tracker.Finish()
		l := talk.collector
		if len(l.open) > 0 || len(l.over) > 2*limits.Conversations {
			t.Fatalf("%d conversations are open, %d are over", len(l.open), len(l.over))
		}
		for c, s := range l.over {
			if len(s.marks)+s.left[0]+s.left[1] != c.Packets() {
				t.Errorf("%d packets are kept and %v left out of %d", len(s.marks), s.left, c.Packets())
			}
			decode(t, encode(s.marks, 0), len(s.marks))
		}
	}
}

func TestAPSNThatCannotBeDoesNotMoveTheOthers(t *testing.T) {
	var l level
	request := func(psn wire.PSN, f flags) (int64, flags) {
		m := mark{psn: psn, flags: f}
		return l.of(&m), m.flags
	}
	for _, c := range []struct {
		psn    wire.PSN
		flags  flags
		height int64
		after  flags
	}{
		{0xffffff, 0, 0, 0},
		{0, 0, 1, 0},
		{5, flagBad, 6, flagBad}, // may be anything
		{0x700000, 0, 1, flagFar},
		{1, 0, 2, 0},
		{0xfffffe, flagOld, -1, flagOld},
	} {
		height, after := request(c.psn, c.flags)
		if height != c.height || after != c.after {
			t.Errorf("PSN %#x is at %d with flags %b, want %d and %b", c.psn, height, after, c.height, c.after)
		}
	}
}

func TestAPacketIsKeptWithoutAnAllocationOfItsOwn(t *testing.T) {
	l := NewCollector(DefaultLimits())
	c := &conversation.Conversation{}
	p := conversation.Packet{Opcode: 0x04, Payload: 1024}
	if got := testing.AllocsPerRun(5000, func() {
		p.Number++
		p.PSN++
		l.Placed(c, 0, p)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
