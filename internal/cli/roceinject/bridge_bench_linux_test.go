package roceinject

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/impair"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/transport/fault"
)

// BenchmarkBridge passes frames from left to right, with so many under way at
// once, through this bridge and through the kernel's.
func BenchmarkBridge(b *testing.B) {
	rule := "rules: [{match: {qp: 0x999, message: 3, op: write}, drop: true}]"
	for _, kind := range []struct{ name, rules string }{{"kernel", ""}, {"no rules", ""}, {"one rule", rule}} {
		for _, window := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%s/window=%d", kind.name, window), func(b *testing.B) {
				n := bridgeNamespace(b, 1500)
				left, right := openIn(b, n, "left0"), openIn(b, n, "right0")
				if kind.name == "kernel" {
					kernelBridge(b, n)
				} else {
					config, err := impair.Parse([]byte(kind.rules), compileFilter)
					if err != nil {
						b.Fatal(err)
					}
					runBridge(b, n, fault.NewEngine(config))
				}
				passFrames(b, left, right, window)
			})
		}
	}
}

// kernelBridge joins the bridge's interfaces by a bridge of the kernel's.
func kernelBridge(b *testing.B, n *nettest.Namespace) {
	b.Helper()
	ip := testneed.Tool(b, "ip")
	n.Do(b, func() {
		for _, line := range []string{
			"link add br0 type bridge", "link set br0 addrgenmode none", "link set in0 master br0", "link set in1 master br0", "link set br0 up",
		} {
			if out, err := exec.Command(ip, strings.Fields(line)...).CombinedOutput(); err != nil {
				b.Skipf("ip %s: %v: %s", line, err, out)
			}
		}
	})
}

func runBridge(b *testing.B, n *nettest.Namespace, engine *fault.Engine) {
	b.Helper()
	links := [2]*nic.Link{openIn(b, n, "in0"), openIn(b, n, "in1")}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- joinLinks(links, engine).run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-ended
	})
}

func passFrames(b *testing.B, left, right *nic.Link, window int) {
	b.Helper()
	frames := make([][]byte, window)
	for i := range frames {
		frames[i] = request(b, "rc write-middle", i)
	}
	var batch nic.Batch
	before := cpuTime(b)
	b.ReportAllocs()
	b.ResetTimer()
	for sent := 0; sent < b.N; {
		n := min(window, b.N-sent)
		if _, err := left.Send(frames[:n], time.Time{}); err != nil {
			b.Fatal(err)
		}
		for got := 0; got < n; got += len(batch.Frames) {
			if err := right.Receive(&batch, time.Now().Add(5*time.Second)); err != nil {
				b.Fatalf("after %d of %d: %v", got, n, err)
			}
		}
		sent += n
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime is what this process has used, in user space and the kernel. It says
// more than the clock where the processors are shared.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
