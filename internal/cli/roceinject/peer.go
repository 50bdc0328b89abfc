package roceinject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
)

func newPeer(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "peer MODE",
		Short: "Be one end of a well-known RDMA program, from user space",
		Long: `peer takes the place of either end of the RDMA programs that everybody has: it
meets the other end as they do, then talks RoCEv2 to it from an address of its own
on an interface, past the kernel. It prints what they print.

Without HOST it is the server and waits; with HOST it is the client. The ends of
pingpong and perftest meet over TCP: HOST is where the other end listens, and this
machine's kernel carries that part. Those of rping, ucmatose, udaddy and of
perftest -R meet by rdma_cm, and HOST is the server's RDMA address.

The RDMA packets come from --ip and --mac, which must be nobody else's: peer
answers ARP and neighbour discovery for them itself.

It does everything right unless --policy or --fault say otherwise. An interface
that carries a default route is refused without --yes-really.`,
		Example: `  roceinject peer pingpong rc -i eth1 --ip 10.0.0.9
  roceinject peer pingpong ud -i eth1 --ip 10.0.0.9 10.0.0.2
  roceinject peer perftest write bw -i eth1 --ip 10.0.0.9 10.0.0.2
  roceinject peer raw -i eth1 --ip 10.0.0.9 --remote other.json`,
		RunE: func(_ *cobra.Command, args []string) error { // what no mode has taken
			const modes = "pingpong, perftest, rping, ucmatose, udaddy or raw"
			if len(args) > 0 {
				return fmt.Errorf("there is no mode %q: %s", args[0], modes)
			}
			return errors.New("peer of what? " + modes)
		},
		DisableFlagsInUseLine: true,
	}
	cmd.AddCommand(newPeerPingPong(s), newPeerPerftest(s), newPeerRping(s), newPeerUcmatose(s), newPeerUdaddy(s), newPeerRaw(s))
	return cmd
}

// interruptible ends what a command does at the first Ctrl-C; a second one ends
// the program.
func interruptible(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop)
		return run(ctx, args)
	}
}
