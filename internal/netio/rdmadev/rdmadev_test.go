package rdmadev_test

import (
	"net/netip"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocecap/rocecap/internal/netio/rdmadev"
)

// sys is a sysfs with a hardware adapter and a soft RoCE device.
func sys() fstest.MapFS {
	files := map[string]string{
		"class/infiniband/mlx5_0/fw_ver":                      "28.39.1002\n",
		"class/infiniband/mlx5_0/node_type":                   "1: CA\n",
		"class/infiniband/mlx5_0/device/uevent":               "DRIVER=mlx5_core\nPCI_CLASS=20700\n",
		"class/infiniband/mlx5_0/ports/1/state":               "4: ACTIVE\n",
		"class/infiniband/mlx5_0/ports/1/rate":                "200 Gb/sec (4X HDR)\n",
		"class/infiniband/mlx5_0/ports/1/link_layer":          "Ethernet\n",
		"class/infiniband/mlx5_0/ports/1/gids/0":              "fe80:0000:0000:0000:0e42:a1ff:fe00:0001\n",
		"class/infiniband/mlx5_0/ports/1/gids/3":              "0000:0000:0000:0000:0000:ffff:c000:0201\n",
		"class/infiniband/mlx5_0/ports/1/gids/4":              "0000:0000:0000:0000:0000:0000:0000:0000\n",
		"class/infiniband/mlx5_0/ports/1/gid_attrs/types/0":   "IB/RoCE v1\n",
		"class/infiniband/mlx5_0/ports/1/gid_attrs/types/3":   "RoCE v2\n",
		"class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0":   "ens1f0\n",
		"class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3":   "ens1f0\n",
		"class/infiniband/rxe0/node_type":                     "1: CA\n",
		"class/infiniband/rxe0/fw_ver":                        "\n",
		"class/infiniband/rxe0/ports/1/state":                 "1: DOWN\n",
		"class/infiniband/rxe0/ports/1/link_layer":            "Ethernet\n",
		"class/net/ens1f0/speed":                              "200000\n",
		"class/net/ens1f0/device/uevent":                      "DRIVER=mlx5_core\n",
		"class/net/down0/speed":                               "-1\n",
		"class/infiniband/rxe0/ports/not-a-number/link_layer": "Ethernet\n",
	}
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func TestDevices(t *testing.T) {
	got, err := rdmadev.Devices(sys())
	if err != nil {
		t.Fatal(err)
	}
	want := []rdmadev.Device{
		{Name: "mlx5_0", Type: "CA", Driver: "mlx5_core", Firmware: "28.39.1002", Ports: []rdmadev.Port{{
			Number: 1, State: "ACTIVE", Rate: "200 Gb/sec (4X HDR)", Layer: "Ethernet",
			GIDs: []rdmadev.GID{
				{Index: 0, GID: netip.MustParseAddr("fe80::e42:a1ff:fe00:1"), Type: "IB/RoCE v1", Netdev: "ens1f0"},
				{Index: 3, GID: netip.MustParseAddr("192.0.2.1"), Type: "RoCE v2", Netdev: "ens1f0"},
			},
		}}},
		{Name: "rxe0", Type: "CA", Ports: []rdmadev.Port{{Number: 1, State: "DOWN", Layer: "Ethernet"}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[0].Software() || !got[1].Software() {
		t.Error("what has firmware is hardware, and what has none is not")
	}
	if names := got[0].Netdevs(); !slices.Equal(names, []string{"ens1f0"}) {
		t.Errorf("interfaces %v", names)
	}
}

func TestWithoutRDMAModulesThereAreNoDevices(t *testing.T) {
	if got, err := rdmadev.Devices(fstest.MapFS{}); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestInterfaces(t *testing.T) {
	for netdev, want := range map[string]int{"ens1f0": 200000, "down0": 0, "none0": 0} {
		if got := rdmadev.Speed(sys(), netdev); got != want {
			t.Errorf("%s: %d Mbit/s, want %d", netdev, got, want)
		}
	}
	if got := rdmadev.Driver(sys(), "ens1f0"); got != "mlx5_core" {
		t.Errorf("driver %q", got)
	}
	if got := rdmadev.Driver(sys(), "down0"); got != "" {
		t.Errorf("driver %q", got)
	}
}
