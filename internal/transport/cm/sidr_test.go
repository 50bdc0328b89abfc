package cm_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

func sidr() *cm.SIDR {
	return &cm.SIDR{
		To:          peerB,
		ServiceID:   cm.ServiceID(cm.PortSpaceUDP, port),
		IP:          cm.IPHeader{Src: addrA, SrcPort: 45055, Dst: addrB},
		PrivateData: []byte("who"),
	}
}

func newSIDRPair(t *testing.T, change ...func(a, b *cm.Config)) *pair {
	p := newPair(t, change...)
	p.b.ListenIP(cm.PortSpaceUDP, port)
	return p
}

// resolve asks for a service, without anything arriving yet.
func (p *pair) resolve() cm.ConnID {
	p.t.Helper()
	id, err := p.a.ResolveSIDR(p.now, sidr())
	p.must(err)
	return id
}

func TestAServiceIsResolved(t *testing.T) {
	p := newSIDRPair(t)
	p.lose(wire.CMAttrSidrReq, 2)
	a := p.resolve()
	p.wait(2 * cm.CodeDuration(20))
	e := p.event(p.b, cm.SIDRRequest)
	if e.ServiceID != sidr().ServiceID || e.IP != sidr().IP || e.Terms.PKey != 0xFFFF || e.Peer != peerA ||
		len(e.PrivateData()) != cm.MaxSIDRREQPrivate || !bytes.HasPrefix(e.PrivateData(), []byte("who\x00")) {
		t.Errorf("%+v %q", e.IP, e.PrivateData())
	}
	p.ignores(p.b, p.of(p.a, wire.CMAttrSidrReq), "duplicate before the answer")
	private := bytes.Repeat([]byte{3}, cm.MaxSIDRREPPrivate)
	p.must(p.b.AnswerSIDR(e.Conn, cm.SIDRAnswer{QPN: 0x77, QKey: 0x01234567, Info: []byte{9}, PrivateData: private}))
	p.flush()
	r := p.event(p.a, cm.SIDRReply)
	if r.Conn != a || r.Status != cm.SIDRSuccess || r.Remote.QPN != 0x77 || r.Remote.QKey != 0x01234567 ||
		r.ServiceID != sidr().ServiceID || !bytes.Equal(r.Info(), []byte{9}) || !bytes.Equal(r.PrivateData(), private) {
		t.Errorf("reply %v, %+v", r.Status, r.Remote)
	}
	if p.a.Connections()+p.b.Connections() != 0 {
		t.Error("something is left")
	}
	p.wantSent(p.a, wire.CMAttrSidrReq, 3)
	p.ignores(p.a, p.of(p.b, wire.CMAttrSidrRep), "second reply")
}

func TestALostSIDRReplyIsAskedForAgain(t *testing.T) {
	p := newSIDRPair(t)
	p.lose(wire.CMAttrSidrRep, 1)
	p.resolve()
	for range 2 {
		p.flush()
		p.must(p.b.AnswerSIDR(p.event(p.b, cm.SIDRRequest).Conn, cm.SIDRAnswer{QPN: 5}))
		p.wait(5 * time.Second)
	}
	p.event(p.a, cm.SIDRReply)
}

func TestServicesThatCannotBeResolved(t *testing.T) {
	for _, row := range []struct {
		name   string
		spoil  func(m wire.CMSidrReq)
		status cm.SIDRStatus
	}{
		{"nobody listens", func(m wire.CMSidrReq) { m.SetServiceID(5) }, cm.SIDRUnsupported},
		{"IP version 7", func(m wire.CMSidrReq) { wire.CMIPPrivate(m.PrivateData()).SetIPVersion(7) }, cm.SIDRReject},
	} {
		p := newSIDRPair(t)
		p.resolve()
		m := p.take(p.a, wire.CMAttrSidrReq)
		row.spoil(wire.CMSidrReq(wire.MAD(m[:]).Data()))
		p.inject(p.b, m)
		p.flush()
		if e := p.event(p.a, cm.SIDRReply); e.Status != row.status {
			t.Errorf("%s: %v", row.name, e.Status)
		}
		p.silent(p.b)
	}
	if cm.SIDRNoQP.String() != "no QP" || cm.SIDRStatus(77).String() != "status 77" {
		t.Error("names of statuses")
	}
}

func TestAServiceThatNobodyResolves(t *testing.T) {
	p := newSIDRPair(t)
	p.lose(wire.CMAttrSidrReq, 99)
	a := p.resolve()
	p.wait(16*cm.CodeDuration(20) - 1)
	p.silent(p.a)
	p.wait(1)
	if e := p.event(p.a, cm.Unreachable); e.Conn != a {
		t.Errorf("unreachable %#x", e.Conn)
	}
	p.wantSent(p.a, wire.CMAttrSidrReq, 16)
}

func TestASIDRRequestIsNoConnection(t *testing.T) {
	p := newSIDRPair(t)
	a := p.resolve()
	p.take(p.a, wire.CMAttrSidrReq)
	other := newPair(t)
	other.establish()
	for _, attribute := range []uint16{wire.CMAttrRep, wire.CMAttrRtu, wire.CMAttrRej, wire.CMAttrMra, wire.CMAttrDrep} {
		m := other.of(other.b, wire.CMAttrRep)
		wire.MAD(m[:]).SetAttributeID(attribute)
		body := wire.CMRtu(wire.MAD(m[:]).Data())
		body.SetLocalCommID(0)
		body.SetRemoteCommID(uint32(a))
		p.ignores(p.a, m, "%#04x", attribute)
	}
	p.silent(p.a)
	m := other.of(other.b, wire.CMAttrRep)
	wire.MAD(m[:]).SetAttributeID(wire.CMAttrDreq)
	dreq := wire.CMDreq(wire.MAD(m[:]).Data())
	dreq.SetLocalCommID(0)
	dreq.SetRemoteCommID(uint32(a))
	p.inject(p.a, m)
	p.take(p.a, wire.CMAttrDrep) // as for every connection that there is not
	p.silent(p.a)
}

func TestASIDRReplyWithTooMuchInfo(t *testing.T) {
	p := newSIDRPair(t)
	a := p.resolve()
	p.take(p.a, wire.CMAttrSidrReq)
	other := newSIDRPair(t)
	other.resolve()
	other.flush()
	p.must(other.b.AnswerSIDR(other.event(other.b, cm.SIDRRequest).Conn, cm.SIDRAnswer{}))
	m := other.take(other.b, wire.CMAttrSidrRep)
	rep := wire.CMSidrRep(wire.MAD(m[:]).Data())
	rep.SetRequestID(uint32(a))
	rep.SetInfoLength(255)
	p.inject(p.a, m)
	if e := p.event(p.a, cm.SIDRReply); len(e.Info()) != 72 {
		t.Errorf("%d bytes of information", len(e.Info()))
	}
}

func TestTooMuchForASIDRMessage(t *testing.T) {
	p := newSIDRPair(t)
	r := sidr()
	r.PrivateData = make([]byte, cm.MaxSIDRREQPrivate+1)
	if _, err := p.a.ResolveSIDR(p.now, r); err != cm.ErrTooLong || p.a.Connections() != 0 {
		t.Errorf("SIDR_REQ: %v", err)
	}
	p.resolve()
	p.flush()
	b := p.event(p.b, cm.SIDRRequest).Conn
	if err := p.b.AnswerSIDR(b, cm.SIDRAnswer{PrivateData: make([]byte, 137)}); err != cm.ErrTooLong {
		t.Errorf("SIDR_REP: %v", err)
	}
	if err := p.b.AnswerSIDR(b, cm.SIDRAnswer{Info: make([]byte, 73)}); err != cm.ErrTooLong {
		t.Errorf("SIDR_REP: %v", err)
	}
}
