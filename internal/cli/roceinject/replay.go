package roceinject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

var (
	// errDifferent says that the live peer did not do what was expected of it:
	// what the recorded one did, or to send back what it was sent.
	errDifferent = errors.New("the peer did not answer as expected")
	// errInterrupted says that the conversation was not played to its end.
	errInterrupted = errors.New("interrupted")
)

// replayOptions are the flags of `roceinject replay`.
type replayOptions struct {
	streams      cli.Streams
	iface, write string
	maps, pairs  []string
	as           string
	timing, rate string
	fix          bool
	react        bool
	timeout      time.Duration
	retries      int
	bypass       bool
	yesReally    bool

	side side // whose frames are sent, as --as says
}

func newReplay(s cli.Streams) *cobra.Command {
	o := &replayOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "replay FILE -i INTERFACE | -w OUT",
		Short: "Send a recorded conversation again, with other addresses, queue pairs and keys",
		Long: `replay sends the frames of a capture on an interface, or writes them to a file.
On the way --map changes addresses, queue pairs, PSNs, keys and ports. Checksums
and ICRC follow; one that was wrong stays wrong, unless --fix is given. A frame
that no rule concerns is not changed.

  --map mac:OLD=NEW, ip:OLD=NEW, lid:OLD=NEW, port:OLD=NEW, rkey:OLD=NEW
  --map qp:0x11=0x2a            or qp:0x11@10.0.0.2=0x2a, of one host alone
  --map psn:0x11=+1000          the PSNs of what goes to QP 0x11, and of its answers
  --map psn:0x11=0x500          so that the first one is 0x500
  --map va:0x1eac0000=0x7f0000000000   and what lies above; va:0x1000+0x100=0x9000 a range

With --react, one side of the conversation (--as) is run against a live peer: a
frame is sent when all that the recorded peer had sent before it has come. Where
the recording makes the connection by CM, the live peer's QP, PSN and
communication ID are taken from its REP, or REQ. Answers that differ are
reported, and the exit code is 1.

Unless --timing or --rate say otherwise, the times of the capture are kept and at
most 10000 packets a second are sent. An interface that carries a default route is
refused without --yes-really. Ctrl-C stops at once.`,
		Example: `  roceinject replay rc.pcap -w other.pcap --map qp:0x11=0x2a --map ip:10.0.0.2=10.9.0.2
  roceinject replay rc.pcap -i veth0 --as 10.0.0.1 --timing 10x
  roceinject replay rc.pcap -i veth0 --as 10.0.0.1 --react --map qp:0x11=0x2a --map psn:0x11=0x500`,
		Args: words(1, 1, "replay which capture? One FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program
			return o.run(ctx, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.iface, "interface", "i", "", "send on `INTERFACE`")
	f.StringVarP(&o.write, "write", "w", "", "write to `OUT` instead (pcap or pcapng by its name; - is stdout)")
	f.StringArrayVar(&o.maps, "map", nil, "change a value: `KIND:OLD=NEW` (repeatable)")
	f.StringArrayVar(&o.pairs, "pair", nil, "say that two QPs talk to each other: `QPN@ADDRESS=QPN@ADDRESS` (repeatable)")
	f.StringVar(&o.as, "as", "", "take the frames that `ADDRESS` sent alone: IP, GID or MAC")
	f.StringVar(&o.timing, "timing", "", "`HOW` fast: keep, max, or 2x for twice as fast")
	f.StringVar(&o.rate, "rate", "", "send at most at `RATE`: 100kpps, 2.5Gbps, or max")
	f.BoolVar(&o.fix, "fix", false, "make wrong checksums and CRCs right")
	f.BoolVar(&o.react, "react", false, "wait for the live peer where the recorded one had answered")
	f.DurationVar(&o.timeout, "timeout", 500*time.Millisecond, "wait so long for an answer (`DURATION`), with --react")
	f.IntVar(&o.retries, "retries", 3, "send `N` times again what is not answered, with --react")
	f.BoolVar(&o.bypass, "qdisc-bypass", false, "hand packets to the driver past the kernel's traffic control")
	f.BoolVar(&o.yesReally, "yes-really", false, "send on an interface that carries a default route")
	return cmd
}

func (o *replayOptions) run(ctx context.Context, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := spare(name, o.write); err != nil {
		return err
	}
	rules, err := o.rules()
	if err != nil {
		return err
	}
	facts, err := o.learn(ctx, name, rules)
	if err != nil {
		return err
	}
	engine := rewrite.New(rules, facts, o.fix)
	switch {
	case o.write != "":
		err = o.toFile(ctx, name, engine)
	case o.react:
		err = o.toPeer(ctx, name, engine)
	default:
		err = o.toInterface(ctx, name, engine)
	}
	for _, text := range engine.Unused() {
		fmt.Fprintf(o.streams.Err, "roceinject: --map %s: no frame has it\n", text)
	}
	return err
}

// check refuses flags that do not go together.
func (o *replayOptions) check() (err error) {
	switch {
	case o.iface != "" && o.write != "":
		return errors.New("-i and -w exclude each other")
	case o.iface == "" && o.write == "":
		return errors.New("replay where to? -i INTERFACE, or -w OUT")
	case o.write != "" && (o.react || o.rate != ""):
		return errors.New("--react and --rate go with -i")
	case o.react && o.as == "":
		return errors.New("--react: which side is ours? --as ADDRESS")
	case o.timeout <= 0 || o.retries < 0:
		return errors.New("--timeout must be more than 0, --retries not less")
	}
	o.side, err = parseSide(o.as)
	return err
}

// spare refuses to write over the file that is read.
func spare(in, out string) error {
	read, err := os.Stat(in)
	if err != nil || out == "" {
		return nil // opening it says why
	}
	if written, err := os.Stat(out); err == nil && os.SameFile(read, written) {
		return fmt.Errorf("%s would be written over while it is read", in)
	}
	return nil
}

func (o *replayOptions) rules() (*rewrite.Rules, error) {
	rules := &rewrite.Rules{}
	for _, text := range o.maps {
		if err := rules.Add(text); err != nil {
			return nil, fmt.Errorf("--map %w", err)
		}
	}
	return rules, nil
}

// learn reads the capture for what the rules have to know of it.
func (o *replayOptions) learn(ctx context.Context, name string, rules *rewrite.Rules) (*rewrite.Facts, error) {
	facts := &rewrite.Facts{}
	for _, text := range o.pairs {
		a, b, ok := strings.Cut(text, "=")
		from, err := rewrite.ParseEndpoint(a)
		to, err2 := rewrite.ParseEndpoint(b)
		if !ok || err != nil || err2 != nil || !from.Addr.IsValid() || !to.Addr.IsValid() {
			return nil, fmt.Errorf("--pair %s: want QPN@ADDRESS=QPN@ADDRESS", text)
		}
		facts.Pair(from, to)
	}
	if !rules.HasPSN() && !o.react {
		return facts, nil
	}
	if name == "-" {
		return nil, errors.New("PSN rules and --react read the capture twice: give a file")
	}
	var f wire.Frame
	err := eachRecord(ctx, name, func(_ *capfile.Reader, rec *capfile.Record, _ int64) error {
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		facts.Learn(&f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if _, unclear := facts.Pairs(); len(unclear) > 0 {
		return nil, fmt.Errorf("which QP %v talks to is not clear from the capture, and so for %d QPs in all: say it with --pair", unclear[0], len(unclear))
	}
	return facts, nil
}

// eachRecord calls f for each record of a capture until the context ends.
func eachRecord(ctx context.Context, name string, f func(r *capfile.Reader, rec *capfile.Record, number int64) error) error {
	r, err := capfile.Open(name)
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		var batch *capfile.Batch
		if batch, err = r.Next(); err != nil {
			break
		}
		for i := range batch.Records {
			if err = f(r, &batch.Records[i], batch.First+int64(i)); err != nil {
				break
			}
		}
		batch.Release()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, r.Close())
}

// side is one host of a capture; the zero side is all of them.
type side struct {
	addr netip.Addr
	mac  [macLen]byte
	any  bool
}

func parseSide(text string) (s side, err error) {
	if text == "" {
		return side{any: true}, nil
	}
	if s.addr, err = netip.ParseAddr(text); err == nil {
		s.addr = s.addr.Unmap()
		return s, nil
	}
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != macLen {
		return s, fmt.Errorf("--as %s: want an IP address, a GID or a MAC address", text)
	}
	copy(s.mac[:], mac)
	return s, nil
}

// sent and gets report whether the host has sent a frame, or is to get it.
func (s side) sent(f *wire.Frame) bool {
	src, _ := f.Addresses()
	h := f.View(wire.HdrEthernet)
	return s.any || s.addr.IsValid() && src == s.addr ||
		!s.addr.IsValid() && len(h) >= wire.EthernetLen && wire.Ethernet(h).Src() == s.mac
}

func (s side) gets(f *wire.Frame) bool {
	_, dst := f.Addresses()
	h := f.View(wire.HdrEthernet)
	return s.any || s.addr.IsValid() && dst == s.addr ||
		!s.addr.IsValid() && len(h) >= wire.EthernetLen && wire.Ethernet(h).Dst() == s.mac
}

// speed is how fast the times of the capture go by; 0 leaves no gaps.
func (o *replayOptions) speed() (float64, error) {
	switch o.timing {
	case "":
		return 1, nil
	case "max":
		return 0, nil
	}
	speed, err := parseTiming(o.timing)
	if err != nil {
		err = fmt.Errorf("%w, or max", err)
	}
	return speed, err
}

// limit is the rate that is not exceeded: the one asked for, or one that spares
// a network, when nothing is asked for.
func (o *replayOptions) limit() (rate, error) {
	switch {
	case o.rate != "":
		return parseRate(o.rate)
	case o.timing != "":
		return rate{}, nil
	}
	return defaultRate(), nil
}

// cost is how long a frame must take at a rate, nil for none.
func (r rate) cost() func(length int) int64 {
	switch {
	case r.perSecond == 0:
		return nil
	case r.bits:
		return func(length int) int64 { return r.timeOf(8 * uint64(length)) }
	}
	each := r.timeOf(1)
	return func(int) int64 { return each }
}

// scale is a time of the capture at a speed.
func scale(t int64, speed float64) int64 {
	if speed == 1 {
		return t
	}
	return int64(math.Round(float64(t) / speed))
}
