package roceinject

import (
	"context"
	"errors"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/ucmatose"
)

// ucmatoseOptions are the flags of `roceinject peer ucmatose`.
type ucmatoseOptions struct {
	rdmaCM
	test peer.Options
	mtu  int
}

func newPeerUcmatose(s cli.Streams) *cobra.Command {
	o := &ucmatoseOptions{rdmaCM: rdmaCM{device: peerDevice{streams: s}}}
	cmd := &cobra.Command{
		Use:   "ucmatose [HOST]",
		Short: "Be an end of ucmatose: connections by rdma_cm, and messages over each",
		Long: `ucmatose makes connections, over each of which the server sends messages and then
the client as many. Both ends have to be told the same numbers.
` + rdmaCMHelp,
		Example: `  roceinject peer ucmatose -i eth1 --ip 10.0.0.9 10.0.0.2
  roceinject peer ucmatose -i eth1 --ip fd00::9 -c 4 -C 100 -S 5000`,
		Args: words(0, 1, ""),
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.register(f, ucmatose.Port, "p")
	f.IntVarP(&o.test.Connections, "connections", "c", peer.DefaultConnections, "make `N` connections")
	f.IntVarP(&o.test.Count, "count", "C", peer.DefaultCount, "send `N` messages over each")
	f.IntVarP(&o.test.Size, "size", "S", peer.DefaultSize, "send messages of `N` bytes")
	registerMTU(f, &o.mtu)
	return cmd
}

func (o *ucmatoseOptions) run(ctx context.Context, args []string) error {
	if err := errors.Join(o.test.Check(), checkMTU(o.mtu, args)); err != nil {
		return err
	}
	o.test.Say, o.test.Change = o.say, o.device.attributes(o.mtu)
	return o.during(ctx, args, o.talk)
}

func (o *ucmatoseOptions) talk(ctx context.Context, dev *endpoint.Device, server netip.AddrPort) error {
	end, err := ucmatose.New(dev, o.test)
	if err != nil {
		return err
	}
	return o.exchange(ctx, dev, endpoint.TCPPort(o.port), server, end)
}
