package service

import (
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	nvme  = 0x0000000001061144 // rdma_cm, TCP port space, 4420
	other = 0x0000000001061d2f

	// queue is where NVMe's private data has the low byte of the queue's
	// number, behind the rdma_cm header.
	queue = 140 + 36 + 2
)

// cm builds a CM message from 10.0.0.a to 10.0.0.b.
func cm(a, b byte, attribute uint16, fill func(body []byte)) *wire.Frame {
	mad := make([]byte, 256)
	h := wire.MAD(mad)
	h.SetBaseVersion(1)
	h.SetMgmtClass(wire.ClassCM)
	h.SetClassVersion(2)
	h.SetMethod(3)
	h.SetAttributeID(attribute)
	fill(mad[24:])
	data := []byte{
		0x45, 0, 0x01, 0x34, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, a, 10, 0, 0, b,
		0xc0, 0, 0x12, 0xb7, 0x01, 0x20, 0, 0,
		0x64, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0x80, 1, 0, 0, 0, 0, 0, 1,
	}
	data = append(append(data, mad...), 0, 0, 0, 0)
	f := &wire.Frame{}
	f.Parse(wire.LinkIPv4, data, 0)
	return f
}

func req(a, b byte, id uint32, service uint64, qpn uint32) *wire.Frame {
	return cm(a, b, wire.CMAttrReq, func(body []byte) {
		r := wire.CMReq(body)
		r.SetLocalCommID(id)
		r.SetServiceID(service)
		r.SetLocalQPN(qpn)
		body[queue] = 1
	})
}

func rep(a, b byte, remote, qpn uint32) *wire.Frame {
	return cm(a, b, wire.CMAttrRep, func(body []byte) {
		r := wire.CMRep(body)
		r.SetRemoteCommID(remote)
		r.SetLocalQPN(qpn)
	})
}

func end(host byte, qpn uint32) Endpoint {
	return Endpoint{netip.AddrFrom4([4]byte{10, 0, 0, host}), qpn}
}

func TestExchangeNamesBothQueuePairsFromItsPacketsOn(t *testing.T) {
	tr := NewTracker()
	tr.Observe(req(1, 2, 77, nvme, 0x18), 10)
	before := tr.Table()
	tr.Observe(rep(2, 1, 77, 0x19), 11)
	table := tr.Table()
	for _, tc := range []struct {
		who    Endpoint
		number int
		want   wire.Upper
	}{
		{end(1, 0x18), 12, wire.UpperNVMe},
		{end(2, 0x19), 12, wire.UpperNVMe},
		{end(2, 0x19), 10, wire.UpperUnknown}, // before the reply
		{end(2, 0x18), 12, wire.UpperUnknown}, // the number on the other host
		{end(1, 0x19), 12, wire.UpperUnknown},
	} {
		if got := table.Lookup(tc.who, tc.number); got != tc.want {
			t.Errorf("%v in packet %d: %v, want %v", tc.who, tc.number, got, tc.want)
		}
	}
	if got := before.Lookup(end(2, 0x19), 12); got != wire.UpperUnknown {
		t.Errorf("a table that was handed out has changed: %v", got)
	}
}

func TestQueuePairNumberUsedAgainForAnotherServiceIsForgotten(t *testing.T) {
	tr := NewTracker()
	tr.Observe(req(1, 2, 77, nvme, 0x18), 10)
	tr.Observe(rep(2, 1, 77, 0x19), 11)
	tr.Observe(req(1, 2, 78, other, 0x18), 50)
	tr.Observe(rep(2, 1, 78, 0x19), 51)
	table := tr.Table()
	for _, who := range []Endpoint{end(1, 0x18), end(2, 0x19)} {
		if was, is := table.Lookup(who, 49), table.Lookup(who, 60); was != wire.UpperNVMe || is != wire.UpperUnknown {
			t.Errorf("%v: %v, then %v", who, was, is)
		}
	}
}

func TestUnknownServiceLeavesTheTableEmpty(t *testing.T) {
	tr := NewTracker()
	tr.Observe(req(1, 2, 77, other, 0x18), 10)
	tr.Observe(rep(2, 1, 77, 0x19), 11)
	if !tr.Table().Empty() {
		t.Error("the table is not empty")
	}
}

func TestReplyWithoutItsRequestSaysNothing(t *testing.T) {
	tr := NewTracker()
	tr.Observe(rep(2, 1, 77, 0x19), 11)
	if !tr.Table().Empty() {
		t.Error("the table is not empty")
	}
}

func TestUnansweredRequestsAreBounded(t *testing.T) {
	tr := NewTracker()
	for i := range uint32(3 * maxPending) {
		tr.Observe(req(1, 2, i, nvme, 0x18), int(i))
	}
	if n := len(tr.pending); n > maxPending {
		t.Errorf("%d requests remembered", n)
	}
}
