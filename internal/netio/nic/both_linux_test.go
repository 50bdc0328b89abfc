package nic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// ears are the ways to get frames: a Link receives them, a Capture listens. Each
// makes a cable with a sender at one end, and says how frames come out at the other.
var ears = map[string]func(t *testing.T, snapLen int) (from *nic.Link, come func(n int) []nic.Frame){
	"Link": func(t *testing.T, snapLen int) (*nic.Link, func(int) []nic.Frame) {
		left, right := orderedCable(t, nic.Options{}, nic.Options{SnapLen: snapLen})
		return left, func(n int) []nic.Frame { return receive(t, right, n) }
	},
	"Capture": func(t *testing.T, snapLen int) (*nic.Link, func(int) []nic.Frame) {
		left, _, reader := listen(t, nic.CaptureOptions{SnapLen: snapLen})
		return left, func(n int) []nic.Frame { return captured(t, reader, n) }
	},
	"Capture with a filter": func(t *testing.T, snapLen int) (*nic.Link, func(int) []nic.Frame) {
		keepAll := []bpf.RawInstruction{{Op: 6, K: 1 << 18}}
		left, _, reader := listen(t, nic.CaptureOptions{SnapLen: snapLen, Filter: keepAll})
		return left, func(n int) []nic.Frame { return captured(t, reader, n) }
	},
}

func TestVLANTagsAreBackInPlace(t *testing.T) {
	const vlan, service = 0x8100, 0x88a8
	plain := testFrame(200, 1)
	frames := [][]byte{
		tagged(plain, vlan),
		tagged(plain, service),
		tagged(plain, service, vlan),
		tagged(plain, vlan, vlan),
		plain,
		tagged(testFrame(1514, 2), vlan), // the MTU, and the tag on top
		tagged(testFrame(16, 3), vlan),   // the shortest that kernels do not drop
	}
	for name, open := range ears {
		t.Run(name, func(t *testing.T) {
			from, come := open(t, 0)
			send(t, from, frames...)
			for i, f := range come(len(frames)) {
				if diff := cmp.Diff(frames[i], f.Data); diff != "" || f.WireLen != len(frames[i]) {
					t.Errorf("frame %d, length on the wire %d: (-sent +got)\n%s", i, f.WireLen, diff)
				}
			}
		})
	}
}

func TestSnapLenCutsAndTellsTheLength(t *testing.T) {
	frames := [][]byte{testFrame(1000, 1), tagged(testFrame(1000, 2), 0x8100), testFrame(60, 3)}
	for name, open := range ears {
		t.Run(name, func(t *testing.T) {
			from, come := open(t, 60)
			send(t, from, frames...)
			for i, f := range come(len(frames)) {
				if diff := cmp.Diff(frames[i][:60], f.Data); diff != "" || f.WireLen != len(frames[i]) {
					t.Errorf("frame %d, length on the wire %d: (-want +got)\n%s", i, f.WireLen, diff)
				}
			}
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	n := nettest.New(t)
	n.IP(t, "tuntap add mode tun name tun0")
	n.IP(t, "link set tun0 up")
	n.IP(t, "link set lo up")
	link := func(o nic.Options) func() error {
		return func() error { _, err := nic.Open(o); return err }
	}
	listening := func(o nic.CaptureOptions) func() error {
		return func() error { _, err := nic.OpenCapture(o); return err }
	}
	const unknown, tun = "interface no0: there is no such interface", "interface tun0: is not an Ethernet interface"
	for name, c := range map[string]struct {
		open func() error
		want error // may be nil
		text string
	}{
		"Link, unknown":         {link(nic.Options{Interface: "no0"}), nic.ErrUnknownInterface, unknown},
		"Link, not Ethernet":    {link(nic.Options{Interface: "tun0"}), nic.ErrNotEthernet, tun},
		"Link, negative":        {link(nic.Options{Interface: "lo", SnapLen: -1}), nil, "negative"},
		"Capture, unknown":      {listening(nic.CaptureOptions{Interface: "no0"}), nic.ErrUnknownInterface, unknown},
		"Capture, not Ethernet": {listening(nic.CaptureOptions{Interface: "tun0"}), nic.ErrNotEthernet, tun},
		"Capture, negative":     {listening(nic.CaptureOptions{Interface: "lo", SnapLen: -1}), nil, "negative"},
		"Capture, bad filter": {
			listening(nic.CaptureOptions{Interface: "lo", Filter: []bpf.RawInstruction{{Op: 5, K: 9}}}), nil, "refuses the filter",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n.Do(t, func() {
				err := c.open()
				if err == nil || !strings.Contains(err.Error(), c.text) || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("%v, want %q", err, c.text)
				}
			})
		})
	}
}
