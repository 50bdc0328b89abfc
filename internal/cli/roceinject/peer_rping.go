package roceinject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer/rping"
)

// rpingOptions are the flags of `roceinject peer rping`.
type rpingOptions struct {
	rdmaCM
	test       rping.Options
	verbose    bool
	persistent bool
	mtu        int

	mu sync.Mutex // guards the output of a persistent server
}

func newPeerRping(s cli.Streams) *cobra.Command {
	o := &rpingOptions{rdmaCM: rdmaCM{device: peerDevice{streams: s}}}
	cmd := &cobra.Command{
		Use:   "rping [HOST]",
		Short: "Be an end of rping: text read by RDMA READ and written back by RDMA WRITE",
		Long: `rping's client tells the server where a text is; the server reads it and writes it
back to another place. The server answers until the client ends the connection.
The exit code is 1 when -V finds that a text came back different.
` + rdmaCMHelp,
		Example: `  roceinject peer rping -i eth1 --ip 10.0.0.9 -v -V -C 10 10.0.0.2
  roceinject peer rping -i eth1 --ip fd00::9 -v -P`,
		Args: words(0, 1, ""),
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.register(f, rping.Port, "p")
	f.IntVarP(&o.test.Count, "count", "C", 0, "as a client, send `N` pings (default: without end)")
	f.IntVarP(&o.test.Size, "size", "S", rping.DefaultSize, "exchange pings of `N` bytes")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print each ping")
	f.BoolVarP(&o.test.Validate, "validate", "V", false, "as a client, compare what comes back")
	f.BoolVarP(&o.persistent, "persistent", "P", false, "as a server, serve clients until Ctrl-C or --deadline")
	registerMTU(f, &o.mtu)
	return cmd
}

func (o *rpingOptions) run(ctx context.Context, args []string) error {
	if err := errors.Join(o.test.Check(), checkMTU(o.mtu, args)); err != nil {
		return err
	}
	o.test.Change = o.device.attributes(o.mtu)
	return o.during(ctx, args, func(ctx context.Context, dev *endpoint.Device, server netip.AddrPort) error {
		if server.IsValid() {
			return o.ping(ctx, dev, server)
		}
		return o.listening(dev, endpoint.TCPPort(o.port), func(l *endpoint.Listener) error { return o.serve(ctx, dev, l) })
	})
}

// shown prints each ping after a word or two.
func (o *rpingOptions) shown(what string) func(string) {
	if !o.verbose {
		return nil
	}
	return func(ping string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.say(what + ping)
	}
}

func (o *rpingOptions) ping(ctx context.Context, dev *endpoint.Device, server netip.AddrPort) error {
	o.test.Show = o.shown("ping data: ")
	start := time.Now()
	s, err := rping.Dial(ctx, dev, server, o.test)
	if err != nil {
		return err
	}
	err = s.Ping(ctx)
	if mismatch := new(rping.MismatchError); errors.As(err, &mismatch) {
		err = errors.Join(err, errDifferent)
	}
	return errors.Join(err, o.ended(s, "client", start), s.Close())
}

// serve serves one client, or one after the other and several at a time.
func (o *rpingOptions) serve(ctx context.Context, dev *endpoint.Device, l *endpoint.Listener) error {
	o.test.Show = o.shown("server ping data: ")
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		r, err := l.Accept(ctx)
		if err != nil && o.persistent && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if !o.persistent {
			return o.answer(ctx, dev, r)
		}
		clients.Go(func() {
			if err := o.answer(ctx, dev, r); err != nil && ctx.Err() == nil {
				fmt.Fprintf(o.device.streams.Err, "%v: %v\n", r.Remote.GID, err)
			}
		})
	}
}

func (o *rpingOptions) answer(ctx context.Context, dev *endpoint.Device, r *endpoint.Request) error {
	start := time.Now()
	s, err := rping.Accept(ctx, dev, r, o.test)
	if err != nil {
		return err
	}
	return errors.Join(s.Answer(ctx), o.ended(s, "server", start), s.Close())
}

// ended tells of the end of a connection, as the original does, on the error
// stream, or what has been done in JSON.
func (o *rpingOptions) ended(s *rping.Session, role string, start time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.device.json {
		_, err := fmt.Fprintf(o.device.streams.Err, "%s DISCONNECT EVENT...\n", role)
		return err
	}
	return json.NewEncoder(o.device.streams.Out).Encode(cmReport{
		Role: role, Connections: []cmConn{cmConnOf(s.Conn)},
		Messages: uint64(s.Pings), Bytes: uint64(s.Pings) * uint64(s.Size), Seconds: since(start),
	})
}
