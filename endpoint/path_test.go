package endpoint_test

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/wire"
)

// announcement is what 10.0.0.9 sends when it has come to a MAC address.
func announcement(mac byte) []byte {
	own := netip.MustParseAddr("10.0.0.9")
	return host.Question{MAC: host.MAC{2, 0, 0, 0, 0, mac}, IP: own, Target: own}.Append(nil)
}

// datagram sends one over an address handle and returns the frame.
func datagram(t *testing.T, s *side, link *simnet.Link, to *endpoint.Address) []byte {
	t.Helper()
	s.send(endpoint.WorkRequest{ID: 1, Op: endpoint.Send, Inline: []byte("hi"), To: to, DestQP: 5, QKey: endpoint.DefaultQKey})
	s.want(1, endpoint.Success)
	var batch nic.Batch
	for {
		if err := link.Receive(&batch, time.Time{}); err != nil {
			t.Fatal(err)
		}
		for _, f := range batch.Frames {
			if wire.Ethernet(f.Data).Type() == wire.EtherTypeIPv4 {
				return bytes.Clone(f.Data)
			}
		}
	}
}

// An address handle is led to where its neighbour is now, back again too. One
// with a MAC address that the program chose is left alone.
func TestAddressHandlesFollowTheirNeighbour(t *testing.T) {
	dev, link, w := wired(t, nil)
	s := newSide(t, dev, endpoint.UD, 64)
	if err := s.qp.Connect(within(t), endpoint.Remote{}); err != nil {
		t.Fatal(err)
	}
	peer := netip.MustParseAddr("10.0.0.9")
	asked := host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 1}, IP: peer, Target: dev.GID(0)}
	put(t, w, asked.Append(nil))
	waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames == 1 })
	ah, err := dev.CreateAH(within(t), endpoint.Address{DGID: peer})
	if err != nil {
		t.Fatal(err)
	}
	chosen := *ah
	chosen.Head = bytes.Clone(ah.Head)
	chosen.Head[5] = 0x77
	for i, mac := range []byte{1, 2, 3, 1} {
		put(t, w, announcement(mac))
		waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames == uint64(i+2) })
		if to := datagram(t, s, link, ah)[5]; to != mac {
			t.Errorf("the neighbour is at %d, and the frame went to %d", mac, to)
		}
		if to := datagram(t, s, link, &chosen)[5]; to != 0x77 {
			t.Errorf("a chosen MAC address was replaced by %d", to)
		}
	}
}

func TestAddressesThatNobodyHasResolvedAreRefused(t *testing.T) {
	dev, _, _ := wired(t, nil)
	s := newSide(t, dev, endpoint.UD, 64)
	if err := s.qp.Connect(within(t), endpoint.Remote{}); err != nil {
		t.Fatal(err)
	}
	peer := netip.MustParseAddr("10.0.0.9")
	for _, head := range [][]byte{nil, make([]byte, 5), make([]byte, 41), make([]byte, 100)} {
		to := endpoint.Address{DGID: peer, Head: head}
		if s.qp.PostSend(endpoint.WorkRequest{Op: endpoint.Send, To: &to, DestQP: 5}) == nil {
			t.Errorf("a head of %d bytes was taken", len(head))
		}
		if _, err := dev.CreateAH(within(t), to); err == nil && head != nil {
			t.Errorf("a head of %d bytes makes a handle", len(head))
		}
	}
}

// Frames for VLAN 0 have a priority and belong to no VLAN.
func TestFramesWithOnlyAPriorityAreThoseWithoutATag(t *testing.T) {
	left, right := options(1500)
	left.VLAN = &endpoint.VLAN{Priority: 3}
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 4000), 0))
	a.want(1, endpoint.Success)
}

// Mutate may make of a packet what it wants, up to the end of its memory.
func TestMutateMayMakePacketsOfAnyLength(t *testing.T) {
	for name, length := range map[string]func(p wire.Packet) int{
		"one byte":    func(wire.Packet) int { return 1 },
		"BTH only":    func(wire.Packet) int { return wire.BTHLen },
		"all memory":  func(p wire.Packet) int { return cap(p) },
		"link's room": func(wire.Packet) int { return 1400 },
	} {
		t.Run(name, func(t *testing.T) {
			left, right := options(1500)
			left.Policy.Mutate = length
			left.ICRC = endpoint.RxeFlushICRC
			a, b := newSide(t, openDevice(t, left), endpoint.UD, 64), openDevice(t, right)
			if err := a.qp.Connect(within(t), endpoint.Remote{}); err != nil {
				t.Fatal(err)
			}
			for _, gid := range []int{0, 0, 1, 1, 0} { // what stands before a packet grows and shrinks
				to, err := a.dev.CreateAH(within(t), endpoint.Address{DGID: b.GID(gid)})
				if err != nil {
					t.Fatal(err)
				}
				a.send(endpoint.WorkRequest{ID: 1, Op: endpoint.Send, Inline: []byte("hi"), To: to, DestQP: 5})
				a.want(1, endpoint.Success)
			}
		})
	}
}

func TestAQueuePairBeginsElsewhereAfterReset(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.RC, left, right, 0, 64)
	before := a.qp.Local().PSN
	for _, s := range []*side{a, b} {
		if err := s.qp.Modify(within(t), endpoint.Reset, endpoint.Attributes{}); err != nil {
			t.Fatal(err)
		}
	}
	if a.qp.Local().PSN == before {
		t.Error("the same PSN again")
	}
	join(t, a, b, 0)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 64), 0))
	a.want(1, endpoint.Success)
}

func TestWhatBelongsToAnotherDeviceIsRefused(t *testing.T) {
	left, right := options(1500)
	a, b := openDevice(t, left), openDevice(t, right)
	srq, err := b.CreateSRQ(endpoint.SRQOptions{PD: b.AllocPD()})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]endpoint.QPOptions{
		"protection domain":    {PD: b.AllocPD()},
		"completion queue":     {PD: a.AllocPD(), SendCQ: b.CreateCQ(1)},
		"shared receive queue": {PD: a.AllocPD(), SRQ: srq},
	} {
		o.Type = endpoint.RC
		if _, err := a.CreateQP(o); err == nil {
			t.Errorf("a %s was taken", name)
		}
	}
	if _, err := a.CreateSRQ(endpoint.SRQOptions{PD: b.AllocPD()}); err == nil {
		t.Error("a shared receive queue was made")
	}
}

func TestANeighbourThatMovesIsFollowed(t *testing.T) {
	dev, _, w := wired(t, nil)
	at := func(mac byte, target string) []byte {
		q := host.Question{MAC: host.MAC{2, 0, 0, 0, 0, mac}, IP: netip.MustParseAddr("10.0.0.9"), Target: netip.MustParseAddr(target)}
		return q.Append(nil)
	}
	put(t, w, at(1, "10.0.0.1")) // asks the device, and is known from now on
	put(t, w, at(2, "10.0.0.9")) // announces itself
	waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames == 2 })
	ah, err := dev.CreateAH(within(t), endpoint.Address{DGID: netip.MustParseAddr("10.0.0.9")})
	if err != nil || !bytes.Equal(ah.Head[:6], []byte{2, 0, 0, 0, 0, 2}) {
		t.Errorf("%v, %v", ah, err)
	}
}

func TestPacketsForOtherSubnetsGoToTheGateway(t *testing.T) {
	dev, link, w := wired(t, func(o *endpoint.Options) {
		o.Gateways = []netip.Addr{netip.MustParseAddr("10.0.0.254")}
	})
	made := make(chan error, 1)
	go func() {
		ah, err := dev.CreateAH(within(t), endpoint.Address{DGID: netip.MustParseAddr("192.168.5.5")})
		if err == nil && !bytes.Equal(ah.Head[:6], []byte{2, 0, 0, 0, 0, 0xfe}) {
			err = errors.New("another MAC address")
		}
		made <- err
	}()
	var batch nic.Batch
	if err := link.Receive(&batch, time.Time{}); err != nil {
		t.Fatal(err)
	}
	request := wire.ARP(batch.Frames[0].Data[wire.EthernetLen:])
	if request.TargetIP() != netip.MustParseAddr("10.0.0.254") {
		t.Errorf("asked for %v", request.TargetIP())
	}
	reply := bytes.Clone(batch.Frames[0].Data)
	copy(reply, dev.MAC())
	arp := wire.ARP(reply[wire.EthernetLen : wire.EthernetLen+wire.ARPLen])
	arp.SetOperation(wire.ARPReply)
	arp.SetSenderMAC([6]byte{2, 0, 0, 0, 0, 0xfe})
	arp.SetSenderIP([4]byte{10, 0, 0, 254})
	arp.SetTargetIP([4]byte{10, 0, 0, 1})
	put(t, w, reply)
	if err := <-made; err != nil {
		t.Error(err)
	}
}
