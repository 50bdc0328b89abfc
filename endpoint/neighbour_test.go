package endpoint

import (
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/host"
)

// Who routes datagrams with others' addresses must not become their neighbour.
func TestADatagramDoesNotMoveANeighbourThatHasSpokenForItself(t *testing.T) {
	d := &Device{neighbours: neighbours{}}
	ip := netip.MustParseAddr("10.0.0.9")
	d.hear(ip, host.MAC{1})
	d.hear(ip, host.MAC{2})
	if n := d.neighbours[ip]; n.mac != (host.MAC{2}) {
		t.Errorf("who only sends datagrams is at %x", n.mac)
	}
	d.learn(ip, host.MAC{3})
	d.hear(ip, host.MAC{4})
	if n := d.neighbours[ip]; n.mac != (host.MAC{3}) {
		t.Errorf("a datagram has moved it to %x", n.mac)
	}
}

func TestFormerAddressesAreFew(t *testing.T) {
	d := &Device{neighbours: neighbours{}}
	ip := netip.MustParseAddr("10.0.0.9")
	for i := range byte(100) {
		d.learn(ip, host.MAC{i})
		d.learn(ip, host.MAC{200})
	}
	n := d.neighbours[ip]
	if len(n.former) != maxFormer || n.former[maxFormer-1] != (host.MAC{99}) || !d.moved {
		t.Errorf("%x", n.former)
	}
}

// Addresses that somebody made up do not keep new neighbours out, nor those
// that somebody waits for.
func TestTooManyNeighboursMakeRoom(t *testing.T) {
	d := &Device{neighbours: neighbours{}}
	waited := netip.MustParseAddr("10.0.0.9")
	d.neighbours[waited] = &neighbour{answered: make(chan struct{})}
	ip := netip.MustParseAddr("fd00::")
	for range maxNeighbours + 10 {
		ip = ip.Next()
		d.hear(ip, host.MAC{1})
	}
	if len(d.neighbours) != maxNeighbours || d.neighbours[ip] == nil || d.neighbours[waited] == nil {
		t.Errorf("%d neighbours", len(d.neighbours))
	}
}
