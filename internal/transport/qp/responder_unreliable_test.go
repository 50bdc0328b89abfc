package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func uc(s *setup) { s.Type = UC }

func atEveryUCStart(t *testing.T, script func(rt *responderTest)) {
	for _, psn := range startingPSNs {
		script(newResponderTest(t, func(s *setup) { s.Type, s.RQPSN = UC, psn }))
	}
}

func TestUCDeliversAndNeverAnswers(t *testing.T) {
	atEveryUCStart(t, func(rt *responderTest) {
		rt.post(1, 0, 1000)
		rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1), ack: true})
		rt.get(msg{op: wire.OpSendMiddle, psn: 1, payload: data(testMTU, 2), ack: true})
		rt.get(msg{op: wire.OpSendLastImmediate, psn: 2, payload: data(3, 3), imm: 8, ack: true})
		rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 2*testMTU + 3, HasImmediate: true, Immediate: 8})
		rt.get(msg{op: wire.OpWriteFirst, psn: 3, payload: data(testMTU, 1), size: testMTU + 8, ack: true})
		rt.get(msg{op: wire.OpWriteLast, psn: 4, payload: data(8, 1), ack: true})
		rt.wantBytes(rt.remote, testMTU, data(8, 1))
		rt.wantSilence()
	})
}

func TestUCResumesBehindALoss(t *testing.T) {
	atEveryUCStart(t, func(rt *responderTest) {
		rt.post(1, 0, 1000)
		rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1)})
		rt.step("PSN+1 is lost")
		rt.get(msg{op: wire.OpSendLast, psn: 2, payload: data(4, 2)})
		rt.get(msg{op: wire.OpSendMiddle, psn: 3, payload: data(testMTU, 2)})
		rt.wantNoCompletion()
		rt.step("the next message takes the same receive request")
		rt.get(msg{op: wire.OpSendOnly, psn: 9, payload: data(4, 3)})
		rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
		rt.wantBytes(rt.local, 0, data(4, 3))
		rt.step("and PSNs go on from there")
		rt.post(2, 0, 1000)
		rt.get(msg{op: wire.OpSendFirst, psn: 10, payload: data(testMTU, 1)})
		rt.get(msg{op: wire.OpSendLast, psn: 11, payload: data(4, 3)})
		rt.wantCompletion(Completion{ID: 2, Op: Receive, Bytes: testMTU + 4})
		rt.step("also from an older one, and a repeated one is delivered twice")
		for i := range 2 {
			rt.post(uint64(3+i), 0, 10)
			rt.get(msg{op: wire.OpSendOnly, psn: -5, payload: data(4, 1)})
			rt.wantCompletion(Completion{ID: uint64(3 + i), Op: Receive, Bytes: 4})
		}
		rt.wantSilence()
		rt.wantState(RTR)
	})
}

func TestUCMessageThatBeginsWithinAnotherReplacesIt(t *testing.T) {
	rt := newResponderTest(t, uc)
	rt.post(1, 0, 1000)
	rt.post(2, 0, 1000)
	rt.get(msg{op: wire.OpSendFirst, payload: data(testMTU, 1)})
	rt.get(msg{op: wire.OpSendFirst, psn: 1, payload: data(testMTU, 2)})
	rt.get(msg{op: wire.OpSendLast, psn: 2, payload: data(4, 3)})
	rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: testMTU + 4})
	rt.wantNoCompletion()
	rt.wantBytes(rt.local, 0, data(testMTU, 2))
}

// TestUCFaultsAreDropped has the faults of class D: silence, and the next
// message is received.
func TestUCFaultsAreDropped(t *testing.T) {
	first := msg{op: wire.OpSendFirst, payload: data(testMTU, 1)}
	firstWrite := msg{op: wire.OpWriteFirst, payload: data(testMTU, 1), size: 2 * testMTU}
	for name, tc := range map[string]struct {
		before *msg
		m      msg
		setup  func(s *setup)
	}{
		"MIDDLE without FIRST":        {m: msg{op: wire.OpSendMiddle, payload: data(testMTU, 1)}},
		"LAST without FIRST":          {m: msg{op: wire.OpSendLast, payload: data(4, 1)}},
		"WRITE LAST in a SEND":        {before: &first, m: msg{op: wire.OpWriteLast, payload: data(4, 1)}},
		"FIRST too short":             {m: msg{op: wire.OpSendFirst, payload: data(8, 1)}},
		"LAST of nothing":             {before: &first, m: msg{op: wire.OpSendLast}},
		"ONLY too long":               {m: msg{op: wire.OpSendOnly, payload: data(testMTU+4, 1)}},
		"longer than the request":     {before: &first, m: msg{op: wire.OpSendLast, payload: data(255, 1)}},
		"WRITE ends short":            {before: &firstWrite, m: msg{op: wire.OpWriteLast, payload: data(4, 1)}},
		"WRITE ends late":             {before: &firstWrite, m: msg{op: wire.OpWriteMiddle, payload: data(testMTU, 1)}},
		"WRITE length mismatch":       {m: msg{op: wire.OpWriteOnly, payload: data(4, 1), size: 5}},
		"WRITE bad key":               {m: msg{op: wire.OpWriteOnly, payload: data(4, 1), rkey: 0xFFFFFFFF}},
		"WRITE beyond the region":     {m: msg{op: wire.OpWriteOnly, payload: data(4, 1), va: 8190}},
		"WRITE without QP permission": {m: msg{op: wire.OpWriteOnly, payload: data(4, 1)}, setup: func(s *setup) { s.Access = 0 }},
		"READ":                        {m: msg{op: wire.OpReadRequest}},
		"atomic":                      {m: msg{op: wire.OpFetchAdd}},
		"FLUSH":                       {m: msg{op: wire.OpFlush}},
		"SEND with invalidate":        {m: msg{op: wire.OpSendOnlyInvalidate}},
	} {
		t.Run(name, func(t *testing.T) {
			rt := newResponderTest(t, func(s *setup) {
				uc(s)
				if tc.setup != nil {
					tc.setup(s)
				}
			})
			rt.post(1, 0, testMTU+254)
			if tc.before != nil {
				rt.get(*tc.before)
				tc.m.psn++
			}
			rt.q.responder.met = true
			rt.events = nil
			rt.get(tc.m)
			rt.wantEvents(EventDropped)
			rt.wantSilence()
			rt.wantNoCompletion()
			rt.step("a LAST that follows belongs to nothing")
			rt.get(msg{op: wire.OpSendLast, psn: tc.m.psn + 1, payload: data(4, 1)})
			rt.wantNoCompletion()
			rt.get(msg{op: wire.OpSendOnly, psn: tc.m.psn + 2, payload: data(4, 7)})
			rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 4})
			rt.wantBytes(rt.local, 0, data(4, 7))
			rt.wantState(RTR)
		})
	}
}

func TestUCNoReceiveRequest(t *testing.T) {
	rt := newResponderTest(t, uc)
	rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), ack: true})
	rt.get(msg{op: wire.OpWriteOnlyImmediate, psn: 1, payload: data(4, 1), ack: true})
	rt.get(msg{op: wire.OpWriteFirst, psn: 2, payload: data(testMTU, 1), size: testMTU + 4})
	rt.get(msg{op: wire.OpWriteLastImmediate, psn: 3, payload: data(4, 1)})
	rt.wantSilence()
	rt.wantNoCompletion()
	rt.post(1, 0, 4)
	rt.get(msg{op: wire.OpWriteOnlyImmediate, psn: 4, payload: data(4, 1), imm: 6})
	rt.wantCompletion(Completion{ID: 1, Op: ReceiveWrite, Bytes: 4, HasImmediate: true, Immediate: 6})
}

func TestUnreliableReceiveRequestOfWrongMemoryIsAnError(t *testing.T) {
	for _, typ := range []Type{UC, UD} {
		rt := newResponderTest(t, func(s *setup) { s.Type = typ })
		req := rt.recvRequest(1, 0, 100)
		req.SGL[0].LKey = 0xFFFFFFFF
		if err := rt.q.PostRecv(rt.now, req); err != nil {
			t.Fatal(err)
		}
		rt.post(2, 0, 100)
		rt.get(msg{op: wire.OpSendOnly, payload: data(4, 1), qkey: 0x1234})
		rt.wantState(Error)
		rt.wantCompletion(Completion{ID: 1, Status: LocalProtectionError})
		rt.wantCompletion(Completion{ID: 2, Status: FlushError})
		rt.wantSilence()
	}
}

func (rt *responderTest) getWithGRH(m msg, grh []byte) {
	rt.q.Receive(rt.now, Inbound{Packet: rt.packet(m), GRH: grh})
}

func TestUDPlacesTheGRHBeforeThePayload(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Type, s.PathMTU, s.Address = UD, 0, nil })
	rt.step("PSNs do not count, and AckReq is not heard")
	for i, psn := range []int{0, 1 << 22, -77, 0} {
		rt.post(uint64(i), 0, 140)
		rt.getWithGRH(msg{op: wire.OpSendOnlyImmediate, psn: psn, payload: data(100, byte(i)), imm: 3, qkey: 0x1234, ack: true, se: true}, data(40, 9))
		rt.wantCompletion(Completion{
			ID: uint64(i), Op: Receive, Bytes: 140, SrcQP: 0x33, HasGRH: true, HasImmediate: true, Immediate: 3, Solicited: true,
		})
		rt.wantBytes(rt.local, 0, append(data(40, 9), data(100, byte(i))...))
	}
	rt.step("the GRH crosses the pieces of the buffer")
	if err := rt.q.PostRecv(rt.now, RecvRequest{ID: 9, SGL: []SGE{
		{Addr: localVA + 500, Length: 30, LKey: rt.local.LKey()}, {Addr: localVA + 600, Length: 15, LKey: rt.local.LKey()},
	}}); err != nil {
		t.Fatal(err)
	}
	rt.getWithGRH(msg{op: wire.OpSendOnly, payload: data(5, 1), qkey: 0x1234}, data(40, 2))
	rt.wantCompletion(Completion{ID: 9, Op: Receive, Bytes: 45, SrcQP: 0x33, HasGRH: true})
	rt.wantBytes(rt.local, 500, data(40, 2)[:30])
	rt.wantBytes(rt.local, 600, append(data(40, 2)[30:], data(5, 1)...))
	rt.wantSilence()
}

func TestUDDropsAndKeepsTheReceiveRequest(t *testing.T) {
	for name, m := range map[string]msg{
		"wrong Q_Key":                  {op: wire.OpSendOnly, payload: data(4, 1), qkey: 0x1235},
		"longer than the request":      {op: wire.OpSendOnly, payload: data(61, 1), qkey: 0x1234},
		"longer than the path MTU":     {op: wire.OpSendOnly, payload: data(testMTU+4, 1), qkey: 0x1234},
		"SEND FIRST":                   {op: wire.OpSendFirst, payload: data(4, 1)},
		"WRITE":                        {op: wire.OpWriteOnly},
		"READ":                         {op: wire.OpReadRequest},
		"operation that nobody has":    {op: 0x1F},
		"datagram without its headers": {op: wire.OpSendOnly, change: func(p wire.Packet) wire.Packet { return p[:15] }},
		"of RC": {op: wire.OpSendOnly, payload: data(60, 1), qkey: 0x1234, change: func(p wire.Packet) wire.Packet {
			p[0] &= 0x1F
			return p
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rt := newResponderTest(t, func(s *setup) { s.Type = UD })
			rt.post(1, 0, 100)
			rt.get(m)
			rt.wantSilence()
			rt.wantNoCompletion()
			rt.wantState(RTR)
			rt.get(msg{op: wire.OpSendOnly, payload: data(60, 1), qkey: 0x1234})
			rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 100, SrcQP: 0x33, HasGRH: true})
			rt.get(msg{op: wire.OpSendOnly, payload: data(60, 1), qkey: 0x1234})
			rt.wantNoCompletion()
		})
	}
}

func TestQP1TakesManagementDatagrams(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Type, s.Number = UD, 1 })
	rt.post(1, 0, 4096)
	for _, m := range []msg{
		{payload: data(256, 1), qkey: 0x1234},
		{payload: data(252, 1), qkey: wire.QKeyQP1},
	} {
		m.op = wire.OpSendOnly
		rt.get(m)
		rt.wantNoCompletion()
	}
	rt.get(msg{op: wire.OpSendOnly, payload: data(256, 1), qkey: wire.QKeyQP1})
	rt.wantCompletion(Completion{ID: 1, Op: Receive, Bytes: 296, SrcQP: 0x33, HasGRH: true})
}
