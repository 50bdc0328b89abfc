package endpoint

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/udplink"
	"github.com/rocecap/rocecap/internal/transport/dcqcn"
	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

var (
	// ErrClosed is what a device and all that belongs to it return after Close.
	ErrClosed = errors.New("the device is closed")
	// ErrCQOverrun is for a completion queue that had no room.
	ErrCQOverrun = errors.New("completion queue overrun")
	// ErrNoAddress is for a device that has no IP address, or none of the
	// peer's family.
	ErrNoAddress = errors.New("the device has no IP address of that family")
	// ErrMTU is for a path MTU that the device's link has no room for.
	ErrMTU = errors.New("the path MTU does not fit into the link's")
)

// Device is a software RDMA device.
//
// All its state is guarded by one lock. Whoever takes it (the goroutine that
// receives, the one that keeps the time, a verb) does its work and then, in
// unlock, what has become possible: packets are sent, completions delivered, the
// timer set. A post is thus sent by the poster itself, without waking anybody.
type Device struct {
	options  Options
	link     Link
	mac      host.MAC
	events   chan AsyncEvent
	done     chan struct{} // closed by Close
	kick     chan struct{} // has a token when the keeper has packets to send
	workers  sync.WaitGroup
	closing  sync.Once
	recorder *recorder
	hook     sync.Mutex // one call of AfterReceive at a time

	mu         sync.Mutex // guards what is below
	now        time.Time  // when the lock was taken
	rng        *mathrand.Rand
	memory     *mr.Table
	pairs      map[uint32]*QP
	shared     map[uint32]*SRQ
	queues     map[*CQ]struct{}
	groups     map[netip.Addr][]*QP // members of multicast groups
	neighbours neighbours
	moved      bool // some neighbour's MAC address is not what it once was
	out        sender
	loopback   loopback
	timers     timers
	number     uint32 // of the last queue pair
	agent      *agent // nil until connections are made
	notifier   *dcqcn.Notifier
	rates      *dcqcn.Params
	stats      Stats
	closed     error // why it works no more
}

// Open makes a device.
func Open(o Options) (*Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Seed == 0 {
		var seed [8]byte
		_, _ = rand.Read(seed[:]) // never fails
		o.Seed = binary.NativeEndian.Uint64(seed[:])
	}
	link, err := openLink(&o)
	if err != nil {
		return nil, err
	}
	d, err := newDevice(o, link)
	if err != nil {
		_ = link.Close()
		return nil, err
	}
	d.workers.Add(2)
	go d.receive()
	go d.keep()
	return d, nil
}

// openLink opens what the options name.
func openLink(o *Options) (Link, error) {
	switch {
	case o.Link != nil:
		return o.Link, nil
	case o.UDP:
		if o.VLAN != nil {
			return nil, errors.New("a UDP socket cannot tag frames")
		}
		addresses := make([]netip.Addr, len(o.Addresses))
		for i, prefix := range o.Addresses {
			addresses[i] = prefix.Addr()
		}
		link, err := udplink.Open(addresses)
		if err != nil {
			return nil, err
		}
		o.MAC = link.MAC()
		return link, nil
	}
	return nic.Open(nic.Options{
		Interface:   o.Interface,
		Promiscuous: true, // the device's MAC address is not the interface's
		RingBytes:   receiveRing, SendRingBytes: sendRing,
		IgnoreOutgoing: true,
	})
}

// The memory shared with the kernel. At MTU 4096 a received frame takes 8 KB of
// it, and 1,000 are soon under way.
const (
	receiveRing = 16 << 20
	sendRing    = 4 << 20
)

func newDevice(o Options, link Link) (*Device, error) {
	d := &Device{
		options: o,
		link:    link,
		events:  make(chan AsyncEvent, asyncDepth),
		done:    make(chan struct{}),
		kick:    make(chan struct{}, 1),
		rng:     mathrand.New(mathrand.NewPCG(o.Seed, 0)),
		memory:  mr.NewTable(o.Seed),
		pairs:   map[uint32]*QP{},
		shared:  map[uint32]*SRQ{},
		queues:  map[*CQ]struct{}{},
		groups:  map[netip.Addr][]*QP{},
	}
	if err := d.setMAC(); err != nil {
		return nil, err
	}
	largest := largestMTU(link.MTU())
	if d.options.MTU == 0 {
		d.options.MTU = largest
	}
	if largest == 0 || d.options.MTU > largest {
		return nil, fmt.Errorf("%w: the link's MTU is %d, which has room for %d", ErrMTU, link.MTU(), largest)
	}
	var err error
	if d.recorder, err = newRecorder(o.Record, o.Interface); err != nil {
		return nil, err
	}
	if err := d.setCongestion(o.Congestion); err != nil {
		return nil, err
	}
	d.neighbours = neighbours{}
	d.timers.clock = time.NewTimer(time.Hour)
	d.timers.clock.Stop()
	d.out.nowhere = make([]byte, wire.EthernetLen+wire.VLANLen+link.MTU())
	d.out.writer, err = link.Writer()
	return d, err
}

// setMAC takes the MAC address from the options or makes one. It is locally
// administered, and the same for the same interface and address.
func (d *Device) setMAC() error {
	if d.options.MAC != nil {
		if len(d.options.MAC) != len(d.mac) {
			return fmt.Errorf("MAC address %v is not one of an Ethernet", d.options.MAC)
		}
		d.mac = host.MAC(d.options.MAC)
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write(d.link.MAC())
	_, _ = h.Write([]byte(d.options.Addresses[0].Addr().String()))
	sum := binary.BigEndian.AppendUint64(nil, h.Sum64())
	copy(d.mac[:], sum)
	d.mac[0] = 0x02
	return nil
}

// headerRoom is the most that stands around the payload of a packet: IPv6, UDP,
// BTH, XRCETH with AtomicETH, ICRC. Linux counts the same (iboe_get_mtu in
// include/rdma/ib_addr.h), so that both sides choose the same path MTU.
const headerRoom = 40 + 8 + 12 + 4 + 28 + 4

// largestMTU is the largest path MTU that a link has room for, 0 if none.
func largestMTU(link int) int {
	for mtu := 4096; mtu >= 256; mtu /= 2 {
		if mtu+headerRoom <= link {
			return mtu
		}
	}
	return 0
}

// GID is the address of an index, not valid if there is none.
func (d *Device) GID(index int) netip.Addr {
	if index < 0 || index >= len(d.options.Addresses) {
		return netip.Addr{}
	}
	return d.options.Addresses[index].Addr()
}

// gidFor is the device's address of a peer's family: in the peer's subnet, if
// there is one.
func (d *Device) gidFor(peer netip.Addr) netip.Addr {
	var found netip.Addr
	for _, prefix := range d.options.Addresses {
		if own := prefix.Addr(); own.Is4() == peer.Is4() {
			if prefix.Masked().Contains(peer) {
				return own
			}
			if !found.IsValid() {
				found = own
			}
		}
	}
	return found
}

func (d *Device) owns(ip netip.Addr) bool {
	for _, prefix := range d.options.Addresses {
		if prefix.Addr() == ip {
			return true
		}
	}
	return false
}

// MAC is the device's own.
func (d *Device) MAC() net.HardwareAddr { return net.HardwareAddr(d.mac[:]) }

// MTU is the largest path MTU.
func (d *Device) MTU() int { return d.options.MTU }

// lock begins a piece of work.
func (d *Device) lock() {
	d.mu.Lock()
	d.now = time.Now()
}

// unlock does what the work has made possible, and ends it.
func (d *Device) unlock() {
	if d.closed == nil {
		d.pump()
		d.arm()
	}
	if d.out.gone != nil {
		d.lose(d.out.gone)
	}
	d.mu.Unlock()
}
