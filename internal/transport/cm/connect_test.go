package cm_test

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestAConnectionIsMadeAndEnded(t *testing.T) {
	p := newPair(t)
	a := p.connect(request())
	p.flush()
	req := p.event(p.b, cm.ConnectRequest)
	want := request()
	want.Terms.PKey = 0xFFFF
	want.Terms.Primary = cm.Path{
		LocalGID: netip.AddrFrom16(addrB.As16()), RemoteGID: netip.AddrFrom16(addrA.As16()),
		LocalLID: 0xFFFF, RemoteLID: 0xFFFF, HopLimit: 64, ACKTimeout: 17,
	}
	want.Terms.Alternate = cm.Path{LocalGID: netip.IPv6Unspecified(), RemoteGID: netip.IPv6Unspecified()}
	if req.Remote != want.Local || req.Terms != want.Terms || req.IP != want.IP || req.ServiceID != want.ServiceID || req.Peer != peerA {
		t.Errorf("the consumer hears of another request:\n%+v\n%+v\n%+v", req.Remote, req.Terms, req.IP)
	}
	if got := req.PrivateData(); len(got) != cm.MaxREQPrivate || !bytes.HasPrefix(got, []byte("hello\x00")) {
		t.Errorf("private data %q", got)
	}
	if takes, wants := req.Limits(); takes != 4 || wants != 8 {
		t.Errorf("limits %d, %d, want the other side's two numbers crosswise", takes, wants)
	}

	p.must(p.b.Accept(p.now, req.Conn, side(), []byte("welcome")))
	p.flush()
	rep := p.event(p.a, cm.Reply)
	if rep.Conn != a || rep.Remote != *side() || rep.ACKTimeout != 17 {
		t.Errorf("reply %+v", rep.Remote)
	}
	if got := rep.PrivateData(); len(got) != cm.MaxREPPrivate || !bytes.HasPrefix(got, []byte("welcome\x00")) {
		t.Errorf("private data %q", got)
	}

	p.must(p.a.Establish(a, []byte("ready")))
	p.flush()
	if e := p.event(p.b, cm.Established); e.Conn != req.Conn || !bytes.HasPrefix(e.PrivateData(), []byte("ready\x00")) {
		t.Errorf("established %#x, %q", e.Conn, e.PrivateData())
	}
	p.wait(time.Hour)
	p.silent(p.a)
	p.silent(p.b)

	p.must(p.a.Disconnect(p.now, a, []byte("bye")))
	p.flush()
	if e := p.event(p.b, cm.Disconnected); !bytes.HasPrefix(e.PrivateData(), []byte("bye\x00")) || e.TimedOut {
		t.Errorf("disconnected, %q", e.PrivateData())
	}
	p.event(p.a, cm.Disconnected)
	p.wait(cm.CodeDuration(17) - 1)
	p.silent(p.a)
	p.wait(1)
	p.event(p.a, cm.TimewaitExit)
	p.event(p.b, cm.TimewaitExit)
	if p.a.Connections()+p.b.Connections() != 0 || !p.a.Deadline().IsZero() || !p.b.Deadline().IsZero() {
		t.Error("something is left")
	}
	for _, e := range []*end{p.a, p.b} {
		for _, attribute := range []uint16{wire.CMAttrReq, wire.CMAttrRep, wire.CMAttrRtu, wire.CMAttrDreq, wire.CMAttrDrep} {
			if n := p.sentOf(e, attribute); n > 1 {
				t.Errorf("%#04x was sent %d times", attribute, n)
			}
		}
	}
}

func TestAManagerConnectsToItself(t *testing.T) {
	p := newPair(t)
	p.a.ListenIP(cm.PortSpaceTCP, port)
	loop := func() {
		var m mad
		for _, ok := p.a.Emit(&m); ok; _, ok = p.a.Emit(&m) {
			p.a.Receive(p.now, m[:], peerA)
			p.must(p.a.Check())
		}
	}
	r := request()
	r.To = peerA
	active := p.connect(r)
	loop()
	passive := p.event(p.a, cm.ConnectRequest).Conn
	p.must(p.a.Accept(p.now, passive, side(), nil))
	loop()
	p.event(p.a, cm.Reply)
	p.must(p.a.Establish(active, nil))
	loop()
	p.event(p.a, cm.Established)
	p.must(p.a.Disconnect(p.now, passive, nil))
	loop()
	for range 2 {
		if e, ok := p.a.Event(); !ok || e.Kind != cm.Disconnected {
			t.Errorf("event %v", e.Kind)
		}
	}
}

func TestDuplicateREQ(t *testing.T) {
	never := func(_, b *cm.Config) { b.MRA = cm.MRANever }
	for _, row := range []struct {
		name   string
		change func(a, b *cm.Config)
		to     func(p *pair)
		answer uint16 // 0 is none
	}{
		{"before the consumer answers, MRA never", never, func(p *pair) { p.ask(request()) }, 0},
		{"before the consumer answers", nil, func(p *pair) { p.ask(request()) }, wire.CMAttrMra},
		{"after the REP", nil, func(p *pair) { p.lose(wire.CMAttrRtu, 99); p.reply() }, 0},
		{"when established", nil, func(p *pair) { p.establish() }, 0},
		{"in timewait", nil, func(p *pair) {
			_, b := p.establish()
			p.must(p.b.Disconnect(p.now, b, nil))
			p.flush()
			p.event(p.b, cm.Disconnected)
		}, wire.CMAttrRej},
	} {
		t.Run(row.name, func(t *testing.T) {
			var changes []func(a, b *cm.Config)
			if row.change != nil {
				changes = append(changes, row.change)
			}
			p := newPair(t, changes...)
			row.to(p)
			req := p.of(p.a, wire.CMAttrReq)
			outcome := p.inject(p.b, req)
			if row.answer == 0 {
				if outcome != cm.Ignored {
					t.Errorf("outcome %v", outcome)
				}
				p.silent(p.b)
				return
			}
			got := p.take(p.b, row.answer)
			body := wire.MAD(got[:]).Data()
			if id := wire.CMReq(wire.MAD(req[:]).Data()).LocalCommID(); wire.CMMra(body).RemoteCommID() != id {
				t.Errorf("answer to %#x", wire.CMMra(body).RemoteCommID())
			}
			if row.answer == wire.CMAttrMra && (wire.CMMra(body).Message() != 0 || wire.CMMra(body).ServiceTimeout() != 24) {
				t.Errorf("MRA of message %d for %d", wire.CMMra(body).Message(), wire.CMMra(body).ServiceTimeout())
			}
			if row.answer == wire.CMAttrRej && cm.RejectReason(rej(got).Reason()) != cm.StaleConnection {
				t.Errorf("REJ %v", cm.RejectReason(rej(got).Reason()))
			}
			p.silent(p.b)
		})
	}
}

func TestTheREPIsResentUntilTheRTU(t *testing.T) {
	p := newPair(t)
	p.lose(wire.CMAttrRep, 3)
	a, b := p.ask(request())
	p.must(p.b.Accept(p.now, b, side(), nil))
	p.wait(3*cm.CodeDuration(20) - 1)
	p.wantSent(p.b, wire.CMAttrRep, 3)
	p.wait(1)
	p.event(p.a, cm.Reply)
	p.must(p.a.Establish(a, nil))
	p.flush()
	p.event(p.b, cm.Established)
	p.wantSent(p.b, wire.CMAttrRep, 4)
}

func TestAQueuePairInUseMakesAREQStale(t *testing.T) {
	p := newPair(t)
	_, b := p.establish()
	p.connect(request()) // same QPN, new communication ID
	req := p.take(p.a, wire.CMAttrReq)
	if outcome := p.inject(p.b, req); outcome != cm.Handled {
		t.Errorf("outcome %v", outcome)
	}
	var first mad
	if _, ok := p.b.Emit(&first); !ok || rej(first).Reason() != uint16(cm.StaleConnection) || rej(first).MessageRejected() != 0 {
		t.Errorf("no REJ for a stale connection")
	}
	p.inject(p.a, first)
	if e := p.event(p.a, cm.Rejected); e.Reason != cm.StaleConnection {
		t.Errorf("rejected: %v", e.Reason)
	}
	dreq := p.take(p.b, wire.CMAttrDreq) // for the old connection
	if id := wire.CMDreq(wire.MAD(dreq[:]).Data()).LocalCommID(); id != uint32(b) {
		t.Errorf("DREQ for %#x", id)
	}
	p.inject(p.a, dreq)
	p.event(p.a, cm.Disconnected)
	p.flush()
	p.event(p.b, cm.Disconnected)

	p.connect(request()) // the old one is in timewait
	p.flush()
	if e := p.event(p.a, cm.Rejected); e.Reason != cm.StaleConnection {
		t.Errorf("rejected: %v", e.Reason)
	}
	p.wantSent(p.b, wire.CMAttrDreq, 0)
	p.wait(time.Second)
	p.event(p.b, cm.TimewaitExit)
	p.connect(request())
	p.flush()
	p.event(p.b, cm.ConnectRequest)
}

func TestAREPForAQueuePairInUseIsRefused(t *testing.T) {
	p := newPair(t)
	old, _ := p.establish()
	a := p.connect(request())
	req := p.take(p.a, wire.CMAttrReq)
	// Another connection manager on the same adapter answers for the same QP.
	impostor := cm.New(cm.DefaultConfig(guidB, 99))
	impostor.ListenIP(cm.PortSpaceTCP, port)
	impostor.Receive(p.now, req[:], peerA)
	ev, _ := impostor.Event()
	p.must(impostor.Accept(p.now, ev.Conn, side(), nil))
	var rep, first mad
	impostor.Emit(&rep)
	p.inject(p.a, rep)
	if _, ok := p.a.Emit(&first); !ok || rej(first).MessageRejected() != 1 || rej(first).Reason() != uint16(cm.StaleConnection) {
		t.Errorf("not refused")
	}
	if rej(first).LocalCommID() != uint32(a) || rej(first).RemoteCommID() != uint32(ev.Conn) {
		t.Errorf("REJ with other IDs")
	}
	dreq := p.take(p.a, wire.CMAttrDreq)
	if id := wire.CMDreq(wire.MAD(dreq[:]).Data()).LocalCommID(); id != uint32(old) {
		t.Errorf("DREQ for %#x", id)
	}
	impostor.Receive(p.now, first[:], peerA)
	if ev, _ := impostor.Event(); ev.Kind != cm.Rejected {
		t.Errorf("event %v", ev.Kind)
	}
	p.silent(p.a)
}

func TestAStaleREQEndsInTimewait(t *testing.T) {
	p := newPair(t)
	a := p.connect(request())
	p.take(p.a, wire.CMAttrReq)
	other := newPair(t)
	other.establish()
	other.connect(request())
	other.inject(other.b, other.take(other.a, wire.CMAttrReq))
	var m mad
	other.b.Emit(&m)
	wire.CMRej(wire.MAD(m[:]).Data()).SetRemoteCommID(uint32(a))
	p.inject(p.a, m)
	if e := p.event(p.a, cm.Rejected); e.Conn != a || e.Reason != cm.StaleConnection {
		t.Errorf("rejected: %v", e.Reason)
	}
	p.wait(time.Second)
	p.event(p.a, cm.TimewaitExit)
}

func TestAREPWithTheIDOfAnotherConnectionIsIgnored(t *testing.T) {
	p := newPair(t)
	p.establish()
	a := p.connect(request())
	p.take(p.a, wire.CMAttrReq)
	m := p.of(p.b, wire.CMAttrRep)
	rep := wire.CMRep(wire.MAD(m[:]).Data())
	rep.SetRemoteCommID(uint32(a))
	rep.SetLocalQPN(0x777)
	p.ignores(p.a, m, "REP of another connection")
	p.silent(p.a)
}

func TestIDsAreNeitherZeroNorInUse(t *testing.T) {
	p := newPair(t)
	for _, next := range []uint32{0, 5, 5} {
		p.a.NextID(next)
		p.connect(request())
	}
	if ids := p.a.IDs(); len(ids) != 3 || ids[0] == 0 {
		t.Errorf("IDs %#x", ids)
	}
}

func TestDuplicateREP(t *testing.T) {
	p := newPair(t)
	a, _ := p.reply()
	rep := p.of(p.b, wire.CMAttrRep)
	p.inject(p.a, rep)
	m := p.take(p.a, wire.CMAttrMra)
	if mra := wire.CMMra(wire.MAD(m[:]).Data()); mra.Message() != 1 || mra.ServiceTimeout() != 24 {
		t.Errorf("MRA of message %d for %d", mra.Message(), mra.ServiceTimeout())
	}
	p.must(p.a.Establish(a, []byte("data")))
	rtu := p.take(p.a, wire.CMAttrRtu)
	p.inject(p.a, rep)
	if again := p.take(p.a, wire.CMAttrRtu); again != rtu {
		t.Error("the RTU is not the same")
	}
	p.must(p.a.Disconnect(p.now, a, nil))
	p.take(p.a, wire.CMAttrDreq)
	p.ignores(p.a, rep, "after the DREQ")
	p.silent(p.a)

	other := newPair(t, func(a, _ *cm.Config) { a.MRA = cm.MRANever })
	other.reply()
	if outcome := other.inject(other.a, other.of(other.b, wire.CMAttrRep)); outcome != cm.Ignored {
		t.Errorf("outcome %v, MRA never", outcome)
	}
	other.silent(other.a)
}

func TestAREPThatNobodyAskedForIsIgnored(t *testing.T) {
	p := newPair(t)
	p.establish()
	rep := p.of(p.b, wire.CMAttrRep)
	body := wire.CMRep(wire.MAD(rep[:]).Data())
	for _, ids := range [][2]uint32{{body.LocalCommID(), 77}, {77, body.RemoteCommID()}, {0, 0}} {
		body.SetLocalCommID(ids[0])
		body.SetRemoteCommID(ids[1])
		p.ignores(p.a, rep, "%#x", ids)
	}
	p.silent(p.a)
	body.SetLocalCommID(wire.CMReq(wire.MAD(p.a.sent[0][:]).Data()).LocalCommID())
	own := p.of(p.b, wire.CMAttrRep)
	body.SetRemoteCommID(wire.CMRep(wire.MAD(own[:]).Data()).LocalCommID())
	p.ignores(p.b, rep, "REP to the side that was asked")
	p.silent(p.b)
}

func TestDataBeforeALostRTUEstablishes(t *testing.T) {
	p := newPair(t)
	a, b := p.reply()
	p.lose(wire.CMAttrRtu, 1)
	p.must(p.a.Establish(a, nil))
	p.flush()
	p.silent(p.b)
	p.must(p.b.Establish(b, nil))
	p.event(p.b, cm.Established)
	p.must(p.b.Establish(b, nil)) // more data
	p.inject(p.b, p.of(p.a, wire.CMAttrRtu))
	p.silent(p.b)
	p.wait(time.Minute)
	p.wantSent(p.b, wire.CMAttrRep, 1)
	if err := p.a.Establish(a, nil); !errors.Is(err, cm.ErrState) {
		t.Errorf("established twice: %v", err)
	}
}

func TestALostRTUComesAgainWithTheREP(t *testing.T) {
	p := newPair(t)
	a, _ := p.reply()
	p.lose(wire.CMAttrRtu, 2)
	p.must(p.a.Establish(a, nil))
	p.wait(2*cm.CodeDuration(20) + time.Second)
	p.event(p.b, cm.Established)
	p.wantSent(p.a, wire.CMAttrRtu, 3)
}

func TestListenersByMask(t *testing.T) {
	p := newPair(t)
	p.b.Listen(0x1234_0000, 0xFFFF_0000)
	ask := func(service uint64) cm.EventKind {
		r := request()
		r.ServiceID, r.IP, r.PrivateData = service, cm.IPHeader{}, bytes.Repeat([]byte{7}, 92)
		r.Local.QPN = uint32(service)
		p.connect(r)
		p.flush()
		p.a.Event()
		e, _ := p.b.Event()
		return e.Kind
	}
	if ask(0x1234_5678) != cm.ConnectRequest || ask(0x1235_5678) != 0 {
		t.Error("the mask does not select")
	}
	p.b.Unlisten(0x1234_0000, 0xFFFF_0000)
	p.b.UnlistenIP(cm.PortSpaceTCP, port)
	if ask(0x1234_9999) != 0 || ask(cm.ServiceID(cm.PortSpaceTCP, port)) != 0 {
		t.Error("nobody listens any more")
	}
}

func TestServiceIDs(t *testing.T) {
	for _, row := range []struct {
		space cm.PortSpace
		port  uint16
		want  uint64
	}{
		{cm.PortSpaceTCP, 18515, 0x0106_4853},
		{cm.PortSpaceUDP, 7174, 0x0111_1C06},
		{cm.PortSpaceIPoIB, 1, 0x0002_0001},
		{cm.PortSpaceIB, 0xFFFF, 0x013F_FFFF},
	} {
		if got := cm.ServiceID(row.space, row.port); got != row.want {
			t.Errorf("%#x:%d is %#x, want %#x", row.space, row.port, got, row.want)
		}
	}
}

func TestTheIPHeaderOfRDMACM(t *testing.T) {
	v6 := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	p := newPair(t)
	r := request()
	r.IP = cm.IPHeader{Src: v6("2001:db8::1"), SrcPort: 9, Dst: v6("2001:db8::2")}
	p.connect(r)
	p.flush()
	if e := p.event(p.b, cm.ConnectRequest); e.IP != r.IP {
		t.Errorf("IPv6: %+v", e.IP)
	}

	for _, row := range []struct {
		name  string
		spoil func(h wire.CMIPPrivate)
	}{
		{"major version 1", func(h wire.CMIPPrivate) { h.SetMajorVersion(1) }},
		{"minor version 1", func(h wire.CMIPPrivate) { h.SetMinorVersion(1) }},
		{"IP version 5", func(h wire.CMIPPrivate) { h.SetIPVersion(5) }},
		{"IP version 0", func(h wire.CMIPPrivate) { h.SetIPVersion(0) }},
	} {
		p := newPair(t)
		p.connect(request())
		m := p.take(p.a, wire.CMAttrReq)
		row.spoil(wire.CMIPPrivate(wire.CMReq(wire.MAD(m[:]).Data()).PrivateData()))
		p.inject(p.b, m)
		if got := p.take(p.b, wire.CMAttrRej); rej(got).Reason() != uint16(cm.ConsumerReject) {
			t.Errorf("%s: REJ %d", row.name, rej(got).Reason())
		}
		p.silent(p.b)
	}
}

func TestWhatIsTooLongIsNotSent(t *testing.T) {
	long := func(n int) []byte { return make([]byte, n) }
	p := newPair(t)
	r := request()
	r.PrivateData = long(cm.MaxREQPrivate + 1)
	if _, err := p.a.Connect(p.now, r); !errors.Is(err, cm.ErrTooLong) {
		t.Errorf("REQ: %v", err)
	}
	if p.a.Connections() != 0 {
		t.Error("a connection is left")
	}
	a, b := p.ask(request())
	tooLong := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, cm.ErrTooLong) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tooLong("REP", p.b.Accept(p.now, b, side(), long(cm.MaxREPPrivate+1)))
	tooLong("REJ", p.b.Reject(p.now, b, cm.Rejection{PrivateData: long(cm.MaxREJPrivate + 1)}))
	tooLong("REJ info", p.b.Reject(p.now, b, cm.Rejection{Info: long(73)}))
	p.must(p.b.Accept(p.now, b, side(), long(cm.MaxREPPrivate)))
	p.flush()
	tooLong("RTU", p.a.Establish(a, long(225)))
	p.must(p.a.Establish(a, long(224)))
	rtu := p.take(p.a, wire.CMAttrRtu)
	tooLong("DREQ", p.a.Disconnect(p.now, a, long(221)))
	p.inject(p.a, p.of(p.b, wire.CMAttrRep))
	if again := p.take(p.a, wire.CMAttrRtu); again != rtu {
		t.Error("a DREQ that was too long spoilt the RTU")
	}
	p.must(p.a.Disconnect(p.now, a, long(220)))
}

func TestEachErrorOfTheConsumer(t *testing.T) {
	p := newPair(t, func(a, _ *cm.Config) { a.MaxConnections = 1 })
	if err := p.a.Accept(p.now, 77, side(), nil); !errors.Is(err, cm.ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	a, b := p.ask(request())
	for what, err := range map[string]error{
		"Accept by the side that asked": p.a.Accept(p.now, a, side(), nil),
		"Establish before the REP":      p.a.Establish(a, nil),
		"Disconnect before it connects": p.b.Disconnect(p.now, b, nil),
		"SIDR answer to a REQ":          p.b.AnswerSIDR(b, cm.SIDRAnswer{}),
		"Delay without a REP":           p.a.Delay(a, 24),
	} {
		if !errors.Is(err, cm.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.a.Connect(p.now, request()); !errors.Is(err, cm.ErrFull) {
		t.Errorf("full: %v", err)
	}
	if _, err := p.a.ResolveSIDR(p.now, &cm.SIDR{}); !errors.Is(err, cm.ErrFull) {
		t.Errorf("full: %v", err)
	}
}
