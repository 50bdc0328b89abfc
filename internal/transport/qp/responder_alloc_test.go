package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// traffic is the packets of one round of each operation, and their PSNs.
func traffic(rt *responderTest) (round []wire.Packet, psns int) {
	whole := data(3*testMTU, 1)
	for _, m := range []msg{
		{op: wire.OpSendOnly, payload: whole[:33], ack: true},
		{op: wire.OpSendFirst, psn: 1, payload: whole[:testMTU]},
		{op: wire.OpSendLastImmediate, psn: 2, payload: whole[:9], ack: true},
		{op: wire.OpWriteFirst, psn: 3, payload: whole[:testMTU], size: testMTU + 4},
		{op: wire.OpWriteLast, psn: 4, payload: whole[:4], ack: true},
		{op: wire.OpReadRequest, psn: 5, size: 3 * testMTU},
		{op: wire.OpFetchAdd, psn: 8, swap: 1},
		{op: wire.OpReadRequest, psn: 5, size: 3 * testMTU}, // a duplicate
		{op: wire.OpAtomicWrite, psn: 9, payload: whole[:8]},
		{op: wire.OpFlush, psn: 10, plt: 1, size: 8},
		{op: wire.OpWriteOnly, psn: 13, payload: whole[:4]}, // a gap
		{op: wire.OpWriteOnly, psn: 11, payload: whole[:4]},
	} {
		round = append(round, rt.packet(m))
	}
	return round, 12
}

func (rt *responderTest) play(round []wire.Packet, psns int, buf []byte) {
	for _, p := range round {
		rt.q.Receive(rt.now, Inbound{Packet: p})
		p.BTH().SetPSN(p.PSN().Add(psns))
		for n := 1; n > 0; {
			n, _ = rt.q.Emit(rt.now, buf)
		}
	}
}

func TestResponderAllocatesNothing(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.MaxDestRdAtomic = 4 })
	rt.q.cfg.Trace = nil
	round, psns := traffic(rt)
	buf := make([]byte, 64+testMTU)
	req := rt.recvRequest(1, 0, 1000)
	completed := 0
	got := testing.AllocsPerRun(100, func() {
		for range 2 {
			if err := rt.q.PostRecv(rt.now, req); err != nil {
				t.Fatal(err)
			}
		}
		rt.play(round, psns, buf)
		for ok := true; ok; {
			var c Completion
			if c, ok = rt.q.Completion(); ok && c.Status == Success {
				completed++
			}
		}
	})
	if got != 0 {
		t.Errorf("%v allocations for a round of packets, want 0", got)
	}
	if rt.wantState(RTR); completed != 2*101 {
		t.Errorf("%d SENDs completed, want %d", completed, 2*101)
	}
}

func TestUnreliableReceiversAllocateNothing(t *testing.T) {
	for _, typ := range []Type{UC, UD} {
		rt := newResponderTest(t, func(s *setup) { s.Type = typ })
		rt.q.cfg.Trace = nil
		p := rt.packet(msg{op: wire.OpSendOnly, payload: data(64, 1), qkey: 0x1234})
		bad := rt.packet(msg{op: wire.OpSendOnly, payload: data(200, 1)})
		req, grh := rt.recvRequest(1, 0, 128), make([]byte, 40)
		if got := testing.AllocsPerRun(100, func() {
			if err := rt.q.PostRecv(rt.now, req); err != nil {
				t.Fatal(err)
			}
			rt.q.Receive(rt.now, Inbound{Packet: bad, GRH: grh})
			rt.q.Receive(rt.now, Inbound{Packet: p, GRH: grh})
			if c, ok := rt.q.Completion(); !ok || c.Status != Success {
				t.Fatal("not received")
			}
		}); got != 0 {
			t.Errorf("%v: %v allocations, want 0", typ, got)
		}
	}
}

func BenchmarkResponderWrite(b *testing.B) {
	benchmarkWrite(b, msg{op: wire.OpWriteOnly, payload: make([]byte, testMTU)})
}

func BenchmarkResponderWriteAcknowledged(b *testing.B) {
	benchmarkWrite(b, msg{op: wire.OpWriteOnly, payload: make([]byte, testMTU), ack: true})
}

func benchmarkWrite(b *testing.B, m msg) {
	rt := newResponderTest(&testing.T{}, nil)
	rt.q.cfg.Trace = nil
	p := rt.packet(m)
	buf := make([]byte, 64+testMTU)
	b.SetBytes(testMTU)
	b.ReportAllocs()
	for b.Loop() {
		rt.q.Receive(rt.now, Inbound{Packet: p})
		p.BTH().SetPSN(p.PSN().Add(1))
		rt.q.Emit(rt.now, buf)
	}
}
