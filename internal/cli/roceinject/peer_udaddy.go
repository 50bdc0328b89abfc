package roceinject

import (
	"context"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/udaddy"
)

// udaddyOptions are the flags of `roceinject peer udaddy`.
type udaddyOptions struct {
	rdmaCM
	test peer.Options
}

func newPeerUdaddy(s cli.Streams) *cobra.Command {
	o := &udaddyOptions{rdmaCM: rdmaCM{device: peerDevice{streams: s}}}
	cmd := &cobra.Command{
		Use:   "udaddy [HOST]",
		Short: "Be an end of udaddy: datagram queue pairs found by rdma_cm, and messages to each",
		Long: `udaddy looks up datagram queue pairs; the client sends messages to each and the
server as many back. Both ends have to be told the same numbers. Datagrams that are
lost do not come again: --deadline bounds how long an end waits for them.
` + rdmaCMHelp,
		Example: `  roceinject peer udaddy -i eth1 --ip 10.0.0.9 10.0.0.2
  roceinject peer udaddy -i eth1 --ip fd00::9 -c 4 -C 100 -S 1000`,
		Args: words(0, 1, ""),
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.register(f, udaddy.Port, "")
	f.IntVarP(&o.test.Connections, "connections", "c", peer.DefaultConnections, "look up `N` queue pairs")
	f.IntVarP(&o.test.Count, "count", "C", peer.DefaultCount, "send `N` messages to each")
	f.IntVarP(&o.test.Size, "size", "S", peer.DefaultSize, "send messages of `N` bytes")
	return cmd
}

func (o *udaddyOptions) run(ctx context.Context, args []string) error {
	o.test.Say = o.say
	return o.during(ctx, args, o.talk)
}

func (o *udaddyOptions) talk(ctx context.Context, dev *endpoint.Device, server netip.AddrPort) error {
	end, err := udaddy.New(dev, o.test)
	if err != nil {
		return err
	}
	return o.exchange(ctx, dev, endpoint.UDPPort(o.port), server, end)
}
