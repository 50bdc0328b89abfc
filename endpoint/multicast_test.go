package endpoint_test

import (
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/endpoint"
)

// member is a queue pair of its own with room for one datagram after the other.
func member(t *testing.T, of *side) *side {
	t.Helper()
	s := newSide(t, of.dev, endpoint.UD, 256)
	if err := s.qp.Connect(within(t), endpoint.Remote{}); err != nil {
		t.Fatal(err)
	}
	for id := range uint64(2) {
		s.recv(endpoint.RecvRequest{ID: id, SGL: s.region.SGL(int(128*id), 128)})
	}
	return s
}

func TestADatagramToAGroupReachesItsMembers(t *testing.T) {
	for _, address := range []string{"239.1.2.3", "ff05::77"} {
		t.Run(address, func(t *testing.T) {
			group := netip.MustParseAddr(address)
			left, right := options(1500)
			a := newSide(t, openDevice(t, left), endpoint.UD, 64)
			if err := a.qp.Connect(within(t), endpoint.Remote{}); err != nil {
				t.Fatal(err)
			}
			far := newSide(t, openDevice(t, right), endpoint.UD, 64)
			one, two, none := member(t, far), member(t, far), member(t, far)
			for _, s := range []*side{one, two, one} { // twice is once
				if err := s.qp.AttachMulticast(group); err != nil {
					t.Fatal(err)
				}
			}
			to, err := a.dev.CreateAH(within(t), endpoint.Address{DGID: group})
			if err != nil {
				t.Fatal(err)
			}
			send := func() {
				a.send(endpoint.WorkRequest{
					ID: 1, Op: endpoint.Send, Inline: []byte("to all"), To: to,
					DestQP: endpoint.MulticastQPN, QKey: endpoint.DefaultQKey,
				})
				a.want(1, endpoint.Success)
			}
			send()
			for _, s := range []*side{one, two} {
				if c := s.want(0, endpoint.Success); c.Bytes != 46 || string(s.mem[40:46]) != "to all" || c.SrcQP != a.qp.QPN() {
					t.Errorf("%+v %q", c, s.mem[40:46])
				}
			}
			if err := one.qp.DetachMulticast(group); err != nil {
				t.Fatal(err)
			}
			send()
			two.want(1, endpoint.Success)
			if err := two.qp.Destroy(); err != nil {
				t.Fatal(err)
			}
			before := far.dev.Stats().NotOurs
			send()
			waitFor(t, far.dev, func(s endpoint.Stats) bool { return s.NotOurs == before+1 })
			var some [1]endpoint.Completion
			if one.cq.Poll(some[:])+none.cq.Poll(some[:]) > 0 {
				t.Error("who is no member got a datagram")
			}
		})
	}
}

func TestOnlyUDQueuePairsCanBeInAGroup(t *testing.T) {
	left, _ := options(1500)
	dev := openDevice(t, left)
	if newSide(t, dev, endpoint.RC, 64).qp.AttachMulticast(netip.MustParseAddr("239.1.2.3")) == nil {
		t.Error("an RC queue pair is in a group")
	}
	if newSide(t, dev, endpoint.UD, 64).qp.AttachMulticast(netip.MustParseAddr("10.0.0.9")) == nil {
		t.Error("one address is a group")
	}
}
