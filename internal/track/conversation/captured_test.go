package conversation

import (
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

// Captures that are cut, that are made in a tunnel, and services that are followed
// less than RC.

// TestAnAcknowledgementWithoutItsAETHTellsNothing cuts the capture behind the BTH: it
// may be an ACK or a NAK, so that nothing is judged by it.
func TestAnAcknowledgementWithoutItsAETHTellsNothing(t *testing.T) {
	s := newScript(t, DefaultLimits())
	cut := func(psn wire.PSN) {
		s.packet(bob, alice, 0x11, wire.OpAcknowledge, psn, func(p *Packet) { p.Syndrome, p.MSN, p.Untold = 0, 0, true })
	}
	s.send(100)
	cut(100)
	s.send(101)
	s.send(103)
	cut(102)
	s.wait(100 * time.Microsecond)
	s.send(102)
	s.send(103)
	cut(103)
	s.track.Finish()
	s.want(Unresolved, RetransmitUnseen)
	if d := &s.closed[0].Ends[0].Asks; d.Acks != 0 {
		t.Errorf("%d acknowledgements", d.Acks)
	}
}

func TestAREADWhoseLengthIsCutHasTheBytesOfItsResponse(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.packet(alice, bob, 0x12, wire.OpReadRequest, 100, func(p *Packet) { p.Payload, p.Unsized = 0, true })
	for i, op := range []wire.Opcode{wire.OpReadResponseFirst, wire.OpReadResponseMiddle, wire.OpReadResponseLast} {
		s.packet(bob, alice, 0x11, op, wire.PSN(100+i), func(p *Packet) { p.Payload = 1024 - 24*(i/2) })
	}
	s.track.Finish()
	if o := s.closed[0].Ends[0].Asks.Operations[Read]; o.Messages != 1 || o.Bytes != 3048 || o.Partial != 0 {
		t.Errorf("%+v", o)
	}
}

func TestARefusedMessageIsNotCompletedByALaterAcknowledgement(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.packet(alice, bob, 0x12, wire.OpWriteOnly, 100, func(p *Packet) { p.DMALen = 10 })
	s.nak(100, wire.Nak, wire.NakRemoteAccess)
	s.send(101)
	s.ack(101)
	s.track.Finish()
	d := &s.closed[0].Ends[0].Asks
	if w := d.Operations[Write]; w.Messages != 0 || w.Latency != nil || d.Unfinished != 1 || d.Operations[Send].Messages != 1 {
		t.Errorf("%+v, %d unfinished", w, d.Unfinished)
	}
}

// TestAREADOfTheRestIsNoGap sees requests alone: READs that ask for what is missing of
// an earlier one tell how many PSNs that takes.
func TestAREADOfTheRestIsNoGap(t *testing.T) {
	s := newScript(t, DefaultLimits())
	read := func(psn wire.PSN, va uint64, length uint32) {
		s.packet(alice, bob, 0x12, wire.OpReadRequest, psn, func(p *Packet) { p.Payload, p.VA, p.DMALen, p.RKey = 0, va, length, 7 })
	}
	read(1020, 0x9000, 8192)
	read(1022, 0x9800, 6144)
	read(1026, 0xA800, 2048)
	read(1028, 0x9000, 2048)
	s.track.Finish()
	s.want(RetransmitUnseen, RetransmitUnseen)
}

// TestOnlyAGapOfUCIsOutOfSequence: a UC responder takes up what comes behind a gap.
func TestOnlyAGapOfUCIsOutOfSequence(t *testing.T) {
	s := newScript(t, DefaultLimits())
	for _, psn := range []wire.PSN{5, 6, 9, 10, 11, 14, 15} {
		s.packet(alice, bob, 0x12, wire.BaseUC+wire.OpSendOnly, psn, nil)
	}
	if got := s.track.halves[key{alice, bob, 0x12}].sender().Asks.OutOfSequence; got != 2 {
		t.Errorf("%d out of sequence, want 2", got)
	}
}

// TestReliableDatagramsAreCounted has three messages of two packets and their
// acknowledgements; one packet is lost, about which nothing is said.
func TestReliableDatagramsAreCounted(t *testing.T) {
	const rd = wire.BaseRD
	s := newScript(t, DefaultLimits())
	request := func(op wire.Opcode, psn wire.PSN, payload int) {
		s.packet(alice, bob, 0x12, rd+op, psn, func(p *Packet) { p.Payload, p.SrcQP, p.QKey, p.DMALen = payload, 0x33, 5, 300 })
	}
	request(wire.OpSendFirst, 1, 256)
	request(wire.OpSendLast, 2, 4)
	request(wire.OpWriteFirst, 3, 256)
	request(wire.OpWriteLast, 5, 44)
	request(wire.OpReadRequest, 6, 0)
	s.packet(bob, alice, 0x11, rd+wire.OpAcknowledge, 5, nil)
	s.track.Finish()
	s.want()
	for _, c := range s.closed {
		if c.Service != wire.RD {
			t.Fatalf("a conversation of %v", c.Service)
		}
		d := &c.Ends[0].Asks
		if c.Ends[1].QPN != 0x12 {
			continue // the acknowledgements
		}
		for op, want := range map[Op]Operation{Send: {Messages: 1, Bytes: 260}, Write: {Messages: 1, Bytes: 300}, Read: {Messages: 1, Bytes: 300}} {
			if got := d.Operations[op]; got.Messages != want.Messages || got.Bytes != want.Bytes {
				t.Errorf("%v: %+v, want %+v", op, got, want)
			}
		}
		if c.Ends[0].QPN != 0x33 || !c.Ends[0].Known || d.Requests != 5 {
			t.Errorf("%d requests from QP %#x", d.Requests, c.Ends[0].QPN)
		}
	}
}

// TestAMarkOfATunnelCountsWhereItIsCopied sets the ECN fields of the outer and the
// inner IP header.
func TestAMarkOfATunnelCountsWhereItIsCopied(t *testing.T) {
	for _, test := range []struct {
		outer, inner uint8
		want         bool
	}{
		{wire.ECNCE, wire.ECNECT0, true},
		{wire.ECNCE, wire.ECNECT1, true},
		{wire.ECNCE, wire.ECNNotECT, false},
		{wire.ECNECT0, wire.ECNCE, true},
		{wire.ECNECT0, wire.ECNECT0, false},
		{wire.ECNNotECT, wire.ECNCE, true},
	} {
		var r reader
		r.mark(test.outer)
		r.mark(test.inner)
		if r.ce != test.want {
			t.Errorf("outer %d, inner %d: marked is %v", test.outer, test.inner, r.ce)
		}
	}
	var f wire.Frame
	r, err := craft.NewRecipe("rocev2", wire.OpSendOnly)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put("ip.dsfield.ecn", "3"); err != nil {
		t.Fatal(err)
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	f.Parse(r.Link, img.Data, img.WireLen)
	var p Packet
	if !p.Read(&f) || !p.CE {
		t.Errorf("a mark without a tunnel is not read: %+v", p)
	}
}

// TestAQueuePairThatBeginsWithTheSamePSNAgainIsAnotherConversation reuses the numbers
// without CM, after a silence that no timer explains.
func TestAQueuePairThatBeginsWithTheSamePSNAgainIsAnotherConversation(t *testing.T) {
	for _, test := range []struct {
		silence time.Duration
		want    int
	}{{30 * time.Second, 2}, {10 * time.Second, 1}} {
		s := newScript(t, DefaultLimits())
		for range 2 {
			for psn := range wire.PSN(5) {
				s.send(1000 + psn)
				s.packet(bob, alice, 0x11, wire.OpAcknowledge, 1000+psn, func(p *Packet) { p.MSN = uint32(psn) + 1 })
			}
			s.wait(test.silence)
		}
		s.track.Finish()
		if len(s.closed) != test.want {
			t.Errorf("%d conversations after %v, want %d", len(s.closed), test.silence, test.want)
		}
		if test.want == 2 {
			s.want()
		}
	}
}

// TestAResponseSaysHowManyAreMissing loses two in a row.
func TestAResponseSaysHowManyAreMissing(t *testing.T) {
	s := newScript(t, DefaultLimits())
	response := func(op wire.Opcode, psn wire.PSN) {
		s.packet(bob, alice, 0x11, op, psn, func(p *Packet) { p.Payload, p.MSN = 256, 1 })
	}
	s.packet(alice, bob, 0x12, wire.OpReadRequest, 100, func(p *Packet) { p.Payload, p.DMALen = 0, 5*256 })
	response(wire.OpReadResponseFirst, 100)
	response(wire.OpReadResponseMiddle, 103)
	response(wire.OpReadResponseLast, 104)
	s.packet(alice, bob, 0x12, wire.OpReadRequest, 101, func(p *Packet) { p.Payload, p.DMALen, p.VA = 0, 4*256, 256 })
	response(wire.OpReadResponseFirst, 101)
	response(wire.OpReadResponseMiddle, 102)
	response(wire.OpReadResponseMiddle, 103)
	response(wire.OpReadResponseLast, 104)
	s.track.Finish()
	s.want(ResponseLost, RetransmitImplied)
	if lost, back := s.told[0], s.told[1]; lost.PSN != 101 || lost.N != 2 || lost.Packet != 3 || back.Cause != 3 {
		t.Errorf("told %+v and %+v", lost, back)
	}
}

// TestAMistakenPacketThatIsAskedForWasDroppedForIt: its receiver did not take the
// wrong ICRC for what was meant.
func TestAMistakenPacketThatIsAskedForWasDroppedForIt(t *testing.T) {
	s := newScript(t, DefaultLimits())
	s.send(100)
	s.ack(100)
	s.packet(alice, bob, 0x12, wire.OpSendOnly, 101, func(p *Packet) { p.Trust = Mistaken })
	s.send(102)
	s.nak(101, wire.Nak, wire.NakPSNSequence)
	s.send(101)
	s.send(102)
	s.track.Finish()
	s.want(IcrcMistake, NakSequence, LostCorrupt, RetransmitNak)
}
