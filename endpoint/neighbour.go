package endpoint

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/udplink"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// asks is how often a MAC address is asked for, askEvery how long each waits.
	// Guests that are emulated take hundreds of milliseconds.
	asks     = 12
	askEvery = 250 * time.Millisecond
	// maxNeighbours bounds what others can make the device remember.
	maxNeighbours = 1 << 16
)

// neighbours are the MAC addresses that are known or asked for.
type neighbours map[netip.Addr]*neighbour

type neighbour struct {
	mac      host.MAC
	former   []host.MAC // that it had before, the latest last
	known    bool
	told     bool          // by itself; else it was only seen in a datagram
	answered chan struct{} // closed when it is known
}

// maxFormer bounds how many former MAC addresses paths are led away from.
const maxFormer = 8

// resolve finds the MAC address that frames to an IP address go to.
func (d *Device) resolve(ctx context.Context, to netip.Addr) (host.MAC, error) {
	switch {
	case to.IsMulticast():
		return host.MulticastMAC(to), nil
	case d.owns(to):
		return d.mac, nil
	case d.options.UDP: // the kernel asks
		return udplink.Peer(), nil
	}
	to = d.next(to)
	timer := time.NewTimer(askEvery)
	defer timer.Stop()
	for range asks {
		n, err := d.ask(to)
		if err != nil {
			return host.MAC{}, err
		}
		timer.Reset(askEvery)
		select {
		case <-n.answered:
			d.mu.Lock()
			defer d.mu.Unlock()
			return n.mac, nil
		case <-ctx.Done():
			return host.MAC{}, fmt.Errorf("asking for the MAC address of %v: %w", to, ctx.Err())
		case <-d.done:
			return host.MAC{}, d.ended()
		case <-timer.C:
		}
	}
	return host.MAC{}, fmt.Errorf("MAC address of %v: asked %d times, %w", to, asks, host.ErrNoAnswer)
}

// ask sends a question, unless the answer is known.
func (d *Device) ask(to netip.Addr) (*neighbour, error) {
	d.lock()
	defer d.unlock()
	if d.closed != nil {
		return nil, d.closed
	}
	n := d.neighbours[to]
	if n == nil {
		n = &neighbour{answered: make(chan struct{})}
		d.neighbours[to] = n
	}
	if !n.known {
		d.send(host.Question{MAC: d.mac, IP: d.gidFor(to), Target: to}.Append(nil))
	}
	return n, nil
}

// learn notes where an address is, as its owner has said.
func (d *Device) learn(ip netip.Addr, mac host.MAC) { d.note(ip, mac).told = true }

// hear notes where a datagram came from, to answer it there. It may have come
// through a gateway and with anybody's address: what a neighbour has said of
// itself counts more.
func (d *Device) hear(ip netip.Addr, mac host.MAC) {
	if n := d.neighbours[ip]; n == nil || !n.told {
		d.note(ip, mac)
	}
}

func (d *Device) note(ip netip.Addr, mac host.MAC) *neighbour {
	n := d.neighbours[ip]
	if n == nil {
		d.makeRoom()
		n = &neighbour{answered: make(chan struct{})}
		d.neighbours[ip] = n
	}
	if n.known && n.mac != mac {
		d.moved = true
		n.move(mac)
	}
	n.mac = mac
	if !n.known {
		n.known = true
		close(n.answered)
	}
	return n
}

// makeRoom forgets some neighbour that nobody waits for, when there are too many.
func (d *Device) makeRoom() {
	if len(d.neighbours) < maxNeighbours {
		return
	}
	for ip, n := range d.neighbours {
		if n.known {
			delete(d.neighbours, ip)
			return
		}
	}
}

// move remembers the present MAC address as a former one, and to as none.
func (n *neighbour) move(to host.MAC) {
	n.former = slices.DeleteFunc(n.former, func(m host.MAC) bool { return m == to || m == n.mac })
	if len(n.former) == maxFormer {
		n.former = slices.Delete(n.former, 0, 1)
	}
	n.former = append(n.former, n.mac)
}

// redirect leads a frame to where its neighbour is now: an address vector has the
// MAC address of when it was made. One that the program put there itself stays.
func (d *Device) redirect(frame []byte, to *Address) {
	n := d.neighbours[d.next(to.DGID)]
	if eth := wire.Ethernet(frame); n != nil && slices.Contains(n.former, eth.Dst()) {
		eth.SetDst(n.mac)
	}
}

// send sends a frame that has no VLAN tag yet.
func (d *Device) send(frame []byte) {
	place, _ := d.reserve()
	eth := wire.Ethernet(frame)
	head := d.ethernet(place, eth.Dst(), eth.Type(), 0)
	d.commit(place[:len(head)+copy(place[len(head):], frame[wire.EthernetLen:])])
}

// neighbour takes a frame with ARP or ICMP in it.
func (d *Device) neighbour(a *arrival) {
	kind, body := body(a.frame)
	switch kind {
	case wire.EtherTypeARP:
		d.arp(body)
	case wire.EtherTypeIPv4:
		d.icmp(a.from, body)
	case wire.EtherTypeIPv6:
		d.icmpv6(a.from, body)
	}
}

// arp answers a request for one of the device's addresses, and learns its
// sender: it will send. Of others the sender is learned only where it was known
// before, and may have moved (RFC 826, "merge").
func (d *Device) arp(body []byte) {
	if len(body) < wire.ARPLen {
		d.stats.Malformed++
		return
	}
	arp := wire.ARP(body[:wire.ARPLen])
	if !arp.IsEthernetIPv4() {
		d.stats.NotOurs++
		return
	}
	ours := d.owns(arp.TargetIP())
	if sender := arp.SenderIP(); d.neighbours[sender] != nil || ours && !sender.IsUnspecified() { // a probe has none (RFC 5227)
		d.learn(sender, arp.SenderMAC())
	}
	if !ours {
		d.stats.NotOurs++
		return
	}
	if arp.Operation() != wire.ARPRequest {
		return
	}
	frame := make([]byte, minFrame)
	eth := wire.Ethernet(frame)
	eth.SetDst(arp.SenderMAC())
	eth.SetType(wire.EtherTypeARP)
	reply := wire.ARP(frame[wire.EthernetLen : wire.EthernetLen+wire.ARPLen])
	copy(reply, arp) // the kinds and lengths of addresses
	reply.SetOperation(wire.ARPReply)
	reply.SetSenderMAC(d.mac)
	reply.SetSenderIP(arp.TargetIP().As4())
	reply.SetTargetMAC(arp.SenderMAC())
	reply.SetTargetIP(arp.SenderIP().As4())
	d.stats.NeighbourAnswers++
	d.send(frame)
}

// minFrame is the shortest Ethernet frame without its check sequence.
const minFrame = 60
