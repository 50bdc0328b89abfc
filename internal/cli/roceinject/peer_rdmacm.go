package roceinject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// rdmaCM is what the modes of peer have in common whose ends meet by rdma_cm.
type rdmaCM struct {
	device peerDevice
	port   uint16
}

// rdmaCMHelp is how these modes differ from the others.
const rdmaCMHelp = `
The two ends meet over RDMA's own connection manager (rdma_cm): there is no TCP, and
HOST is the address that the other end has on its RDMA device. It has to be up
before a client is.`

func (o *rdmaCM) register(f *pflag.FlagSet, port uint16, shorthand string) {
	o.device.register(f)
	f.Uint16VarP(&o.port, "port", shorthand, port, "listen on, or connect to, `PORT`")
}

// server finds the server that the arguments name. It is not valid if they name
// none: then this end is the server.
func (o *rdmaCM) server(ctx context.Context, hosts []string, dev *endpoint.Device) (netip.AddrPort, error) {
	if len(hosts) == 0 {
		return netip.AddrPort{}, nil
	}
	if addr, err := netip.ParseAddr(hosts[0]); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), o.port), nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", hosts[0])
	if err != nil {
		return netip.AddrPort{}, err
	}
	for _, addr := range found {
		addr = addr.Unmap()
		for i := 0; dev.GID(i).IsValid(); i++ {
			if dev.GID(i).Is4() == addr.Is4() {
				return netip.AddrPortFrom(addr, o.port), nil
			}
		}
	}
	return netip.AddrPort{}, fmt.Errorf("%s has no address of the family of --ip", hosts[0])
}

// during runs something with a device and prints nothing itself.
func (o *rdmaCM) during(ctx context.Context, hosts []string, run func(ctx context.Context, dev *endpoint.Device, server netip.AddrPort) error) error {
	return o.device.during(ctx, func(ctx context.Context, dev *endpoint.Device) error {
		server, err := o.server(ctx, hosts, dev)
		if err == nil {
			err = run(ctx, dev, server)
		}
		return cause(ctx, err)
	})
}

// listening runs something that serves a service.
func (o *rdmaCM) listening(dev *endpoint.Device, service endpoint.Service, serve func(*endpoint.Listener) error) error {
	l, err := dev.Listen(service)
	if err != nil {
		return err
	}
	return errors.Join(serve(l), l.Close())
}

// exchange lets an end be the client of a valid server, or else the server of a
// service, and closes it.
func (o *rdmaCM) exchange(ctx context.Context, dev *endpoint.Device, service endpoint.Service, server netip.AddrPort, end peer.End) (err error) {
	defer func() { err = errors.Join(err, end.Close()) }()
	start := time.Now()
	if server.IsValid() {
		err = end.Dial(ctx, server)
	} else {
		err = o.listening(dev, service, func(l *endpoint.Listener) error { return end.Serve(ctx, l) })
	}
	if err != nil || !o.device.json {
		return err
	}
	report := cmReport{Role: role(server), Seconds: since(start)}
	report.Messages, report.Bytes = end.Received()
	for _, c := range end.Conns() {
		report.Connections = append(report.Connections, cmConnOf(c))
	}
	return json.NewEncoder(o.device.streams.Out).Encode(report)
}

// registerMTU adds --mtu: the client's path is what both use.
func registerMTU(f *pflag.FlagSet, mtu *int) {
	f.IntVarP(mtu, "mtu", "m", 0, "as a client, ask for the path MTU `N`: 256, 512, 1024, 2048 or 4096 (default: what fits)")
}

func checkMTU(mtu int, hosts []string) error {
	switch {
	case mtu == 0:
		return nil
	case !isPathMTU(mtu):
		return fmt.Errorf("--mtu %d: want 256, 512, 1024, 2048 or 4096", mtu)
	case len(hosts) == 0:
		return errors.New("--mtu: the client chooses the path MTU")
	}
	return nil
}

// say prints a line of the original's.
func (o *rdmaCM) say(line string) {
	if !o.device.json {
		fmt.Fprintln(o.device.streams.Out, line)
	}
}

// cmSide is a side of a connection in JSON.
type cmSide struct {
	QPN uint32 `json:"qpn"`
	GID string `json:"gid"`
}

// cmConn is a connection in JSON.
type cmConn struct {
	LocalQPN uint32 `json:"local_qpn"`
	Remote   cmSide `json:"remote"`
}

func cmConnOf(c *endpoint.Conn) cmConn {
	return cmConn{c.QP.QPN(), cmSide{c.Remote.QPN, c.Remote.GID.Unmap().String()}}
}

// cmReport is what --json prints.
type cmReport struct {
	Role        string   `json:"role"`
	Connections []cmConn `json:"connections,omitempty"`
	Messages    uint64   `json:"messages"` // received; pings that have gone all the way
	Bytes       uint64   `json:"bytes"`
	Seconds     float64  `json:"seconds"`
}

func role(server netip.AddrPort) string {
	if server.IsValid() {
		return "client"
	}
	return "server"
}

// since is how many seconds have passed.
func since(start time.Time) float64 { return time.Since(start).Seconds() }
