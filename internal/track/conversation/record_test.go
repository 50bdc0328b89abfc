package conversation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// recorded lets a script keep the messages that end.
func recorded(s *script) *[]Message {
	list := &[]Message{}
	s.track.Message = func(_ *Conversation, _ int, m *Message) { *list = append(*list, *m) }
	return list
}

// to changes a request into one with a RETH.
func to(rkey uint32, va uint64, length uint32) func(*Packet) {
	return func(p *Packet) { p.RKey, p.VA, p.DMALen = rkey, va, length }
}

// both makes several changes.
func both(changes ...func(*Packet)) func(*Packet) {
	return func(p *Packet) {
		for _, change := range changes {
			change(p)
		}
	}
}

func (s *script) ask(op wire.Opcode, psn wire.PSN, change func(*Packet)) {
	s.packet(alice, bob, 0x12, op, psn, change)
}

func (s *script) answer(op wire.Opcode, psn wire.PSN, msn uint32) {
	s.packet(bob, alice, 0x11, op, psn, func(p *Packet) { p.MSN = msn })
}

func payload(n int) func(*Packet) { return func(p *Packet) { p.Payload = n } }

func TestAMessageIsRecordedWithWhatItsHeadersSay(t *testing.T) {
	solicited := func(p *Packet) { p.Solicited = true }
	immediate := func(v uint32) func(*Packet) { return func(p *Packet) { p.Immediate = v } }
	invalidates := func(rkey uint32) func(*Packet) { return func(p *Packet) { p.RKey = rkey } }
	for _, test := range []struct {
		name string
		run  func(s *script)
		want Message
	}{
		{"SEND with immediate", func(s *script) {
			s.ask(wire.OpSendOnlyImmediate, 100, both(immediate(7), solicited))
			s.answer(wire.OpAcknowledge, 100, 41)
		}, Message{
			Op: Send, Opcode: wire.OpSendOnlyImmediate, Bytes: 10, First: 100, Last: 100, FirstPacket: 1, LastPacket: 1, Began: 1000,
			Immediate: 7, Solicited: true, By: 2, Ended: 2000, MSN: 41, AETH: true,
		}},
		{"SEND with invalidate, of two packets", func(s *script) {
			s.ask(wire.OpSendFirst, 100, payload(256))
			s.ask(wire.OpSendLastInvalidate, 101, invalidates(0x55))
			s.answer(wire.OpAcknowledge, 101, 1)
		}, Message{
			Op: Send, Opcode: wire.OpSendLastInvalidate, Bytes: 266, First: 100, Last: 101, FirstPacket: 1, LastPacket: 2, Began: 1000,
			Invalidated: 0x55, By: 3, Ended: 3000, MSN: 1, AETH: true,
		}},
		{"WRITE with immediate, of three", func(s *script) {
			s.ask(wire.OpWriteFirst, 100, both(payload(256), to(9, 0x1000, 522)))
			s.ask(wire.OpWriteMiddle, 101, payload(256))
			s.ask(wire.OpWriteLastImmediate, 102, immediate(8))
			s.answer(wire.OpAcknowledge, 102, 2)
		}, Message{
			Op: Write, Opcode: wire.OpWriteLastImmediate, Bytes: 522, First: 100, Last: 102, FirstPacket: 1, LastPacket: 3, Began: 1000,
			Addressed: true, RKey: 9, VA: 0x1000, Length: 522, Immediate: 8, By: 4, Ended: 4000, MSN: 2, AETH: true,
		}},
		{"READ", func(s *script) {
			s.ask(wire.OpReadRequest, 100, both(payload(0), to(9, 0x2000, 600)))
			s.packet(bob, alice, 0x11, wire.OpReadResponseFirst, 100, payload(256))
			s.packet(bob, alice, 0x11, wire.OpReadResponseMiddle, 101, payload(256))
			s.answer(wire.OpReadResponseLast, 102, 3)
		}, Message{
			Op: Read, Opcode: wire.OpReadRequest, Bytes: 600, First: 100, Last: 102, FirstPacket: 1, LastPacket: 1, Began: 1000,
			Addressed: true, RKey: 9, VA: 0x2000, Length: 600, By: 4, Ended: 4000, MSN: 3, AETH: true,
		}},
		{"atomic", func(s *script) {
			s.ask(wire.OpFetchAdd, 100, both(payload(0), to(9, 0x2008, 0)))
			s.answer(wire.OpAtomicAcknowledge, 100, 4)
		}, Message{
			Op: Atomic, Opcode: wire.OpFetchAdd, Bytes: 8, First: 100, Last: 100, FirstPacket: 1, LastPacket: 1, Began: 1000,
			Addressed: true, RKey: 9, VA: 0x2008, Length: 8, By: 2, Ended: 2000, MSN: 4, AETH: true,
		}},
		{"refused", func(s *script) {
			s.ask(wire.OpWriteOnly, 100, to(9, 0x3000, 10))
			s.nak(100, wire.Nak, wire.NakRemoteAccess)
		}, Message{
			Op: Write, Opcode: wire.OpWriteOnly, Bytes: 10, First: 100, Last: 100, FirstPacket: 1, LastPacket: 1, Began: 1000,
			Addressed: true, RKey: 9, VA: 0x3000, Length: 10, By: 2, AETH: true, Nak: wire.NewSyndrome(wire.Nak, wire.NakRemoteAccess), Unfinished: true,
		}},
		{"sent again after a NAK", func(s *script) {
			s.ask(wire.OpWriteFirst, 100, both(payload(256), to(9, 0, 522)))
			s.ask(wire.OpWriteMiddle, 101, payload(256))
			s.ask(wire.OpWriteLast, 102, nil)
			s.nak(101, wire.Nak, wire.NakPSNSequence)
			s.ask(wire.OpWriteMiddle, 101, payload(256))
			s.ask(wire.OpWriteLast, 102, nil)
			s.answer(wire.OpAcknowledge, 102, 1)
		}, Message{
			Op: Write, Opcode: wire.OpWriteLast, Bytes: 522, First: 100, Last: 102, FirstPacket: 1, LastPacket: 6, Began: 1000,
			Addressed: true, RKey: 9, Length: 522, By: 7, Ended: 7000, MSN: 1, AETH: true, Again: true, Restarts: 1, Restart: 101,
		}},
		{"without its middle", func(s *script) {
			s.ask(wire.OpWriteFirst, 100, both(payload(256), to(9, 0, 522)))
			s.ask(wire.OpWriteLast, 102, nil)
			s.answer(wire.OpAcknowledge, 102, 1)
		}, Message{
			Op: Write, Opcode: wire.OpWriteLast, Bytes: 266, First: 100, Last: 102, FirstPacket: 1, LastPacket: 2, Began: 1000,
			Addressed: true, RKey: 9, Length: 522, By: 3, Ended: 3000, MSN: 1, AETH: true, Partial: true,
		}},
		{"UC, which has no answers", func(s *script) {
			s.ask(wire.BaseUC+wire.OpWriteOnly, 100, to(9, 0x1000, 10))
		}, Message{
			Op: Write, Opcode: wire.BaseUC + wire.OpWriteOnly, Bytes: 10, First: 100, Last: 100, FirstPacket: 1, LastPacket: 1, Began: 1000,
			Addressed: true, RKey: 9, VA: 0x1000, Length: 10,
		}},
		{"a datagram", func(s *script) {
			s.ask(wire.BaseUD+wire.OpSendOnlyImmediate, 100, immediate(3))
		}, Message{
			Op: Send, Opcode: wire.BaseUD + wire.OpSendOnlyImmediate, Bytes: 10, First: 100, Last: 100, FirstPacket: 1, LastPacket: 1,
			Began: 1000, Immediate: 3,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(t, DefaultLimits())
			got := recorded(s)
			test.run(s)
			s.track.Finish()
			if len(*got) != 1 {
				t.Fatalf("%d messages: %+v", len(*got), *got)
			}
			if diff := cmp.Diff(test.want, (*got)[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRegionsAreWhatWasTouchedOnce(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.ask(wire.OpWriteOnly, 100, to(9, 0x1000, 10))
	s.ask(wire.OpWriteOnly, 101, to(9, 0x0F00, 16))
	s.ask(wire.OpReadRequest, 102, both(payload(0), to(9, 0x2000, 32)))
	s.ask(wire.OpFetchAdd, 103, both(payload(0), to(8, 0x40, 0)))
	s.ask(wire.OpWriteOnly, 104, to(7, 0xFFFF_FFFF_FFFF_FFF0, 32)) // would run over
	s.ask(wire.OpWriteOnly, 105, to(6, 0x77, 0))
	s.nak(101, wire.Nak, wire.NakPSNSequence)
	s.ask(wire.OpWriteOnly, 101, to(9, 0x0F00, 16))
	s.ask(wire.OpReadRequest, 102, both(payload(0), to(9, 0x2000, 32)))
	s.track.Finish()
	a := s.closed[0].Ends[0].Asks.Asked()
	want := []Region{
		{RKey: 9, Low: 0x0F00, End: 0x2020, Bytes: 58, Messages: [Ops]uint32{Write: 2, Read: 1}},
		{RKey: 8, Low: 0x40, End: 0x48, Bytes: 8, Messages: [Ops]uint32{Atomic: 1}},
		{RKey: 7, Low: 0xFFFF_FFFF_FFFF_FFF0, End: 0xFFFF_FFFF_FFFF_FFFF, Bytes: 32, Messages: [Ops]uint32{Write: 1}},
		{RKey: 6, Messages: [Ops]uint32{Write: 1}},
	}
	if diff := cmp.Diff(want, a.Regions); diff != "" || a.Beyond != 0 {
		t.Errorf("-want +got:\n%s%d beyond", diff, a.Beyond)
	}
}

func TestRegionsAreBounded(t *testing.T) {
	var a Asked
	for i := range 3 * maxRegions {
		a.take(&Packet{RKey: uint32(i), DMALen: 1}, Write, wire.Opcode(wire.OpWriteOnly).Info())
	}
	if len(a.Regions) != maxRegions || a.Beyond != 2*maxRegions {
		t.Errorf("%d regions, %d beyond", len(a.Regions), a.Beyond)
	}
}

func TestTheWindowGrowsAndShrinks(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.ask(wire.OpWriteOnly, 100, both(payload(1000), to(9, 0, 1000)))
	s.ask(wire.OpWriteOnly, 101, both(payload(500), to(9, 0, 500)))
	s.wait(time.Millisecond)
	s.answer(wire.OpAcknowledge, 101, 2)
	s.wait(time.Second)
	s.ask(wire.OpReadRequest, 102, both(payload(0), to(9, 0, 300)))
	s.packet(bob, alice, 0x11, wire.OpReadResponseOnly, 102, payload(300))
	s.track.Finish()
	w := s.closed[0].Ends[0].Asks.Window()
	if w.MostBytes != 1500 || w.MostPackets != 2 || w.Payload() != 1800 {
		t.Errorf("at most %d bytes, %d packets; %d passed", w.MostBytes, w.MostPackets, w.Payload())
	}
	if want := time.Millisecond + 3*time.Microsecond; w.Busy != want {
		t.Errorf("busy for %v, want %v", w.Busy, want)
	}
	if want := time.Second + time.Millisecond + 4*time.Microsecond; w.Span() != want {
		t.Errorf("in %v, want %v", w.Span(), want)
	}
	var got []Interval
	for i := range w.Len() {
		got = append(got, w.At(i))
	}
	at := (time.Second + time.Millisecond).Truncate(w.Length())
	want := []Interval{
		{0, 2, 1500, 1500, 1500},
		{at, 1, 300, 300, 300},
	}
	if diff := cmp.Diff(want, got); diff != "" || w.Length() != 1<<22 {
		t.Errorf("intervals of %v, -want +got:\n%s", w.Length(), diff)
	}
}

// TestAWindowLosesNothingWhenItIsHalved compares with sums, whatever the times.
func TestAWindowLosesNothingWhenItIsHalved(t *testing.T) {
	for _, few := range []bool{false, true} {
		w := Window{few: few}
		var v volume
		now := int64(5)
		for i := range 5000 {
			v = volume{messages: i % 7, bytes: int64(i%7) * 100, finished: int64(i) * 3, payload: int64(i) * 5}
			now += int64(i) * 1000
			w.note(now, &v)
			if limit := map[bool]int{false: maxPoints, true: fewPoints}[few]; w.Len() > limit {
				t.Fatalf("%d intervals", w.Len())
			}
		}
		var acked, payload int64
		for i := range w.Len() {
			p := w.At(i)
			acked, payload = acked+p.Acknowledged, payload+p.Payload
			if i > 0 && p.Start <= w.At(i-1).Start || p.Messages != 6 || p.Bytes != 600 {
				t.Errorf("interval %d: %+v", i, p)
			}
		}
		if acked != v.finished || payload != v.payload || w.Len() < fewPoints/2 {
			t.Errorf("%d acknowledged of %d, %d bytes of %d, %d intervals", acked, v.finished, payload, v.payload, w.Len())
		}
	}
}

func TestLaterConversationsHaveFewerIntervals(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for qp := range uint32(richOnes + 1) {
		for range 100 {
			s.packet(alice, bob, 0x100+qp, wire.BaseUD+wire.OpSendOnly, 0, nil)
			s.wait(100 * time.Microsecond)
		}
	}
	s.track.Finish()
	first, last := s.closed[0].Ends[0].Asks.Window(), s.closed[richOnes].Ends[0].Asks.Window()
	if first.Len() != 100 || last.Len() > fewPoints || last.Payload() != 1000 {
		t.Errorf("%d and %d intervals", first.Len(), last.Len())
	}
}

func TestReactionsAreTimed(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.wait(20 * time.Microsecond)
	s.ack(100)
	s.send(102) // shows that 101 is missing
	s.wait(9 * time.Microsecond)
	s.nak(101, wire.Nak, wire.NakPSNSequence)
	s.wait(19 * time.Microsecond)
	s.send(101)
	s.send(102)
	s.ack(102)
	s.wait(time.Second)
	s.send(103) // lost behind the capture point
	s.send(104)
	s.wait(4 * time.Microsecond)
	s.nak(103, wire.Nak, wire.NakPSNSequence)
	s.wait(29 * time.Microsecond)
	s.send(103)
	s.send(104)
	s.ack(104)
	s.send(105)
	s.wait(time.Second)
	s.send(105)
	s.nak(105, wire.RNRNak, 1)
	s.wait(20 * time.Microsecond)
	s.send(105)
	s.ack(105)
	s.track.Finish()
	x := &s.closed[0].Ends[0].Asks.Pace
	for _, test := range []struct {
		name        string
		n           uint64
		least, most time.Duration
		got         *latency.Histogram
	}{
		{"gap to NAK", 2, 6 * time.Microsecond, 10 * time.Microsecond, x.GapToNak},
		{"NAK to sending again", 2, 20 * time.Microsecond, 30 * time.Microsecond, x.NakToResend},
		{"timeout", 1, time.Second + time.Microsecond, time.Second + time.Microsecond, x.Timeout},
		{"RNR", 1, 21 * time.Microsecond, 21 * time.Microsecond, x.RNR},
	} {
		if test.got == nil {
			t.Errorf("%s is not measured; told %+v", test.name, s.told)
			continue
		}
		if n, least, most := test.got.Count(), test.got.Min(), test.got.Max(); n != test.n || least != test.least || most != test.most {
			t.Errorf("%s: %d from %v to %v", test.name, n, least, most)
		}
	}
}

func TestAListenerToMessagesCostsNoAllocation(t *testing.T) {
	track := NewTracker(DefaultLimits())
	count := 0
	track.Message = func(_ *Conversation, _ int, _ *Message) { count++ }
	var psn wire.PSN
	now := int64(0)
	send := func(p Packet) {
		now += 1000
		p.Number, p.Time = int(now), now
		track.Packet(&p)
	}
	round := func() {
		send(Packet{Src: alice, Dst: bob, DestQP: 0x12, Opcode: wire.OpWriteOnlyImmediate, PSN: psn, Payload: 100, RKey: uint32(psn), DMALen: 100})
		psn = psn.Add(1)
		send(Packet{Src: bob, Dst: alice, DestQP: 0x11, Opcode: wire.OpAcknowledge, PSN: psn.Add(-1), Syndrome: 31, MSN: uint32(psn)})
	}
	for range 10000 {
		round() // until the window has all its intervals
	}
	if got := testing.AllocsPerRun(1000, round); got != 0 || count < 1000 {
		t.Errorf("%v allocations in two packets, %d messages", got, count)
	}
}
