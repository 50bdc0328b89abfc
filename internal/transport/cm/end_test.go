package cm_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestReasonsWhyAREQIsRefused(t *testing.T) {
	reqOf := func(m *mad) wire.CMReq { return wire.CMReq(wire.MAD(m[:]).Data()) }
	right := netip.AddrFrom16(addrB.As16())
	for _, row := range []struct {
		name   string
		change func(a, b *cm.Config)
		spoil  func(m *mad)
		reason cm.RejectReason
		info   []byte
	}{
		{"nobody listens", nil, func(m *mad) { reqOf(m).SetServiceID(1) }, cm.InvalidServiceID, nil},
		{"reliable datagram", nil, func(m *mad) { reqOf(m).SetTransportType(wire.TransportRD) }, cm.InvalidTransportType, nil},
		{"unknown extended transport", nil, func(m *mad) {
			reqOf(m).SetTransportType(wire.TransportExtended)
			reqOf(m).SetExtendedTransport(7)
		}, cm.InvalidTransportType, nil},
		{
			"another port's GID",
			func(_, b *cm.Config) {
				b.CheckGID = func(gid netip.Addr) (netip.Addr, bool) { return right, gid == right }
			},
			func(m *mad) { reqOf(m).PrimaryPath().SetRemoteGID(addrA) },
			cm.InvalidGID, right.AsSlice(),
		},
		{
			"another port's GID, and no right one",
			func(_, b *cm.Config) { b.CheckGID = func(netip.Addr) (netip.Addr, bool) { return netip.Addr{}, false } },
			func(*mad) {}, cm.InvalidGID, nil,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var changes []func(a, b *cm.Config)
			if row.change != nil {
				changes = append(changes, row.change)
			}
			p := newPair(t, changes...)
			a := p.connect(request())
			req := p.take(p.a, wire.CMAttrReq)
			row.spoil(&req)
			p.inject(p.b, req)
			p.flush()
			e := p.event(p.a, cm.Rejected)
			if e.Conn != a || e.Reason != row.reason || e.Message != 0 || !bytes.Equal(e.Info(), row.info) {
				t.Errorf("rejected: %v, message %d, info %x", e.Reason, e.Message, e.Info())
			}
			if p.a.Connections()+p.b.Connections() != 0 {
				t.Error("something is left")
			}
		})
	}
}

func TestTheConsumerRejectsAREQ(t *testing.T) {
	for _, reason := range []cm.RejectReason{cm.ConsumerReject, cm.VendorOptionUnsupported, cm.InsufficientResources} {
		p := newPair(t)
		_, b := p.ask(request())
		private := bytes.Repeat([]byte{0xAB}, cm.MaxREJPrivate)
		p.must(p.b.Reject(p.now, b, cm.Rejection{Reason: reason, Info: []byte{1, 2}, PrivateData: private}))
		p.flush()
		e := p.event(p.a, cm.Rejected)
		if e.Reason != reason || !bytes.Equal(e.Info(), []byte{1, 2}) || !bytes.Equal(e.PrivateData(), private) {
			t.Errorf("rejected: %v, info %x, private data %x", e.Reason, e.Info(), e.PrivateData())
		}
		if p.a.Connections()+p.b.Connections() != 0 {
			t.Error("something is left")
		}
	}
	if cm.ConsumerReject.String() != "consumer reject" || cm.RejectReason(999).String() != "reason 999" {
		t.Error("names of reasons")
	}
}

func TestALostREJIsAskedForAgain(t *testing.T) {
	p := newPair(t)
	p.lose(wire.CMAttrRej, 1)
	_, b := p.ask(request())
	p.must(p.b.Reject(p.now, b, cm.Rejection{Reason: cm.ConsumerReject}))
	p.wait(5 * time.Second)
	b = p.event(p.b, cm.ConnectRequest).Conn // the REQ came again
	p.must(p.b.Reject(p.now, b, cm.Rejection{Reason: cm.ConsumerReject}))
	p.flush()
	p.event(p.a, cm.Rejected)
}

func TestTheConsumerRejectsAREP(t *testing.T) {
	p := newPair(t)
	a, _ := p.reply()
	p.must(p.a.Reject(p.now, a, cm.Rejection{Reason: cm.ConsumerReject}))
	p.flush()
	if e := p.event(p.b, cm.Rejected); e.Message != 1 || e.Reason != cm.ConsumerReject {
		t.Errorf("rejected: message %d, %v", e.Message, e.Reason)
	}
	if p.b.Connections() != 0 {
		t.Error("b keeps it")
	}
	p.wait(time.Second)
	p.event(p.a, cm.TimewaitExit)
}

func TestAREQWithoutAnswer(t *testing.T) {
	interval := 2*cm.CodeDuration(16) + cm.CodeDuration(20)
	p := newPair(t)
	p.lose(wire.CMAttrReq, 99)
	a := p.connect(request())
	p.wait(16*interval - 1)
	p.silent(p.a)
	p.wantSent(p.a, wire.CMAttrReq, 16) // the first and 15 resends
	p.wait(1)
	if e := p.event(p.a, cm.Unreachable); e.Conn != a || !e.TimedOut {
		t.Errorf("unreachable: %+v", e.Conn)
	}
	if len(p.a.sent) != 16 || p.a.Connections() != 0 {
		t.Errorf("%d datagrams, %d connections", len(p.a.sent), p.a.Connections())
	}
}

func TestATimeoutMayBeToldToTheOtherSide(t *testing.T) {
	policy := func(a, b *cm.Config) { a.RejectOnTimeout, b.RejectOnTimeout = true, true }
	t.Run("REQ", func(t *testing.T) {
		p := newPair(t, policy)
		p.lose(wire.CMAttrRep, 99)
		_, b := p.ask(request())
		p.wait(time.Hour) // b's consumer does nothing
		p.event(p.a, cm.Unreachable)
		e := p.event(p.b, cm.Rejected)
		if e.Conn != b || e.Reason != cm.Timeout || binary.BigEndian.Uint64(e.Info()) != guidA {
			t.Errorf("rejected: %v, info %x", e.Reason, e.Info())
		}
	})
	t.Run("REP", func(t *testing.T) {
		p := newPair(t, policy)
		p.lose(wire.CMAttrRep, 99)
		_, b := p.ask(request())
		p.wait(10 * time.Second)
		p.must(p.b.Accept(p.now, b, side(), nil))
		p.wait(time.Minute + 9*time.Second)
		if e := p.event(p.b, cm.Unreachable); e.Conn != b {
			t.Errorf("unreachable %#x", e.Conn)
		}
		if e := p.event(p.a, cm.Rejected); e.Reason != cm.Timeout {
			t.Errorf("rejected: %v", e.Reason)
		}
	})
	t.Run("RTU", func(t *testing.T) {
		p := newPair(t, policy)
		p.lose(wire.CMAttrRtu, 99)
		a, _ := p.reply()
		p.must(p.a.Establish(a, nil))
		p.wait(2 * time.Minute)
		p.event(p.b, cm.Unreachable)
		if e, _ := p.a.Event(); e.Kind != cm.Rejected || e.Reason != cm.Timeout {
			t.Errorf("%v: %v", e.Kind, e.Reason)
		}
		p.event(p.a, cm.TimewaitExit)
	})
}

func TestAREPWithoutAnswer(t *testing.T) {
	p := newPair(t)
	p.lose(wire.CMAttrRep, 99)
	_, b := p.ask(request())
	p.must(p.b.Accept(p.now, b, side(), nil))
	p.wait(16*cm.CodeDuration(20) - 1)
	p.silent(p.b)
	p.wait(1)
	p.wantSent(p.b, wire.CMAttrRep, 16)
	if e := p.event(p.b, cm.Unreachable); e.Conn != b || !e.TimedOut {
		t.Errorf("unreachable %#x", e.Conn)
	}
}

func TestTheREQSaysHowOftenAREPIsResent(t *testing.T) {
	for _, retries := range []uint8{0, 3} {
		p := newPair(t, func(a, _ *cm.Config) { a.MaxRetries, a.ResponseTimeout = retries, 10 })
		p.lose(wire.CMAttrRep, 99)
		_, b := p.ask(request())
		p.must(p.b.Accept(p.now, b, side(), nil))
		p.wait(4 * cm.CodeDuration(10))
		p.wantSent(p.b, wire.CMAttrRep, int(retries)+1)
		p.event(p.b, cm.Unreachable)
	}
}

func TestAnMRAIsHonoured(t *testing.T) {
	more := cm.CodeDuration(24) + cm.CodeDuration(17)
	t.Run("for a REQ", func(t *testing.T) {
		p := newPair(t, func(_, b *cm.Config) { b.MRA = cm.MRAAtOnce })
		p.ask(request())
		p.wait(more - 1)
		p.wantSent(p.a, wire.CMAttrReq, 1) // in the time that the MRA asked for
		p.wait(1)
		p.wantSent(p.a, wire.CMAttrReq, 2)
		p.wantSent(p.b, wire.CMAttrMra, 2)
	})
	t.Run("for a REP", func(t *testing.T) {
		p := newPair(t)
		a, _ := p.reply()
		p.must(p.a.Delay(a, 24))
		p.wait(more - 1)
		p.wantSent(p.b, wire.CMAttrRep, 1) // in the time that the MRA asked for
		p.must(p.a.Establish(a, nil))
		p.flush()
		p.event(p.b, cm.Established)
	})
	t.Run("once", func(t *testing.T) {
		p := newPair(t)
		_, b := p.ask(request())
		p.must(p.b.Delay(b, 24))
		p.flush()
		p.wait(more / 2)
		p.ignores(p.a, p.of(p.b, wire.CMAttrMra), "second MRA")
	})
	t.Run("not beyond the limit", func(t *testing.T) {
		p := newPair(t, func(a, _ *cm.Config) { a.MaxPeerTimeout = 18 })
		_, b := p.ask(request())
		p.must(p.b.Delay(b, 31))
		p.wait(cm.CodeDuration(18) + cm.CodeDuration(17))
		p.wantSent(p.a, wire.CMAttrReq, 2)
	})
}

func TestAnMRAThatDoesNotFitIsIgnored(t *testing.T) {
	p := newPair(t)
	_, b := p.ask(request())
	p.must(p.b.Delay(b, 24))
	mra := p.take(p.b, wire.CMAttrMra)
	body := wire.CMMra(wire.MAD(mra[:]).Data())
	for _, message := range []uint8{1, 2, 3} {
		body.SetMessage(message)
		p.ignores(p.a, mra, "MRA of message %d", message)
	}
	body.SetMessage(0)
	body.SetRemoteCommID(body.RemoteCommID() + 1)
	p.ignores(p.a, mra, "MRA of another connection")
}

func TestDREQ(t *testing.T) {
	p := newPair(t)
	a, b := p.establish()
	p.must(p.a.Disconnect(p.now, a, nil))
	dreq := p.take(p.a, wire.CMAttrDreq)
	body := func(m *mad) wire.CMDreq { return wire.CMDreq(wire.MAD(m[:]).Data()) }

	wrong := dreq
	body(&wrong).SetRemoteQPN(0x23)
	p.ignores(p.b, wrong, "wrong QPN")
	p.silent(p.b)

	unknown := dreq
	body(&unknown).SetRemoteCommID(77)
	p.inject(p.b, unknown)
	drep := p.take(p.b, wire.CMAttrDrep)
	if d := wire.CMDrep(wire.MAD(drep[:]).Data()); d.LocalCommID() != 77 || d.RemoteCommID() != uint32(a) {
		t.Errorf("unknown ID: DREP %#x, %#x", d.LocalCommID(), d.RemoteCommID())
	}
	p.silent(p.b)

	p.inject(p.b, dreq)
	drep = p.take(p.b, wire.CMAttrDrep)
	if d := wire.CMDrep(wire.MAD(drep[:]).Data()); d.LocalCommID() != uint32(b) || d.RemoteCommID() != uint32(a) {
		t.Errorf("DREP %#x, %#x", d.LocalCommID(), d.RemoteCommID())
	}
	p.event(p.b, cm.Disconnected)
	p.inject(p.b, dreq) // in timewait
	if again := p.take(p.b, wire.CMAttrDrep); again != drep {
		t.Error("another DREP in timewait")
	}
	p.silent(p.b)
	p.must(p.b.Disconnect(p.now, b, nil)) // ends already
	p.silent(p.b)
	p.inject(p.a, drep)
	p.event(p.a, cm.Disconnected)
	p.ignores(p.a, drep, "second DREP")
}

func TestADREQBeforeTheRTUEndsAConnection(t *testing.T) {
	p := newPair(t)
	a, _ := p.reply()
	p.lose(wire.CMAttrRtu, 99)
	p.must(p.a.Establish(a, nil))
	p.must(p.a.Disconnect(p.now, a, nil))
	p.flush()
	p.event(p.b, cm.Disconnected)
	p.event(p.a, cm.Disconnected)
}

func TestDREQsCross(t *testing.T) {
	p := newPair(t)
	a, b := p.establish()
	p.must(p.a.Disconnect(p.now, a, nil))
	p.must(p.b.Disconnect(p.now, b, nil))
	p.wait(time.Second)
	for _, e := range []*end{p.a, p.b} {
		if ev, _ := e.Event(); ev.Kind != cm.Disconnected {
			t.Errorf("event %v", ev.Kind)
		}
		p.event(e, cm.TimewaitExit)
		p.wantSent(e, wire.CMAttrDreq, 1)
	}
}

func TestADREQWithoutAnswer(t *testing.T) {
	p := newPair(t)
	a, _ := p.establish()
	p.lose(wire.CMAttrDreq, 99)
	p.must(p.a.Disconnect(p.now, a, nil))
	interval := 2*cm.CodeDuration(16) + cm.CodeDuration(20)
	p.wait(16 * interval)
	if e := p.event(p.a, cm.Disconnected); !e.TimedOut {
		t.Error("disconnected in agreement")
	}
	p.wantSent(p.a, wire.CMAttrDreq, 16)
	p.wait(time.Second)
	p.event(p.a, cm.TimewaitExit)
}

func TestTheConsumerMaySendTheDREP(t *testing.T) {
	p := newPair(t, func(_, b *cm.Config) { b.ManualDREP = true })
	a, b := p.establish()
	p.must(p.a.Disconnect(p.now, a, nil))
	p.flush()
	p.event(p.b, cm.Disconnected)
	p.wait(20 * time.Second) // the DREQ comes again, to no effect
	p.silent(p.b)
	p.silent(p.a)
	p.must(p.b.Disconnect(p.now, b, []byte("last words")))
	p.flush()
	if e := p.event(p.a, cm.Disconnected); !bytes.HasPrefix(e.PrivateData(), []byte("last words\x00")) {
		t.Errorf("private data %q", e.PrivateData())
	}
	p.wait(time.Second)
	p.event(p.b, cm.TimewaitExit)
}

func TestAREJEndsAnEstablishedConnection(t *testing.T) {
	p := newPair(t)
	a, b := p.establish()
	var m mad
	header := wire.MAD(m[:])
	header.SetBaseVersion(1)
	header.SetMgmtClass(wire.ClassCM)
	header.SetClassVersion(2)
	header.SetMethod(3)
	header.SetAttributeID(wire.CMAttrRej)
	r := wire.CMRej(header.Data())
	r.SetLocalCommID(uint32(a))
	r.SetRemoteCommID(uint32(b))
	r.SetMessageRejected(2)
	r.SetReason(uint16(cm.Unsupported))
	p.inject(p.b, m)
	if e := p.event(p.b, cm.Rejected); e.Conn != b || e.Reason != cm.Unsupported {
		t.Errorf("rejected: %v", e.Reason)
	}
	p.ignores(p.b, m, "REJ in timewait")
	p.wait(time.Second)
	p.event(p.b, cm.TimewaitExit)
}

func TestAbortInEachState(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(p *pair)
	}{
		{"REQ sent", func(p *pair) {
			a, _ := p.ask(request())
			p.must(p.a.Abort(p.now, a))
			p.flush()
			if e := p.event(p.b, cm.Rejected); e.Reason != cm.Timeout {
				p.t.Errorf("rejected: %v", e.Reason)
			}
		}},
		{"REQ received", func(p *pair) {
			_, b := p.ask(request())
			p.must(p.b.Abort(p.now, b))
			p.flush()
			if e := p.event(p.a, cm.Rejected); e.Reason != cm.ConsumerReject || e.Message != 0 {
				p.t.Errorf("rejected: %v", e.Reason)
			}
		}},
		{"REP sent", func(p *pair) {
			a, b := p.reply()
			p.must(p.b.Abort(p.now, b))
			p.flush()
			if e := p.event(p.a, cm.Rejected); e.Conn != a || e.Message != 2 {
				p.t.Errorf("rejected: message %d", e.Message)
			}
		}},
		{"REP received", func(p *pair) {
			a, _ := p.reply()
			p.must(p.a.Abort(p.now, a))
			p.flush()
			p.event(p.b, cm.Rejected)
		}},
		{"established", func(p *pair) {
			a, _ := p.establish()
			p.must(p.a.Abort(p.now, a))
			p.flush()
			p.event(p.a, cm.Disconnected)
			p.event(p.b, cm.Disconnected)
			p.must(p.a.Abort(p.now, a)) // in timewait
		}},
		{"DREQ sent", func(p *pair) {
			a, _ := p.establish()
			p.lose(wire.CMAttrDreq, 1)
			p.must(p.a.Disconnect(p.now, a, nil))
			p.must(p.a.Abort(p.now, a))
			p.flush()
			p.silent(p.a)
			p.must(p.b.Abort(p.now, cm.ConnID(wire.CMRep(wire.MAD(p.b.sent[0][:]).Data()).LocalCommID())))
		}},
		{"SIDR", func(p *pair) {
			a, err := p.a.ResolveSIDR(p.now, &cm.SIDR{To: peerB, ServiceID: request().ServiceID, IP: request().IP})
			p.must(err)
			p.flush()
			b := p.event(p.b, cm.SIDRRequest).Conn
			p.must(p.a.Abort(p.now, a))
			p.must(p.b.Abort(p.now, b))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPair(t)
			row.do(p)
			p.wait(time.Minute)
			if p.a.Connections()+p.b.Connections() != 0 {
				t.Error("something is left")
			}
			if err := p.a.Abort(p.now, 77); err != cm.ErrUnknown {
				t.Errorf("unknown: %v", err)
			}
		})
	}
}

func TestAnAlternatePathIsRefused(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		p := newPair(t, func(_, b *cm.Config) { b.IgnoreLAP = ignore })
		a, b := p.establish()
		m := p.of(p.a, wire.CMAttrRtu)
		wire.MAD(m[:]).SetAttributeID(wire.CMAttrLap)
		outcome := p.inject(p.b, m)
		if ignore {
			if outcome != cm.Ignored {
				t.Errorf("outcome %v", outcome)
			}
			p.silent(p.b)
			continue
		}
		got := p.take(p.b, wire.CMAttrApr)
		apr := wire.CMApr(wire.MAD(got[:]).Data())
		if apr.LocalCommID() != uint32(b) || apr.RemoteCommID() != uint32(a) || apr.Status() != 2 {
			t.Errorf("APR %#x, %#x, status %d", apr.LocalCommID(), apr.RemoteCommID(), apr.Status())
		}
		p.ignores(p.a, got, "APR")
		wire.CMLap(wire.MAD(m[:]).Data()).SetRemoteCommID(77)
		p.ignores(p.b, m, "LAP of another connection")
	}
}

func TestACKTimeoutCodes(t *testing.T) {
	for _, row := range []struct{ delay, lifetime, want uint8 }{
		{15, 16, 17}, // as rxe and the captures have it
		{16, 16, 18}, {17, 16, 18}, {18, 16, 19}, {19, 16, 19}, {0, 0, 2}, {15, 18, 19}, {31, 31, 31}, {0, 31, 31},
	} {
		if got := cm.ACKTimeout(row.delay, row.lifetime); got != row.want {
			t.Errorf("delay %d, lifetime %d: %d, want %d", row.delay, row.lifetime, got, row.want)
		}
	}
	if cm.CodeDuration(20) != 4294967296*time.Nanosecond || cm.CodeDuration(200) != cm.CodeDuration(31) {
		t.Error("durations of codes")
	}
}

func TestAnXRCTargetIsNamedByItsEEContext(t *testing.T) {
	p := newPair(t)
	r := request()
	r.Transport, r.Extended = wire.TransportExtended, wire.ExtendedTransportXRC
	a, b := p.ask(r)
	p.must(p.b.Accept(p.now, b, &cm.Side{EECN: 0x55, SRQ: true}, nil))
	p.flush()
	if e := p.event(p.a, cm.Reply); e.Remote.EECN != 0x55 || !e.Remote.SRQ {
		t.Errorf("reply %+v", e.Remote)
	}
	p.must(p.a.Establish(a, nil))
	p.must(p.a.Disconnect(p.now, a, nil))
	p.flush()
	m := p.of(p.a, wire.CMAttrDreq)
	if qpn := wire.CMDreq(wire.MAD(m[:]).Data()).RemoteQPN(); qpn != 0x55 {
		t.Errorf("DREQ for %#x", qpn)
	}
	p.event(p.a, cm.Disconnected)
}

func TestAFullQueueDropsAnswersNotState(t *testing.T) {
	p := newPair(t, func(_, b *cm.Config) { b.MaxQueue = 0 })
	p.connect(request())
	req := p.take(p.a, wire.CMAttrReq)
	wire.CMReq(wire.MAD(req[:]).Data()).SetServiceID(1)
	p.ignores(p.b, req, "REJ without room")
	wire.MAD(req[:]).SetAttributeID(wire.CMAttrDreq)
	p.ignores(p.b, req, "DREP without room")
	p.silent(p.b)
	if names := cm.Ignored.String() + cm.Malformed.String() + cm.SIDRReply.String(); names != "ignoredmalformedSIDR reply" {
		t.Errorf("names %q", names)
	}
}
