package nettest

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/testneed"
)

// Names of the two ends of the cable between a Pair's namespaces.
const (
	LeftInterface  = "left0"
	RightInterface = "right0"
)

const readyTimeout = 20 * time.Second

// Namespace is an empty network: nothing but a loopback interface.
type Namespace struct {
	fd int
}

// New makes a namespace, which ends with the test. The test is skipped when it
// is not run by root.
func New(t testing.TB) *Namespace {
	t.Helper()
	testneed.Root(t)
	n := &Namespace{fd: -1}
	inside(t, func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() {
		var err error
		if n.fd, err = unix.Open(threadNamespace, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			t.Fatalf("open the new network namespace: %v", err)
		}
	})
	t.Cleanup(func() { _ = unix.Close(n.fd) })
	return n
}

// Do runs f inside the namespace, in the calling goroutine: sockets that f
// opens belong to the namespace for good, goroutines that it starts do not.
func (n *Namespace) Do(t testing.TB, f func()) {
	t.Helper()
	inside(t, func() error { return unix.Setns(n.fd, unix.CLONE_NEWNET) }, f)
}

// IP runs the program ip inside the namespace: IP(t, "link set lo up").
func (n *Namespace) IP(t testing.TB, arguments string) {
	t.Helper()
	n.Run(t, "ip", arguments)
}

// Run runs a program inside the namespace. The test is skipped when there is no
// such program, and fails when the program does.
func (n *Namespace) Run(t testing.TB, program, arguments string) {
	t.Helper()
	n.output(t, program, arguments)
}

func (n *Namespace) output(t testing.TB, program, arguments string) (out []byte) {
	t.Helper()
	path := testneed.Tool(t, program)
	n.Do(t, func() {
		var err error
		if out, err = exec.Command(path, strings.Fields(arguments)...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", program, arguments, err, out)
		}
	})
	return out
}

// Ready waits until an interface that was set up carries frames: some time after
// that the kernel gives it its queue, and what is sent before is lost.
func (n *Namespace) Ready(t testing.TB, name string) {
	t.Helper()
	for end := time.Now().Add(readyTimeout); time.Now().Before(end); {
		if strings.Contains(string(n.output(t, "ip", "-oneline link show "+name)), "state UP") {
			return
		}
	}
	t.Fatalf("%s is not ready after %v", name, readyTimeout)
}

// Pair makes two namespaces joined by a cable, a veth pair, whose ends are up
// and have no address.
func Pair(t testing.TB) (left, right *Namespace) {
	t.Helper()
	left, right = New(t), New(t)
	there := fmt.Sprintf("/proc/%d/fd/%d", unix.Getpid(), right.fd)
	left.IP(t, "link add "+LeftInterface+" type veth peer name "+RightInterface+" netns "+there)
	left.IP(t, "link set "+LeftInterface+" up")
	right.IP(t, "link set "+RightInterface+" up")
	left.Ready(t, LeftInterface)
	right.Ready(t, RightInterface)
	return left, right
}

// KeepOrder lets one processor take in all that arrives at an interface of a
// Pair. Else each frame is taken in by the processor that sent it, and frames
// may overtake each other when their sender, or the queue that they wait in,
// moves from one processor to another. What is sent faster than that processor
// takes it in is lost once net.core.netdev_max_backlog frames (1000) wait.
func (n *Namespace) KeepOrder(t testing.TB, name string) {
	t.Helper()
	n.Do(t, func() { // the switch is in the namespace's own sysfs: mounted where nobody else sees it
		script := "mount -t sysfs none /sys && echo 1 >/sys/class/net/" + name + "/queues/rx-0/rps_cpus"
		if out, err := exec.Command("unshare", "--mount", "sh", "-c", script).CombinedOutput(); err != nil {
			t.Logf("frames at %s may change their order: %v\n%s", name, err, out)
		}
	})
}

const threadNamespace = "/proc/thread-self/ns/net"

// inside runs f between enter and the return to the namespace from before. A
// thread that cannot return is not given back to the scheduler: it ends with
// the goroutine.
func inside(t testing.TB, enter func() error, f func()) {
	t.Helper()
	runtime.LockOSThread()
	before, err := unix.Open(threadNamespace, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		t.Fatalf("open the network namespace: %v", err)
	}
	defer func() {
		err := unix.Setns(before, unix.CLONE_NEWNET)
		_ = unix.Close(before)
		if err != nil {
			t.Errorf("return to the network namespace from before: %v", err)
			return
		}
		runtime.UnlockOSThread()
	}()
	if err := enter(); err != nil {
		t.Fatalf("enter a network namespace: %v", err)
	}
	f()
}
