//go:build linux

package endpoint_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// vethOptions are those of two devices at the ends of a cable between
// namespaces, whose kernels have addresses of their own.
func vethOptions(t testing.TB, mtu string) (left, right endpoint.Options, leftNS, rightNS *nettest.Namespace) {
	t.Helper()
	leftNS, rightNS = nettest.Pair(t)
	leftNS.IP(t, "link set "+nettest.LeftInterface+" mtu "+mtu)
	rightNS.IP(t, "link set "+nettest.RightInterface+" mtu "+mtu)
	leftNS.IP(t, "addr add 10.0.0.11/24 dev "+nettest.LeftInterface)
	left = endpoint.Options{Interface: nettest.LeftInterface, Seed: 1, Addresses: prefixes("10.0.0.1/24", "fd00::1/64")}
	right = endpoint.Options{Interface: nettest.RightInterface, Seed: 2, Addresses: prefixes("10.0.0.2/24", "fd00::2/64")}
	return left, right, leftNS, rightNS
}

func openIn(t testing.TB, ns *nettest.Namespace, o endpoint.Options) (dev *endpoint.Device) {
	t.Helper()
	var err error
	ns.Do(t, func() { dev, err = endpoint.Open(o) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

func TestRCWorksBetweenNamespaces(t *testing.T) {
	for gid, name := range []string{"IPv4", "IPv6"} {
		t.Run(name, func(t *testing.T) {
			left, right, leftNS, rightNS := vethOptions(t, "4200")
			a := newSide(t, openIn(t, leftNS, left), endpoint.RC, 1<<20)
			b := newSide(t, openIn(t, rightNS, right), endpoint.RC, 1<<20)
			if a.dev.MTU() != 4096 {
				t.Errorf("path MTU %d", a.dev.MTU())
			}
			join(t, a, b, gid)
			random(a.mem, 1)
			a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, len(a.mem)), 0))
			a.want(1, endpoint.Success)
			a.send(remoteTo(b, endpoint.Read, a.region.SGL(0, 100), 0))
			a.want(1, endpoint.Success)
			_ = b.dev.Close()
			if !bytes.Equal(a.mem, b.mem) {
				t.Error("other bytes")
			}
		})
	}
}

// The kernel of the other namespace pings the device.
func TestAKernelReachesTheDevice(t *testing.T) {
	_, right, leftNS, rightNS := vethOptions(t, "1500")
	dev := openIn(t, rightNS, right)
	leftNS.Run(t, "ping", "-c 1 -W 5 10.0.0.2")
	leftNS.IP(t, "-6 addr add fd00::11/64 dev "+nettest.LeftInterface+" nodad")
	leftNS.Run(t, "ping", "-c 1 -W 5 fd00::2")
	if s := dev.Stats(); s.EchoAnswers != 2 || s.NeighbourAnswers < 2 {
		t.Errorf("%+v", s)
	}
}

func TestCloseEndsADeviceOnAnInterface(t *testing.T) {
	_, right, _, rightNS := vethOptions(t, "1500")
	dev := openIn(t, rightNS, right)
	cq := dev.CreateCQ(1)
	ended := make(chan error)
	go func() { ended <- cq.Wait(t.Context()) }()
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a completion came")
		}
	case <-time.After(10 * time.Second):
		t.Error("still waiting")
	}
}

// A UDP socket and a packet socket, whose IPv4 packets have identifications
// that the other does not see.
func TestUDPSocketsTalkToADeviceWithFrames(t *testing.T) {
	for gid, name := range []string{"IPv4", "IPv6"} {
		t.Run(name, func(t *testing.T) {
			_, right, leftNS, rightNS := vethOptions(t, "4200")
			leftNS.IP(t, "-6 addr add fd00::11/64 dev "+nettest.LeftInterface+" nodad")
			left := endpoint.Options{UDP: true, Seed: 1, Addresses: prefixes("10.0.0.11/24", "fd00::11/64")}
			a := newSide(t, openIn(t, leftNS, left), endpoint.RC, 1<<18)
			b := newSide(t, openIn(t, rightNS, right), endpoint.RC, 1<<18)
			join(t, a, b, gid)
			random(a.mem, 1)
			a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, len(a.mem)), 0))
			a.want(1, endpoint.Success)
			clear(a.mem)
			b.send(remoteTo(a, endpoint.Write, b.region.SGL(0, len(b.mem)), 0))
			b.want(1, endpoint.Success)
			a.send(remoteTo(b, endpoint.Read, a.region.SGL(0, 100), 0))
			a.want(1, endpoint.Success)
			_, _ = a.dev.Close(), b.dev.Close()
			if !bytes.Equal(a.mem, b.mem) || a.mem[5] == 0 && a.mem[6] == 0 && a.mem[7] == 0 {
				t.Error("other bytes")
			}
			if s := b.dev.Stats(); s.BadICRC > 0 || s.Malformed > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// An interface is removed under a device that only waits.
func TestAnInterfaceThatVanishesFlushesEverything(t *testing.T) {
	left, right, leftNS, rightNS := vethOptions(t, "1500")
	a := newSide(t, openIn(t, leftNS, left), endpoint.RC, 64)
	b := newSide(t, openIn(t, rightNS, right), endpoint.RC, 64)
	join(t, a, b, 0)
	b.recv(endpoint.RecvRequest{ID: 5})
	leftNS.IP(t, "link del "+nettest.LeftInterface) // takes the other end with it
	wantLost(t, b, nic.ErrGone, 5)
}

func TestAnInterfaceThatWasDownGoesOn(t *testing.T) {
	left, right, leftNS, rightNS := vethOptions(t, "1500")
	a := newSide(t, openIn(t, leftNS, left), endpoint.RC, 64)
	b := newSide(t, openIn(t, rightNS, right), endpoint.RC, 64)
	join(t, a, b, 0)
	leftNS.IP(t, "link set "+nettest.LeftInterface+" down")
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 64), 0))
	waitFor(t, a.dev, func(s endpoint.Stats) bool { return s.SendErrors > 0 })
	leftNS.IP(t, "link set "+nettest.LeftInterface+" up")
	a.want(1, endpoint.Success)
}
