package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestRequestsAreIgnoredUnlessReady(t *testing.T) {
	m := msg{op: wire.OpWriteOnly, payload: data(4, 1), ack: true}
	rt := newResponderTest(t, nil)
	p := rt.packet(m)
	attributes := rt.q.Attributes()
	attributes.MaxRdAtomic = 1
	for _, step := range []struct {
		to       State
		executed bool
	}{{Reset, false}, {Init, false}, {RTR, true}, {RTS, true}, {SQD, true}, {Error, false}} {
		if err := rt.q.Modify(rt.now, step.to, attributes); err != nil {
			t.Fatal(err)
		}
		clear(rt.remote.mem)
		p.BTH().SetPSN(rt.q.responder.psn)
		rt.q.Receive(rt.now, Inbound{Packet: p})
		if got := rt.remote.mem[0] != 0; got != step.executed {
			t.Errorf("%v: executed %v", step.to, got)
		}
		if (rt.emit() != nil) != step.executed {
			t.Errorf("%v: answered %v", step.to, !step.executed)
		}
	}
}

func TestCommEstablishedIsToldOnceInRTR(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1)})
	rt.get(msg{op: wire.OpWriteOnly, psn: 1, payload: data(4, 1)})
	rt.wantEvents(EventCommEstablished)
	rt = newResponderTest(t, nil)
	if err := rt.q.Modify(rt.now, RTS, rt.q.Attributes()); err != nil {
		t.Fatal(err)
	}
	rt.events = nil
	rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1)})
	rt.wantEvents()
}

func TestMarkedPacketIsTold(t *testing.T) {
	rt := newResponderTest(t, nil)
	rt.q.Receive(rt.now, Inbound{Packet: rt.packet(msg{op: wire.OpWriteOnly}), CE: true})
	rt.wantEvents(EventCE, EventCommEstablished)
}

func TestPolicyIgnoreUnknown(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy.IgnoreUnknown = true })
	for _, op := range []uint8{wire.OpResync, 0x18, 0x1F} {
		rt.get(msg{op: op, ack: true})
		rt.wantSilence()
	}
	rt.get(msg{op: wire.OpWriteOnly, payload: data(4, 1), ack: true})
	rt.wantAck(0, 1)
}

func TestPacketsOfAnotherServiceAreIgnored(t *testing.T) {
	rt := newResponderTest(t, nil)
	for op := range 256 {
		if op < 0x20 {
			continue
		}
		p := rt.packet(msg{op: wire.OpWriteOnly, payload: data(64, 1), ack: true})
		p[0] = byte(op)
		rt.q.Receive(rt.now, Inbound{Packet: p})
		rt.wantSilence()
		rt.wantState(RTR)
	}
	rt.wantBytes(rt.remote, 0, make([]byte, 64))
}

func TestEveryPrefixOfEveryRequestIsHarmless(t *testing.T) {
	for _, typ := range []Type{RC, UC, UD, XRCRecv} {
		for op := range 32 {
			build := newResponderTest(t, func(s *setup) { s.Type, s.FindSRQ = typ, func(uint32) *SRQ { return nil } })
			p := build.packet(msg{op: uint8(op), payload: data(9, 1), plt: 1, qkey: 0x1234})
			for n := 1; n < len(p); n++ {
				rt := newResponderTest(t, func(s *setup) { s.Type, s.FindSRQ = typ, build.q.cfg.FindSRQ })
				rt.q.Receive(rt.now, Inbound{Packet: p[:n]})
				rt.wantBytes(rt.remote, 0, make([]byte, 64))
			}
		}
	}
}
