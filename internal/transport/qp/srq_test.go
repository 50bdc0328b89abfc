package qp

import (
	"errors"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// share makes a queue pair that takes from the SRQ of another's domain.
func share(t *testing.T, most int, more ...func(s *setup)) (*responderTest, *SRQ) {
	t.Helper()
	var srq *SRQ
	rt := newResponderTest(t, func(s *setup) {
		srq = NewSRQ(0x55, s.PD, most, 2)
		s.SRQ = srq
		for _, change := range more {
			change(s)
		}
	})
	return rt, srq
}

func (rt *responderTest) postShared(srq *SRQ, id uint64, offset, n int) {
	rt.Helper()
	if err := srq.Post(rt.recvRequest(id, offset, n)); err != nil {
		rt.Fatal(err)
	}
}

func TestSharedReceiveQueueServesInOrderOfArrival(t *testing.T) {
	a, srq := share(t, 4, func(s *setup) { s.Policy.Credits = true })
	b := &responderTest{T: t, now: a.now, start: a.start, table: a.table, pd: a.pd, remote: a.remote, local: a.local}
	cfg := a.q.cfg
	cfg.Number = 0x12
	cfg.Trace = func(e Event) { b.events = append(b.events, e) }
	var err error
	if b.q, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	for _, to := range []State{Init, RTR} {
		if err := b.q.Modify(b.now, to, a.q.Attributes()); err != nil {
			t.Fatal(err)
		}
	}

	for i := range 3 {
		a.postShared(srq, uint64(i), 1000*i, 500)
	}
	a.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1)})
	b.get(msg{op: wire.OpSendOnly, payload: data(4, 2), ack: true})
	a.get(msg{op: wire.OpSendLast, psn: 1, payload: data(4, 3), ack: true})
	a.step("a shared queue promises nothing")
	a.wantAck(1, 1)
	b.wantAck(0, 1)
	a.wantCompletion(Completion{ID: 0, Op: Receive, Bytes: testMTU + 4})
	b.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
	a.wantBytes(a.local, 1000, data(4, 2))

	a.step("who comes first gets the last")
	b.get(msg{op: wire.OpSendOnly, psn: 1, payload: data(4, 2), ack: true})
	a.get(msg{op: wire.OpSendOnly, psn: 2, payload: data(4, 2), ack: true})
	b.wantAck(1, 2)
	a.wantRNR(2, 1)

	a.step("the error of one takes only what it holds")
	a.postShared(srq, 10, 0, 500)
	a.postShared(srq, 11, 0, 500)
	a.get(msg{op: wire.OpSendFirst, psn: 2, payload: data(testMTU, 1)})
	a.events = nil
	if err := a.q.Modify(a.now, Error, Attributes{}); err != nil {
		t.Fatal(err)
	}
	a.wantEvents(EventState, EventLastReceive)
	a.wantCompletion(Completion{ID: 10, Status: FlushError})
	a.wantNoCompletion()
	if srq.Len() != 1 {
		t.Errorf("%d requests left, want 1", srq.Len())
	}
}

// TestUCFaultCompletesASharedRequest is class E.
func TestUCFaultCompletesASharedRequest(t *testing.T) {
	first := msg{op: wire.OpSendFirst, payload: data(testMTU, 1)}
	for name, tc := range map[string]struct {
		before *msg
		m      msg
		want   Status
	}{
		"longer than the request": {&first, msg{op: wire.OpSendLast, psn: 1, payload: data(255, 1)}, LocalLengthError},
		"LAST of nothing":         {&first, msg{op: wire.OpSendLast, psn: 1}, RemoteInvalidRequest},
		"WRITE MIDDLE in a SEND":  {&first, msg{op: wire.OpWriteMiddle, psn: 1, payload: data(testMTU, 1)}, RemoteInvalidRequest},
		"a new message":           {&first, msg{op: wire.OpSendFirst, psn: 1, payload: data(testMTU, 1)}, RemoteInvalidRequest},
		"bad key":                 {nil, msg{op: wire.OpWriteOnlyImmediate, payload: data(4, 1), rkey: 0xFFFFFFFF}, RemoteAccessError},
	} {
		t.Run(name, func(t *testing.T) {
			rt, srq := share(t, 4, func(s *setup) { s.Type = UC })
			rt.postShared(srq, 1, 0, testMTU+254)
			rt.postShared(srq, 2, 0, testMTU+254)
			if tc.before != nil {
				rt.get(*tc.before)
			}
			rt.get(tc.m)
			rt.wantCompletion(Completion{ID: 1, Status: tc.want})
			rt.wantNoCompletion()
			if tc.m.op == wire.OpSendFirst {
				rt.step("the new one goes on")
				rt.get(msg{op: wire.OpSendLast, psn: 2, payload: data(4, 1)})
				rt.wantCompletion(Completion{ID: 2, Op: Receive, Bytes: testMTU + 4})
				return
			}
			rt.get(msg{op: wire.OpSendOnly, psn: 2, payload: data(4, 1)})
			rt.wantCompletion(Completion{ID: 2, Op: Receive, Bytes: 4})
		})
	}
	rt, srq := share(t, 4, func(s *setup) { s.Type = UC })
	rt.postShared(srq, 1, 0, 1000)
	rt.step("a loss is no fault of the message: the request stays")
	rt.get(first)
	rt.get(msg{op: wire.OpSendLast, psn: 2, payload: data(4, 1)})
	rt.get(msg{op: wire.OpSendMiddle, psn: 1, payload: data(testMTU, 1)}) // too late
	rt.wantNoCompletion()
	rt.get(msg{op: wire.OpSendOnly, psn: 3, payload: data(4, 1)})
	rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
}

func TestSharedReceiveQueueRefuses(t *testing.T) {
	srq := NewSRQ(0x55, 1, 2, 1)
	var request *RequestError
	if err := srq.Post(RecvRequest{SGL: make([]SGE, 2)}); !errors.As(err, &request) {
		t.Errorf("two pieces: %v", err)
	}
	for range 2 {
		if err := srq.Post(RecvRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := srq.Post(RecvRequest{}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("third request: %v", err)
	}
	if srq.Number() != 0x55 || srq.Len() != 2 {
		t.Errorf("number %#x, %d requests", srq.Number(), srq.Len())
	}
}

func TestLimitEventComesOnce(t *testing.T) {
	rt, srq := share(t, 8)
	events := 0
	srq.Arm(2, func() { events++ })
	for i := range 4 {
		rt.postShared(srq, uint64(i), 0, 10)
	}
	for i, want := range []int{0, 0, 1, 1} {
		rt.get(msg{op: wire.OpSendOnly, psn: i, payload: data(4, 1)})
		if events != want {
			t.Errorf("%d events after SEND %d, want %d", events, i, want)
		}
	}
	srq.Arm(1, func() { events++ })
	rt.postShared(srq, 9, 0, 10)
	rt.get(msg{op: wire.OpSendOnly, psn: 4, payload: data(4, 1)})
	if events != 2 {
		t.Errorf("%d events after it was armed again, want 2", events)
	}
}

// xrc is a target with two shared receive queues, of the domain of the regions
// and of another.
func xrc(t *testing.T, psn wire.PSN) (rt *responderTest, srq *SRQ) {
	t.Helper()
	rt = newResponderTest(t, func(s *setup) {
		pd := s.PD
		s.PD = 0 // the target has none
		s.Type, s.RQPSN = XRCRecv, psn
		srq = NewSRQ(0x55, pd, 4, 1)
		foreign := NewSRQ(0x56, 77, 4, 1)
		s.FindSRQ = func(number uint32) *SRQ {
			return map[uint32]*SRQ{0x55: srq, 0x56: foreign}[number]
		}
	})
	return rt, srq
}

func TestXRCNamesTheQueueInEachRequest(t *testing.T) {
	for _, psn := range startingPSNs {
		rt, srq := xrc(t, psn)
		rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), srqn: 0x55})
		rt.wantRNR(0, 0)
		rt.postShared(srq, 1, 0, 1000)
		rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1), srqn: 0x55})
		rt.get(msg{op: wire.OpSendLast, psn: 1, payload: data(4, 1), srqn: 0x55, ack: true})
		rt.wantAck(1, 1)
		rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: testMTU + 4})
		rt.step("memory is that of the queue's domain")
		rt.get(msg{op: wire.OpWriteOnly, psn: 2, payload: data(8, 1), srqn: 0x55})
		rt.get(msg{op: wire.OpReadRequest, psn: 3, size: 8, srqn: 0x55})
		rt.wantRead(3, 3, data(8, 1))
		rt.get(msg{op: wire.OpReadRequest, psn: 3, size: 8, srqn: 0x55})
		rt.wantRead(3, 3, data(8, 1))
		rt.get(msg{op: wire.OpFetchAdd, psn: 4, va: 16, swap: 1, srqn: 0x55})
		rt.wantAtomic(4, 4, 0)
		rt.get(msg{op: wire.OpFetchAdd, psn: 4, va: 16, swap: 1, srqn: 0x55})
		rt.wantAtomic(4, 4, 0)
	}
}

func TestXRCFaults(t *testing.T) {
	first := msg{op: wire.OpSendFirst, payload: data(testMTU, 1), srqn: 0x55}
	for name, tc := range map[string]struct {
		before *msg
		m      msg
		code   uint8
	}{
		"unknown queue":               {nil, msg{op: wire.OpSendOnly, srqn: 0x57}, wire.NakInvalidRequest},
		"WRITE to an unknown queue":   {nil, msg{op: wire.OpWriteOnly, payload: data(4, 1)}, wire.NakInvalidRequest},
		"another queue in a message":  {&first, msg{op: wire.OpSendLast, payload: data(4, 1), srqn: 0x56}, wire.NakInvalidRequest},
		"WRITE, queue of another PD":  {nil, msg{op: wire.OpWriteOnly, payload: data(4, 1), srqn: 0x56}, wire.NakRemoteAccess},
		"READ, queue of another PD":   {nil, msg{op: wire.OpReadRequest, size: 4, srqn: 0x56}, wire.NakRemoteAccess},
		"atomic, queue of another PD": {nil, msg{op: wire.OpFetchAdd, srqn: 0x56}, wire.NakRemoteAccess},
	} {
		t.Run(name, func(t *testing.T) {
			rt, srq := xrc(t, 0xFFFFFF)
			rt.postShared(srq, 1, 0, 1000)
			if tc.before != nil {
				rt.get(*tc.before)
				tc.m.psn++
			}
			rt.get(tc.m)
			rt.wantFatal(tc.code, tc.m.psn, 0)
		})
	}
}

func TestXRCIgnoresRC(t *testing.T) {
	rt, srq := xrc(t, 0)
	rt.postShared(srq, 1, 0, 1000)
	rt.get(msg{op: wire.OpSendOnly, srqn: 0x55, change: func(p wire.Packet) wire.Packet {
		p[0] = wire.OpSendOnly
		return p
	}})
	rt.wantSilence()
	rt.wantNoCompletion()
	rt.wantState(RTR)
}
