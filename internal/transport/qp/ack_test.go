package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestAcknowledgementsOfOneBurstAreOne(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		for i := range 8 {
			rt.get(msg{op: wire.OpWriteOnly, psn: i, payload: data(4, 1), ack: true})
		}
		rt.wantAck(7, 8)
		rt.wantSilence()
		rt.step("who asks for nothing gets nothing, until the next who asks")
		for i := 8; i < 11; i++ {
			rt.get(msg{op: wire.OpWriteOnly, psn: i, payload: data(4, 1)})
		}
		rt.wantSilence()
		rt.get(msg{op: wire.OpWriteOnly, psn: 11, payload: data(4, 1), ack: true})
		rt.wantAck(11, 12)
	})
}

func TestGapGivesOneNak(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		write := func(psn int) msg {
			return msg{op: wire.OpWriteOnly, psn: psn, payload: data(4, byte(psn)), ack: true}
		}
		rt.get(write(1))
		rt.get(write(2))
		rt.get(write(3))
		rt.wantEvents(EventCommEstablished, EventGap, EventNakSent, EventGap, EventGap)
		rt.wantNak(wire.NakPSNSequence, 0, 0)
		rt.wantSilence()
		rt.step("a duplicate is answered and does not arm the NAK again")
		rt.get(write(-1))
		rt.wantAck(-1, 0)
		rt.get(write(4))
		rt.wantSilence()
		rt.step("the expected one does")
		rt.get(write(0))
		rt.wantAck(0, 1)
		rt.get(write(2))
		rt.wantNak(wire.NakPSNSequence, 1, 1)
		rt.wantSilence()
		for i := 1; i < 5; i++ {
			rt.get(write(i))
		}
		rt.wantAck(4, 5)
		rt.wantState(RTR)
	})
}

func TestHalfOfThePSNsIsOldHalfNew(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		rt.get(msg{op: wire.OpWriteOnly, psn: -1 << 23, payload: data(4, 1)})
		rt.wantAck(-1, 0)
		rt.get(msg{op: wire.OpWriteOnly, psn: 1<<23 - 1, payload: data(4, 1)})
		rt.wantNak(wire.NakPSNSequence, 0, 0)
		rt.wantBytes(rt.remote, 0, make([]byte, 4))
	})
}

func TestNakStandsBehindTheAnswersBeforeIt(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpReadRequest, size: testMTU + 1})
	rt.get(msg{op: wire.OpWriteOnly, psn: 2, payload: data(4, 1)})
	rt.get(msg{op: wire.OpWriteOnly, psn: 3, payload: data(4, 1)})
	rt.get(msg{op: wire.OpWriteOnly, psn: 4, payload: data(4, 1), rkey: 0xFFFFFFFF})
	rt.wantState(Error)
	p := rt.next(wire.OpReadResponseFirst, 0)
	rt.wantAETH(p, unlimited, 1)
	rt.wantAETH(rt.next(wire.OpReadResponseLast, 1), unlimited, 1)
	rt.wantFatal(wire.NakRemoteAccess, 4, 3)
}

func TestErrorOfTheOwnerEndsAnswers(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpReadRequest, size: 3 * testMTU})
	rt.next(wire.OpReadResponseFirst, 0)
	if err := rt.q.Modify(rt.now, Error, Attributes{}); err != nil {
		t.Fatal(err)
	}
	rt.wantSilence()
}

func TestMSNWraps(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.q.responder.msn = 1<<24 - 1
	rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1), ack: true})
	rt.wantAck(0, 0)
	rt.get(msg{op: wire.OpReadRequest, psn: 1, size: 4})
	rt.wantRead(1, 1, data(4, 1))
}

func TestResponseHeaderByPolicy(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  Policy
		pkey    uint16
		mig     bool
		becn    bool
		credits uint8
	}{
		{name: "default", pkey: 0x8001, mig: true, credits: 31},
		{name: "ClearMigReq", policy: Policy{ClearMigReq: true}, pkey: 0x8001, credits: 31},
		{name: "DefaultPKey", policy: Policy{DefaultPKey: true}, pkey: 0xFFFF, mig: true, credits: 31},
		{name: "EchoCongestion", policy: Policy{EchoCongestion: true}, pkey: 0x8001, mig: true, becn: true, credits: 31},
		{name: "Credits", policy: Policy{Credits: true}, pkey: 0x8001, mig: true, credits: 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rt := newResponderTest(t, func(s *setup) { s.Policy = tc.policy })
			for i := range 7 {
				rt.post(uint64(i), 0, 4)
			}
			rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1), ack: true, fecn: true})
			p := rt.next(wire.OpAcknowledge, 0)
			rt.wantAETH(p, wire.NewSyndrome(wire.Ack, tc.credits), 1)
			if h := p.BTH(); h.PKey() != tc.pkey || h.MigReq() != tc.mig || h.BECN() != tc.becn {
				t.Errorf("P_Key %#x, MigReq %v, BECN %v", h.PKey(), h.MigReq(), h.BECN())
			}
			rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1), ack: true})
			if rt.next(wire.OpAcknowledge, 1).BTH().BECN() {
				t.Error("BECN although the packet was not marked")
			}
		})
	}
}

func TestCreditsSinkWithEachMessage(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.Credits = true })
	rt.post(1, 0, 4)
	rt.post(2, 0, 4)
	for i, want := range []uint8{1, 0} {
		rt.get(msg{op: wire.OpSendOnly, psn: i, payload: data(4, 1), ack: true})
		rt.wantAETH(rt.next(wire.OpAcknowledge, i), wire.NewSyndrome(wire.Ack, want), uint32(i+1))
	}
}

func TestPolicyRepeatNakNaksEveryPacketBehindAGap(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.RepeatNak = true })
	for i := 1; i < 4; i++ {
		rt.get(msg{op: wire.OpWriteOnly, psn: i, payload: data(4, 1)})
		rt.wantNak(wire.NakPSNSequence, 0, 0)
	}
	rt.step("but none behind an RNR NAK")
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1)})
	rt.wantRNR(0, 0)
	rt.get(msg{op: wire.OpSendOnly, psn: 1, payload: data(4, 1)})
	rt.wantSilence()
}

func TestPolicyExtraAckAcknowledgesBeforeAReadResponse(t *testing.T) {
	for _, extra := range []bool{false, true} {
		rt := newResponderTest(t, func(s *setup) { s.Policy.ExtraAck = extra })
		rt.get(msg{op: wire.OpReadRequest, size: 4})
		rt.wantRead(0, 1, make([]byte, 4))
		rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1)})
		rt.get(msg{op: wire.OpReadRequest, psn: 2, size: 4})
		if extra {
			rt.wantAck(1, 2)
		}
		rt.wantRead(2, 3, data(4, 1))
		rt.step("what is acknowledged already is not again")
		rt.get(msg{op: wire.OpWriteOnly, psn: 3, payload: data(4, 1), ack: true})
		rt.get(msg{op: wire.OpFetchAdd, psn: 4, va: 8})
		rt.wantAck(3, 4)
		rt.wantAtomic(4, 5, 0)
		rt.wantSilence()
	}
}

func TestMemoryGoneDuringAReadResponse(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpReadRequest, size: 3 * testMTU})
	rt.get(msg{op: wire.OpWriteOnly, psn: 3, payload: data(4, 1), ack: true})
	rt.next(wire.OpReadResponseFirst, 0)
	if err := rt.table.Deregister(rt.remote.Region); err != nil {
		t.Fatal(err)
	}
	rt.step("the packet that cannot be sent is refused, and all behind it is not answered")
	rt.wantFatal(wire.NakRemoteAccess, 1, 1)
}

func TestFloodTakesNoMemory(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.RepeatNak = true })
	rt.get(msg{op: wire.OpReadRequest, size: 2 * testMTU})
	rt.next(wire.OpReadResponseFirst, 0)
	gap := rt.packet(msg{op: wire.OpWriteOnly, psn: 9, payload: data(4, 1)})
	again := rt.packet(msg{op: wire.OpReadRequest, psn: 1, va: testMTU, size: testMTU})
	ack := rt.packet(msg{op: wire.OpSendOnly, psn: -1})
	notReady := rt.packet(msg{op: wire.OpSendOnly, psn: 2})
	for range 10000 {
		for _, p := range []wire.Packet{gap, again, ack, notReady} {
			rt.q.Receive(rt.now, Inbound{Packet: p})
		}
	}
	if n, most := rt.q.responder.responses.len(), spareResponses+2*2; n > most {
		t.Errorf("%d responses wait, at most %d should", n, most)
	}
}
