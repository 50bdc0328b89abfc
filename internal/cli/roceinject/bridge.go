package roceinject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/impair"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/offload"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

// bridgeOptions are the flags of `roceinject bridge`.
type bridgeOptions struct {
	streams  cli.Streams
	rules    string
	write    string
	duration time.Duration
	sure     bool
}

func newBridge(s cli.Streams) *cobra.Command {
	o := &bridgeOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "bridge IF1 IF2",
		Short: "Pass frames between two interfaces, impaired by rules",
		Long: `bridge passes every frame that comes in by one interface out by the other, as a
cable would. Rules pick frames by queue pair, direction, opcode, PSN, message or
display filter, and drop, duplicate, delay, reorder, corrupt, mark, rewrite or
answer them. What no rule picks passes untouched.

It stops after --duration or at Ctrl-C, and then says what it did. In the
capture of -w a frame that goes through is there twice, at the interface that
it came in by and at the one that it left by; what was done to it is its comment.`,
		Example: `  roceinject bridge tap0 tap1
  roceinject bridge tap0 tap1 --rules lose.yaml -w both.pcapng --duration 10s`,
		Args: words(2, 2, "bridge what? Two interfaces: IF1 IF2"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run([2]string(args)) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rules, "rules", "", "impair by the rules in `FILE` (YAML)")
	f.StringVarP(&o.write, "write", "w", "", "write both sides to the pcapng `FILE`")
	f.DurationVar(&o.duration, "duration", 0, "stop after so long, such as `10s`")
	f.BoolVar(&o.sure, "yes-really", false, "bridge an interface that a default route uses")
	return cmd
}

func (o *bridgeOptions) run(names [2]string) error {
	if names[0] == names[1] {
		return errors.New("bridge: want two different interfaces")
	}
	if o.duration < 0 {
		return fmt.Errorf("--duration %v: want more than 0", o.duration)
	}
	config, err := o.readRules()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.checkRoutes(ctx, names); err != nil {
		return err
	}
	b, err := openBridge(names, fault.NewEngine(config))
	if err != nil {
		return err
	}
	if o.write != "" {
		if b.capture, err = createCapture(o.write, names); err != nil {
			b.close()
			return err
		}
	}
	if o.duration > 0 {
		ctx, stop = context.WithTimeout(ctx, o.duration)
		defer stop()
	}
	o.warn(names)
	fmt.Fprintf(o.streams.Err, "bridging %s and %s with %d rules; Ctrl-C stops\n", names[0], names[1], len(config.Rules))
	err = b.run(ctx)
	if b.capture != nil {
		err = errors.Join(err, b.capture.close(b.ends))
	}
	b.report(o.reportTo())
	return err
}

// warn tells of offloads by which frames do not go out as they came in.
func (o *bridgeOptions) warn(names [2]string) {
	for _, name := range names {
		on, err := offload.On(name)
		if err != nil {
			continue // not every driver can be asked
		}
		for _, what := range on {
			if !what.Merges() {
				continue
			}
			fmt.Fprintf(o.streams.Err, "warning: %s has %s on, which merges received TCP segments; they are parted again, but not always as they came: ethtool -K %s %s off\n",
				name, what, name, what)
		}
	}
}

// reportTo is where the report goes: not into a capture.
func (o *bridgeOptions) reportTo() io.Writer {
	if o.write == "-" {
		return o.streams.Err
	}
	return o.streams.Out
}

func (o *bridgeOptions) readRules() (fault.Config, error) {
	if o.rules == "" {
		return fault.Config{}, nil
	}
	text, err := os.ReadFile(o.rules)
	if err != nil {
		return fault.Config{}, err
	}
	config, err := impair.Parse(text, compileFilter)
	if err != nil {
		return fault.Config{}, fmt.Errorf("%s: %w", o.rules, err)
	}
	return config, nil
}

// compileFilter makes a condition of a display filter. The conditions of one
// bridge are used by its loop alone.
func compileFilter(src string) (func(*wire.Frame) bool, error) {
	compiled, err := filter.Compile(src)
	if err != nil {
		return nil, err
	}
	p := packet.Packet{Interface: -1, FCSLen: -1}
	var scratch filter.Scratch
	return func(f *wire.Frame) bool {
		p.Number++
		p.Parse(f.Link, f.Data, f.WireLen)
		return compiled.Match(&p, &scratch)
	}, nil
}

// checkRoutes refuses interfaces that the machine's own traffic needs.
func (o *bridgeOptions) checkRoutes(ctx context.Context, names [2]string) error {
	if o.sure {
		return nil
	}
	for _, name := range names {
		link, err := host.LinkByName(ctx, name)
		if err != nil {
			return fmt.Errorf("interface %w", err)
		}
		used, err := host.CarriesDefaultRoute(ctx, link.Index)
		if err != nil {
			return err
		}
		if used {
			return fmt.Errorf("interface %s carries a default route; --yes-really bridges it all the same", name)
		}
	}
	return nil
}

// report says what passed in each direction and what each rule did.
func (b *bridge) report(w io.Writer) {
	var ways [2]string
	for d := range fault.Backward + 1 {
		in, out := b.ends[d], b.exit(d)
		ways[d] = in.link.Name() + " -> " + out.link.Name()
		arrived, _ := in.link.Stats() // the links are closed; the counts remain
		sent, _ := out.link.Stats()
		t := b.engine.Traffic(d)
		fmt.Fprintf(w, "%s: %d received, %d passed untouched, %d dropped, %d injected, %d sent\n",
			ways[d], t.Received, t.Passed, t.Dropped, t.Injected, sent.Sent)
		if arrived.Dropped > 0 {
			fmt.Fprintf(w, "  %d lost by the kernel: the bridge was too slow\n", arrived.Dropped)
		}
		if out.tooLong > 0 {
			fmt.Fprintf(w, "  %d not sent: too long for %s; switch segmentation and receive offloads (tso, gso, gro, lro) off\n", out.tooLong, out.link.Name())
		}
	}
	if n := b.engine.Waiting(); n > 0 {
		fmt.Fprintf(w, "%d delayed frames were not sent any more\n", n)
	}
	for i, c := range b.engine.RuleCounts() {
		for d, way := range ways {
			if c.Matched[d] == 0 && d > 0 {
				continue
			}
			fmt.Fprintf(w, "%s: %s: %d matched, %d acted on", b.engine.Label(i), way, c.Matched[d], c.Acted[d])
			if c.Unable[d] > 0 {
				fmt.Fprintf(w, ", %d could not be", c.Unable[d])
			}
			fmt.Fprintln(w)
		}
	}
}
