// Package host asks this machine about its network: links, addresses, routes,
// neighbours, and the MAC address behind an IP address. What the kernel knows
// comes over rtnetlink(7). On systems other than Linux everything that asks the
// kernel returns ErrNotSupported.
package host

import (
	"errors"
	"net"
	"net/netip"
)

var (
	// ErrNotSupported is what functions return where there is no rtnetlink.
	ErrNotSupported = errors.New("the network tables are only read on Linux")
	// ErrUnknownLink is for a name that no link has.
	ErrUnknownLink = errors.New("there is no such interface")
	// ErrNoRoute is for a destination that the routing tables do not reach.
	ErrNoRoute = errors.New("there is no route")
	// ErrNoAnswer is for an address whose owner does not tell its MAC address.
	ErrNoAnswer = errors.New("nobody answered")
)

// MAC is an Ethernet address.
type MAC = [6]byte

// Link is a network interface.
type Link struct {
	Index    int
	Name     string
	MTU      int
	MAC      net.HardwareAddr // of its kind's length; 6 bytes for Ethernet
	Flags    net.Flags
	Hardware uint16 // ARPHRD_ number: 1 for Ethernet
	Kind     string // "veth", "vlan", "bridge"; "" for hardware
	Master   int    // the bridge or bond that it is a port of, or 0
	Lower    int    // the link that a VLAN or tunnel runs over, or 0
}

// Address is an address of a link and the subnet it is in.
type Address struct {
	Link   int
	Prefix netip.Prefix
}

// Hop is where a packet goes next.
type Hop struct {
	Link    int
	Gateway netip.Addr // not valid when the destination is on the link
	Source  netip.Addr // the address that the kernel would send from, if any
	Local   bool       // the destination is this machine
	// Broadcast says that the destination is a subnet's broadcast address.
	Broadcast bool
}

// Neighbour is a MAC address that the kernel knows. One that it has reason to
// doubt is not listed.
type Neighbour struct {
	Link int
	IP   netip.Addr
	MAC  MAC
}
