package conversation

import (
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// numbered is a script whose requester gives each packet the next identification.
type numbered struct {
	*script
	id uint16
}

func newNumbered(t *testing.T) *numbered { return &numbered{newScript(t, DefaultLimits()), 0xFFF8} }

// number sends a request with an identification.
func (s *numbered) number(psn wire.PSN, id uint16) {
	s.packet(alice, bob, 0x12, wire.OpSendOnly, psn, func(p *Packet) { p.IPID = id })
}

func (s *numbered) send(psns ...wire.PSN) {
	for _, psn := range psns {
		s.id++
		s.number(psn, s.id)
	}
}

// lose gives the numbers of packets that are not seen.
func (s *numbered) lose(n uint16) { s.id += n }

// warm lets it be known that the packets are numbered, and how long answers take.
func (s *numbered) warm() {
	for psn := range wire.PSN(6) {
		s.send(psn)
		s.ack(psn)
	}
}

func (s *numbered) answer(psn, msn wire.PSN, syndrome wire.Syndrome) {
	s.packet(bob, alice, 0x11, wire.OpAcknowledge, psn, func(p *Packet) { p.MSN, p.Syndrome = uint32(msn), syndrome })
}

func (s *numbered) ack(psn wire.PSN) {
	s.answer(psn, psn+1, wire.NewSyndrome(wire.Ack, wire.CreditsInvalid))
}

func (s *numbered) nakFor(psn wire.PSN) {
	s.answer(psn, psn, wire.NewSyndrome(wire.Nak, wire.NakPSNSequence))
}

func TestARequesterThatPausesWhileItSendsAgainGoesOn(t *testing.T) {
	for _, test := range []struct {
		name string
		lost uint16 // numbers that are left out in the pause
		want []Kind
	}{
		{"the next number", 0, []Kind{NakSequence, RetransmitNak, LostBehind}},
		{"fewer packets than would have to be lost", 4, []Kind{NakSequence, RetransmitNak, LostBehind}},
		{"all that would have to be lost", 5, []Kind{NakSequence, RetransmitNak, LostBehind, RetransmitTimeout, Unresolved, Unresolved, Unresolved, Unresolved}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newNumbered(t)
			s.warm()
			s.send(6, 7, 8, 9, 10, 11)
			s.nakFor(7)
			s.send(7, 8)
			s.wait(18 * time.Millisecond)
			s.lose(test.lost)
			s.send(9, 10, 11)
			s.ack(11)
			s.track.Finish()
			s.want(test.want...)
		})
	}
}

func TestNumbersTellWhatWasLateFromWhatWasSentAgain(t *testing.T) {
	s := newNumbered(t)
	s.warm()
	s.send(6, 7)
	late := s.id + 1
	s.lose(1)
	s.send(9, 10)
	s.number(8, late)
	s.number(9, s.id-1) // a copy
	s.send(11)
	s.ack(11)
	s.track.Finish()
	s.want(Reordered, Duplicate)
	if d := &s.closed[0].Ends[0].Asks; d.Again != 0 || d.DuplicateReqs != 1 {
		t.Errorf("%d sent again, %d duplicates", d.Again, d.DuplicateReqs)
	}
}

// TestABurstThatComesInTheWrongOrderIsNoSendingAgain has what is sent again come
// backwards, as a queue of a bridge may hand it on.
func TestABurstThatComesInTheWrongOrderIsNoSendingAgain(t *testing.T) {
	s := newNumbered(t)
	s.warm()
	s.send(6, 7, 8, 9, 10, 11)
	s.wait(20 * time.Millisecond)
	s.send(6, 7)
	first := s.id + 1
	for i := range uint16(4) {
		s.number(11-wire.PSN(i), first+3-i)
	}
	s.id += 4
	s.ack(11)
	s.send(12)
	s.ack(12)
	s.track.Finish()
	s.want(RetransmitTimeout, Reordered, Reordered, Reordered)
}

func TestAMessageThatIsSentAgainAloneIsNoCopy(t *testing.T) {
	s := newNumbered(t)
	s.warm()
	s.send(6)
	s.wait(100 * time.Microsecond)
	s.send(6)
	s.ack(6)
	s.send(7)
	s.ack(7)
	s.track.Finish()
	s.want(RetransmitTimeout)
}

func TestRandomIdentificationsTellNothing(t *testing.T) {
	var x idents
	for i := range 100_000 {
		p := Packet{IPID: uint16(uint32(i) * 2654435761 >> 7)}
		if x.overtaken(&p) || x.fresh(&p) {
			t.Fatalf("packet %d of random numbers is taken for one that is numbered", i)
		}
		x.note(&p)
	}
	x = idents{}
	for range 100 {
		p := Packet{}
		if x.overtaken(&p) || x.fresh(&p) {
			t.Fatal("packets without identifications are taken for numbered")
		}
		x.note(&p)
	}
}

// TestNumbersThatComeAgainWithTheirPSNsTellNothing has a requester whose
// identifications are the low bits of its PSNs.
func TestNumbersThatComeAgainWithTheirPSNsTellNothing(t *testing.T) {
	s := newNumbered(t)
	send := func(from, to wire.PSN) {
		for psn := from; psn < to; psn++ {
			s.number(psn, uint16(psn)+1)
		}
	}
	for psn := range wire.PSN(6) {
		send(psn, psn+1)
		s.ack(psn)
	}
	send(6, 20)
	s.nakFor(8)
	send(8, 20) // until it is known the first three are taken for copies
	s.nakFor(12)
	send(12, 24)
	s.nakFor(15)
	send(15, 24)
	s.ack(23)
	s.track.Finish()
	s.want(
		NakSequence, Duplicate, Duplicate, Duplicate, RetransmitNak, LostBehind,
		NakSequence, RetransmitNak, Unresolved, LostBehind, // the three were missing where they came again
		NakSequence, RetransmitNak, LostBehind,
	)
}
