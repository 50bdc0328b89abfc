package roceinject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer/perftest"
)

// perftestOptions are the flags of `roceinject peer perftest`.
type perftestOptions struct {
	device     peerDevice
	tcp        peerTCP
	test       perftest.Options
	connection string
	atomic     string
	cm         bool
	flags      *pflag.FlagSet
}

func newPeerPerftest(s cli.Streams) *cobra.Command {
	o := &perftestOptions{device: peerDevice{streams: s}}
	cmd := &cobra.Command{
		Use:   "perftest send|write|read|atomic bw|lat [HOST]",
		Short: "Be an end of ib_send_bw, ib_write_lat or another of perftest's programs",
		Long: `perftest is either end of ib_send_bw, ib_write_bw, ib_read_bw, ib_atomic_bw and of
their _lat twins. The other end has to be started with the same flags;
a flag that both have is named alike here, but for -i, -c and -u (--timeout).`,
		Example: `  roceinject peer perftest send bw -i eth1 --ip 10.0.0.9
  roceinject peer perftest read lat -i eth1 --ip 10.0.0.9 -s 4096 10.0.0.2`,
		Args: words(2, 3, "which test? send, write, read or atomic, and bw or lat"),
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.flags = f
	o.device.register(f)
	o.tcp.register(f, perftest.Port)
	t := &o.test
	f.StringVarP(&o.connection, "connection", "c", "RC", "use queue pairs of `TYPE` RC, UC or UD")
	f.StringVarP(&o.atomic, "atomic_type", "A", "FETCH_AND_ADD", "send atomics of `TYPE` FETCH_AND_ADD or CMP_AND_SWAP")
	f.IntVarP(&t.Size, "size", "s", 0, "exchange messages of `N` bytes (default 65536 for bw, 2 for lat, 8 for atomics)")
	f.IntVarP(&t.Iterations, "iters", "n", 0, "exchange `N` messages in each queue pair (default 1000; write bw 5000)")
	f.IntVarP(&t.QPs, "qp", "q", 1, "use `N` queue pairs")
	f.IntVarP(&t.TxDepth, "tx-depth", "t", 128, "have `N` requests outstanding in a queue pair")
	f.IntVarP(&t.RxDepth, "rx-depth", "r", 512, "post `N` receives in a queue pair")
	f.IntVarP(&t.MTU, "mtu", "m", 0, "have a path MTU of `N` at most: 256, 512, 1024, 2048 or 4096 (default: what fits)")
	f.IntVarP(&t.OutReads, "outs", "o", 128, "have `N` READs or atomics under way")
	f.BoolVarP(&o.cm, "rdma_cm", "R", false, "meet and connect by rdma_cm instead of TCP (RC); HOST is then the server's RDMA address")
	f.BoolVarP(&t.Both, "bidirectional", "b", false, "send from both ends")
	f.IntVarP(&t.GID, "gid-index", "x", 0, "use the `N`-th of --ip, from 0")
	return cmd
}

// check makes a test's options of the words and the flags.
func (o *perftestOptions) check(verb, kind string) (err error) {
	t := &o.test
	if t.Verb, err = perftest.ParseVerb(verb); err != nil {
		return err
	}
	if kind != "bw" && kind != "lat" {
		return fmt.Errorf("a test is of bandwidth or latency: bw or lat, not %q", kind)
	}
	t.Latency = kind == "lat"
	types := map[string]endpoint.Type{"RC": endpoint.RC, "UC": endpoint.UC, "UD": endpoint.UD}
	if t.Type = types[o.connection]; t.Type == 0 {
		return fmt.Errorf("--connection %s: want RC, UC or UD", o.connection)
	}
	switch o.atomic {
	case "FETCH_AND_ADD":
	case "CMP_AND_SWAP":
		t.Swap = true
	default:
		return fmt.Errorf("--atomic_type %s: want FETCH_AND_ADD or CMP_AND_SWAP", o.atomic)
	}
	if t.MTU != 0 && !isPathMTU(t.MTU) {
		return fmt.Errorf("--mtu %d: want 256, 512, 1024, 2048 or 4096", t.MTU)
	}
	if o.cm && t.Type != endpoint.RC {
		return errors.New("-R: rdma_cm connects queue pairs of RC alone")
	}
	if n := len(o.device.addresses); n > 0 && (t.GID < 0 || t.GID >= n) {
		return fmt.Errorf("--gid-index %d: want 0 to %d, one for each --ip", t.GID, n-1)
	}
	if t.QPs > maxPerftestQPs || t.TxDepth > maxDepth || t.RxDepth > maxDepth {
		return fmt.Errorf("--qp and the depths: want at most %d and %d", maxPerftestQPs, maxDepth)
	}
	o.defaults()
	return t.Check()
}

// maxPerftestQPs is more than any test needs.
const maxPerftestQPs = 1 << 14

// defaults fills in what the flags leave open, as the originals do.
func (o *perftestOptions) defaults() {
	t := &o.test
	if !o.flags.Changed("iters") {
		t.Iterations = 1000
		if t.Verb == perftest.Write && !t.Latency {
			t.Iterations = 5000
		}
	}
	if o.flags.Changed("size") {
		return
	}
	switch {
	case t.Verb == perftest.Atomic:
		t.Size = 8
	case t.Latency:
		t.Size = 2
	default:
		t.Size = 65536
	}
}

func (o *perftestOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args[0], args[1]); err != nil {
		return err
	}
	return o.device.during(ctx, func(ctx context.Context, dev *endpoint.Device) error {
		return cause(ctx, o.measure(ctx, dev, args[2:]))
	})
}

func (o *perftestOptions) measure(ctx context.Context, dev *endpoint.Device, hosts []string) error {
	t := &o.test
	t.Client = len(hosts) > 0
	if t.MTU == 0 {
		t.MTU = dev.MTU()
	}
	if t.Type == endpoint.UD {
		t.Size = min(t.Size, t.MTU) // the originals do the same, with a remark
	}
	t.Change = o.device.attributes(0)
	if !t.Client && !o.device.json {
		fmt.Fprint(o.device.streams.Out, perftestWaiting)
	}
	if o.cm {
		return o.byCM(ctx, dev, hosts)
	}
	conn, err := o.tcp.meet(ctx, hosts)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := o.over(ctx, dev, conn); err != nil {
		return err
	}
	o.tcp.part(ctx, conn)
	return nil
}

// byCM runs the test over a control connection of rdma_cm.
func (o *perftestOptions) byCM(ctx context.Context, dev *endpoint.Device, hosts []string) error {
	finder := rdmaCM{port: o.tcp.port}
	server, err := finder.server(ctx, hosts, dev)
	if err != nil {
		return err
	}
	control, err := perftest.NewControl(ctx, dev, server.Addr(), o.tcp.port)
	if err != nil {
		return err
	}
	test, err := o.over(ctx, dev, control)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, partingPatience)
	defer cancel()
	return errors.Join(test.Part(ctx), control.Close(ctx))
}

// over runs the test over a connection.
func (o *perftestOptions) over(ctx context.Context, dev *endpoint.Device, conn io.ReadWriter) (*perftest.Test, error) {
	talk := &perftest.Talk{Conn: conn, Client: o.test.Client}
	test, err := perftest.New(dev, talk, o.test)
	if err != nil {
		return nil, err
	}
	if err := test.Meet(ctx); err != nil {
		return nil, err
	}
	page := &perftestPage{out: o.device.streams.Out, device: o.device.iface, test: test, cm: o.cm, quiet: o.device.json}
	page.head()
	return test, o.result(ctx, test, page)
}

// result runs the test and prints how it went.
func (o *perftestOptions) result(ctx context.Context, test *perftest.Test, page *perftestPage) error {
	if o.test.Latency {
		r, err := test.Turns(ctx)
		if err != nil {
			return err
		}
		return o.print(page, r, func() { page.latency(r) })
	}
	r, err := test.Bandwidth(ctx)
	if err != nil {
		return err
	}
	return o.print(page, r, func() { page.bandwidth(r) })
}

func (o *perftestOptions) print(page *perftestPage, result any, text func()) error {
	if o.device.json {
		return json.NewEncoder(page.out).Encode(result)
	}
	text()
	return page.err
}
