// Package ucmatose is either end of librdmacm's ucmatose (its source calls it
// cmatose): connections over each of which the server sends messages, then the
// client as many, until the server ends them. What is sent and said was observed,
// with rdma-core 56.
package ucmatose

import (
	"context"
	"errors"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Port is the port that servers listen on.
const Port = 7471

// End is one end of the connections.
type End struct{ *peer.Exchange }

// New makes an end without connections.
func New(dev *endpoint.Device, o peer.Options) (*End, error) {
	x, err := peer.NewExchange(dev, endpoint.RC, o)
	return &End{x}, err
}

// add makes a queue pair with all its receives posted and connects it.
func (e *End) add(connect func(*endpoint.QP) (*endpoint.Conn, error)) error {
	l, err := e.Add(func(qp *endpoint.QP) error { return qp.Prepare() })
	if err == nil {
		l.Conn, err = connect(l.QP)
	}
	return err
}

// Dial is the client: it connects, takes what comes, sends as much, and waits
// for the server to end the connections.
func (e *End) Dial(ctx context.Context, server netip.AddrPort) error {
	e.Say("cmatose: starting client")
	e.Say("cmatose: connecting")
	for range e.Connections {
		err := e.add(func(qp *endpoint.QP) (*endpoint.Conn, error) {
			return e.Device.Dial(ctx, server.Addr(), endpoint.TCPPort(server.Port()), qp, endpoint.ConnOptions{Change: e.Change})
		})
		if err != nil {
			return err
		}
	}
	if e.Count > 0 {
		if err := e.reply(ctx); err != nil {
			return err
		}
	}
	return e.ended(ctx)
}

func (e *End) reply(ctx context.Context) error {
	ctx, done := peer.While(ctx, e.Conns()...)
	defer done()
	if err := e.Receive(ctx); err != nil {
		return err
	}
	e.Say("sending replies")
	if err := e.Send(); err != nil {
		return err
	}
	// The server ends the connection when all has come, and does not wait until
	// this side has heard of that.
	if err := e.Sent(ctx); err != nil && !errors.Is(err, peer.ErrDisconnected) {
		return err
	}
	e.Say("data transfers complete")
	return nil
}

// ended waits for the server to end each connection.
func (e *End) ended(ctx context.Context) error {
	for _, c := range e.Conns() {
		if err := peer.Ended(ctx, c); err != nil {
			return err
		}
		if err := c.Disconnect(ctx); err != nil {
			return err
		}
	}
	e.Complete()
	return nil
}

// Serve is the server: it waits for the connections, sends, takes as much, and
// ends them.
func (e *End) Serve(ctx context.Context, l *endpoint.Listener) error {
	e.Say("cmatose: starting server")
	for range e.Connections {
		r, err := l.Accept(ctx)
		if err != nil {
			return err
		}
		err = e.add(func(qp *endpoint.QP) (*endpoint.Conn, error) {
			return r.Accept(ctx, qp, endpoint.ConnOptions{Change: e.Change})
		})
		if err != nil {
			return err
		}
	}
	if e.Count > 0 {
		if err := e.exchange(ctx); err != nil {
			return err
		}
	}
	e.Say("cmatose: disconnecting")
	for _, c := range e.Conns() {
		if err := c.Disconnect(ctx); err != nil {
			return err
		}
	}
	e.Say("disconnected")
	e.Complete()
	return nil
}

func (e *End) exchange(ctx context.Context) error {
	ctx, done := peer.While(ctx, e.Conns()...)
	defer done()
	e.Say("initiating data transfers")
	if err := e.Send(); err != nil {
		return err
	}
	e.Say("completing sends")
	if err := e.Sent(ctx); err != nil {
		return err
	}
	if err := e.Receive(ctx); err != nil {
		return err
	}
	e.Say("data transfers complete")
	return nil
}
