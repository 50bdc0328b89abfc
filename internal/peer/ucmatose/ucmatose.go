// Package ucmatose is either end of librdmacm's ucmatose (its source calls it
// cmatose): connections over each of which the server sends messages, then the
// client as many, until the server ends them. What is sent and said was observed,
// with rdma-core 56.
package ucmatose

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Port is the port that servers listen on.
const Port = 7471

// The defaults of the original.
const (
	DefaultConnections = 1
	DefaultCount       = 10
	DefaultSize        = 100
)

// Options say how much to send.
type Options struct {
	Connections int
	Count       int // messages over each connection
	Size        int // of a message
	// Say gets the lines of the original, and may be nil.
	Say func(line string)
	// Change changes the attributes of the queue pairs.
	Change func(*endpoint.Attributes)
}

// mostConnections is more than any test needs.
const mostConnections = 1 << 16

// Check says what cannot be.
func (o *Options) Check() error {
	const most = 1 << 30
	switch {
	case o.Connections < 1 || o.Connections > mostConnections:
		return fmt.Errorf("at least one connection, and at most %d", mostConnections)
	case o.Count < 0 || o.Size < 1 || o.Size > most:
		return fmt.Errorf("no fewer than 0 messages, of 1 to %d bytes", most)
	}
	return nil
}

// End is one end of the connections.
type End struct {
	Options
	dev    *endpoint.Device
	pd     *endpoint.PD
	region *endpoint.Region
	lines  []*line

	messages, bytes uint64 // that have come
}

// New makes an end without connections.
func New(dev *endpoint.Device, o Options) (*End, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	e := &End{Options: o, dev: dev, pd: dev.AllocPD()}
	var err error
	e.region, err = e.pd.RegisterMemory(make([]byte, 2*o.Size), endpoint.LocalWrite)
	return e, err
}

// Conns are the connections.
func (e *End) Conns() (list []*endpoint.Conn) {
	for _, l := range e.lines {
		list = append(list, l.conn)
	}
	return list
}

// Received is how many messages have come, and how many bytes.
func (e *End) Received() (messages, bytes uint64) { return e.messages, e.bytes }

func (e *End) say(line string) {
	if e.Say != nil {
		e.Say(line)
	}
}

// complete says that all went well.
func (e *End) complete() {
	e.say("test complete")
	e.say("return status 0")
}

// Dial is the client: it connects, takes what comes, sends as much, and waits
// for the server to end the connections.
func (e *End) Dial(ctx context.Context, server netip.AddrPort) error {
	e.say("cmatose: starting client")
	e.say("cmatose: connecting")
	for range e.Connections {
		err := e.add(func(qp *endpoint.QP) (*endpoint.Conn, error) {
			return e.dev.Dial(ctx, server.Addr(), endpoint.TCPPort(server.Port()), qp, endpoint.ConnOptions{Change: e.Change})
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
	e.say("receiving data transfers")
	if err := e.receive(ctx); err != nil {
		return err
	}
	e.say("sending replies")
	if err := e.send(); err != nil {
		return err
	}
	// The server ends the connection when all has come, and does not wait until
	// this side has heard of that.
	if err := e.sent(ctx); err != nil && !errors.Is(err, peer.ErrDisconnected) {
		return err
	}
	e.say("data transfers complete")
	return nil
}

// ended waits for the server to end each connection.
func (e *End) ended(ctx context.Context) error {
	for _, l := range e.lines {
		if err := peer.Ended(ctx, l.conn); err != nil {
			return err
		}
		if err := l.conn.Disconnect(ctx); err != nil {
			return err
		}
	}
	e.complete()
	return nil
}

// Serve is the server: it waits for the connections, sends, takes as much, and
// ends them.
func (e *End) Serve(ctx context.Context, l *endpoint.Listener) error {
	e.say("cmatose: starting server")
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
	e.say("cmatose: disconnecting")
	for _, l := range e.lines {
		if err := l.conn.Disconnect(ctx); err != nil {
			return err
		}
	}
	e.say("disconnected")
	e.complete()
	return nil
}

func (e *End) exchange(ctx context.Context) error {
	ctx, done := peer.While(ctx, e.Conns()...)
	defer done()
	e.say("initiating data transfers")
	if err := e.send(); err != nil {
		return err
	}
	e.say("completing sends")
	if err := e.sent(ctx); err != nil {
		return err
	}
	e.say("receiving data transfers")
	if err := e.receive(ctx); err != nil {
		return err
	}
	e.say("data transfers complete")
	return nil
}
