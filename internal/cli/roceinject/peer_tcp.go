package roceinject

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// peerTCP are the flags of the TCP connection over which two ends meet.
type peerTCP struct {
	port   uint16
	listen string
	wait   time.Duration
}

func (o *peerTCP) register(f *pflag.FlagSet, port uint16) {
	f.Uint16VarP(&o.port, "port", "p", port, "listen on, or connect to, TCP `PORT`")
	f.StringVar(&o.listen, "listen", "", "as a server, listen on `ADDRESS` alone")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "as a client, wait so long for the server to listen (`DURATION`)")
}

// meet connects to a host, or waits for somebody to connect when there is none.
// The connection fails when ctx ends.
func (o *peerTCP) meet(ctx context.Context, hosts []string) (net.Conn, error) {
	conn, err := o.connect(ctx, hosts)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil { // whatever it broke
			err = cause
		}
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	return conn, nil
}

func (o *peerTCP) connect(ctx context.Context, hosts []string) (net.Conn, error) {
	port := strconv.Itoa(int(o.port))
	if len(hosts) > 0 {
		return o.dial(ctx, net.JoinHostPort(hosts[0], port))
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(o.listen, port))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	return l.Accept()
}

// partingPatience is how long the other end has to say that it is done too.
const partingPatience = 10 * time.Second

// part waits until the other end closes the connection: it may still ask for
// packets again until then. Both ends may wait so for each other.
func (o *peerTCP) part(ctx context.Context, conn net.Conn) {
	if half, ok := conn.(*net.TCPConn); ok && half.CloseWrite() == nil && ctx.Err() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(partingPatience))
		_, _ = io.Copy(io.Discard, conn) // whatever ends it, it is over
	}
}

// dial tries again while nobody listens: a server is often not up yet.
func (o *peerTCP) dial(ctx context.Context, address string) (net.Conn, error) {
	const pause = 100 * time.Millisecond
	var dialer net.Dialer
	for end := time.Now().Add(o.wait); ; {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Now().After(end) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
