package nic_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
)

// tap makes an interface that receives what is written to a file.
func tap(t *testing.T, n *nettest.Namespace, name string) *os.File {
	t.Helper()
	const device = "/dev/net/tun"
	if _, err := os.Stat(device); err != nil {
		testneed.Missing(t, "tun", "there are no TAP interfaces here: "+err.Error())
	}
	var file *os.File
	n.Do(t, func() {
		fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		file = os.NewFile(uintptr(fd), device)
		ask, err := unix.NewIfreq(name)
		if err != nil {
			t.Fatal(err)
		}
		ask.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ask); err != nil {
			t.Fatalf("TUNSETIFF: %v", err)
		}
	})
	t.Cleanup(func() { file.Close() })
	return file
}

// TestStatsTellWhatTheInterfaceItselfDropped has an interface that is down, and so
// drops what comes to it. What it dropped before the capture is not told.
func TestStatsTellWhatTheInterfaceItselfDropped(t *testing.T) {
	n := nettest.New(t)
	from := tap(t, n, "tap0")
	come := func(frames int) {
		for i := range frames {
			if _, err := unix.Write(int(from.Fd()), testFrame(100, i)); err == nil {
				t.Fatal("an interface that is down takes a frame")
			}
		}
	}
	come(3)
	n.IP(t, "link set tap0 up")
	c, _ := capture(t, n, nic.CaptureOptions{Interface: "tap0"})
	n.IP(t, "link set tap0 down")
	come(5)
	s, err := c.Stats()
	if err != nil || !s.Told || s.InterfaceDropped != 5 || s.Dropped != 0 {
		t.Errorf("%+v, %v, want 5 frames that the interface dropped", s, err)
	}
	come(2)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if s, _ := c.Stats(); s.InterfaceDropped != 7 {
		t.Errorf("%+v, want the counts as of the end", s)
	}
}

func TestStatsTellWhatCameToTheInterface(t *testing.T) {
	l, r := nettest.Pair(t)
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
	c, _ := capture(t, r, nic.CaptureOptions{Interface: nettest.RightInterface, Filter: onlyOurs})
	var frames [][]byte
	for i := range 30 {
		frames = append(frames, testFrame(100, i))
	}
	send(t, left, frames...)
	for end := soon(); ; {
		s, err := c.Stats()
		if err != nil || time.Now().After(end) {
			t.Fatalf("%+v, %v", s, err)
		}
		if s.Received < 30 {
			continue
		}
		if s.InterfaceCame < 30 || s.InterfaceDropped != 0 {
			t.Errorf("%+v", s)
		}
		return
	}
}
