package qp

import (
	"errors"
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestNoReceiveRequestGivesRNR(t *testing.T) {
	for _, op := range []uint8{wire.OpSendOnly, wire.OpSendFirst, wire.OpSendOnlyImmediate, wire.OpSendOnlyInvalidate, wire.OpWriteOnlyImmediate} {
		atEveryStart(t, func(rt *responderTest) {
			m := msg{op: op, payload: data(testMTU, 1), inv: 5}
			rt.get(m)
			rt.wantEvents(EventCommEstablished, EventRNRSent)
			rt.wantRNR(0, 0)
			rt.step("what is behind gets nothing")
			rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1), ack: true})
			rt.get(msg{op: wire.OpWriteOnly, psn: 2, payload: data(4, 1), ack: true})
			rt.wantSilence()
			rt.step("a duplicate does, and changes nothing")
			rt.get(msg{op: wire.OpSendOnly, psn: -1, payload: data(4, 1)})
			rt.wantAck(-1, 0)
			rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1), ack: true})
			rt.wantSilence()
			rt.step("too early again")
			rt.get(m)
			rt.wantRNR(0, 0)
			rt.wantState(RTR)
		})
	}
}

func TestRNRIsOverWithAReceiveRequest(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), ack: true})
	rt.wantRNR(0, 0)
	rt.post(1, 0, 100)
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), ack: true})
	rt.wantAck(0, 1)
	rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
	rt.wantNoCompletion()
	rt.step("a WRITE with immediate is asked for its last packet alone")
	rt.get(msg{op: wire.OpWriteFirst, psn: 1, payload: data(testMTU, 2), size: testMTU + 4})
	rt.get(msg{op: wire.OpWriteLastImmediate, psn: 2, payload: data(4, 3), ack: true})
	rt.wantRNR(2, 1)
	rt.post(2, 0, 0)
	rt.get(msg{op: wire.OpWriteLastImmediate, psn: 2, payload: data(4, 3), ack: true})
	rt.wantAck(2, 2)
	rt.wantCompletion(Completion{ID: 2, Op: ReceiveWrite, Bytes: testMTU + 4, HasImmediate: true})
	rt.wantBytes(rt.remote, testMTU, data(4, 3))
	rt.step("a gap behind is told again")
	rt.get(msg{op: wire.OpWriteOnly, psn: 4, payload: data(4, 1)})
	rt.wantNak(wire.NakPSNSequence, 3, 2)
}

func TestSendIsScattered(t *testing.T) {
	rt := newResponderTest(t, nil)
	sge := func(offset, n int) SGE {
		return SGE{Addr: localVA + uint64(offset), Length: uint32(n), LKey: rt.local.LKey()}
	}
	whole := data(2*testMTU+10, 1)
	if err := rt.q.PostRecv(rt.now, RecvRequest{ID: 1, SGL: []SGE{sge(3, 5), sge(100, 0), sge(1000, 3000)}}); err != nil {
		t.Fatal(err)
	}
	if err := rt.q.PostRecv(rt.now, RecvRequest{ID: 2, SGL: []SGE{sge(5000, 300), sge(4000, 100), sge(6000, 122)}}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		rt.get(msg{op: wire.OpSendFirst, psn: 3 * i, payload: whole[:testMTU]})
		rt.get(msg{op: wire.OpSendMiddle, psn: 3*i + 1, payload: whole[testMTU : 2*testMTU]})
		rt.get(msg{op: wire.OpSendLast, psn: 3*i + 2, payload: whole[2*testMTU:]})
		rt.wantCompletion(Completion{ID: uint64(i + 1), Op: Receive, Bytes: uint32(len(whole))})
	}
	rt.wantBytes(rt.local, 0, []byte{0, 0, 0})
	rt.wantBytes(rt.local, 3, whole[:5])
	rt.wantBytes(rt.local, 8, make([]byte, 992))
	rt.wantBytes(rt.local, 1000, whole[5:])
	rt.wantBytes(rt.local, 5000, whole[:300])
	rt.wantBytes(rt.local, 4000, whole[300:400])
	rt.wantBytes(rt.local, 6000, whole[400:])
}

// The memory of a receive request is no longer the sender's when it is complete.
func TestSendLastOfNoSendReachesNoMemory(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.post(1, 0, 4096)
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1)})
	rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
	rt.get(msg{op: wire.OpWriteFirst, psn: 1, payload: data(testMTU, 1), size: 2 * testMTU})
	rt.get(msg{op: wire.OpSendLast, psn: 2, payload: data(4, 9)})
	rt.wantFatal(wire.NakInvalidRequest, 2, 1)
	rt.wantNoCompletion()
	rt.wantBytes(rt.local, 0, data(4, 1))
}

func TestSendLongerThanTheReceiveRequest(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.post(1, 0, 64)
	rt.post(2, 0, 64)
	rt.get(msg{op: wire.OpSendOnly, payload: data(100, 1), ack: true})
	rt.wantFatal(wire.NakInvalidRequest, 0, 0)
	rt.wantCompletion(Completion{ID: 1, Status: LocalLengthError})
	rt.wantCompletion(Completion{ID: 2, Status: FlushError})
	rt.wantBytes(rt.local, 0, make([]byte, 100))

	rt = newResponderTest(t, nil)
	rt.post(1, 0, testMTU+3)
	rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1)})
	rt.get(msg{op: wire.OpSendLast, psn: 1, payload: data(4, 1)})
	rt.wantFatal(wire.NakInvalidRequest, 1, 0)
	rt.wantCompletion(Completion{ID: 1, Status: LocalLengthError})
}

func TestSendLongerThanAMessageMayBe(t *testing.T) {
	rt := newResponderTest(t, nil)
	for range 2 {
		rt.post(1, 0, 1<<32-1) // which is more than the region has
	}
	rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1)})
	rt.q.responder.message.done = 1 << 31
	rt.get(msg{op: wire.OpSendLast, psn: 1, payload: data(1, 1)})
	rt.wantFatal(wire.NakInvalidRequest, 1, 0)
	rt.wantCompletion(Completion{ID: 1, Status: FlushError})
}

func TestReceiveRequestOfWrongMemory(t *testing.T) {
	for name, change := range map[string]func(rt *responderTest, s *SGE){
		"unknown key":  func(_ *responderTest, s *SGE) { s.LKey = 0xFFFFFFFF },
		"below":        func(_ *responderTest, s *SGE) { s.Addr-- },
		"beyond":       func(_ *responderTest, s *SGE) { s.Addr += 8192 - 99 },
		"around 2^64":  func(_ *responderTest, s *SGE) { s.Addr = ^uint64(0) - 4 },
		"no right":     func(rt *responderTest, s *SGE) { s.LKey, s.Addr = readOnly(rt).LKey(), 0x900000 },
		"other domain": func(rt *responderTest, s *SGE) { s.LKey, s.Addr = elsewhere(rt).LKey(), 0xA00000 },
	} {
		t.Run(name, func(t *testing.T) {
			rt := newResponderTest(t, nil)
			req := rt.recvRequest(1, 0, 100)
			change(rt, &req.SGL[0])
			if err := rt.q.PostRecv(rt.now, req); err != nil {
				t.Fatal(err)
			}
			rt.get(msg{op: wire.OpSendOnly, payload: data(100, 1), ack: true})
			rt.wantFatal(wire.NakRemoteOperation, 0, 0)
			rt.wantCompletion(Completion{ID: 1, Status: LocalProtectionError})
		})
	}
}

func readOnly(rt *responderTest) *guarded {
	return newGuarded(rt, rt.table, rt.pd, 4096, 0x900000, mr.RemoteRead)
}

func elsewhere(rt *responderTest) *guarded {
	return newGuarded(rt, rt.table, rt.table.AllocPD(), 4096, 0xA00000, everyone)
}

func TestPostRecvRefuses(t *testing.T) {
	rt := newResponderTest(t, nil)
	var request *RequestError
	if err := rt.q.PostRecv(rt.now, RecvRequest{SGL: make([]SGE, 4)}); !errors.As(err, &request) {
		t.Errorf("four pieces: %v", err)
	}
	for i := range 8 {
		rt.post(uint64(i), 0, 4)
	}
	if err := rt.q.PostRecv(rt.now, RecvRequest{}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("ninth request: %v", err)
	}
	if err := rt.q.Modify(rt.now, Reset, Attributes{}); err != nil {
		t.Fatal(err)
	}
	rt.wantNoCompletion()
	var state *StateError
	if err := rt.q.PostRecv(rt.now, RecvRequest{}); !errors.As(err, &state) {
		t.Errorf("in RESET: %v", err)
	}
	if err := rt.q.Modify(rt.now, Init, Attributes{}); err != nil {
		t.Fatal(err)
	}
	rt.step("all is forgotten, and there is room for eight again")
	for i := range 8 {
		rt.post(uint64(i), 0, 4)
	}
	if err := rt.q.Modify(rt.now, Error, Attributes{}); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		rt.wantCompletion(Completion{ID: uint64(i), Status: FlushError})
	}
	rt.step("in ERR a request is flushed at once")
	rt.post(99, 0, 4)
	rt.wantCompletion(Completion{ID: 99, Status: FlushError})

	srq := newResponderTest(t, func(s *setup) { s.SRQ = NewSRQ(1, 1, 4, 1) })
	if err := srq.q.PostRecv(rt.now, RecvRequest{}); !errors.As(err, &request) {
		t.Errorf("with a shared queue: %v", err)
	}
}

func TestPostRecvCopiesTheList(t *testing.T) {
	rt := newResponderTest(t, nil)
	req := rt.recvRequest(1, 0, 100)
	if err := rt.q.PostRecv(rt.now, req); err != nil {
		t.Fatal(err)
	}
	req.SGL[0] = SGE{}
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), ack: true})
	rt.wantAck(0, 1)
}

func TestReceiveRequestsAreUsedInOrderForEver(t *testing.T) {
	rt := newResponderTest(t, nil)
	for i := range 50 {
		rt.post(uint64(2*i), 0, 4)
		rt.post(uint64(2*i+1), 8, 4)
		for j := range 2 {
			rt.get(msg{op: wire.OpSendOnly, psn: 2*i + j, payload: data(4, byte(i))})
			rt.wantCompletion(Completion{ID: uint64(2*i + j), Op: Receive, Bytes: 4})
		}
	}
}
