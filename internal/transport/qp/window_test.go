package qp

import (
	"fmt"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestOutstandingPSNsAreBounded(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.MaxUnacked = 3 })
	x.post(x.send(1000), x.send(1))
	x.say("the packet that closes the window asks for an acknowledgement")
	x.wantSent("+0 SEND First 256", "+1 SEND Middle 256", "+2 SEND Middle 256 A")
	x.ack(1)
	x.wantSent("+3 SEND Last 232 A", "+4 SEND Only 1 A")
	x.ack(4)
	x.wantDone("1 success", "2 success")
}

func TestDefaultWindow(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1<<16), x.send(0))
	n, asked := 0, 0
	for p := x.emit(); p != nil; p = x.emit() {
		n++
		if p.BTH().AckReq() {
			asked++
		}
	}
	if n != 128 || asked != 2 {
		t.Errorf("%d packets, %d ask for an acknowledgement; want 128, 2", n, asked)
	}
}

func TestReadTakesThePSNsOfItsResponses(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.MaxUnacked = 6 })
	x.post(x.read(5*sendMTU), x.send(1), x.send(1))
	x.say("a READ is never too long for the window; what follows may be")
	x.wantSent("+0 RDMA READ Request A", "+5 SEND Only 1 A")
	x.readAnswer(wire.OpReadResponseFirst, 0, pattern(256))
	x.wantSent("+6 SEND Only 1 A")
}

func TestReadOfAllPSNsButOneHalfGoesAlone(t *testing.T) {
	x := newSendTest(t, RC, nil)
	huge := x.read(0)
	huge.SGL = []SGE{{Addr: sendVA, Length: 1 << 31, LKey: x.region.LKey()}}
	x.post(x.send(1), huge, x.send(1))
	x.wantSent("+0 SEND Only 1 A")
	x.ack(0)
	x.wantSent("+1 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseFirst, 1, pattern(256))
	x.wantDone("1 success")
	x.say("an acknowledgement of the packet behind half the PSNs is one of the past, or of nothing")
	x.ack(1 + halfPSNs)
	x.wantDone()
}

func TestReadsAndAtomicsAreLimited(t *testing.T) {
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) { a.MaxRdAtomic = 2 })
	atomic := WorkRequest{Op: FetchAdd, SGL: x.local(0, 8)}
	x.post(x.read(1), atomic, x.send(1), x.read(1), WorkRequest{Op: Flush})
	x.wantSent("+0 RDMA READ Request A", "+1 Fetch Add A", "+2 SEND Only 1 A")
	x.say("one answer, one more")
	x.readAnswer(wire.OpReadResponseOnly, 0, pattern(1))
	x.wantSent("+3 RDMA READ Request A")
	x.say("sending again does not count twice")
	x.advance(sendTimeout)
	x.wantSent("+1 Fetch Add A", "+2 SEND Only 1 A", "+3 RDMA READ Request A")
	x.answer(wire.OpAtomicAcknowledge, 1, ackUnlimited, nil)
	x.wantSent("+4 FLUSH A")
	x.readAnswer(wire.OpReadResponseOnly, 3, pattern(1))
	x.readAnswer(wire.OpReadResponseOnly, 4, nil)
	x.wantDone("1 success", "2 success", "3 success", "4 success", "5 success")
}

func TestFenceWaitsForReadsAndAtomicsOnly(t *testing.T) {
	x := newSendTest(t, RC, nil)
	fenced := x.send(1)
	fenced.Flags = Fence
	x.post(x.send(1), fenced, x.read(300), x.send(1), fenced, x.send(1))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND Only 1 A", "+2 RDMA READ Request A", "+4 SEND Only 1 A")
	x.readAnswer(wire.OpReadResponseFirst, 2, pattern(256))
	x.wantSilence()
	x.readAnswer(wire.OpReadResponseLast, 3, pattern(44))
	x.wantSent("+5 SEND Only 1 A", "+6 SEND Only 1 A")
}

func TestCreditsAreHonouredByPolicy(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.HonourCredits = true })
	x.post(x.send(1), x.send(1), x.send(1), x.send(1), WorkRequest{Op: Write}, x.send(1))
	credit := func(psn int, msn uint32, code uint8) {
		x.answerRaw(x.response(wire.OpAcknowledge, psn, wire.NewSyndrome(wire.Ack, code), msn, nil))
	}
	x.say("nothing is known: one SEND to learn")
	x.wantSent("+0 SEND Only 1 A")
	x.say("the first message is complete and there are two credits: two, and one to learn")
	credit(0, 1, 2)
	x.wantSent("+1 SEND Only 1 A", "+2 SEND Only 1 A", "+3 SEND Only 1 A", "+4 RDMA WRITE Only 0 A")
	x.say("an unsolicited acknowledgement tells of more")
	credit(0, 1, 6)
	x.wantSent("+5 SEND Only 1 A")
	x.say("no limit")
	credit(5, 6, wire.CreditsInvalid)
	x.post(x.send(1), x.send(1), x.send(1))
	x.wantSent("+6 SEND Only 1 A", "+7 SEND Only 1 A", "+8 SEND Only 1 A")
}

func TestCreditsThatGoBackStopNothing(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.HonourCredits = true })
	for i := range 4 {
		x.post(x.send(1), x.send(1))
		x.wantSent(fmt.Sprintf("+%d SEND Only 1 A", 2*i))
		x.answerRaw(x.response(wire.OpAcknowledge, 2*i, wire.NewSyndrome(wire.Ack, 0), 0xF00000, nil))
		x.wantSent(fmt.Sprintf("+%d SEND Only 1 A", 2*i+1))
		x.ack(2*i + 1)
		x.q.requester.credits = credits{}
	}
}
