package roceinject

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// cable is a veth pair: `roceinject send` at one end, a link at the other.
type cable struct {
	left, right *nettest.Namespace
	far         *nic.Link
}

func newCable(t testing.TB) *cable {
	t.Helper()
	c := &cable{}
	c.left, c.right = nettest.Pair(t)
	c.right.Do(t, func() {
		var err error
		if c.far, err = nic.Open(nic.Options{Interface: nettest.RightInterface, Promiscuous: true, IgnoreOutgoing: true, RingBytes: 32 << 20}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = c.far.Close() })
	return c
}

// send runs `roceinject send` at the left end.
func (c *cable) send(ctx context.Context, t testing.TB, args ...string) (out string, err error) {
	t.Helper()
	c.left.Do(t, func() { out, err = sendWith(ctx, append(args, "-i", nettest.LeftInterface)...) })
	return out, err
}

// arrived returns the next n frames from a test's packets, which kernels do
// not make: those of RoCE.
func (c *cable) arrived(t testing.TB, n int) (got [][]byte) {
	t.Helper()
	var batch nic.Batch
	var f wire.Frame
	for len(got) < n {
		if err := c.far.Receive(&batch, time.Now().Add(10*time.Second)); err != nil {
			t.Fatalf("after %d of %d frames: %v", len(got), n, err)
		}
		for _, frame := range batch.Frames {
			if f.Parse(wire.LinkEthernet, frame.Data, len(frame.Data)); f.BTH >= 0 {
				got = append(got, bytes.Clone(frame.Data))
			}
		}
	}
	return got
}

// macs give a packet both MAC addresses, so that it does not depend on the
// interface.
var givenMACs = []string{"--smac", "02:00:00:00:00:01", "--dmac", "02:00:00:00:00:02"}

func TestSentFramesArriveInOrderAtEveryRate(t *testing.T) {
	c := newCable(t)
	const n = 1000
	args := append([]string{
		"rc", "write-only", "--payload", "zero:200", "--count", fmt.Sprint(n),
		"--step", "infiniband.bth.psn=1", "--step", "infiniband.bth.destqp=5",
	}, givenMACs...)
	want := dataOf(written(t, args...))
	for _, rate := range [][]string{
		{"--rate", "10kpps"},
		{"--rate", "50kpps", "--burst", "32"},
		{"--rate", "100Mbps"},
		{"--rate", "1Gbps"},
		{"--rate", "max"},
		{"--rate", "max", "--qdisc-bypass"},
	} {
		out, err := c.send(t.Context(), t, append(args, rate...)...)
		if err != nil || !strings.Contains(out, fmt.Sprintf("sent %d packets, %d bytes", n, n*len(want[0]))) {
			t.Fatalf("%v: %v\n%s", rate, err, out)
		}
		t.Logf("%v: %s", rate, out)
		for i, got := range c.arrived(t, n) {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("%v: frame %d is\n%x, want\n%x", rate, i, got, want[i])
			}
		}
	}
}

func TestSeveralSendersSendEveryFrameOnce(t *testing.T) {
	c := newCable(t)
	const n = 3000
	args := append([]string{"rc", "send-only", "--count", fmt.Sprint(n), "--step", "infiniband.bth.psn=1", "--rate", "max", "--senders", "3"}, givenMACs...)
	if out, err := c.send(t.Context(), t, args...); err != nil || !strings.Contains(out, fmt.Sprintf("sent %d packets", n)) {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[int]int{}
	for _, psn := range psnsOf(c.arrived(t, n)) {
		seen[psn]++
	}
	for psn := range n {
		if seen[psn] != 1 {
			t.Fatalf("PSN %d arrived %d times", psn, seen[psn])
		}
	}
}

func TestACaptureArrivesByteForByte(t *testing.T) {
	c := newCable(t)
	name := filepath.Join(testneed.Pcaps(t), "py_mixed.pcap")
	var want [][]byte
	var f wire.Frame
	for _, data := range dataOf(written(t, "-r", name, "--loop", "2")) {
		if f.Parse(wire.LinkEthernet, data, len(data)); f.BTH >= 0 {
			want = append(want, data)
		}
	}
	if out, err := c.send(t.Context(), t, "-r", name, "--loop", "2", "--timing", "1000x"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d := cmp.Diff(want, c.arrived(t, len(want))); d != "" {
		t.Error(d)
	}
}

func TestTheInterfaceGivesTheAddresses(t *testing.T) {
	c := newCable(t)
	for _, end := range []struct {
		n     *nettest.Namespace
		iface string
		last  int
	}{{c.left, nettest.LeftInterface, 1}, {c.right, nettest.RightInterface, 2}} {
		end.n.IP(t, fmt.Sprintf("addr add 10.9.0.%d/24 dev %s", end.last, end.iface))
		end.n.IP(t, fmt.Sprintf("addr add fd00:9::%d/64 dev %s nodad", end.last, end.iface))
	}
	var near [6]byte
	c.left.Do(t, func() {
		link, err := nic.Open(nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		copy(near[:], link.MAC())
		_ = link.Close()
	})
	far := [6]byte(c.far.MAC())
	for _, v := range []struct{ base, src, dst string }{
		{"rocev2", "10.9.0.1", "10.9.0.2"},
		{"rocev2-ipv6", "fd00:9::1", "fd00:9::2"},
	} {
		if out, err := c.send(t.Context(), t, "rc", "send-only", "--base", v.base, "--dst", v.dst); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		frame := c.arrived(t, 1)[0]
		eth := wire.Ethernet(frame)
		if eth.Src() != near || eth.Dst() != far {
			t.Errorf("%s: MAC addresses %x to %x, want %x to %x", v.base, eth.Src(), eth.Dst(), near, far)
		}
		var f wire.Frame
		f.Parse(wire.LinkEthernet, frame, len(frame))
		src, dst := addressesOf(&f)
		if src.String() != v.src || dst.String() != v.dst {
			t.Errorf("%s: %s to %s, want %s to %s", v.base, src, dst, v.src, v.dst)
		}
	}
	_, err := c.send(t.Context(), t, "rc", "send-only", "--dst", "10.9.0.2", "--vlan", "7")
	if err == nil || !strings.Contains(err.Error(), "--dmac") {
		t.Errorf("inside a VLAN: %v", err)
	}
}

func addressesOf(f *wire.Frame) (src, dst netip.Addr) {
	if h := f.View(wire.HdrIPv4); h != nil {
		a := wire.IPv4Header(h).Addresses()
		return netip.AddrFrom4([4]byte(a[:4])), netip.AddrFrom4([4]byte(a[4:]))
	}
	a := wire.IPv6Header(f.View(wire.HdrIPv6)).Addresses()
	return netip.AddrFrom16([16]byte(a[:16])), netip.AddrFrom16([16]byte(a[16:]))
}

func TestADefaultRouteIsRefused(t *testing.T) {
	c := newCable(t)
	c.left.IP(t, "addr add 10.9.0.1/24 dev "+nettest.LeftInterface)
	c.left.IP(t, "route add default via 10.9.0.254")
	if out, err := c.send(t.Context(), t, "rc", "send-only"); err == nil || !strings.Contains(err.Error(), "--yes-really") {
		t.Errorf("sent on an interface with a default route: %v\n%s", err, out)
	}
	if out, err := c.send(t.Context(), t, "rc", "send-only", "--yes-really"); err != nil {
		t.Errorf("refused with --yes-really: %v\n%s", err, out)
	}
}

func TestInterfacesThatCannotSend(t *testing.T) {
	c := newCable(t)
	c.left.Do(t, func() {
		if _, err := sendWith(t.Context(), "rc", "send-only", "-i", "nothere0"); err == nil || !strings.Contains(err.Error(), "nothere0: there is no such interface") {
			t.Errorf("an interface that is not there: %v", err)
		}
	})
	out, err := c.send(t.Context(), t, "-f", scriptFile(t, "- {op: rc send-only, payload: {size: 4096}, repeat: 3}\n- op: rc send-only\n"))
	if err == nil || !strings.Contains(err.Error(), "too long") || !strings.Contains(out, "sent 1 packets") || !strings.Contains(out, "refused 3") {
		t.Errorf("frames longer than the MTU: %v\n%s", err, out)
	}
	// One byte more than the MTU allows: the kernel finds it.
	out, err = c.send(t.Context(), t, "rc", "send-only", "--payload", "zero:1456", "--trailer", "00")
	if err == nil || !strings.Contains(err.Error(), "too long") || !strings.Contains(out, "sent 0 packets") {
		t.Errorf("a frame one byte longer than the MTU: %v\n%s", err, out)
	}
	c.left.IP(t, "link set "+nettest.LeftInterface+" down")
	if out, err := c.send(t.Context(), t, "rc", "send-only"); err == nil || !strings.Contains(err.Error(), "down") {
		t.Errorf("an interface that is down: %v\n%s", err, out)
	}
}

// start runs `roceinject send` at the left end, and returns how it ends.
func (c *cable) start(ctx context.Context, t testing.TB, args ...string) <-chan sendResult {
	t.Helper()
	ended := make(chan sendResult, 1)
	go func() {
		out, err := c.send(ctx, t, append(args, givenMACs...)...)
		ended <- sendResult{out, err}
	}()
	return ended
}

type sendResult struct {
	out string
	err error
}

func TestAnInterruptStopsAndReportsWhatWasSent(t *testing.T) {
	for _, flags := range []string{"--rate max", "--rate max --senders 2", "--rate 2kpps"} {
		c := newCable(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := c.start(ctx, t, append(strings.Fields(flags), "rc", "send-only", "--loop", "forever")...)
		n := len(c.arrived(t, 100))
		cancel()
		r := <-ended
		var packets int
		if _, err := fmt.Sscanf(r.out, "sent %d packets", &packets); r.err != nil || err != nil || packets < n {
			t.Errorf("%s: %v, at least %d packets arrived, reported:\n%s", flags, r.err, n, r.out)
		}
	}
}

// A frame that waits for its time does not keep an interrupt waiting.
func TestAnInterruptEndsAPause(t *testing.T) {
	c := newCable(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := c.start(ctx, t, "rc", "send-only", "--count", "2", "--rate", "1bps")
	c.arrived(t, 1)
	cancel()
	if r := <-ended; r.err != nil || !strings.HasPrefix(r.out, "sent 1 packets, 58 bytes") {
		t.Errorf("%v\n%s", r.err, r.out)
	}
}

func TestAnInterfaceThatGoesDownEndsTheRun(t *testing.T) {
	for _, senders := range []string{"1", "2"} {
		c := newCable(t)
		ended := c.start(t.Context(), t, "rc", "send-only", "--loop", "forever", "--rate", "1kpps", "--senders", senders)
		c.arrived(t, 10)
		c.left.IP(t, "link set "+nettest.LeftInterface+" down")
		if r := <-ended; r.err == nil || !strings.Contains(r.err.Error(), "down") || !strings.Contains(r.out, "sent ") {
			t.Errorf("%v\n%s", r.err, r.out)
		}
	}
}
