package perftest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer/peertest"
)

// outcome is what one side has at the end.
type outcome struct {
	test    *Test
	report  Report
	latency Latency
	err     error
}

func runSide(ctx context.Context, dev *endpoint.Device, conn io.ReadWriter, o Options) (r outcome) {
	if r.test, r.err = New(dev, &Talk{Conn: conn, Client: o.Client}, o); r.err != nil {
		return r
	}
	if r.err = r.test.Meet(ctx); r.err != nil {
		return r
	}
	if o.Latency {
		r.latency, r.err = r.test.Turns(ctx)
	} else {
		r.report, r.err = r.test.Bandwidth(ctx)
	}
	return r
}

// runBoth runs a test between two devices.
func runBoth(t *testing.T, o Options) (client, server outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	left, right := peertest.Devices(t, 4200)
	a, b := net.Pipe()
	context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	first := o
	first.Client = true
	done := make(chan outcome, 1)
	go func() {
		r := runSide(ctx, right, b, o)
		if r.err != nil {
			_ = b.Close()
		}
		done <- r
	}()
	client = runSide(ctx, left, a, first)
	_ = a.Close()
	server = <-done
	if client.err != nil || server.err != nil {
		t.Fatalf("client: %v, server: %v", client.err, server.err)
	}
	return client, server
}

// TestTestsRunOverAControl runs tests of which all goes over RDMA.
func TestTestsRunOverAControl(t *testing.T) {
	for _, o := range []Options{
		usual(Send, false, endpoint.RC, 3000), usual(Read, false, endpoint.RC, 3000), usual(Send, true, endpoint.RC, 8),
	} {
		o.QPs = 2
		if o.Latency {
			o.QPs = 1
		}
		t.Run(fmt.Sprintf("%v/%v", o.Verb, o.Latency), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			left, right := peertest.Devices(t, 4200)
			side := func(dev *endpoint.Device, server netip.Addr, o Options) error {
				control, err := NewControl(ctx, dev, server, Port)
				if err != nil {
					return err
				}
				r := runSide(ctx, dev, control, o)
				if r.err != nil {
					return r.err
				}
				return errors.Join(r.test.Part(ctx), control.Close(ctx))
			}
			server := make(chan error, 1)
			go func() { server <- side(right, netip.Addr{}, o) }()
			first := o
			first.Client = true
			if err := errors.Join(side(left, netip.MustParseAddr("10.0.0.2"), first), <-server); err != nil {
				t.Error(err)
			}
		})
	}
}

func usual(verb Verb, latency bool, typ endpoint.Type, size int) Options {
	return Options{
		Verb: verb, Latency: latency, Type: typ, Size: size,
		Iterations: 300, QPs: 1, TxDepth: 16, RxDepth: 300, MTU: 1024, OutReads: 4,
	}
}

func TestBandwidthTestsReport(t *testing.T) {
	both := usual(Write, false, endpoint.RC, 100)
	both.Both, both.QPs = true, 3
	bothSend := usual(Send, false, endpoint.RC, 5000)
	bothSend.Both, bothSend.QPs = true, 2
	few := usual(Send, false, endpoint.RC, 100)
	few.RxDepth = 3
	for _, o := range []Options{
		usual(Send, false, endpoint.RC, 10000), usual(Send, false, endpoint.UC, 2000), usual(Send, false, endpoint.UD, 1000),
		usual(Write, false, endpoint.RC, 65536), usual(Write, false, endpoint.UC, 1),
		usual(Read, false, endpoint.RC, 9000), usual(Atomic, false, endpoint.RC, 8), both, bothSend, few,
	} {
		t.Run(fmt.Sprintf("%v/%v/%d/%v", o.Verb, o.Type, o.Size, o.Both), func(t *testing.T) {
			client, server := runBoth(t, o)
			for _, r := range []Report{client.report, server.report} {
				if r.Size != uint64(o.Size) || r.Iterations != uint64(o.Iterations*o.QPs) || r.Average <= 0 || r.Rate <= 0 {
					t.Errorf("%+v", r)
				}
			}
			if o.Verb != Send && client.report != server.report && !o.Both {
				t.Errorf("the client reports %+v, the server %+v", client.report, server.report)
			}
			if client.report.Peak < client.report.Average*0.99 {
				t.Errorf("the peak is less than the average: %+v", client.report)
			}
		})
	}
}

func TestLatencyTestsReport(t *testing.T) {
	for _, o := range []Options{
		usual(Send, true, endpoint.RC, 2), usual(Send, true, endpoint.UC, 2000), usual(Send, true, endpoint.UD, 1000),
		usual(Write, true, endpoint.RC, 2), usual(Write, true, endpoint.RC, 5000),
		usual(Read, true, endpoint.RC, 4000), usual(Atomic, true, endpoint.RC, 8),
	} {
		t.Run(fmt.Sprintf("%v/%v/%d", o.Verb, o.Type, o.Size), func(t *testing.T) {
			client, server := runBoth(t, o)
			r := client.latency
			if r.Iterations != o.Iterations || r.Min <= 0 || r.Min > r.Typical || r.Typical > r.Percentile99 || r.Percentile999 > r.Max ||
				r.Average < r.Min || r.Average > r.Max {
				t.Errorf("%+v", r)
			}
			if answers := o.Verb.reads(); (server.latency.Max == 0) != answers {
				t.Errorf("the server has %+v", server.latency)
			}
		})
	}
}

// TestAtomicsAdd sums up what the server's memory holds: each request has added
// one, somewhere in the cycle buffer.
func TestAtomicsAdd(t *testing.T) {
	_, server := runBoth(t, usual(Atomic, false, endpoint.RC, 8))
	sum, used := uint64(0), 0
	memory := server.test.Memory(0)
	for i := 0; i+8 <= len(memory); i += 8 {
		if n := binary.NativeEndian.Uint64(memory[i:]); n > 0 {
			sum += n
			used++
		}
	}
	if sum != 300 || used != usualCycleBuffer/usualCacheLine {
		t.Errorf("%d were added, in %d places", sum, used)
	}
}

func TestOptionsThatDoNotGoTogetherAreRefused(t *testing.T) {
	good := usual(Send, false, endpoint.RC, 1)
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for desc, change := range map[string]func(*Options){
		"UD without SEND":        func(o *Options) { o.Type, o.Verb = endpoint.UD, Write },
		"UC with READ":           func(o *Options) { o.Type, o.Verb = endpoint.UC, Read },
		"latency of two":         func(o *Options) { o.Latency, o.QPs = true, 2 },
		"latency both ways":      func(o *Options) { o.Latency, o.Both = true, true },
		"latency of one":         func(o *Options) { o.Latency, o.Iterations = true, 1 },
		"atomics both ways":      func(o *Options) { o.Verb, o.Size, o.Both = Atomic, 8, true },
		"atomic of 4":            func(o *Options) { o.Verb, o.Size = Atomic, 4 },
		"nothing":                func(o *Options) { o.Size = 0 },
		"no iteration":           func(o *Options) { o.Iterations = 0 },
		"no queue pair":          func(o *Options) { o.QPs = 0 },
		"no depth":               func(o *Options) { o.RxDepth = 0 },
		"too many reads at once": func(o *Options) { o.OutReads = 256 },
	} {
		o := good
		change(&o)
		if err := o.Check(); err == nil {
			t.Errorf("%s: no error", desc)
		}
	}
}

func TestPeakIsTheFastestRun(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	w := stopwatch{
		posted:    []time.Time{at(0), at(100), at(200)},
		completed: []mark{{at(100), 1}, {at(110), 2}, {at(300), 3}},
	}
	r := w.report(mebi)
	if r.Average < 9.99 || r.Average > 10.01 || r.Peak < 99.9 || r.Peak > 100.1 {
		t.Errorf("%+v, want 10 MiB/s on average and 100 at the peak", r)
	}
}
