// Package udaddy is either end of librdmacm's udaddy: the client asks for the
// queue pair of a datagram service (SIDR), as often as there are to be paths, and
// sends messages to each, with its own queue pair's number as immediate data; the
// server sends as many back. What is sent and said was observed, with rdma-core
// 56.
package udaddy

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Port is the port that servers listen on.
const Port = 7174

// End is one end of the paths.
type End struct{ *peer.Exchange }

// New makes an end without paths.
func New(dev *endpoint.Device, o peer.Options) (*End, error) {
	if o.Size > dev.MTU() {
		return nil, fmt.Errorf("message_size %d is larger than active mtu %d", o.Size, dev.MTU())
	}
	x, err := peer.NewExchange(dev, endpoint.UD, o)
	return &End{x}, err
}

// add makes a queue pair that is ready, with all its receives posted.
func (e *End) add(ctx context.Context) (*peer.Line, error) {
	l, err := e.Add(func(qp *endpoint.QP) error {
		return qp.Connect(ctx, endpoint.Remote{}, func(a *endpoint.Attributes) { a.QKey = endpoint.UDPQKey })
	})
	if err != nil {
		return nil, err
	}
	l.Message.Op, l.Message.Immediate, l.Message.QKey = endpoint.SendImmediate, l.QP.QPN(), endpoint.UDPQKey
	return l, nil
}

// Dial is the client: it asks for the queue pairs, sends to each, and takes as
// much.
func (e *End) Dial(ctx context.Context, server netip.AddrPort) error {
	e.Say("udaddy: starting client")
	e.Say("udaddy: connecting")
	for range e.Connections {
		l, err := e.add(ctx)
		if err != nil {
			return err
		}
		found, err := e.Device.Lookup(ctx, server.Addr(), endpoint.UDPPort(server.Port()), endpoint.ConnOptions{})
		if err != nil {
			return err
		}
		l.Message.To, l.Message.DestQP, l.Message.QKey = found.To, found.QPN, found.QKey
	}
	if e.Count > 0 {
		e.Say("initiating data transfers")
		if err := e.send(ctx); err != nil {
			return err
		}
		if err := e.Receive(ctx); err != nil {
			return err
		}
		e.Say("data transfers complete")
	}
	e.Complete()
	return nil
}

// Serve is the server: it tells of its queue pairs, takes what comes, and sends
// as much.
func (e *End) Serve(ctx context.Context, l *endpoint.Listener) error {
	e.Say("udaddy: starting server")
	for range e.Connections {
		r, err := l.Accept(ctx)
		if err != nil {
			return err
		}
		line, err := e.add(ctx)
		if err != nil {
			return err
		}
		if line.Message.To, err = e.Device.CreateAH(ctx, endpoint.Address{DGID: r.Remote.GID}); err != nil {
			return err
		}
		if err := r.Answer(line.QP, nil); err != nil {
			return err
		}
	}
	if e.Count > 0 {
		if err := e.Receive(ctx); err != nil {
			return err
		}
		e.Say("sending replies")
		if err := e.send(ctx); err != nil {
			return err
		}
		e.Say("data transfers complete")
	}
	e.Complete()
	return nil
}

func (e *End) send(ctx context.Context) error {
	if err := e.Send(); err != nil {
		return err
	}
	return e.Sent(ctx)
}
