//go:build linux

package lab

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"testing"
)

// Peer is one guest. Its network interface is eth0, its RDMA devices are rxe0
// and siw0. This folder is there as /mnt/lab.
type Peer struct {
	Index    int
	MAC      net.HardwareAddr
	IP4, IP6 netip.Addr

	lab *Lab
}

func newPeer(l *Lab, i int) *Peer {
	host := byte(i + 1)
	return &Peer{
		Index: i,
		MAC:   net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, host},
		IP4:   netip.AddrFrom4([4]byte{10, 77, 0, host}),
		IP6:   netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x77, 15: host}),
		lab:   l,
	}
}

func (p *Peer) number() string { return strconv.Itoa(p.Index) }

// Run runs a shell command in the guest and returns what it printed, errors
// included. When the context ends first the command is killed.
func (p *Peer) Run(ctx context.Context, command string) (string, error) {
	return run(ctx, p.lab.command(ctx, "exec", p.number(), command))
}

// MustRun is Run for what has to succeed within the context's time.
func (p *Peer) MustRun(ctx context.Context, t testing.TB, command string) string {
	t.Helper()
	out, err := p.Run(ctx, command)
	if err != nil {
		t.Fatalf("lab: guest %d: %s: %v\n%s", p.Index, command, err, out)
	}
	return out
}

// Start starts a shell command in the guest, which is killed when the test
// ends.
func (p *Peer) Start(t testing.TB, command string) *Proc {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	return start(t, p.lab.command(ctx, "exec", p.number(), command), cancel)
}

// Put copies a file of the host to a path in the guest.
func (p *Peer) Put(t testing.TB, file, path string) {
	t.Helper()
	p.lab.mustPeerlab(t, "put", p.number(), file, path)
}

// Get copies a file of the guest to the host.
func (p *Peer) Get(t testing.TB, path, file string) {
	t.Helper()
	p.lab.mustPeerlab(t, "get", p.number(), path, file)
}

// Attach moves the guest to another bridge, made when it is missing, until the
// test ends: a program under test that has a port on each can sit between two
// guests.
func (p *Peer) Attach(t testing.TB, bridge string) {
	t.Helper()
	p.lab.mustPeerlab(t, "attach", p.number(), bridge)
	t.Cleanup(func() { p.lab.mustPeerlab(t, "attach", p.number(), mainBridge) })
}

// WithoutRxe takes rxe0 away until the test ends: rdma_cm finds a device by its
// IP address, which rxe0 and siw0 share, and takes the one that was added first.
func (p *Peer) WithoutRxe(ctx context.Context, t testing.TB) {
	t.Helper()
	p.MustRun(ctx, t, "rdma link del rxe0")
	t.Cleanup(func() {
		p.MustRun(context.Background(), t, "rdma link del siw0; "+
			"rdma link add rxe0 type rxe netdev eth0; rdma link add siw0 type siw netdev eth0")
	})
}
