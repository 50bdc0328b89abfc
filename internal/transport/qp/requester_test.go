package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// steady is a queue pair that sends for as long as one likes: what one turn
// posts is answered at its end.
type steady struct {
	x    *sendTest
	dst  []byte
	list []WorkRequest
	ack  wire.Packet
}

func newSteady(t testing.TB, list ...func(x *sendTest) WorkRequest) *steady {
	x := newSendTest(t, RC, nil)
	s := &steady{x: x, dst: make([]byte, sendMTU+100), ack: x.response(wire.OpAcknowledge, 0, ackUnlimited, 0, nil)}
	for _, request := range list {
		s.list = append(s.list, request(x))
	}
	return s
}

// turn posts, sends, and takes the answer to the last packet and the completions.
func (s *steady) turn(answer wire.Packet) (packets, done int) {
	q := s.x.q
	for i := range s.list {
		if err := q.PostSend(s.x.now, s.list[i]); err != nil {
			s.x.t.Fatal(err)
		}
	}
	var last wire.PSN
	for n, _ := q.Emit(s.x.now, s.dst); n > 0; n, _ = q.Emit(s.x.now, s.dst) {
		packets, last = packets+1, wire.Packet(s.dst[:n]).PSN()
	}
	answer.BTH().SetPSN(last)
	q.Receive(s.x.now, Inbound{Packet: answer})
	for _, ok := q.Completion(); ok; _, ok = q.Completion() {
		done++
	}
	return packets, done
}

func TestSendingAllocatesNothing(t *testing.T) {
	message := func(n int) func(x *sendTest) WorkRequest {
		return func(x *sendTest) WorkRequest { return x.send(n) }
	}
	inline := func(*sendTest) WorkRequest { return WorkRequest{Op: Write, Inline: []byte("abcde")} }
	read := func(x *sendTest) WorkRequest { return x.read(100) }
	for _, test := range []struct {
		name    string
		list    []func(x *sendTest) WorkRequest
		reads   bool
		packets int
	}{
		{"messages", []func(x *sendTest) WorkRequest{message(0), message(1000), inline, message(256)}, false, 7},
		{"a READ", []func(x *sendTest) WorkRequest{message(1), read}, true, 2},
	} {
		s := newSteady(t, test.list...)
		answer := s.ack
		if test.reads {
			answer = s.x.response(wire.OpReadResponseOnly, 0, ackUnlimited, 0, pattern(100))
		}
		allocs := testing.AllocsPerRun(100, func() {
			if packets, done := s.turn(answer); packets != test.packets || done != len(test.list) {
				t.Fatalf("%s: %d packets, %d completions", test.name, packets, done)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", test.name, allocs)
		}
	}
}

func TestSendingAgainAllocatesNothing(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, a *Attributes) { c.Policy.InfiniteRetry7, a.RetryCount, c.Trace = true, 7, nil })
	x.post(x.send(1000), x.read(1000), x.send(1))
	dst := make([]byte, sendMTU+100)
	allocs := testing.AllocsPerRun(100, func() {
		n := 0
		for size, _ := x.q.Emit(x.now, dst); size > 0; size, _ = x.q.Emit(x.now, dst) {
			n++
		}
		if n != 6 {
			t.Fatalf("%d packets", n)
		}
		x.advance(sendTimeout)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// The mutation of packets is for tests of the other side: it may change them,
// shorten them and suppress them.
func TestMutationSeesEveryPacket(t *testing.T) {
	seen := 0
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) {
		c.Policy.Mutate = func(p wire.Packet) int {
			seen++
			if seen == 2 {
				return 0
			}
			p.BTH().SetPKey(uint16(seen))
			return len(p)
		}
	})
	x.post(x.send(1), x.send(1), x.send(1))
	sent := x.wantSent("+0 SEND Only 1 A", "+2 SEND Only 1 A")
	if sent[0].BTH().PKey() != 1 || sent[1].BTH().PKey() != 3 {
		t.Error("not changed")
	}
}

func TestRequestsAndResponsesTakeTurns(t *testing.T) {
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) {
		a.Access, a.MaxDestRdAtomic, a.RQPSN = mr.RemoteRead, 1, sendPSN
	})
	open, err := x.memory.Register(x.pd, x.buf, 0, mr.RemoteRead)
	x.check(err)
	p := wire.Packet(make([]byte, wire.BTHLen+wire.RETHLen))
	p.BTH().SetOpcode(wire.BaseRC + wire.OpReadRequest)
	p.BTH().SetPSN(sendPSN)
	h := wire.RETH(p.View(wire.HdrRETH))
	h.SetRKey(open.RKey())
	h.SetDMALen(4 * sendMTU)
	x.answerRaw(p)
	x.post(x.send(2*sendMTU), x.send(1))
	x.wantSent(
		"+0 SEND First 256", "+0 RDMA READ Response First 256",
		"+1 SEND Last 256 A", "+1 RDMA READ Response Middle 256",
		"+2 SEND Only 1 A", "+2 RDMA READ Response Middle 256",
		"+3 RDMA READ Response Last 256",
	)
}

func TestRingWrapsManyTimes(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.MaxSend = 3 })
	for i := range 20 {
		wr := x.send(1)
		wr.SGL[0].Addr += uint64(i)
		x.post(wr, wr)
		for range 2 {
			if p := x.emit(); p.Payload()[0] != x.buf[i] {
				t.Fatalf("round %d: wrong byte", i)
			}
		}
		x.ack(2*i + 1)
		x.wantDone("1 success", "2 success")
	}
}

func BenchmarkSend(b *testing.B) {
	s := newSteady(b, func(x *sendTest) WorkRequest { return x.send(1000) })
	b.ReportAllocs()
	packets := 0
	for b.Loop() {
		n, _ := s.turn(s.ack)
		packets += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
}
