package conversation

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

var (
	alice = netip.MustParseAddr("192.0.2.1")
	bob   = netip.MustParseAddr("192.0.2.2")
)

// script makes the packets of a capture.
type script struct {
	t      *testing.T
	track  *Tracker
	now    int64
	number int
	closed []*Conversation
	told   []Event
}

func newScript(t *testing.T, limits Limits) *script {
	s := &script{t: t, track: NewTracker(limits)}
	s.track.Closed = func(c *Conversation) { s.closed = append(s.closed, c) }
	s.track.Report = func(_ *Conversation, _ int, e Event) { s.told = append(s.told, e) }
	return s
}

// packet sends one packet; change says what is special about it.
func (s *script) packet(src, dst netip.Addr, qp uint32, op wire.Opcode, psn wire.PSN, change func(p *Packet)) {
	s.number++
	s.now += 1000
	p := Packet{Number: s.number, Time: s.now, Src: src, Dst: dst, DestQP: qp, Opcode: op, PSN: psn, AckReq: true, Payload: 10, WireLen: 72}
	if qp == 1 {
		p.QKey = wire.QKeyQP1
	}
	if op.Info().Response {
		p.Payload, p.Syndrome = 0, wire.NewSyndrome(wire.Ack, wire.CreditsInvalid)
	}
	if change != nil {
		change(&p)
	}
	s.track.Packet(&p)
}

func (s *script) send(psn wire.PSN) { s.packet(alice, bob, 0x12, wire.OpSendOnly, psn, nil) }
func (s *script) ack(psn wire.PSN)  { s.packet(bob, alice, 0x11, wire.OpAcknowledge, psn, nil) }

func (s *script) nak(psn wire.PSN, kind wire.AckKind, code uint8) {
	s.packet(bob, alice, 0x11, wire.OpAcknowledge, psn, func(p *Packet) { p.Syndrome = wire.NewSyndrome(kind, code) })
}

// wait lets time pass.
func (s *script) wait(d time.Duration) { s.now += int64(d) }

func (s *script) want(kinds ...Kind) {
	s.t.Helper()
	var got []Kind
	for _, e := range s.told {
		got = append(got, e.Kind)
	}
	if len(got) != len(kinds) {
		s.t.Fatalf("told %v, want %v", got, kinds)
	}
	for i := range kinds {
		if got[i] != kinds[i] {
			s.t.Fatalf("told %v, want %v", got, kinds)
		}
	}
}

func TestAnswersJoinTheTwoDirections(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.packet(bob, alice, 0x11, wire.OpSendOnly, 7000, nil)
	s.packet(alice, bob, 0x12, wire.OpAcknowledge, 7000, nil)
	s.track.Finish()
	if len(s.closed) != 1 {
		t.Fatalf("%d conversations", len(s.closed))
	}
	c := s.closed[0]
	if c.Joined != ByAgreement || c.Agreements != 2 || c.Ends[0].QPN != 0x11 || c.Ends[1].QPN != 0x12 || !c.Ends[0].Known {
		t.Errorf("joined as %+v", c)
	}
	for i := range c.Ends {
		if o := c.Ends[i].Asks.Operations[Send]; o.Messages != 1 || o.Latency.Max() != time.Microsecond {
			t.Errorf("end %d: %+v", i, o)
		}
	}
	s.want()
}

func TestAnAnswerThatFitsTwoStreamsJoinsNone(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for qp := range uint32(2) {
		for psn := range wire.PSN(5) {
			s.packet(alice, bob, 0x20+qp, wire.OpSendOnly, 100+psn+wire.PSN(qp), nil)
		}
	}
	s.packet(bob, alice, 0x11, wire.OpAcknowledge, 102, nil)
	if got := s.track.halves[key{bob, alice, 0x11}].conversation.Joined; got != NotJoined {
		t.Fatalf("joined by %v with two that fit", got)
	}
	s.packet(bob, alice, 0x11, wire.OpAcknowledge, 105, nil) // only the second was sent so far
	c := s.track.halves[key{bob, alice, 0x11}].conversation
	if c.Joined != ByAgreement || c.Ends[1].QPN != 0x21 {
		t.Errorf("joined by %v with QP %#x", c.Joined, c.Ends[1].QPN)
	}
}

func TestACMExchangeJoinsAndBeginsAnew(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	const cm = wire.BaseUD + wire.OpSendOnly
	s.packet(alice, bob, 1, cm, 0, func(p *Packet) {
		p.CM = &Exchange{ID: 5, QPN: 0x11, Service: wire.RC, PathMTU: 1024, AckTimeout: 14}
	})
	reply := func(p *Packet) { p.CM = &Exchange{Reply: true, ID: 6, RemoteID: 5, QPN: 0x12} }
	s.packet(bob, alice, 1, cm, 0, reply)
	s.packet(bob, alice, 1, cm, 1, reply) // a retry changes nothing
	s.send(500)
	s.ack(500)
	s.track.Finish()
	var rc []*Conversation
	for _, c := range s.closed {
		if c.Service == wire.RC {
			rc = append(rc, c)
		}
	}
	if len(rc) != 2 || rc[0].Joined != ByAgreement || rc[1].Joined != ByCM || rc[1].AckTimeout != 14 || rc[1].Agreements != 1 {
		t.Errorf("%d conversations: %+v", len(rc), rc)
	}
	s.want()
}

func TestAPSNFarAwayBeginsAnotherConversation(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.send(1 << 20)
	s.ack(1 << 20)
	s.track.Finish()
	if len(s.closed) != 2 || s.closed[0].Packets() != 2 || s.closed[1].Packets() != 2 {
		t.Errorf("%d conversations", len(s.closed))
	}
	s.want()
}

func TestARetryBeforeTheRNRTimerIsEarly(t *testing.T) {
	for _, test := range []struct {
		wait time.Duration
		want []Kind
	}{
		{100 * time.Microsecond, []Kind{RNRNak, RetransmitRNR, RNREarly}},
		{1400 * time.Microsecond, []Kind{RNRNak, RetransmitRNR}},
	} {
		s := newScript(t, DefaultLimits())
		s.send(100)
		s.nak(100, wire.RNRNak, 14) // 1.28 ms
		s.wait(test.wait)
		s.send(100)
		s.ack(100)
		s.want(test.want...)
	}
}

// TestATimeoutBehindAnRNRNakIsNoEarlyRetry: the NAK may have been lost behind the
// capture point, where the wait is as long as that of the timer.
func TestATimeoutBehindAnRNRNakIsNoEarlyRetry(t *testing.T) {
	for _, test := range []struct {
		wait time.Duration
		want []Kind
	}{
		{60 * time.Millisecond, []Kind{RetransmitTimeout, RNRNak, RetransmitTimeout}},
		{2 * time.Millisecond, []Kind{RetransmitTimeout, RNRNak, RetransmitRNR, RNREarly}},
	} {
		s := newScript(t, DefaultLimits())
		s.send(100)
		s.ack(100)
		s.send(101)
		s.wait(60 * time.Millisecond)
		s.send(101)
		s.ack(101)
		s.send(102)
		s.nak(102, wire.RNRNak, 29) // 245.76 ms
		s.wait(test.wait)
		s.send(102)
		s.ack(102)
		s.track.Finish()
		var got []Kind
		for _, e := range s.told {
			if e.Kind != MSNWrong && e.Kind != MSNRegress { // the script's MSNs count nothing
				got = append(got, e.Kind)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("after %v told %v, want %v", test.wait, got, test.want)
		}
	}
}

func TestFatalNaksAreNamed(t *testing.T) {
	for code, kind := range map[uint8]Kind{
		wire.NakInvalidRequest: NakInvalid, wire.NakRemoteAccess: NakAccess, wire.NakRemoteOperation: NakOperation,
		wire.NakInvalidRDRequest: NakOther, 9: NakOther,
	} {
		s := newScript(t, DefaultLimits())
		s.send(100)
		s.nak(100, wire.Nak, code)
		s.want(kind)
	}
}

func TestARequesterThatSendsOnlyWhatIsMissingIsUnderstood(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.send(101)
	s.send(103)
	s.nak(102, wire.Nak, wire.NakPSNSequence)
	s.send(104)
	s.send(102)
	s.send(105)
	s.ack(105)
	s.track.Finish()
	s.want(NakSequence, Lost, RetransmitNak)
	if got := s.told[2]; got.PSN != 102 || got.N != 1 || got.Packet != 7 || got.Cause != 5 {
		t.Errorf("told %+v", got)
	}
}

func TestACorruptPacketIsNamedWhenItIsAskedFor(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.packet(alice, bob, 0x12, wire.OpSendOnly, 101, func(p *Packet) { p.Trust = Corrupt })
	s.send(102)
	s.nak(101, wire.Nak, wire.NakPSNSequence)
	s.send(101)
	s.send(102)
	s.ack(102)
	s.want(BadICRC, NakSequence, LostCorrupt, RetransmitNak)
	// A corrupt packet of nobody is nobody's.
	s.packet(alice, bob, 0x999, wire.OpSendOnly, 1, func(p *Packet) { p.Trust = Corrupt })
	if s.track.Seen() != 1 {
		t.Errorf("%d conversations", s.track.Seen())
	}
}

func TestAGhostAcknowledgementIsTold(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.ack(102)
	s.send(101)
	s.want() // it may be of what never comes
	s.send(102)
	s.want(AckUnsent)
	if got := s.told[0]; got.Packet != 3 || got.Cause != 5 || got.PSN != 102 {
		t.Errorf("told %+v", got)
	}
}

func TestUCLosesWithoutAWord(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for _, psn := range []wire.PSN{5, 6, 9, 8, 9} {
		s.packet(alice, bob, 0x12, wire.BaseUC+wire.OpSendOnly, psn, nil)
	}
	s.track.Finish()
	s.want(Reordered, Duplicate, Unresolved)
}

func TestCongestionIsCounted(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.packet(bob, alice, 0x11, wire.OpcodeRoCECNP, 0, nil) // comes first: the service is learned later
	s.packet(alice, bob, 0x12, wire.OpSendOnly, 100, func(p *Packet) { p.CE = true })
	s.ack(100)
	s.want(CongestionCNP, CongestionCE)
	c := s.track.halves[key{alice, bob, 0x12}].conversation
	if c.Service != wire.RC || c.Joined != ByAgreement || c.Ends[0].CNPs+c.Ends[1].CNPs != 1 {
		t.Errorf("%+v", c)
	}
}

func TestTheOldestConversationMakesRoom(t *testing.T) {
	s := newScript(t, Limits{Conversations: 100, Pending: 1})
	const many = 100_000
	for qp := range uint32(many) {
		s.packet(alice, bob, qp, wire.OpSendOnly, wire.PSN(qp)*97, nil)
		if len(s.track.halves) > 100 {
			t.Fatalf("%d streams are kept", len(s.track.halves))
		}
	}
	if got := s.track.waiting[pair{alice, bob}].halves; got != 100 {
		t.Errorf("%d streams wait", got)
	}
	if s.track.Evicted() != many-100 || s.track.Seen() != many {
		t.Errorf("evicted %d of %d", s.track.Evicted(), s.track.Seen())
	}
	s.track.Finish()
	if len(s.closed) != many || len(s.track.halves) != 0 || len(s.track.waiting) != 0 || s.track.silent.newest != nil {
		t.Errorf("closed %d, left %d", len(s.closed), len(s.track.halves))
	}
}

func TestOneDirectionAloneIsFollowedAcrossTheWrap(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.packet(alice, bob, 0x12, wire.OpSendFirst, 0, func(p *Packet) { p.Payload = 1024 })
	s.packet(alice, bob, 0x12, wire.OpSendLast, 1, nil)
	const span, reads = 4096, (1<<24 + 1<<23) / 4096
	for i := range reads {
		if i%256 == 5 {
			continue
		}
		s.packet(alice, bob, 0x12, wire.OpReadRequest, wire.PSN(0).Add(2+i*span), func(p *Packet) { p.DMALen = span * 1024 })
	}
	s.track.Finish()
	if len(s.closed) != 1 || len(s.told) != reads/256 {
		t.Fatalf("%d conversations, %d events", len(s.closed), len(s.told))
	}
	if d := &s.closed[0].Ends[0].Asks; d.Requests != 2+reads-reads/256 || d.Tallies.Of(Unresolved).Packets != reads/256*span {
		t.Errorf("%d requests, %+v", d.Requests, d.Tallies)
	}
}

func TestASteadyConversationCostsNoAllocation(t *testing.T) {
	track := NewTracker(DefaultLimits())
	var psn wire.PSN
	number := 0
	send := func(p Packet) {
		number++
		p.Number, p.Time = number, int64(number)*1000
		track.Packet(&p)
	}
	round := func() {
		for i := range 4 {
			send(Packet{Src: alice, Dst: bob, DestQP: 0x12, Opcode: wire.OpWriteOnly, PSN: psn.Add(i), Payload: 100})
		}
		send(Packet{Src: alice, Dst: bob, DestQP: 0x12, Opcode: wire.OpReadRequest, PSN: psn.Add(4), DMALen: 200})
		send(Packet{Src: bob, Dst: alice, DestQP: 0x11, Opcode: wire.OpAcknowledge, PSN: psn.Add(3), Syndrome: 31})
		send(Packet{Src: bob, Dst: alice, DestQP: 0x11, Opcode: wire.OpReadResponseOnly, PSN: psn.Add(4), Payload: 200})
		psn = psn.Add(5)
	}
	for range 100 {
		round()
	}
	if got := testing.AllocsPerRun(1000, round); got != 0 {
		t.Errorf("%v allocations in seven packets", got)
	}
}

func BenchmarkTracker(b *testing.B) {
	track := NewTracker(DefaultLimits())
	b.ReportAllocs()
	for i := range b.N {
		qp := uint32(i) & 15
		psn := wire.PSN(i>>4) & (1<<24 - 1)
		p := Packet{Number: i, Time: int64(i), Src: alice, Dst: bob, DestQP: 0x100 + qp, Opcode: wire.OpWriteOnly, PSN: psn, Payload: 1024}
		track.Packet(&p)
		if psn&15 == 15 {
			p = Packet{Number: i, Time: int64(i), Src: bob, Dst: alice, DestQP: 0x200 + qp, Opcode: wire.OpAcknowledge, PSN: psn, Syndrome: 31}
			track.Packet(&p)
		}
	}
}

// FuzzTracker lets packets of any kind come in any order: nothing panics, and
// what is kept stays within its limits.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 1, 0, 4, 1, 17, 0, 1, 31})
	f.Add([]byte{0, 12, 0, 4, 1, 13, 0, 31, 1, 15, 3, 31, 0, 12, 1, 4, 0, 12, 200, 4, 1, 17, 1, 96})
	f.Fuzz(func(t *testing.T, data []byte) {
		track := NewTracker(Limits{Conversations: 4, Pending: 2})
		for i := 0; i+4 <= len(data); i += 4 {
			track.Packet(fuzzed(i, data[i:i+4]))
			if len(track.halves) > 8 || track.open > 4 {
				t.Fatalf("%d streams of %d conversations", len(track.halves), track.open)
			}
			for _, h := range track.halves {
				sound(t, &h.sender().Asks)
			}
			filed(t, track)
		}
		track.Finish()
	})
}

// fuzzed makes a packet of four bytes.
func fuzzed(i int, b []byte) *Packet {
	p := &Packet{Number: i + 1, Time: int64(i) * 10_000, Src: alice, Dst: bob, DestQP: uint32(b[0]>>1) & 7, WireLen: 60}
	if b[0]&1 != 0 {
		p.Src, p.Dst = bob, alice
	}
	p.Opcode = wire.Opcode(b[1])
	p.PSN = wire.PSN(int8(b[2])).Add(int(b[0]>>6) << 18)
	p.Syndrome = wire.Syndrome(b[3])
	p.Payload = int(b[3]) << 6
	p.DMALen = uint32(b[3]) << (b[3] & 31)
	p.CE = b[0]&32 != 0
	if b[3] == 255 {
		p.Trust = Corrupt
	}
	if b[1] == wire.BaseUD+wire.OpSendOnly {
		terms := offer{true, wire.PSN(b[3]), int(b[3] & 3), int(b[3] & 7), int(b[3] >> 5)}
		p.CM = &Exchange{Reply: b[2]&1 != 0, ID: uint32(b[2] >> 1), RemoteID: uint32(b[2] >> 1), QPN: uint32(b[3] & 7), Service: wire.RC, AckTimeout: b[3] & 31, offer: terms}
	}
	return p
}

// sound checks what holds between packets.
func sound(t *testing.T, d *Direction) {
	t.Helper()
	if len(d.holes) > maxHoles || len(d.messages.open()) > maxOpen || len(d.doubt.waiting) > maxDoubted {
		t.Fatalf("%d holes, %d messages, %d verdicts that wait", len(d.holes), len(d.messages.open()), len(d.doubt.waiting))
	}
	for i, h := range d.holes {
		if h.len() <= 0 || i > 0 && h.from.Less(d.holes[i-1].to) {
			t.Fatalf("holes %+v", d.holes)
		}
	}
	outstanding := volume{finished: d.messages.volume.finished, payload: d.messages.volume.payload}
	for _, m := range d.messages.open() {
		if !m.done {
			outstanding.messages++
			outstanding.bytes += m.bytes
		}
	}
	if outstanding != d.messages.volume {
		t.Fatalf("%+v outstanding, said to be %+v", outstanding, d.messages.volume)
	}
	for i, m := range d.messages.open() {
		if i > 0 && !d.messages.open()[i-1].first.Less(m.first) {
			t.Fatalf("message %d begins at %v, behind %v", i, m.first, d.messages.open()[i-1].first)
		}
	}
	if d.begun && d.frontier.Less(d.cursor) {
		t.Fatalf("cursor %v beyond %v", d.cursor, d.frontier)
	}
}
