package endpoint

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Options say what a device is like and where it is.
type Options struct {
	// Interface is the network interface whose cable the device shares.
	Interface string
	// Link is used instead of an interface: a network in memory for tests, or
	// one of the caller's that does things to frames. It is closed with the device.
	Link Link
	// UDP uses the kernel's sockets on UDP port 4791 instead of frames: no rights
	// are needed, but Addresses must be this machine's, and Linux rxe must not
	// use them. Traffic classes, hop limits and source ports are the kernel's.
	// Over IPv4 a socket does not show all that the ICRC covers: a damaged packet
	// passes in one of 32,768 cases.
	UDP bool

	// Addresses are the device's own, with their subnets; GID i is the i-th.
	Addresses []netip.Prefix
	// Gateways are where packets to other subnets go, at most one of each
	// family.
	Gateways []netip.Addr
	// MAC is the device's own. Nil makes a locally administered one from the
	// interface and the first address, so that a device opened again has it again.
	MAC  net.HardwareAddr
	VLAN *VLAN // nil for frames without a tag; those with only a priority are taken too
	// MTU limits the path MTU: 256 to 4096. 0 is what fits into the link's.
	MTU int

	// Seed decides all that is random: queue pair numbers, keys, PSNs. 0 takes a
	// random one.
	Seed   uint64
	Policy Policy // of queue pairs that have none of their own
	// ICRC says which wrong ICRCs are sent and accepted.
	ICRC ICRC
	// NoICMP leaves echo requests unanswered.
	NoICMP bool
	// Congestion turns on the answer to marked packets, and what answers of
	// others do to a queue pair's rate.
	Congestion Congestion

	// BeforeSend sees each frame, Ethernet header to ICRC, as it is about to be
	// sent, and may change it where it lies.
	BeforeSend func(frame []byte) Verdict
	// AfterReceive sees each frame to the device before the device does, and may
	// change it. The device is not locked meanwhile; all but Close may be called.
	AfterReceive func(frame []byte) Verdict
	// Record gets everything that is sent and received, as pcapng. It is complete
	// when Close returns.
	Record io.Writer
	// Trace gets every event of every queue pair.
	Trace func(Event)
}

// check makes a copy of what the options point to, in the one form that the
// device compares with, and refuses what cannot be meant.
func (o *Options) check() error {
	if len(o.Addresses) == 0 {
		return ErrNoAddress
	}
	if o.MTU != 0 && (o.MTU < 256 || o.MTU > 4096 || o.MTU&(o.MTU-1) != 0) {
		return fmt.Errorf("%d is no path MTU: that is 256, 512, 1024, 2048 or 4096", o.MTU)
	}
	o.Addresses, o.Gateways = slices.Clone(o.Addresses), slices.Clone(o.Gateways)
	for i, p := range o.Addresses {
		if p.Addr().Is4In6() {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
			o.Addresses[i] = p
		}
		if !p.IsValid() || p.Addr().IsMulticast() || p.Addr().IsUnspecified() {
			return fmt.Errorf("%v is no address of a device with its subnet", o.Addresses[i])
		}
	}
	for i, gateway := range o.Gateways {
		o.Gateways[i] = gateway.Unmap().WithZone("")
	}
	return nil
}

// VLAN is an 802.1Q tag.
type VLAN struct {
	ID       uint16
	Priority uint8 // of what has no SL of its own
}

// ICRC is a policy for the ICRC.
type ICRC uint8

// The policies.
const (
	// StrictICRC sends right ones and drops packets with any other.
	StrictICRC ICRC = iota
	// RxeFlushICRC sends and accepts, in FLUSH requests, the one of Linux rxe,
	// which sums the transport headers twice. Right ones are accepted too.
	RxeFlushICRC
	// AnyICRC sends right ones and does not look at those that come.
	AnyICRC
)

// Congestion says what is done about congestion.
type Congestion struct {
	// Notify sends a CNP when a marked packet comes, to a peer at most one in
	// Interval, 0 for 50 us.
	Notify   bool
	Interval time.Duration
	// React slows a queue pair down when a CNP comes, as DCQCN does.
	React bool
	// LineRate is where DCQCN begins, in bits per second; 0 means 10 Gbit/s.
	LineRate uint64
}

// Verdict is what a hook says about a frame.
type Verdict uint8

// The verdicts.
const (
	// Pass goes on with the frame as it now is.
	Pass Verdict = iota
	// Drop loses it.
	Drop
	// Seal makes its checksums and ICRC right again, and goes on.
	Seal
)

// Link is what a device sends and receives frames over. One goroutine receives;
// what is sent is serialised. Deadlines that have passed are
// os.ErrDeadlineExceeded, and after Close all is net.ErrClosed.
type Link interface {
	// Receive waits for frames. They are the device's until its next Receive.
	Receive(b *Batch, deadline time.Time) error
	// Writer is asked for once.
	Writer() (Writer, error)
	// MTU is the longest IP packet, MAC the interface's own address.
	MTU() int
	MAC() net.HardwareAddr
	Close() error
}
