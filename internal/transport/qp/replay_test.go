package qp

import (
	"encoding/binary"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestDuplicateSendAndWriteAreAcknowledgedAndNotExecuted(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		rt.post(1, 0, 100)
		rt.post(2, 100, 100)
		rt.get(msg{op: wire.OpSendOnly, payload: data(8, 1), ack: true})
		rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(8, 2), ack: true})
		rt.wantAck(1, 2)
		rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 8})
		rt.events = nil
		rt.get(msg{op: wire.OpSendOnly, payload: data(8, 3)})
		rt.wantAck(1, 2)
		rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(8, 4)})
		rt.wantAck(1, 2)
		rt.wantEvents(EventDuplicate, EventDuplicate)
		rt.wantNoCompletion()
		rt.wantBytes(rt.local, 0, data(8, 1))
		rt.wantBytes(rt.remote, 0, data(8, 2))
	})
}

func TestPolicySilentDuplicates(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.SilentDuplicates = true })
	rt.get(msg{op: wire.OpWriteOnly, payload: data(8, 2)})
	rt.get(msg{op: wire.OpWriteOnly, payload: data(8, 4)})
	rt.wantSilence()
	rt.get(msg{op: wire.OpWriteOnly, payload: data(8, 4), ack: true})
	rt.wantAck(0, 1)
}

func TestDuplicateReadIsReadAgain(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		copy(rt.remote.mem, data(4096, 1))
		read := msg{op: wire.OpReadRequest, va: 100, size: 3*testMTU + 5}
		rt.get(read)
		rt.step("a second one before the first is answered is that one")
		rt.get(read)
		rt.wantRead(0, 1, rt.remote.mem[100:][:read.size])
		rt.wantSilence()

		rt.step("whole, with memory as it is now (C9-110)")
		copy(rt.remote.mem, data(4096, 2))
		rt.get(read)
		rt.wantRead(0, 1, rt.remote.mem[100:][:read.size])
		rt.step("from the middle on")
		rt.get(msg{op: wire.OpReadRequest, psn: 2, va: 100 + 2*testMTU, size: testMTU + 5})
		rt.wantRead(2, 1, rt.remote.mem[100+2*testMTU:][:testMTU+5])
		rt.step("a part from the middle")
		rt.get(msg{op: wire.OpReadRequest, psn: 1, va: 100 + testMTU, size: 7})
		rt.wantRead(1, 1, rt.remote.mem[100+testMTU:][:7])
		rt.step("the expected PSN is untouched")
		rt.get(msg{op: wire.OpWriteOnly, psn: 4, payload: data(4, 3), ack: true})
		rt.wantAck(4, 2)
	})
}

func TestDuplicateOfAReadOnItsWayTurnsItBack(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		copy(rt.remote.mem, data(8*testMTU, 1))
		whole := msg{op: wire.OpReadRequest, size: 4*testMTU + 9}
		tail := msg{op: wire.OpReadRequest, psn: 1, va: testMTU, size: 3*testMTU + 9}
		rt.get(whole)
		rt.get(msg{op: wire.OpWriteOnly, psn: 5, va: 4096, payload: data(4, 1), ack: true})
		rt.next(wire.OpReadResponseFirst, 0)
		for i := 1; i < 3; i++ {
			rt.next(wire.OpReadResponseMiddle, i)
		}
		rt.step("PSN+1 was lost: what follows it is not sent before")
		rt.get(tail)
		rt.wantRead(1, 1, rt.remote.mem[testMTU:][:tail.size])
		rt.wantAck(5, 2)
		rt.wantSilence()
		rt.step("from where it is, it begins anew")
		rt.get(whole)
		rt.next(wire.OpReadResponseFirst, 0)
		rt.get(tail)
		rt.wantRead(1, 2, rt.remote.mem[testMTU:][:tail.size])
		rt.wantSilence()
		rt.step("one that waits already is not doubled, and grows")
		rt.get(tail)
		rt.get(whole)
		rt.get(tail)
		rt.wantRead(0, 2, rt.remote.mem[:whole.size])
		rt.wantSilence()
	})
}

// A duplicate may ask for no more than the original did, and what it asks
// wrongly is not answered at all.
func TestDuplicateReadOfSomethingElseIsIgnored(t *testing.T) {
	const size = 3*testMTU + 5
	for _, tc := range []struct {
		name string
		m    msg
	}{
		{"longer", msg{va: 100, size: size + 1}},
		{"one packet longer", msg{va: 100, size: size + testMTU}},
		{"starts before", msg{va: 99, size: size}},
		{"tail too long", msg{psn: 1, va: 100 + testMTU, size: size}},
		{"more PSNs than there were", msg{psn: 3, va: 100, size: 2 * testMTU}},
		{"other key", msg{va: 100, size: size, rkey: 0x1234}},
		{"around 2^64", msg{va: ^uint64(0) - remoteVA - 5, size: 200}},
		{"2^32-1 bytes", msg{va: 101, size: 1<<32 - 1}},
		{"no bytes", msg{va: 100}},
		{"with payload", msg{va: 100, size: size, payload: data(4, 1)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rt := newResponderTest(t, nil)
			rt.get(msg{op: wire.OpReadRequest, va: 100, size: size})
			rt.wantRead(0, 1, make([]byte, size))
			rt.events = nil
			tc.m.op = wire.OpReadRequest
			rt.get(tc.m)
			rt.wantSilence()
			rt.wantEvents(EventDuplicate, EventDropped)
			rt.wantState(RTR)
		})
	}
}

func TestDuplicateAtomicGetsTheSavedValue(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		add := msg{op: wire.OpFetchAdd, swap: 5}
		rt.get(add)
		rt.wantAtomic(0, 1, 0)
		rt.get(msg{op: wire.OpCompareSwap, psn: 1, cmp: 5, swap: 9})
		rt.wantAtomic(1, 2, 5)
		rt.step("also when its operands have changed")
		add.swap = 100
		rt.get(add)
		rt.wantAtomic(0, 2, 0)
		rt.get(msg{op: wire.OpCompareSwap, psn: 1, cmp: 9, swap: 11})
		rt.wantAtomic(1, 2, 5)
		if got := binary.NativeEndian.Uint64(rt.remote.mem); got != 9 {
			t.Errorf("memory holds %d, want 9", got)
		}
		rt.step("a duplicate of another operation is none")
		rt.get(msg{op: wire.OpFetchAdd, psn: 1, swap: 1})
		rt.wantSilence()
	})
}

func TestDuplicateFlushAndAtomicWriteAreAnsweredAgain(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		rt.get(msg{op: wire.OpFlush, plt: 1, size: 8})
		rt.get(msg{op: wire.OpAtomicWrite, psn: 1, payload: data(8, 1)})
		rt.wantRead(0, 1, nil)
		rt.wantRead(1, 2, nil)
		rt.get(msg{op: wire.OpFlush, plt: 1, size: 8})
		rt.get(msg{op: wire.OpAtomicWrite, psn: 1, payload: data(8, 2)})
		rt.wantRead(0, 2, nil)
		rt.wantRead(1, 2, nil)
		rt.wantBytes(rt.remote, 0, data(8, 1))
	})
}

func TestDuplicateOlderThanTheStoreIsIgnored(t *testing.T) {
	rt := newResponderTest(t, nil)
	for i := range 3 { // the depth is 2
		rt.get(msg{op: wire.OpFetchAdd, psn: i, swap: 1})
		rt.wantAtomic(i, uint32(i+1), uint64(i))
	}
	rt.get(msg{op: wire.OpFetchAdd, swap: 1})
	rt.wantSilence()
	rt.get(msg{op: wire.OpFetchAdd, psn: 1, swap: 1})
	rt.wantAtomic(1, 3, 1)
	rt.get(msg{op: wire.OpFetchAdd, psn: 2, swap: 1})
	rt.wantAtomic(2, 3, 2)
}

func TestStoreFindsTheYoungest(t *testing.T) {
	var s replayStore
	for i := range 5 { // the PSNs have gone around
		s.add(2, replayEntry{op: wire.OpFetchAdd, first: 7, last: 7, original: uint64(i)})
	}
	if e := s.find(wire.OpFetchAdd, 7); e == nil || e.original != 4 {
		t.Errorf("found %+v, want the fifth", e)
	}
	if s.find(wire.OpFetchAdd, 8) != nil || s.find(wire.OpReadRequest, 7) != nil {
		t.Error("found what is not there")
	}
}

func TestMoreReadsThanAgreed(t *testing.T) {
	rt := newResponderTest(t, nil)
	for i := range 3 {
		rt.get(msg{op: wire.OpReadRequest, psn: i, size: 4})
	}
	rt.wantRead(0, 1, make([]byte, 4))
	rt.wantRead(1, 2, make([]byte, 4))
	rt.wantFatal(wire.NakInvalidRequest, 2, 2)
}

func TestPolicyRecycleDepthAnswersMoreReadsThanAgreed(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.RecycleDepth = true })
	for i := range 3 {
		rt.get(msg{op: wire.OpReadRequest, psn: i, size: 4})
	}
	for i := range 3 {
		rt.wantRead(i, uint32(i+1), make([]byte, 4))
	}
	rt.get(msg{op: wire.OpReadRequest, size: 4})
	rt.wantSilence()
	rt.step("without end it is as if they were lost")
	for i := range 100 {
		rt.get(msg{op: wire.OpReadRequest, psn: 3 + i, size: 4})
	}
	const room = spareResponses + 2*2
	for i := range room {
		rt.wantRead(3+i, uint32(4+i), make([]byte, 4))
	}
	rt.wantSilence()
	rt.get(msg{op: wire.OpReadRequest, psn: 100, size: 4})
	rt.wantNak(wire.NakPSNSequence, 3+room, 3+room)
	rt.get(msg{op: wire.OpReadRequest, psn: 3 + room, size: 4})
	rt.wantRead(3+room, 4+room, make([]byte, 4))
}

func TestPolicyOfReplay(t *testing.T) {
	original := data(testMTU+4, 1)
	altered := data(testMTU+4, 1)
	altered[0] ^= 0xFF
	for _, tc := range []struct {
		policy Policy
		whole  []byte
		tail   bool // a duplicate of the end is answered
		part   bool // also one of a part before
	}{
		{Policy{}, original, true, true},
		{Policy{Replay: ReplayAltered}, altered, true, true},
		{Policy{Replay: ReplayRefuse}, nil, false, false},
		{Policy{StrictReplay: true}, original, true, false},
	} {
		rt := newResponderTest(t, func(s *setup) { s.Policy = tc.policy })
		copy(rt.remote.mem, original)
		rt.get(msg{op: wire.OpReadRequest, size: len(original)})
		rt.wantRead(0, 1, original)
		rt.get(msg{op: wire.OpReadRequest, size: len(original)})
		if tc.whole != nil {
			rt.wantRead(0, 1, tc.whole)
		}
		rt.wantSilence()
		rt.get(msg{op: wire.OpReadRequest, psn: 1, va: testMTU, size: 4})
		if tc.tail {
			rt.next(wire.OpReadResponseOnly, 1)
		}
		rt.wantSilence()
		rt.get(msg{op: wire.OpReadRequest, size: testMTU})
		if tc.part {
			rt.next(wire.OpReadResponseOnly, 0)
		}
		rt.wantSilence()
	}
}

func TestDuplicateReadOfMemoryThatIsGoneIsIgnored(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpReadRequest, size: 4})
	rt.wantRead(0, 1, make([]byte, 4))
	if err := rt.table.Deregister(rt.remote.Region); err != nil {
		t.Fatal(err)
	}
	rt.get(msg{op: wire.OpReadRequest, size: 4, rkey: rt.remote.RKey()})
	rt.wantSilence()
	rt.wantState(RTR)
}

func TestRequestWithinAReadsPSNsIsADuplicate(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpReadRequest, size: 3 * testMTU})
	rt.wantRead(0, 1, make([]byte, 3*testMTU))
	rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1), ack: true})
	rt.wantAck(2, 1)
	rt.wantBytes(rt.remote, 0, make([]byte, 4))
}

func TestDepthMayChangeWhileDrained(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.MaxDestRdAtomic = 1 })
	rt.get(msg{op: wire.OpFetchAdd, swap: 1})
	rt.wantAtomic(0, 1, 0)
	a := rt.q.Attributes()
	a.MaxDestRdAtomic = 4
	for _, to := range []State{RTS, SQD, SQD} {
		if err := rt.q.Modify(rt.now, to, a); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < 5; i++ {
		rt.get(msg{op: wire.OpFetchAdd, psn: i, swap: 1})
	}
	for i := 1; i < 5; i++ {
		rt.wantAtomic(i, uint32(i+1), uint64(i))
	}
	rt.get(msg{op: wire.OpFetchAdd, psn: 1, swap: 1})
	rt.wantAtomic(1, 5, 1)
}
