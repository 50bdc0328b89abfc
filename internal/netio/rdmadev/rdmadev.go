// Package rdmadev reads what the kernel tells of RDMA devices and of network
// interfaces under /sys: ports, GIDs, and which network interface each belongs
// to (kernel documentation, ABI/stable/sysfs-class-infiniband).
package rdmadev

import (
	"errors"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Device is an RDMA device.
type Device struct {
	Name string
	// Type is the node type, "CA" of InfiniBand and RoCE or "RNIC" of iWARP.
	Type     string
	Driver   string // of the hardware, "" when there is none
	Firmware string // its version, "" when the device is software of the kernel
	Ports    []Port
}

// Software reports whether the kernel itself is the device: its traffic passes
// the network interface like all other, and can be captured there.
func (d *Device) Software() bool { return d.Firmware == "" }

// Netdevs lists the network interfaces that the device's ports belong to.
func (d *Device) Netdevs() (names []string) {
	for _, p := range d.Ports {
		for _, g := range p.GIDs {
			if g.Netdev != "" && !slices.Contains(names, g.Netdev) {
				names = append(names, g.Netdev)
			}
		}
	}
	return names
}

// Port is a port of a device.
type Port struct {
	Number int
	State  string // "ACTIVE", "DOWN"
	Rate   string // "100 Gb/sec (4X EDR)"
	Layer  string // "Ethernet", "InfiniBand"
	GIDs   []GID
}

// GID is an entry of a port's table.
type GID struct {
	Index  int
	GID    netip.Addr
	Type   string // "IB/RoCE v1", "RoCE v2"
	Netdev string // "" for InfiniBand
}

// infiniband is where the devices are, below the root of sysfs.
const infiniband = "class/infiniband"

// Devices lists the RDMA devices; sys is the root of a sysfs.
func Devices(sys fs.FS) ([]Device, error) {
	names, err := fs.ReadDir(sys, infiniband)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no RDMA module is loaded
	}
	if err != nil {
		return nil, err
	}
	list := make([]Device, 0, len(names))
	for _, n := range names {
		list = append(list, device(sys, n.Name()))
	}
	return list, nil
}

func device(sys fs.FS, name string) Device {
	at := path.Join(infiniband, name)
	d := Device{Name: name, Firmware: text(sys, at, "fw_ver"), Driver: driver(sys, path.Join(at, "device"))}
	// "1: CA"
	_, d.Type, _ = strings.Cut(text(sys, at, "node_type"), ": ")
	ports, _ := fs.ReadDir(sys, path.Join(at, "ports"))
	for _, p := range ports {
		if number, err := strconv.Atoi(p.Name()); err == nil {
			d.Ports = append(d.Ports, port(sys, path.Join(at, "ports", p.Name()), number))
		}
	}
	slices.SortFunc(d.Ports, func(a, b Port) int { return a.Number - b.Number })
	return d
}

func port(sys fs.FS, at string, number int) Port {
	p := Port{Number: number, Rate: text(sys, at, "rate"), Layer: text(sys, at, "link_layer")}
	// "4: ACTIVE"
	_, p.State, _ = strings.Cut(text(sys, at, "state"), ": ")
	gids, _ := fs.ReadDir(sys, path.Join(at, "gids"))
	for _, g := range gids {
		index, err := strconv.Atoi(g.Name())
		gid, bad := netip.ParseAddr(text(sys, at, "gids", g.Name()))
		if err != nil || bad != nil || gid.IsUnspecified() {
			continue // an entry that is not in use is zero
		}
		p.GIDs = append(p.GIDs, GID{
			Index: index, GID: gid.Unmap(),
			Type: text(sys, at, "gid_attrs", "types", g.Name()), Netdev: text(sys, at, "gid_attrs", "ndevs", g.Name()),
		})
	}
	slices.SortFunc(p.GIDs, func(a, b GID) int { return a.Index - b.Index })
	return p
}

// Speed is the rate of a network interface in Mbit/s, 0 when it has none.
func Speed(sys fs.FS, netdev string) int {
	speed, err := strconv.Atoi(text(sys, "class/net", netdev, "speed"))
	if err != nil || speed < 0 {
		return 0 // -1 and an error mean that there is no link
	}
	return speed
}

// Driver is the driver of a network interface, "" for a virtual one.
func Driver(sys fs.FS, netdev string) string {
	return driver(sys, path.Join("class/net", netdev, "device"))
}

// driver reads the name of a device's driver from its event variables.
func driver(sys fs.FS, device string) string {
	for line := range strings.Lines(text(sys, device, "uevent")) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "DRIVER="); ok {
			return name
		}
	}
	return ""
}

// text is what a file has in it, "" when it cannot be read: what a kernel does
// not tell is not known.
func text(sys fs.FS, elements ...string) string {
	b, err := fs.ReadFile(sys, path.Join(elements...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
