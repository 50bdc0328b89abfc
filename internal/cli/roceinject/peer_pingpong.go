package roceinject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer/pingpong"
)

// pingPongOptions are the flags of `roceinject peer pingpong`.
type pingPongOptions struct {
	device peerDevice
	tcp    peerTCP
	game   pingpong.Options
	mtu    int
	flags  *pflag.FlagSet
}

func newPeerPingPong(s cli.Streams) *cobra.Command {
	o := &pingPongOptions{device: peerDevice{streams: s}}
	cmd := &cobra.Command{
		Use:   "pingpong rc|uc|ud|srq [HOST]",
		Short: "Be an end of ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong or ibv_srq_pingpong",
		Long: `pingpong sends a message and gets one back, over and over, as rdma-core's examples
do. The other end has to be told a GID, as with ibv_rc_pingpong -g 1, and the same
size and number of iterations.`,
		Example: `  roceinject peer pingpong rc -i eth1 --ip 10.0.0.9 10.0.0.2
  roceinject peer pingpong srq -i eth1 --ip fd00::9 -n 100`,
		Args: words(1, 2, "which ping-pong? rc, uc, ud or srq"),
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.flags = f
	o.device.register(f)
	o.tcp.register(f, pingpong.Port)
	f.IntVarP(&o.game.Size, "size", "s", 0, "exchange messages of `N` bytes (default 4096, ud 1024)")
	f.IntVarP(&o.mtu, "mtu", "m", 1024, "have the path MTU `N`: 256, 512, 1024, 2048 or 4096 (not ud)")
	f.IntVarP(&o.game.QPs, "num-qp", "q", 16, "use `N` queue pairs (srq)")
	f.IntVarP(&o.game.RxDepth, "rx-depth", "r", 500, "post `N` receives at a time")
	f.IntVarP(&o.game.Iterations, "iters", "n", 1000, "exchange `N` messages")
	f.BoolVarP(&o.game.Check, "chk", "c", false, "check what is received")
	return cmd
}

// check makes a game's options of the mode and the flags.
func (o *pingPongOptions) check(mode string) error {
	g := &o.game
	switch mode {
	case "rc", "srq":
		g.Type = endpoint.RC
	case "uc":
		g.Type = endpoint.UC
	case "ud":
		g.Type = endpoint.UD
	default:
		return fmt.Errorf("there is no ping-pong %q: rc, uc, ud or srq", mode)
	}
	if g.Shared = mode == "srq"; !g.Shared {
		g.QPs = 1
	}
	if !o.flags.Changed("size") {
		g.Size = 4096
		if mode == "ud" {
			g.Size = 1024
		}
	}
	switch {
	case !isPathMTU(o.mtu):
		return fmt.Errorf("--mtu %d: want 256, 512, 1024, 2048 or 4096", o.mtu)
	case g.Size < 1 || g.Size > 1<<30 || g.Iterations < 1:
		return errors.New("--size and --iters: want at least 1, and no message over 1 GiB")
	case g.QPs > maxPingPongQPs || g.RxDepth > maxDepth:
		return fmt.Errorf("--num-qp and --rx-depth: want at most %d and %d", maxPingPongQPs, maxDepth)
	case g.RxDepth < g.QPs || g.QPs < 1:
		return errors.New("--rx-depth: want at least one receive for each queue pair, and --num-qp at least one of them")
	}
	return nil
}

// What is more is a slip of the pen, and would fill the memory.
const (
	maxPingPongQPs = 256 // as with ibv_srq_pingpong
	maxDepth       = 1 << 16
)

// isPathMTU reports whether InfiniBand has such a path MTU.
func isPathMTU(n int) bool { return n >= 256 && n <= 4096 && n&(n-1) == 0 }

func (o *pingPongOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args[0]); err != nil {
		return err
	}
	var report pingPongReport
	err := o.device.during(ctx, func(ctx context.Context, dev *endpoint.Device) (err error) {
		report, err = o.play(ctx, dev, args[1:])
		return err
	})
	if err != nil {
		return err
	}
	return o.print(report)
}

// pingPongReport is what --json prints.
type pingPongReport struct {
	Local      []pingPongAddress `json:"local"`
	Remote     []pingPongAddress `json:"remote"`
	Bytes      uint64            `json:"bytes"`
	Iterations int               `json:"iterations"`
	Seconds    float64           `json:"seconds"`
	Bad        int               `json:"bad_messages"`
}

type pingPongAddress struct {
	QPN uint32 `json:"qpn"`
	PSN uint32 `json:"psn"`
	GID string `json:"gid"`
}

func (o *pingPongOptions) play(ctx context.Context, dev *endpoint.Device, hosts []string) (report pingPongReport, err error) {
	o.game.Client = len(hosts) > 0
	mtu := o.mtu
	if o.game.Type == endpoint.UD {
		mtu = 0 // a datagram may be as long as the link allows, as with the original
	}
	o.game.Change = o.device.attributes(mtu)
	game, err := pingpong.New(dev, o.game)
	if err != nil {
		return report, err
	}
	o.say("  local address:  ", game.Local(), o.game.Type == endpoint.UD)
	if err := o.meet(ctx, game, hosts); err != nil {
		return report, cause(ctx, err)
	}
	o.say("  remote address: ", game.Remote(), false)
	result, err := game.Run(ctx)
	return pingPongReport{
		Local: inJSON(game.Local()), Remote: inJSON(game.Remote()),
		Bytes: result.Bytes, Iterations: result.Iterations, Seconds: result.Took.Seconds(), Bad: result.Bad,
	}, err
}

func (o *pingPongOptions) meet(ctx context.Context, game *pingpong.Game, hosts []string) error {
	conn, err := o.tcp.meet(ctx, hosts)
	if err != nil {
		return err
	}
	defer conn.Close()
	meeting := pingpong.Meeting{
		Conn: conn, Client: o.game.Client, Shared: o.game.Shared, Local: game.Local(),
		Connect: func(remote []pingpong.Address) error { return game.Connect(ctx, remote) },
	}
	return meeting.Run()
}

// say prints addresses as the examples do. ibv_ud_pingpong has a colon where
// the others have a comma.
func (o *pingPongOptions) say(what string, list []pingpong.Address, colon bool) {
	if o.device.json {
		return
	}
	for _, a := range list {
		text := a.String()
		if colon {
			text = strings.Replace(text, ", GID", ": GID", 1)
		}
		fmt.Fprintln(o.device.streams.Out, what+text)
	}
}

func (o *pingPongOptions) print(r pingPongReport) error {
	out := o.device.streams.Out
	if o.device.json {
		return json.NewEncoder(out).Encode(r)
	}
	took := time.Duration(r.Seconds * float64(time.Second))
	us := float64(took) / float64(time.Microsecond)
	text := fmt.Sprintf("%d bytes in %.2f seconds = %.2f Mbit/sec\n%d iters in %.2f seconds = %.2f usec/iter\n",
		r.Bytes, r.Seconds, float64(r.Bytes)*8/us, r.Iterations, r.Seconds, us/float64(r.Iterations))
	if r.Bad > 0 {
		text += fmt.Sprintf("%d messages did not come as they were sent\n", r.Bad)
	}
	if _, err := fmt.Fprint(out, text); err != nil {
		return err
	}
	if r.Bad > 0 {
		return errDifferent
	}
	return nil
}

func inJSON(list []pingpong.Address) (out []pingPongAddress) {
	for _, a := range list {
		out = append(out, pingPongAddress{a.QPN, uint32(a.PSN), a.GID.Unmap().String()})
	}
	return out
}
