package perftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// What a client does while the server does not listen: the original stops
// listening between one connection and the next.
const (
	dialPause   = 100 * time.Millisecond
	dialRetries = 50
)

// Control is the connection over which the two sides talk with -R, instead of
// TCP: an RC queue pair on which each piece is one SEND. The queue pairs of the
// test are connected through the same service.
type Control struct {
	ctx      context.Context // of the whole test: a Talk has none of its own
	dev      *endpoint.Device
	service  endpoint.Service
	server   netip.Addr         // that a client connects to
	listener *endpoint.Listener // of a server

	qp             *endpoint.QP
	conn           *endpoint.Conn
	sendCQ, recvCQ *endpoint.CQ
	memory         []byte // a piece to send, then those to be received
	region         *endpoint.Region
}

var _ io.ReadWriter = (*Control)(nil)

const (
	longestPiece   = 64
	controlReceive = 4
)

// NewControl connects to a server, or waits for a client when it is not valid.
// ctx is that of the whole test.
func NewControl(ctx context.Context, dev *endpoint.Device, server netip.Addr, port uint16) (*Control, error) {
	c := &Control{
		ctx: ctx, dev: dev, service: endpoint.TCPPort(port), server: server,
		sendCQ: dev.CreateCQ(1), recvCQ: dev.CreateCQ(controlReceive), memory: make([]byte, (1+controlReceive)*longestPiece),
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if !server.IsValid() {
		var err error
		if c.listener, err = dev.Listen(c.service); err != nil {
			return nil, err
		}
	}
	var err error
	if c.conn, err = c.Connect(ctx, c.qp, nil); err != nil && c.listener != nil {
		err = errors.Join(err, c.listener.Close())
	}
	return c, err
}

func (c *Control) prepare() (err error) {
	pd := c.dev.AllocPD()
	if c.region, err = pd.RegisterMemory(c.memory, endpoint.LocalWrite); err != nil {
		return err
	}
	if c.qp, err = c.dev.CreateQP(endpoint.QPOptions{
		Type: endpoint.RC, PD: pd, SendCQ: c.sendCQ, RecvCQ: c.recvCQ, MaxSend: 1, MaxRecv: controlReceive,
	}); err != nil {
		return err
	}
	if err := c.qp.Prepare(); err != nil {
		return err
	}
	for i := range controlReceive {
		if err := c.postReceive(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Control) postReceive(slot int) error {
	return c.qp.PostRecv(endpoint.RecvRequest{ID: uint64(slot), SGL: c.region.SGL((1+slot)*longestPiece, longestPiece)})
}

// Connect connects a queue pair with one of the other side's.
func (c *Control) Connect(ctx context.Context, qp *endpoint.QP, change func(*endpoint.Attributes)) (*endpoint.Conn, error) {
	o := endpoint.ConnOptions{Change: change}
	if c.listener != nil {
		r, err := c.listener.Accept(ctx)
		if err != nil {
			return nil, err
		}
		return r.Accept(ctx, qp, o)
	}
	for try := 0; ; try++ {
		conn, err := c.dev.Dial(ctx, c.server, c.service, qp, o)
		var refused *endpoint.RejectError
		if err == nil || !errors.As(err, &refused) || try == dialRetries {
			return conn, err
		}
		select {
		case <-time.After(dialPause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Write sends one piece.
func (c *Control) Write(b []byte) (int, error) {
	if len(b) > longestPiece {
		return 0, fmt.Errorf("a piece of %d bytes", len(b))
	}
	n := copy(c.memory, b)
	if err := c.qp.PostSend(endpoint.WorkRequest{Op: endpoint.Send, Flags: signaled, SGL: c.region.SGL(0, n)}); err != nil {
		return 0, err
	}
	_, err := peer.Next(c.ctx, c.sendCQ)
	return n, err
}

// Read receives one piece, which has to fit.
func (c *Control) Read(b []byte) (int, error) {
	done, err := peer.Next(c.ctx, c.recvCQ)
	if err != nil {
		return 0, err
	}
	if int(done.Bytes) > len(b) {
		return 0, fmt.Errorf("the peer sent %d bytes where %d were expected", done.Bytes, len(b))
	}
	n := copy(b, c.memory[(1+int(done.ID))*longestPiece:][:done.Bytes])
	return n, c.postReceive(int(done.ID))
}

// Close ends the connection, and a server's service.
func (c *Control) Close(ctx context.Context) error {
	err := c.conn.Disconnect(ctx)
	if c.listener != nil {
		err = errors.Join(err, c.listener.Close())
	}
	return err
}
