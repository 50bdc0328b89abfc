// Package udaddy is either end of librdmacm's udaddy: the client asks for the
// queue pair of a datagram service (SIDR), as often as there are to be paths, and
// sends messages to each, with its own queue pair's number as immediate data; the
// server sends as many back. What is sent and said was observed, with rdma-core
// 56.
package udaddy

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Port is the port that servers listen on.
const Port = 7174

// The defaults of the original.
const (
	DefaultConnections = 1
	DefaultCount       = 10
	DefaultSize        = 100
)

// grhLen is what lies before the payload in a receive buffer.
const grhLen = 40

// Options say how much to send.
type Options struct {
	Connections int
	Count       int // messages over each path
	Size        int // of a message
	// Say gets the lines of the original, and may be nil.
	Say func(line string)
}

// End is one end of the paths.
type End struct {
	Options
	dev    *endpoint.Device
	pd     *endpoint.PD
	region *endpoint.Region
	paths  []*path

	messages, bytes uint64 // that have come
}

// path is one queue pair and where its messages go.
type path struct {
	qp             *endpoint.QP
	sendCQ, recvCQ *endpoint.CQ
	to             *endpoint.Address
	qpn, qkey      uint32
}

// mostPaths is more than any test needs.
const mostPaths = 1 << 16

// New makes an end without paths.
func New(dev *endpoint.Device, o Options) (*End, error) {
	switch {
	case o.Connections < 1 || o.Connections > mostPaths:
		return nil, fmt.Errorf("at least one path, and at most %d", mostPaths)
	case o.Count < 0 || o.Size < 1:
		return nil, errors.New("no fewer than 0 messages, of at least 1 byte")
	case o.Size > dev.MTU():
		return nil, fmt.Errorf("message_size %d is larger than active mtu %d", o.Size, dev.MTU())
	}
	e := &End{Options: o, dev: dev, pd: dev.AllocPD()}
	var err error
	e.region, err = e.pd.RegisterMemory(make([]byte, o.Size+grhLen+o.Size), endpoint.LocalWrite)
	return e, err
}

// Received is how many messages have come, and how many bytes.
func (e *End) Received() (messages, bytes uint64) { return e.messages, e.bytes }

func (e *End) say(line string) {
	if e.Say != nil {
		e.Say(line)
	}
}

// Ask is the client.
func (e *End) Ask(ctx context.Context, server netip.AddrPort) error {
	e.say("udaddy: starting client")
	e.say("udaddy: connecting")
	for range e.Connections {
		p, err := e.add(ctx)
		if err != nil {
			return err
		}
		found, err := e.dev.Lookup(ctx, server.Addr(), endpoint.UDPPort(server.Port()), endpoint.ConnOptions{})
		if err != nil {
			return err
		}
		p.to, p.qpn, p.qkey = found.To, found.QPN, found.QKey
	}
	if e.Count > 0 {
		e.say("initiating data transfers")
		if err := e.send(ctx); err != nil {
			return err
		}
		if err := e.receive(ctx); err != nil {
			return err
		}
		e.say("data transfers complete")
	}
	e.complete()
	return nil
}

// Answer is the server.
func (e *End) Answer(ctx context.Context, l *endpoint.Listener) error {
	e.say("udaddy: starting server")
	for range e.Connections {
		r, err := l.Accept(ctx)
		if err != nil {
			return err
		}
		p, err := e.add(ctx)
		if err != nil {
			return err
		}
		if p.to, err = e.dev.CreateAH(ctx, endpoint.Address{DGID: r.Remote.GID}); err != nil {
			return err
		}
		if err := r.Answer(p.qp, nil); err != nil {
			return err
		}
	}
	if e.Count > 0 {
		if err := e.receive(ctx); err != nil {
			return err
		}
		e.say("sending replies")
		if err := e.send(ctx); err != nil {
			return err
		}
		e.say("data transfers complete")
	}
	e.complete()
	return nil
}

// complete says that all went well.
func (e *End) complete() {
	e.say("test complete")
	e.say("return status 0")
}

// add makes a queue pair that is ready, with all its receives posted.
func (e *End) add(ctx context.Context) (*path, error) {
	depth := max(1, e.Count)
	p := &path{sendCQ: e.dev.CreateCQ(depth), recvCQ: e.dev.CreateCQ(depth)}
	var err error
	p.qp, err = e.dev.CreateQP(endpoint.QPOptions{
		Type: endpoint.UD, PD: e.pd, SendCQ: p.sendCQ, RecvCQ: p.recvCQ, MaxSend: depth, MaxRecv: depth, SignalAll: true,
	})
	if err != nil {
		return nil, err
	}
	e.paths = append(e.paths, p)
	p.qkey = endpoint.UDPQKey
	if err := p.qp.Connect(ctx, endpoint.Remote{}, func(a *endpoint.Attributes) { a.QKey = p.qkey }); err != nil {
		return nil, err
	}
	for range e.Count {
		if err := p.qp.PostRecv(endpoint.RecvRequest{SGL: e.region.SGL(e.Size, grhLen+e.Size)}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// send sends all messages of all paths.
func (e *End) send(ctx context.Context) error {
	for _, p := range e.paths {
		for range e.Count {
			err := p.qp.PostSend(endpoint.WorkRequest{
				Op: endpoint.SendImmediate, SGL: e.region.SGL(0, e.Size), Immediate: p.qp.QPN(),
				To: p.to, DestQP: p.qpn, QKey: p.qkey,
			})
			if err != nil {
				return err
			}
		}
	}
	return e.await(ctx, func(p *path) *endpoint.CQ { return p.sendCQ }, func(*path, endpoint.Completion) {})
}

// receive waits for as many to come. Each says where an answer goes.
func (e *End) receive(ctx context.Context) error {
	e.say("receiving data transfers")
	return e.await(ctx, func(p *path) *endpoint.CQ { return p.recvCQ }, func(p *path, c endpoint.Completion) {
		e.messages++
		e.bytes += uint64(c.Bytes) - grhLen
		p.qpn = c.SrcQP // the immediate data says the same
	})
}

func (e *End) await(ctx context.Context, queue func(*path) *endpoint.CQ, each func(*path, endpoint.Completion)) error {
	for _, p := range e.paths {
		for range e.Count {
			c, err := peer.Next(ctx, queue(p))
			if err != nil {
				return err
			}
			each(p, c)
		}
	}
	return nil
}

// Close frees what the end has.
func (e *End) Close() error {
	var err error
	for _, p := range e.paths {
		err = errors.Join(err, p.qp.Destroy())
		p.sendCQ.Destroy()
		p.recvCQ.Destroy()
	}
	return errors.Join(err, e.region.Deregister(), e.pd.Dealloc())
}
