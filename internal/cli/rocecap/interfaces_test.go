package rocecap

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/offload"
)

func TestInterfacesSayWhatACaptureWouldNotSee(t *testing.T) {
	hard := rdmaDevice{
		Name: "mlx5_0", Type: "CA", Firmware: "28.39", Port: 1, State: "ACTIVE", Rate: "200 Gb/sec",
		GIDs: []rdmaGID{{3, netip.MustParseAddr("192.0.2.1"), "RoCE v2"}},
	}
	soft := hard
	soft.Name, soft.Firmware, soft.Software = "rxe0", "", true
	for _, test := range []struct {
		name   string
		sight  sight
		want   []string
		silent []string
	}{
		{"hardware", sight{Name: "eth0", Up: true, Carrier: true, MTU: 9000, Devices: []rdmaDevice{hard}}, []string{"bypasses the kernel", "ibdump -d mlx5_0"}, []string{"path MTU"}},
		{"software", sight{Name: "eth0", Up: true, Carrier: true, MTU: 1500, Devices: []rdmaDevice{soft}}, []string{"path MTU of 1024"}, []string{"bypasses"}},
		{"down", sight{Name: "eth0", MTU: 1500}, []string{"ip link set eth0 up"}, []string{"carrier", "path MTU"}},
		{"no carrier", sight{Name: "eth0", Up: true, MTU: 1500}, []string{"no carrier"}, []string{"is down:"}},
		{
			"offloads",
			sight{Name: "eth0", Up: true, Carrier: true, MTU: 1500, Offloads: []offload.Offload{offload.GRO, offload.LRO, offload.TSO, offload.TxChecksum}},
			[]string{"ethtool -K eth0 gro off lro off", "tso on: what", "wrong ones mean nothing"},
			nil,
		},
		{"nothing", sight{Name: "eth0", Up: true, Carrier: true, MTU: 1500}, nil, []string{"!"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.sight.PathMTU = pathMTU(test.sight.MTU)
			test.sight.Advice = advise(&test.sight)
			text := string(appendSights(nil, []sight{test.sight}))
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said in\n%s", want, text)
				}
			}
			for _, other := range test.silent {
				if strings.Contains(text, other) {
					t.Errorf("%q is said in\n%s", other, text)
				}
			}
		})
	}
}

func TestTheLargestPathMTUThatFits(t *testing.T) {
	for mtu, want := range map[int]int{0: 0, 351: 0, 352: 256, 1500: 1024, 4191: 2048, 4192: 4096, 9000: 4096} {
		if got := pathMTU(mtu); got != want {
			t.Errorf("MTU %d leaves %d, want %d", mtu, got, want)
		}
	}
}
