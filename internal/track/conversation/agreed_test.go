package conversation

import (
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// connected begins a conversation with a CM exchange. alice has sent the REQ:
// her requests begin with PSN 100, bob's with 7000; alice takes two READs at a
// time, bob one; both retry twice, and once after RNR NAKs; the path MTU is 1024
// and bob's local ACK timeout 67 ms.
func connected(t *testing.T) *script {
	s := newScript(t, DefaultLimits())
	const cm = wire.BaseUD + wire.OpSendOnly
	s.packet(alice, bob, 1, cm, 0, func(p *Packet) {
		p.CM = &Exchange{ID: 5, QPN: 0x11, Service: wire.RC, PathMTU: 1024, AckTimeout: 14, offer: offer{true, 7000, 2, 1, 2}}
	})
	s.packet(bob, alice, 1, cm, 0, func(p *Packet) {
		p.CM = &Exchange{Reply: true, ID: 6, RemoteID: 5, QPN: 0x12, offer: offer{made: true, psn: 100, resources: 1, rnrRetries: 1}}
	})
	return s
}

func (s *script) read(psn wire.PSN) {
	s.packet(alice, bob, 0x12, wire.OpReadRequest, psn, func(p *Packet) { p.DMALen, p.Payload = 100, 0 })
}

func (s *script) readBack(psn wire.PSN) {
	s.packet(bob, alice, 0x11, wire.OpReadRequest, psn, func(p *Packet) { p.DMALen, p.Payload = 100, 0 })
}

func (s *script) sendBack(psn wire.PSN) { s.packet(bob, alice, 0x11, wire.OpSendOnly, psn, nil) }
func (s *script) ackBack(psn wire.PSN)  { s.packet(alice, bob, 0x12, wire.OpAcknowledge, psn, nil) }

// only returns what was told of the terms.
func (s *script) only() (kinds []Kind) {
	for _, e := range s.told {
		if e.Kind >= StartPSN && e.Kind <= AfterDisconnect {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

func TestWhatWasDoneIsComparedWithWhatWasAgreed(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(s *script)
		want []Kind
	}{
		{"all as agreed", func(s *script) { s.send(100); s.ack(100); s.sendBack(7000); s.ackBack(7000) }, nil},
		{"the first requests are missing", func(s *script) { s.send(103) }, nil},
		{"a PSN before the first", func(s *script) { s.send(99) }, []Kind{StartPSN}},
		{"the other end's", func(s *script) { s.sendBack(100) }, []Kind{StartPSN}},
		{"a PSN far away", func(s *script) { s.send(100 + maxJump + 1) }, []Kind{StartPSN}},
		{"one READ at a time", func(s *script) {
			s.read(100)
			s.packet(bob, alice, 0x11, wire.OpReadResponseOnly, 100, nil)
			s.read(101)
		}, nil},
		{"two", func(s *script) { s.read(100); s.read(101) }, []Kind{DepthBeyond}},
		{"an atomic counts as a READ", func(s *script) {
			s.read(100)
			s.packet(alice, bob, 0x12, wire.OpFetchAdd, 101, nil)
		}, []Kind{DepthBeyond}},
		{"a SEND does not", func(s *script) { s.read(100); s.send(101); s.send(102) }, nil},
		{"a READ that is asked for again is one", func(s *script) { s.read(100); s.wait(time.Second); s.read(100) }, nil},
		{"an answer behind says that it was answered", func(s *script) { s.read(100); s.send(101); s.ack(101); s.read(102) }, nil},
		{"the other end may have two", func(s *script) { s.readBack(7000); s.readBack(7001) }, nil},
		{"and not three", func(s *script) { s.readBack(7000); s.readBack(7001); s.readBack(7002) }, []Kind{DepthBeyond}},
		{"a packet of the path MTU", func(s *script) {
			s.packet(alice, bob, 0x12, wire.OpSendOnly, 100, func(p *Packet) { p.Payload = 1024 })
		}, nil},
		{"a longer one", func(s *script) {
			s.packet(alice, bob, 0x12, wire.OpSendOnly, 100, func(p *Packet) { p.Payload = 1025 })
		}, []Kind{MTUBeyond}},
		{"a shorter FIRST", func(s *script) {
			s.packet(alice, bob, 0x12, wire.OpSendFirst, 100, func(p *Packet) { p.Payload = 512 })
			s.packet(alice, bob, 0x12, wire.OpSendLast, 101, nil)
		}, []Kind{MTUBelow}},
		{"a response that is longer", func(s *script) {
			s.read(100)
			s.packet(bob, alice, 0x11, wire.OpReadResponseOnly, 100, func(p *Packet) { p.Payload = 2048 })
		}, []Kind{MTUBeyond}},
		{"two retries", func(s *script) { s.sendBack(7000); s.again(7000, 2) }, nil},
		{"three", func(s *script) { s.sendBack(7000); s.again(7000, 3) }, []Kind{RetryBeyond}},
		{"three with progress", func(s *script) {
			s.sendBack(7000)
			s.again(7000, 2)
			s.ackBack(7000)
			s.sendBack(7001)
			s.again(7001, 2)
		}, nil},
		{"the REP tells no retry count", func(s *script) {
			s.send(100)
			for range 5 {
				s.wait(100 * time.Millisecond)
				s.send(100)
			}
		}, nil},
		{"one RNR retry", func(s *script) { s.send(100); s.refuse(100, 1) }, nil},
		{"two of them", func(s *script) { s.send(100); s.refuse(100, 2) }, []Kind{RNRBeyond}},
		{"a retry before half of the timeout", func(s *script) {
			s.sendBack(7000)
			s.ackBack(7000)
			s.sendBack(7001)
			s.wait(20 * time.Millisecond)
			s.sendBack(7001)
		}, []Kind{TimeoutEarly}},
		{"one that may be as agreed", func(s *script) {
			s.sendBack(7000)
			s.ackBack(7000)
			s.sendBack(7001)
			s.wait(40 * time.Millisecond)
			s.sendBack(7001)
		}, nil},
		{"one of what was acknowledged", func(s *script) {
			s.sendBack(7000)
			s.ackBack(7000)
			s.sendBack(7001)
			s.ackBack(7001)
			s.wait(20 * time.Millisecond)
			s.sendBack(7001)
		}, nil},
		{"the REP tells no timeout", func(s *script) { s.send(100); s.wait(20 * time.Millisecond); s.send(100) }, nil},
		{"requests when the connection is over", func(s *script) { s.leave(time.Second); s.send(100) }, []Kind{AfterDisconnect}},
		{"of the other end", func(s *script) { s.leave(time.Second); s.sendBack(7000) }, []Kind{AfterDisconnect}},
		{"what was on its way", func(s *script) { s.leave(0); s.send(100) }, nil},
		{"a congestion notification", func(s *script) {
			s.leave(time.Second)
			s.packet(alice, bob, 0x12, wire.OpcodeRoCECNP, 0, nil)
		}, nil},
		{"another connection of these queue pairs", func(s *script) {
			s.send(100)
			s.leave(time.Second)
			s.track.exchange(&Packet{Number: 90, Time: s.now, Src: alice, Dst: bob, CM: &Exchange{ID: 8, QPN: 0x11, Service: wire.RC, PathMTU: 1024, offer: offer{made: true}}})
			s.track.exchange(&Packet{Number: 91, Time: s.now, Src: bob, Dst: alice, CM: &Exchange{Reply: true, ID: 9, RemoteID: 8, QPN: 0x12, offer: offer{made: true, psn: 500}}})
			s.send(500)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := connected(t)
			test.do(s)
			s.track.Finish()
			if got := s.only(); !slices.Equal(got, test.want) {
				t.Errorf("told %v, want %v; all %v", got, test.want, s.told)
			}
		})
	}
}

// again sends a request of bob again, after longer than the timer.
func (s *script) again(psn wire.PSN, times int) {
	for range times {
		s.wait(100 * time.Millisecond)
		s.sendBack(psn)
	}
}

// refuse answers with an RNR NAK and sends again when its time is over.
func (s *script) refuse(psn wire.PSN, times int) {
	for range times {
		s.nak(psn, wire.RNRNak, 14) // 1.28 ms
		s.wait(2 * time.Millisecond)
		s.send(psn)
	}
}

// leave ends the connection, so long ago.
func (s *script) leave(ago time.Duration) {
	s.track.Disconnected(alice, 0x11, bob, 0x12, s.now)
	s.wait(ago)
}

func TestTheFirstRequestsAreMissedWhenTheyWereNotSeen(t *testing.T) {
	s := connected(t)
	s.send(103)
	s.ack(103)
	s.track.Finish()
	s.want(Missed)
	if e := s.told[0]; e.PSN != 100 || e.N != 3 {
		t.Errorf("told %+v", e)
	}
}

func TestTermsAreEachEndsOwn(t *testing.T) {
	s := connected(t)
	s.send(100)
	s.track.Finish()
	for _, c := range s.closed {
		if c.Joined != ByCM {
			continue
		}
		for i := range c.Ends {
			e := &c.Ends[i]
			want := Terms{Agreed: true, FirstPSN: 100, PathMTU: 1024, Depth: 1, RNRRetries: 1}
			if e.Addr == bob {
				want = Terms{Agreed: true, FirstPSN: 7000, PathMTU: 1024, Depth: 2, RNRRetries: 1, Asked: true, Retries: 2, AckTimeout: 67108864}
			}
			if e.Asks.Terms != want {
				t.Errorf("%v: %+v, want %+v", e.Addr, e.Asks.Terms, want)
			}
		}
		return
	}
	t.Error("no conversation is joined by CM")
}

// TestUnlimitedRNRRetriesAreNone keeps code 7 from being a bound (IBTA vol. 1,
// 12.6.5).
func TestUnlimitedRNRRetriesAreNone(t *testing.T) {
	s := connected(t)
	s.send(100)
	s.track.halves[key{alice, bob, 0x12}].sender().Asks.Terms.RNRRetries = Unlimited
	s.refuse(100, 20)
	s.track.Finish()
	if got := s.only(); len(got) != 0 {
		t.Errorf("told %v", got)
	}
}
