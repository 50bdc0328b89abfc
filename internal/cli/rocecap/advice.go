package rocecap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocecap/rocecap/internal/netio/offload"
)

// advise says why a capture of an interface would lack RDMA traffic, or show it
// otherwise than on the wire, and what to do about it.
func advise(s *sight) []string {
	advice := []string{}
	add := func(format string, args ...any) { advice = append(advice, fmt.Sprintf(format, args...)) }
	switch {
	case !s.Up:
		add("it is down: ip link set %s up", s.Name)
	case !s.Carrier:
		add("it has no carrier: nothing is connected, or the other end is down")
	}
	if names := hardware(s.Devices); len(names) > 0 {
		add("RDMA of %s bypasses the kernel, so that a capture here sees none of it: mirror the switch's port (SPAN, ERSPAN) "+
			"to another interface, or capture in the adapter: ibdump -d %s, tcpdump -i %s where its libpcap knows RDMA devices, "+
			"ethtool --set-priv-flags %s sniffer on where the driver has that flag", strings.Join(names, " and "), names[0], names[0], s.Name)
	}
	if s.Up && s.PathMTU > 0 && s.PathMTU < 4096 && len(s.Devices) > 0 {
		add("MTU %d leaves RoCE a path MTU of %d; 4096 needs an MTU of %d", s.MTU, s.PathMTU, 4096+roceOverhead)
	}
	if on := having(s.Offloads, offload.GRO, offload.LRO); len(on) > 0 {
		add("%s puts received TCP segments together, so that iWARP looks as it was not sent: ethtool -K %s %s",
			strings.Join(on, " and "), s.Name, strings.Join(on, " off ")+" off")
	}
	if on := having(s.Offloads, offload.TSO, offload.GSO); len(on) > 0 {
		add("%s on: what this machine sends is cut up behind the capture point, and TCP segments look longer than they are", strings.Join(on, " and "))
	}
	if slices.Contains(s.Offloads, offload.TxChecksum) {
		add("checksums of what this machine sends are filled in behind the capture point: wrong ones mean nothing")
	}
	return advice
}

// hardware names the devices that do without the kernel.
func hardware(devices []rdmaDevice) (names []string) {
	for _, d := range devices {
		if !d.Software && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// having lists which of some offloads are on.
func having(on []offload.Offload, these ...offload.Offload) (names []string) {
	for _, o := range these {
		if slices.Contains(on, o) {
			names = append(names, string(o))
		}
	}
	return names
}
