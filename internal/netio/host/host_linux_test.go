package host_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// must returns a value that came without an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// addLink makes a link that is up, and another that is the end of its cable.
func addLink(t *testing.T, n *nettest.Namespace, name string) {
	t.Helper()
	n.IP(t, "link add "+name+" type veth peer name "+name+"-end")
	n.IP(t, "link set "+name+" up")
	n.IP(t, "link set "+name+"-end up")
	n.Ready(t, name)
}

func TestLinks(t *testing.T) {
	left, _ := nettest.Pair(t)
	left.IP(t, "link set left0 address 02:00:00:00:00:11 mtu 4200")
	left.IP(t, "link add br0 type bridge")
	left.IP(t, "link set left0 master br0")
	left.Do(t, func() {
		links := must[[]host.Link](t)(host.Links(t.Context()))
		named := map[string]host.Link{}
		for _, l := range links {
			named[l.Name] = l
		}
		want := host.Link{
			Index: named["left0"].Index, Name: "left0", MTU: 4200, MAC: net.HardwareAddr{2, 0, 0, 0, 0, 0x11},
			Flags:    net.FlagUp | net.FlagBroadcast | net.FlagMulticast | net.FlagRunning,
			Hardware: 1, Kind: "veth", Master: named["br0"].Index,
		}
		if diff := cmp.Diff(want, named["left0"]); diff != "" {
			t.Errorf("left0 (-want +got)\n%s", diff)
		}
		if l := named["br0"]; l.Kind != "bridge" || l.Master != 0 {
			t.Errorf("br0: %+v", l)
		}
		if l := named["lo"]; l.Hardware != 772 || l.Flags&net.FlagLoopback == 0 {
			t.Errorf("lo: %+v", l)
		}
		for name, l := range named {
			got := must[host.Link](t)(host.LinkByName(t.Context(), name))
			if diff := cmp.Diff(l, got); diff != "" {
				t.Errorf("%s by its name (-want +got)\n%s", name, diff)
			}
			std := must[*net.Interface](t)(net.InterfaceByName(name))
			if std.Index != l.Index || std.MTU != l.MTU {
				t.Errorf("%s: %+v, package net has %+v", name, l, std)
			}
		}
		if _, err := host.LinkByName(t.Context(), "no0"); !errors.Is(err, host.ErrUnknownLink) {
			t.Errorf("unknown link: %v", err)
		}
	})
}

func TestAddresses(t *testing.T) {
	n := nettest.New(t)
	addLink(t, n, "d0")
	n.IP(t, "addr add 192.0.2.7/24 dev d0")
	n.IP(t, "addr add 192.0.2.8 peer 198.51.100.1/32 dev d0")
	n.IP(t, "addr add 2001:db8::7/64 dev d0 nodad")
	n.Do(t, func() {
		index := must[host.Link](t)(host.LinkByName(t.Context(), "d0")).Index
		var got []string
		for _, a := range must[[]host.Address](t)(host.Addresses(t.Context())) {
			if a.Link == index && !a.Prefix.Addr().IsLinkLocalUnicast() {
				got = append(got, a.Prefix.String())
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"192.0.2.7/24", "192.0.2.8/32", "2001:db8::7/64"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestDefaultRouteLinks(t *testing.T) {
	for _, c := range []struct {
		name   string
		routes []string
		want   []string
	}{
		{"none", nil, nil},
		{"subnets only", []string{"route add 198.51.100.0/24 via 192.0.2.1"}, nil},
		{"IPv4", []string{"route add default via 192.0.2.1"}, []string{"d0"}},
		{"IPv6", []string{"-6 route add default dev d1"}, []string{"d1"}},
		{"both", []string{"route add default dev d0", "-6 route add default dev d1"}, []string{"d0", "d1"}},
		{"several next hops", []string{"route add default nexthop dev d0 nexthop dev d1"}, []string{"d0", "d1"}},
		{"another table", []string{"route add default dev d1 table 51820"}, []string{"d1"}},
		{"halves of the Internet", []string{"route add 0.0.0.0/1 dev d1", "route add 128.0.0.0/1 dev d1"}, []string{"d1"}},
		{"unreachable", []string{"route add unreachable default"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := nettest.New(t)
			for _, d := range []string{"d0", "d1", "d2"} {
				addLink(t, n, d)
			}
			n.IP(t, "addr add 192.0.2.7/24 dev d0")
			for _, r := range c.routes {
				n.IP(t, r)
			}
			n.Do(t, func() {
				var want []int
				for _, d := range []string{"d0", "d1", "d2"} {
					index := must[host.Link](t)(host.LinkByName(t.Context(), d)).Index
					routed := slices.Contains(c.want, d)
					if routed {
						want = append(want, index)
					}
					if got := must[bool](t)(host.CarriesDefaultRoute(t.Context(), index)); got != routed {
						t.Errorf("%s carries a default route: %v", d, got)
					}
				}
				got := must[[]int](t)(host.DefaultRouteLinks(t.Context()))
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

func TestNextHop(t *testing.T) {
	n := nettest.New(t)
	addLink(t, n, "d0")
	for _, command := range []string{
		"link set lo up",
		"addr add 192.0.2.7/24 dev d0", "addr add 2001:db8::7/64 dev d0 nodad",
		"route add 198.51.100.0/24 via 192.0.2.1", "-6 route add 2001:db8:1::/48 via 2001:db8::1",
		"route add 203.0.113.0/24 via inet6 2001:db8::1",
		"route add unreachable 10.0.0.0/8",
	} {
		n.IP(t, command)
	}
	n.Do(t, func() {
		d0 := must[host.Link](t)(host.LinkByName(t.Context(), "d0")).Index
		for _, c := range []struct {
			to   string
			link int
			want host.Hop
		}{
			{"192.0.2.9", 0, host.Hop{Link: d0, Source: addr("192.0.2.7")}},
			{"::ffff:192.0.2.9", d0, host.Hop{Link: d0, Source: addr("192.0.2.7")}},
			{"198.51.100.9", 0, host.Hop{Link: d0, Gateway: addr("192.0.2.1"), Source: addr("192.0.2.7")}},
			{"203.0.113.9", 0, host.Hop{Link: d0, Gateway: addr("2001:db8::1"), Source: addr("192.0.2.7")}},
			{"2001:db8::9", 0, host.Hop{Link: d0, Source: addr("2001:db8::7")}},
			{"2001:db8:1::9", d0, host.Hop{Link: d0, Gateway: addr("2001:db8::1"), Source: addr("2001:db8::7")}},
			{"192.0.2.7", 0, host.Hop{Link: 1, Local: true, Source: addr("192.0.2.7")}},
			{"192.0.2.255", 0, host.Hop{Link: d0, Broadcast: true, Source: addr("192.0.2.7")}},
		} {
			got := must[host.Hop](t)(host.NextHop(t.Context(), addr(c.to), c.link))
			if got != c.want {
				t.Errorf("%s: %+v, want %+v", c.to, got, c.want)
			}
		}
		for _, to := range []string{"10.1.2.3", "2001:db8:ffff::1", "100.64.0.1"} {
			if hop, err := host.NextHop(t.Context(), addr(to), 0); !errors.Is(err, host.ErrNoRoute) {
				t.Errorf("%s: %+v, %v", to, hop, err)
			}
		}
		if _, err := host.NextHop(t.Context(), netip.Addr{}, 0); !errors.Is(err, host.ErrNoRoute) {
			t.Errorf("no address: %v", err)
		}
	})
}

func TestNeighbours(t *testing.T) {
	n := nettest.New(t)
	addLink(t, n, "d0")
	for _, command := range []string{
		"neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev d0 nud permanent",
		"neigh add 2001:db8::9 lladdr 02:00:00:00:00:0a dev d0 nud stale",
		"neigh add 192.0.2.10 dev d0 nud failed",
	} {
		n.IP(t, command)
	}
	n.Do(t, func() {
		d0 := must[host.Link](t)(host.LinkByName(t.Context(), "d0")).Index
		want := []host.Neighbour{
			{Link: d0, IP: addr("192.0.2.9"), MAC: host.MAC{2, 0, 0, 0, 0, 9}},
			{Link: d0, IP: addr("2001:db8::9"), MAC: host.MAC{2, 0, 0, 0, 0, 10}},
		}
		got := must[[]host.Neighbour](t)(host.Neighbours(t.Context()))
		slices.SortFunc(got, func(a, b host.Neighbour) int { return a.IP.Compare(b.IP) })
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestQueriesEndWithTheirContext(t *testing.T) {
	n := nettest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.Do(t, func() {
		if _, err := host.Links(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Links: %v", err)
		}
	})
}

// The peer is a kernel; the asker has addresses that no kernel owns.
func TestResolve(t *testing.T) {
	left, right := nettest.Pair(t)
	for _, command := range []string{
		"link set right0 address 02:00:00:00:00:22",
		"addr add 192.0.2.2/24 dev right0", "addr add 2001:db8::2/64 dev right0 nodad",
	} {
		right.IP(t, command)
	}
	for _, command := range []string{
		"link set left0 address 02:00:00:00:00:11",
		"addr add 192.0.2.1/24 dev left0", "addr add 2001:db8::1/64 dev left0 nodad",
		"route add 198.51.100.0/24 via 192.0.2.2", "-6 route add 2001:db8:1::/48 via 2001:db8::2",
		"neigh add 192.0.2.50 lladdr 02:00:00:00:00:50 dev left0 nud permanent",
	} {
		left.IP(t, command)
	}
	peer := host.MAC{2, 0, 0, 0, 0, 0x22}
	foreign := host.MAC{2, 0, 0, 0, 0, 0x99}
	left.Do(t, func() {
		link := must[*nic.Link](t)(nic.Open(nic.Options{Interface: nettest.LeftInterface, IgnoreOutgoing: true}))
		defer link.Close()
		for _, c := range []struct {
			name string
			from host.Question
			to   string
			want host.MAC
		}{
			{"IPv4, in the kernel's name", host.Question{}, "192.0.2.2", peer},
			{"IPv4, for a foreign address", host.Question{MAC: foreign, IP: addr("192.0.2.99")}, "192.0.2.2", peer},
			{"IPv6, in the kernel's name", host.Question{}, "2001:db8::2", peer},
			{"IPv6, for a foreign address", host.Question{MAC: foreign, IP: addr("2001:db8::99")}, "2001:db8::2", peer},
			{"IPv6, without an address", host.Question{MAC: foreign, IP: addr("192.0.2.99")}, "2001:db8::2", peer},
			{"behind a gateway", host.Question{}, "198.51.100.7", peer},
			{"behind an IPv6 gateway", host.Question{}, "2001:db8:1::7", peer},
			{"known to the kernel", host.Question{}, "192.0.2.50", host.MAC{2, 0, 0, 0, 0, 0x50}},
			{"group", host.Question{}, "239.1.2.3", host.MAC{1, 0, 0x5e, 1, 2, 3}},
			{"subnet's broadcast", host.Question{}, "192.0.2.255", host.MAC{255, 255, 255, 255, 255, 255}},
			{"broadcast", host.Question{}, "255.255.255.255", host.MAC{255, 255, 255, 255, 255, 255}},
			{"this machine", host.Question{}, "192.0.2.1", host.MAC{2, 0, 0, 0, 0, 0x11}},
		} {
			t.Run(c.name, func(t *testing.T) {
				left.Do(t, func() {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					got, err := host.Resolve(ctx, link, c.from, addr(c.to))
					if err != nil || got != c.want {
						t.Errorf("%x, %v; want %x", got, err, c.want)
					}
				})
			})
		}
		for to, want := range map[string]error{"192.0.2.77": host.ErrNoAnswer, "0.0.0.0": host.ErrNoRoute} {
			if mac, err := host.Resolve(t.Context(), link, host.Question{}, addr(to)); !errors.Is(err, want) {
				t.Errorf("%s: %x, %v; want %v", to, mac, err, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := host.Resolve(ctx, link, host.Question{}, addr("192.0.2.78")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody within the deadline: %v", err)
		}
	})
}

// A link without an address and a route is all that an injector needs.
func TestResolveWithoutAnyRoute(t *testing.T) {
	left, right := nettest.Pair(t)
	right.IP(t, "link set right0 address 02:00:00:00:00:22")
	right.IP(t, "addr add 192.0.2.2/24 dev right0")
	right.IP(t, "addr add 2001:db8::2/64 dev right0 nodad")
	left.Do(t, func() {
		link := must[*nic.Link](t)(nic.Open(nic.Options{Interface: nettest.LeftInterface}))
		defer link.Close()
		for from, to := range map[string]string{"192.0.2.99": "192.0.2.2", "2001:db8::99": "2001:db8::2"} {
			got, err := host.Resolve(t.Context(), link, host.Question{IP: addr(from)}, addr(to))
			if err != nil || got != (host.MAC{2, 0, 0, 0, 0, 0x22}) {
				t.Errorf("%s: %x, %v", to, got, err)
			}
		}
	})
}
