package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// window binds a window to the remote region.
func window(rt *responderTest, typ mr.WindowType, qpn uint32) *mr.Window {
	rt.Helper()
	return windowFor(rt, typ, qpn, mr.RemoteWrite)
}

func windowFor(rt *responderTest, typ mr.WindowType, qpn uint32, access mr.Access) *mr.Window {
	rt.Helper()
	region := newGuarded(rt, rt.table, rt.pd, 4096, 0xB00000, everyone|mr.BindWindow)
	w, err := rt.table.AllocWindow(rt.pd, typ)
	if err == nil {
		err = rt.table.Bind(rt.pd, qpn, w, w.RKey()+1, region.Region, 0xB00000, 4096, access)
	}
	if err != nil {
		rt.Fatal(err)
	}
	return w
}

func TestSendWithInvalidate(t *testing.T) {
	const inWindow = 0xB00000 - remoteVA
	for _, long := range []bool{false, true} {
		rt := newResponderTest(t, nil)
		w := window(rt, mr.Type2, rt.q.Number())
		key := w.RKey()
		psn := 0
		rt.get(msg{op: wire.OpWriteOnly, va: inWindow, rkey: key, payload: data(4, 1), ack: true})
		rt.wantAck(0, 1)
		last := msg{op: wire.OpSendOnlyInvalidate, psn: 1, payload: data(4, 1), inv: key, ack: true}
		if long {
			last.op, last.psn, psn = wire.OpSendLastInvalidate, 2, 1
		}
		rt.get(last)
		if !long {
			rt.step("without a receive request the key stays")
			rt.wantRNR(1, 1)
			if !w.Bound() {
				t.Fatal("window is gone")
			}
		} else {
			rt.wantNak(wire.NakPSNSequence, 1, 1)
		}
		rt.post(1, 0, 1000)
		if long {
			rt.get(msg{op: wire.OpSendFirst, psn: 1, payload: data(testMTU, 1)})
		}
		rt.get(last)
		rt.wantAck(1+psn, 2)
		rt.wantCompletion(Completion{
			ID: 1, Op: Receive, Bytes: uint32(4 + psn*testMTU), HasInvalid: true, Invalidated: key,
		})
		rt.step("a duplicate does not invalidate what has been bound since")
		region := newGuarded(rt, rt.table, rt.pd, 4096, 0xC00000, everyone|mr.BindWindow)
		if err := rt.table.Bind(rt.pd, rt.q.Number(), w, key, region.Region, 0xC00000, 4096, mr.RemoteWrite); err != nil {
			t.Fatal(err)
		}
		rt.get(last)
		rt.wantAck(1+psn, 2)
		if !w.Bound() || w.RKey() != key {
			t.Error("the duplicate has invalidated the window")
		}
		rt.step("the key opens no more than it does now")
		rt.get(msg{op: wire.OpWriteOnly, psn: 2 + psn, va: inWindow, rkey: key, payload: data(4, 1)})
		rt.wantFatal(wire.NakRemoteAccess, 2+psn, 2)
	}
}

// TestInvalidateFault is class J: the queue pair is in error, and the requester
// gets no NAK.
func TestInvalidateFault(t *testing.T) {
	for name, key := range map[string]func(rt *responderTest) uint32{
		"unknown key":          func(*responderTest) uint32 { return 0x12345678 },
		"region of the user":   func(rt *responderTest) uint32 { return rt.remote.RKey() },
		"window of type 1":     func(rt *responderTest) uint32 { return window(rt, mr.Type1, 0x11).RKey() },
		"window of another QP": func(rt *responderTest) uint32 { return window(rt, mr.Type2, 0x12).RKey() },
	} {
		for _, nak := range []bool{false, true} {
			rt := newResponderTest(t, func(s *setup) { s.Policy.NakInvalidate = nak })
			rt.post(1, 0, 100)
			rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1), ack: true})
			rt.get(msg{op: wire.OpSendOnlyInvalidate, psn: 1, payload: data(4, 1), inv: key(rt), ack: true})
			rt.wantAck(0, 1)
			if nak {
				rt.wantFatal(wire.NakRemoteAccess, 1, 1)
			}
			rt.wantSilence()
			rt.wantState(Error)
			c, ok := rt.q.Completion()
			if !ok || c.Status != RemoteInvalidRequest || c.ID != 1 {
				t.Errorf("%s: completion %+v", name, c)
			}
			rt.wantNoCompletion()
		}
	}
}

func TestKeyGoneWithinAWrite(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpWriteFirst, payload: data(testMTU, 1), size: testMTU + 4})
	if err := rt.table.Deregister(rt.remote.Region); err != nil {
		t.Fatal(err)
	}
	rt.get(msg{op: wire.OpWriteLast, psn: 1, payload: data(4, 2)})
	rt.wantFatal(wire.NakRemoteAccess, 1, 0)
	rt.wantBytes(rt.remote, testMTU, make([]byte, 4))
}

func TestRightsOfTheRegion(t *testing.T) {
	const inRegion = 0xD00000 - remoteVA
	for name, tc := range map[string]struct {
		access mr.Access
		pd     func(rt *responderTest) mr.PD
		m      msg
	}{
		"WRITE":                       {mr.LocalWrite | mr.RemoteRead | mr.RemoteAtomic, nil, msg{op: wire.OpWriteOnly, payload: data(4, 1)}},
		"ATOMIC WRITE":                {mr.LocalWrite | mr.RemoteRead | mr.RemoteAtomic, nil, msg{op: wire.OpAtomicWrite, payload: data(8, 1)}},
		"READ":                        {mr.LocalWrite | mr.RemoteWrite, nil, msg{op: wire.OpReadRequest, size: 4}},
		"atomic":                      {mr.LocalWrite | mr.RemoteWrite | mr.RemoteRead, nil, msg{op: wire.OpFetchAdd}},
		"FLUSH":                       {mr.LocalWrite | mr.RemoteWrite, nil, msg{op: wire.OpFlush, plt: 1, size: 4}},
		"WRITE to another PD":         {everyone, (*responderTest).otherPD, msg{op: wire.OpWriteOnly, payload: data(4, 1)}},
		"READ from another PD":        {everyone, (*responderTest).otherPD, msg{op: wire.OpReadRequest, size: 4}},
		"atomic in another PD":        {everyone, (*responderTest).otherPD, msg{op: wire.OpCompareSwap}},
		"WRITE with the wrong last 8": {everyone, nil, msg{op: wire.OpWriteOnly, payload: data(4, 1), swap: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			rt := newResponderTest(t, nil)
			pd := rt.pd
			if tc.pd != nil {
				pd = tc.pd(rt)
			}
			region := newGuarded(t, rt.table, pd, 4096, 0xD00000, tc.access)
			tc.m.va, tc.m.rkey = inRegion, region.RKey()^uint32(tc.m.swap)
			rt.get(tc.m)
			rt.wantFatal(wire.NakRemoteAccess, 0, 0)
			rt.wantBytes(region, 0, make([]byte, 8))
		})
	}
}

// A fault ends the queue pair and with it its windows of type 2, but a READ that
// came before is answered through one.
func TestReadThroughAWindowIsAnsweredBeforeALaterFault(t *testing.T) {
	const inWindow = 0xB00000 - remoteVA
	rt := newResponderTest(t, nil)
	w := windowFor(rt, mr.Type2, rt.q.Number(), mr.RemoteRead)
	rt.get(msg{op: wire.OpReadRequest, va: inWindow, rkey: w.RKey(), size: 2 * testMTU})
	rt.get(msg{op: wire.OpWriteOnly, psn: 2, rkey: 0xDEAD, payload: data(4, 1), ack: true})
	rt.wantState(Error)
	rt.wantRead(0, 1, make([]byte, 2*testMTU))
	if !w.Bound() {
		t.Error("the window is closed before all answers are out")
	}
	rt.wantFatal(wire.NakRemoteAccess, 2, 1)
	if w.Bound() {
		t.Error("the window is open behind the last answer")
	}
}

func (rt *responderTest) otherPD() mr.PD { return rt.table.AllocPD() }
