package roceinject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/craft/script"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// sendOptions are the flags of `roceinject send`.
type sendOptions struct {
	streams cli.Streams
	recipe  recipeFlags
	flags   *pflag.FlagSet

	iface, write  string // where to
	file, capture string // what, instead of an opcode

	rate, timing, loop string
	burst, senders     int
	count              uint64
	bypass             bool
	yesReally          bool
	dryRun             bool
}

func newSend(s cli.Streams) *cobra.Command {
	o := &sendOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "send [OPCODE | -f SCRIPT | -r CAPTURE] -i INTERFACE",
		Short: "Send crafted or captured packets on an interface",
		Long: `send makes packets as craft does, or takes them from a capture, and sends them on
an interface; or writes them to a file with -w.

Without --rate it sends 10000 packets a second at most. An interface that
carries a default route is refused without --yes-really. Ctrl-C stops at once;
what was really sent is reported at the end.

What a crafted packet leaves open, the interface gives: the source MAC address,
and, when the destination IP is set, the source IP and the destination's MAC
address, asked for by ARP or neighbour discovery. A capture's frames are sent as
they are, but for --smac and --dmac.`,
		Example: `  roceinject send rc write-only -i veth0 --dst 10.0.0.2 --qp 0x11 --count 1000 --step infiniband.bth.psn=1
  roceinject send -f packets.yaml -i veth0 --loop forever --rate 2.5Gbps
  roceinject send -r recorded.pcap -i veth0 --timing keep
  roceinject send rc send-only -i veth0 --count 1000000 --rate max
  roceinject send -f packets.yaml --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program
			return o.run(ctx, args)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *sendOptions) register(f *pflag.FlagSet) {
	o.recipe.register(f)
	o.flags = f
	f.StringVarP(&o.iface, "interface", "i", "", "send on `INTERFACE`")
	f.StringVarP(&o.write, "write", "w", "", "write the packets to `FILE` instead (pcap or pcapng by its name; - is stdout)")
	f.StringVarP(&o.file, "file", "f", "", "send the packets of the YAML script `FILE`; - is the standard input")
	f.StringVarP(&o.capture, "read", "r", "", "send the frames of the capture `FILE`")
	f.StringVar(&o.rate, "rate", "", "send at `RATE`: 100kpps, 2.5Gbps, or max (default 10kpps)")
	f.IntVar(&o.burst, "burst", 1, "send in bursts of `N` packets, at the same rate on average")
	f.StringVar(&o.timing, "timing", "", "keep the times of a capture: `HOW` is keep, or 2x for twice as fast")
	f.Uint64Var(&o.count, "count", 0, "send `N` packets in all, beginning again as often as that takes")
	f.StringVar(&o.loop, "loop", "", "send everything `N` times, or forever")
	f.IntVar(&o.senders, "senders", 1, "send with `N` threads; with more than one, packets may overtake each other")
	f.BoolVar(&o.bypass, "qdisc-bypass", false, "hand packets to the driver past the kernel's traffic control")
	f.BoolVar(&o.yesReally, "yes-really", false, "send on an interface that carries a default route")
	f.BoolVar(&o.dryRun, "dry-run", false, "send nothing: print every field of the packets")
}

func (o *sendOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args); err != nil {
		return err
	}
	passes, err := o.passes()
	if err != nil {
		return err
	}
	pace, err := o.pace()
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.printAll(ctx, args, passes)
	}
	if o.write != "" {
		return o.toFile(ctx, args, &sending{pace: pace, passes: passes, limit: o.count})
	}
	return o.toInterface(ctx, args, &sending{pace: pace, passes: passes, limit: o.count})
}

// check refuses flags that do not go together.
func (o *sendOptions) check(args []string) error {
	what := 0
	for _, given := range []bool{len(args) > 0, o.file != "", o.capture != ""} {
		if given {
			what++
		}
	}
	switch {
	case what == 0:
		return errors.New("send what? An opcode (`rocecap opcodes` lists them), -f SCRIPT or -r CAPTURE")
	case what > 1:
		return errors.New("an opcode, -f and -r exclude each other")
	case o.iface != "" && o.write != "":
		return errors.New("-i and -w exclude each other")
	case o.iface == "" && o.write == "" && !o.dryRun:
		return errors.New("send where to? -i INTERFACE, or -w FILE")
	case o.timing != "" && o.capture == "":
		return errors.New("--timing: only a capture has times; it goes with -r")
	case o.timing != "" && (o.rate != "" || o.burst != 1):
		return errors.New("--timing and --rate or --burst exclude each other")
	case o.senders < 1 || o.senders > maxSenders:
		return fmt.Errorf("--senders %d: want 1 to %d", o.senders, maxSenders)
	case o.burst < 1:
		return fmt.Errorf("--burst %d: want at least one packet", o.burst)
	}
	if len(args) == 0 {
		if err := describesPacket(o.flags, "smac", "dmac"); err != nil {
			return err
		}
	}
	return spare(o.capture, o.write)
}

// script is what to make, of the flags or of a file.
func (o *sendOptions) script(args []string) (script.Script, error) {
	if o.file == "" {
		item, err := o.recipe.item(strings.Join(args, " "))
		return script.Script{item}, err
	}
	s, err := readScript(o.streams, o.file)
	if err != nil {
		return nil, err
	}
	return s, s.Recipes(o.recipe.hardware)
}

// source is what is sent. link is the interface, nil when there is none.
func (o *sendOptions) source(ctx context.Context, args []string, link *nic.Link, passes uint64) (source, error) {
	if o.capture != "" {
		smac, dmac, err := o.recipe.macs()
		if err != nil {
			return nil, err
		}
		return newCaptured(o.capture, smac, dmac, passes != 1 || o.count > 0), nil
	}
	s, err := o.script(args)
	if err != nil {
		return nil, err
	}
	if link != nil {
		a := &addressing{link: link, ask: !o.dryRun}
		err = s.Recipes(func(r *craft.Recipe) error { return a.fill(ctx, r) })
		if err != nil {
			return nil, err
		}
	}
	return newCrafted(s)
}
