package nettest_test

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/testneed"
)

// experimental is an EtherType for local experiments (IEEE 802), 0x88b5, as a
// packet socket wants it: in network byte order.
const experimental = 0xb588

// TestOneProcessorTakesInWhatAllSend lets the kernel spread frames over sockets
// by the processor that took them in (PACKET_FANOUT_CPU): the first has them all.
func TestOneProcessorTakesInWhatAllSend(t *testing.T) {
	processors := allowed(t)
	left, right := nettest.Pair(t)
	right.Do(t, func() {
		if out, err := exec.Command("unshare", "--mount", "mount", "-t", "sysfs", "none", "/sys").CombinedOutput(); err != nil {
			testneed.Missing(t, "sysfs", fmt.Sprintf("no sysfs may be mounted here: %v %s", err, out))
		}
	})
	right.KeepOrder(t, nettest.RightInterface)
	from := socket(t, left, nettest.LeftInterface)
	var to []int
	for range processors {
		fd := socket(t, right, nettest.RightInterface)
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_FANOUT, unix.PACKET_FANOUT_CPU<<16|1); err != nil {
			t.Fatal(err)
		}
		to = append(to, fd)
	}

	const each = 20
	runtime.LockOSThread() // for good: the thread ends with the test
	for i := range each * len(processors) {
		var one unix.CPUSet
		one.Set(processors[i%len(processors)])
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(from, frame()); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetsockoptTimeval(to[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	for i := range each * len(processors) {
		if _, err := unix.Read(to[0], buffer); err != nil {
			t.Fatalf("the first socket has %d frames of %d: %v", i, each*len(processors), err)
		}
	}
	for i, fd := range to[1:] {
		if _, _, err := unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT); !errors.Is(err, unix.EAGAIN) {
			t.Errorf("processor %d took in a frame (%v)", i+1, err)
		}
	}
}

func frame() []byte {
	f := make([]byte, 60)
	f[12], f[13] = experimental&0xff, experimental>>8
	return f
}

// socket opens a packet socket at an interface of the namespace.
func socket(t *testing.T, n *nettest.Namespace, name string) (fd int) {
	t.Helper()
	n.Do(t, func() {
		var err error
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, experimental); err != nil {
			t.Fatal(err)
		}
		var request *unix.Ifreq
		if request, err = unix.NewIfreq(name); err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request)
		}
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: experimental, Ifindex: int(request.Uint32())})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

func allowed(t *testing.T) (processors []int) {
	t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; len(processors) < all.Count(); cpu++ {
		if all.IsSet(cpu) {
			processors = append(processors, cpu)
		}
	}
	return processors
}
