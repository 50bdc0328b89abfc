package peer

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/wire"
)

// The defaults of ucmatose and udaddy.
const (
	DefaultConnections = 1
	DefaultCount       = 10
	DefaultSize        = 100
)

// Options say how much an Exchange sends.
type Options struct {
	Connections int
	Count       int // messages over each connection
	Size        int // of a message, in bytes
	// Say gets the lines of the original, and may be nil.
	Say func(line string)
	// Change changes the attributes of connected queue pairs, and may be nil.
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

// End is an end of ucmatose or udaddy: a client when it dials, a server when it
// serves.
type End interface {
	Dial(ctx context.Context, server netip.AddrPort) error
	Serve(context.Context, *endpoint.Listener) error
	Received() (messages, bytes uint64)
	Conns() []*endpoint.Conn
	Close() error
}

// Exchange is what such ends have in common: lines, over
// each of which as many messages go as come.
type Exchange struct {
	Options
	Device *endpoint.Device
	Lines  []*Line

	typ    endpoint.Type
	pd     *endpoint.PD
	region *endpoint.Region // the message that is sent, then room for one that comes
	before int              // bytes of the room that lie before the message: a GRH, or its place

	messages, bytes uint64 // that have come
}

// Line is a queue pair of an exchange.
type Line struct {
	QP      *endpoint.QP
	Conn    *endpoint.Conn // nil for datagrams
	Message endpoint.WorkRequest

	sendCQ, recvCQ *endpoint.CQ
}

// NewExchange makes an exchange without lines. Its queue pairs will be of type
// RC or UD.
func NewExchange(dev *endpoint.Device, typ endpoint.Type, o Options) (*Exchange, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	x := &Exchange{Options: o, Device: dev, typ: typ, pd: dev.AllocPD()}
	if typ == endpoint.UD {
		x.before = wire.GRHLen
	}
	var err error
	x.region, err = x.pd.RegisterMemory(make([]byte, o.Size+x.before+o.Size), endpoint.LocalWrite)
	return x, err
}

// Add makes a line whose message is a SEND. ready lets its queue pair take the
// receives, which are posted then.
func (x *Exchange) Add(ready func(*endpoint.QP) error) (*Line, error) {
	depth := max(1, x.Count)
	l := &Line{
		Message: endpoint.WorkRequest{Op: endpoint.Send, SGL: x.region.SGL(0, x.Size)},
		sendCQ:  x.Device.CreateCQ(depth), recvCQ: x.Device.CreateCQ(depth),
	}
	var err error
	l.QP, err = x.Device.CreateQP(endpoint.QPOptions{
		Type: x.typ, PD: x.pd, SendCQ: l.sendCQ, RecvCQ: l.recvCQ, MaxSend: depth, MaxRecv: depth, SignalAll: true,
	})
	if err != nil {
		return nil, err
	}
	x.Lines = append(x.Lines, l)
	if err := ready(l.QP); err != nil {
		return nil, err
	}
	for range x.Count {
		if err := l.QP.PostRecv(endpoint.RecvRequest{SGL: x.region.SGL(x.Size, x.before+x.Size)}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Conns are the connections.
func (x *Exchange) Conns() (list []*endpoint.Conn) {
	for _, l := range x.Lines {
		if l.Conn != nil {
			list = append(list, l.Conn)
		}
	}
	return list
}

// Received is how many messages have come, and how many bytes.
func (x *Exchange) Received() (messages, bytes uint64) { return x.messages, x.bytes }

// Send posts all messages of all lines.
func (x *Exchange) Send() error {
	for _, l := range x.Lines {
		for range x.Count {
			if err := l.QP.PostSend(l.Message); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sent waits until they have been sent.
func (x *Exchange) Sent(ctx context.Context) error {
	return x.await(ctx, func(l *Line) *endpoint.CQ { return l.sendCQ }, func(*Line, endpoint.Completion) {})
}

// Receive waits for as many to come. A datagram says where the answer goes.
func (x *Exchange) Receive(ctx context.Context) error {
	x.Say("receiving data transfers")
	return x.await(ctx, func(l *Line) *endpoint.CQ { return l.recvCQ }, func(l *Line, c endpoint.Completion) {
		x.messages++
		x.bytes += uint64(c.Bytes) - uint64(x.before)
		if x.typ == endpoint.UD {
			l.Message.DestQP = c.SrcQP // the immediate data says the same
		}
	})
}

func (x *Exchange) await(ctx context.Context, queue func(*Line) *endpoint.CQ, each func(*Line, endpoint.Completion)) error {
	for _, l := range x.Lines {
		for range x.Count {
			c, err := Next(ctx, queue(l))
			if err != nil {
				return err
			}
			each(l, c)
		}
	}
	return nil
}

// Complete says that all went well.
func (x *Exchange) Complete() {
	x.Say("test complete")
	x.Say("return status 0")
}

// Close frees what the exchange has.
func (x *Exchange) Close() error {
	var err error
	for _, l := range x.Lines {
		err = errors.Join(err, l.QP.Destroy())
		l.sendCQ.Destroy()
		l.recvCQ.Destroy()
	}
	return errors.Join(err, x.region.Deregister(), x.pd.Dealloc())
}
