package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// Offsets in the fixed parts of messages (linux/rtnetlink.h, if_addr.h,
// neighbour.h).
const (
	ifiType, ifiIndex, ifiFlags          = 2, 4, 8
	ifaPrefixLen, ifaIndex               = 1, 4
	rtmFamily, rtmDstLen, rtmTable, rtmT = 0, 1, 4, 7
	ndmIndex, ndmState                   = 4, 8
)

// table reads a table of one or both address families and returns the messages
// that are long enough for their fixed part.
func table(ctx context.Context, get, want uint16, fixed int, what string) ([]message, error) {
	found, err := dump(ctx, get, make([]byte, fixed)) // family 0: all
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	}
	return slices.DeleteFunc(found, func(m message) bool {
		return m.kind != want || len(m.body) < fixed
	}), nil
}

// Links returns all links.
func Links(ctx context.Context) ([]Link, error) {
	found, err := table(ctx, unix.RTM_GETLINK, unix.RTM_NEWLINK, unix.SizeofIfInfomsg, "links")
	if err != nil {
		return nil, err
	}
	var links []Link
	for _, m := range found {
		links = append(links, parseLink(m.body))
	}
	return links, nil
}

func parseLink(b []byte) Link {
	l := Link{
		Hardware: binary.NativeEndian.Uint16(b[ifiType:]),
		Index:    number(b[ifiIndex:]),
		Flags:    linkFlags(number(b[ifiFlags:])),
	}
	elsewhere := false
	for kind, value := range attributes(b[unix.SizeofIfInfomsg:]) {
		switch kind {
		case unix.IFLA_IFNAME:
			l.Name = text(value)
		case unix.IFLA_MTU:
			l.MTU = number(value)
		case unix.IFLA_ADDRESS:
			l.MAC = bytes.Clone(value)
		case unix.IFLA_MASTER:
			l.Master = number(value)
		case unix.IFLA_LINK:
			l.Lower = number(value)
		case unix.IFLA_LINK_NETNSID:
			elsewhere = true
		case unix.IFLA_LINKINFO:
			for kind, value := range attributes(value) {
				if kind == unix.IFLA_INFO_KIND {
					l.Kind = text(value)
				}
			}
		}
	}
	if elsewhere || l.Kind == "veth" || l.Lower == l.Index {
		l.Lower = 0 // another namespace's number, or the other end of a cable
	}
	return l
}

func text(b []byte) string {
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name)
}

func linkFlags(f int) (flags net.Flags) {
	for _, pair := range []struct {
		kernel int
		flag   net.Flags
	}{
		{unix.IFF_UP, net.FlagUp},
		{unix.IFF_BROADCAST, net.FlagBroadcast},
		{unix.IFF_LOOPBACK, net.FlagLoopback},
		{unix.IFF_POINTOPOINT, net.FlagPointToPoint},
		{unix.IFF_MULTICAST, net.FlagMulticast},
		{unix.IFF_RUNNING, net.FlagRunning},
	} {
		if f&pair.kernel != 0 {
			flags |= pair.flag
		}
	}
	return flags
}

// Addresses returns the addresses of all links.
func Addresses(ctx context.Context) ([]Address, error) {
	found, err := table(ctx, unix.RTM_GETADDR, unix.RTM_NEWADDR, unix.SizeofIfAddrmsg, "addresses")
	if err != nil {
		return nil, err
	}
	var addresses []Address
	for _, m := range found {
		var own, far netip.Addr
		for kind, value := range attributes(m.body[unix.SizeofIfAddrmsg:]) {
			switch kind {
			case unix.IFA_LOCAL: // on point-to-point links the other is the peer's
				own = address(value)
			case unix.IFA_ADDRESS:
				far = address(value)
			}
		}
		if !own.IsValid() {
			own = far
		}
		prefix := netip.PrefixFrom(own, int(m.body[ifaPrefixLen]))
		if prefix.IsValid() {
			addresses = append(addresses, Address{Link: number(m.body[ifaIndex:]), Prefix: prefix})
		}
	}
	return addresses, nil
}

// address reads an address, an invalid one from bytes of another length.
func address(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b)
	return a
}

// DefaultRouteLinks returns the links that default routes use, of IPv4 and IPv6
// and in whatever routing table. The halves of the Internet that VPNs route
// (0.0.0.0/1 and 128.0.0.0/1) count as default routes.
func DefaultRouteLinks(ctx context.Context) ([]int, error) {
	found, err := table(ctx, unix.RTM_GETROUTE, unix.RTM_NEWROUTE, unix.SizeofRtMsg, "routes")
	if err != nil {
		return nil, err
	}
	var links []int
	for _, m := range found {
		if m.body[rtmDstLen] > 1 || m.body[rtmT] != unix.RTN_UNICAST {
			continue
		}
		for kind, value := range attributes(m.body[unix.SizeofRtMsg:]) {
			switch kind {
			case unix.RTA_OIF:
				links = append(links, number(value))
			case unix.RTA_MULTIPATH:
				links = append(links, multipath(value)...)
			}
		}
	}
	slices.Sort(links)
	return slices.Compact(links), nil
}

// multipath returns the links of several next hops (struct rtnexthop).
func multipath(b []byte) (links []int) {
	for len(b) >= unix.SizeofRtNexthop {
		length := int(binary.NativeEndian.Uint16(b))
		if length < unix.SizeofRtNexthop || length > len(b) {
			break
		}
		links = append(links, number(b[4:]))
		b = b[min(align(length), len(b)):]
	}
	return links
}

// NextHop asks the kernel where a packet to an address goes next; link is the
// number of the link that it must leave by, or 0. Over a link that is named,
// the kernel takes IPv4 addresses without a route to be on the link.
func NextHop(ctx context.Context, to netip.Addr, link int) (Hop, error) {
	to = to.Unmap().WithZone("")
	if !to.IsValid() {
		return Hop{}, fmt.Errorf("%w to no address", ErrNoRoute)
	}
	body := make([]byte, unix.SizeofRtMsg)
	body[rtmFamily], body[rtmDstLen] = unix.AF_INET, uint8(to.BitLen())
	if to.Is6() {
		body[rtmFamily] = unix.AF_INET6
	}
	body = appendAttribute(body, unix.RTA_DST, to.AsSlice())
	if link != 0 {
		body = appendAttribute(body, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, uint32(link)))
	}
	found, err := query(ctx, unix.RTM_GETROUTE, 0, body)
	switch {
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.EACCES), errors.Is(err, unix.EINVAL):
		return Hop{}, fmt.Errorf("%w to %s: %w", ErrNoRoute, to, err)
	case err != nil:
		return Hop{}, fmt.Errorf("route to %s: %w", to, err)
	case len(found) == 0 || len(found[0].body) < unix.SizeofRtMsg:
		return Hop{}, fmt.Errorf("route to %s: %w", to, errMalformed)
	}
	return parseHop(found[0].body), nil
}

func parseHop(b []byte) Hop {
	h := Hop{Local: b[rtmT] == unix.RTN_LOCAL, Broadcast: b[rtmT] == unix.RTN_BROADCAST}
	for kind, value := range attributes(b[unix.SizeofRtMsg:]) {
		switch kind {
		case unix.RTA_OIF:
			h.Link = number(value)
		case unix.RTA_GATEWAY:
			h.Gateway = address(value)
		case unix.RTA_VIA: // an IPv6 gateway of an IPv4 route, behind its family
			h.Gateway = address(value[min(2, len(value)):])
		case unix.RTA_PREFSRC:
			h.Source = address(value)
		}
	}
	return h
}

// Neighbours returns the neighbours of all links, those alone whose MAC address
// the kernel would use.
func Neighbours(ctx context.Context) ([]Neighbour, error) {
	found, err := table(ctx, unix.RTM_GETNEIGH, unix.RTM_NEWNEIGH, unix.SizeofNdMsg, "neighbours")
	if err != nil {
		return nil, err
	}
	const usable = unix.NUD_REACHABLE | unix.NUD_STALE | unix.NUD_DELAY | unix.NUD_PROBE | unix.NUD_PERMANENT
	var neighbours []Neighbour
	for _, m := range found {
		n := Neighbour{Link: number(m.body[ndmIndex:])}
		var mac []byte
		for kind, value := range attributes(m.body[unix.SizeofNdMsg:]) {
			switch kind {
			case unix.NDA_DST:
				n.IP = address(value)
			case unix.NDA_LLADDR:
				mac = value
			}
		}
		state := binary.NativeEndian.Uint16(m.body[ndmState:])
		if n.IP.IsValid() && len(mac) == len(n.MAC) && state&usable != 0 {
			n.MAC = MAC(mac)
			neighbours = append(neighbours, n)
		}
	}
	return neighbours, nil
}
