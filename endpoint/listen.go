package endpoint

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

// backlog is how many requests wait for Accept. More are rejected.
const backlog = 128

// Listener waits for requests to a service.
type Listener struct {
	device   *Device
	service  Service
	requests chan *Request
	closed   chan struct{}
	once     sync.Once
}

var errServiceTaken = errors.New("somebody listens for that service already")

// Listen makes a service available. Requests for others are rejected.
func (d *Device) Listen(service Service) (*Listener, error) {
	l := &Listener{
		device: d, service: service,
		requests: make(chan *Request, backlog), closed: make(chan struct{}),
	}
	err := d.with(func(a *agent) error {
		if a.listeners[service] != nil {
			return errServiceTaken
		}
		a.listeners[service] = l
		if space, port, isPort := service.port(); isPort {
			a.manager.ListenIP(space, port)
		} else {
			a.manager.Listen(uint64(service), ^uint64(0))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("service 0x%016x: %w", uint64(service), err)
	}
	return l, nil
}

// Accept waits for a request.
func (l *Listener) Accept(ctx context.Context) (*Request, error) {
	select {
	case r := <-l.requests:
		return r, nil
	case <-l.closed:
		return nil, ErrClosed
	case <-l.device.done:
		return nil, l.device.ended()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the service. Requests that wait are rejected.
func (l *Listener) Close() error {
	err := ErrClosed
	l.once.Do(func() {
		close(l.closed)
		err = l.device.with(l.unlisten)
	})
	return err
}

func (l *Listener) unlisten(a *agent) error {
	delete(a.listeners, l.service)
	if space, port, isPort := l.service.port(); isPort {
		a.manager.UnlistenIP(space, port)
	} else {
		a.manager.Unlisten(uint64(l.service), ^uint64(0))
	}
	for {
		select {
		case r := <-l.requests:
			_ = r.refuse(a, cm.InvalidServiceID, nil) // the peer may have ended it meanwhile
		default:
			return nil
		}
	}
}

// Request is a peer's wish for a connection, or for the number of a UD queue
// pair.
type Request struct {
	// Type is that of the queue pair that the peer wants to connect to: RC or UC.
	// UD is the question for a queue pair's number.
	Type    Type
	Remote  Remote
	Service Service
	Private []byte // and the zeros behind it

	device *Device
	event  cm.Event
}

// request hands a request to its listener.
func (a *agent) request(e cm.Event) {
	r := &Request{
		Type:    RC,
		Remote:  Remote{QPN: e.Remote.QPN, GID: e.Peer.GID, MTU: 128 << e.Terms.PathMTU},
		Service: Service(e.ServiceID), Private: e.PrivateData(), device: a.device, event: e,
	}
	switch {
	case e.Kind == cm.SIDRRequest:
		r.Type = UD
	case e.Terms.Transport == wire.TransportUC:
		r.Type = UC
	}
	if l := a.listeners[r.Service]; l != nil {
		select {
		case l.requests <- r:
			return
		default:
		}
	}
	_ = r.refuse(a, cm.NoResources, nil) // the peer may have ended it meanwhile
}

func (r *Request) refuse(a *agent, reason RejectReason, private []byte) error {
	if r.Type == UD {
		return a.manager.AnswerSIDR(r.event.Conn, cm.SIDRAnswer{Status: cm.SIDRReject, PrivateData: private})
	}
	return a.manager.Reject(a.device.now, r.event.Conn, cm.Rejection{Reason: reason, PrivateData: private})
}

// Reject tells the peer no, as the consumer's own decision.
func (r *Request) Reject(private []byte) error {
	return r.device.with(func(a *agent) error { return r.refuse(a, cm.ConsumerReject, private) })
}

// Accept connects a queue pair in RESET or INIT to the peer, and returns when
// the peer is ready.
func (r *Request) Accept(ctx context.Context, q *QP, o ConnOptions) (*Conn, error) {
	d, id := r.device, r.event.Conn
	if r.Type != q.Type() {
		return nil, fmt.Errorf("the peer wants a queue pair of type %v, not %v", r.Type, q.Type())
	}
	own := d.GID(int(r.event.Peer.Handle))
	address, err := d.address(ctx, Address{DGID: r.Remote.GID, SGID: own}, sourcePort(q.QPN()))
	if err != nil {
		return nil, err
	}
	if r.Remote.MTU > d.MTU() { // the peer would send packets that do not fit
		return nil, errors.Join(fmt.Errorf("the peer wants a path MTU of %d, and the link takes %d", r.Remote.MTU, d.MTU()),
			d.with(func(a *agent) error { return r.refuse(a, cm.InvalidMTU, nil) }))
	}
	attr := q.attributes(r.Remote)
	attr.Address, attr.RQPSN = address, q.firstPSN()
	agree(&attr, &r.event)
	attr.RetryCount = r.event.Terms.RetryCount
	if o.Change != nil {
		o.Change(&attr)
	}
	var x *exchange
	conn := d.newConn(id, q, &r.event)
	if err := d.with(func(a *agent) error {
		if err := q.start(d, attr); err != nil {
			return err
		}
		local := q.side(&attr)
		x = a.follow(id)
		x.conn = conn
		return q.unless(a.manager.Accept(d.now, id, &local, o.Private))
	}); err != nil {
		return nil, err
	}
	if _, err := d.wait(ctx, x); err != nil {
		d.abandon(id, q)
		return nil, err
	}
	return conn, nil
}

// Answer tells a peer that asked for it the number of a UD queue pair.
func (r *Request) Answer(q *QP, private []byte) error {
	if r.Type != UD || q.Type() != UD {
		return fmt.Errorf("a queue pair of type %v is no answer to a request for %v", q.Type(), r.Type)
	}
	return r.device.with(func(a *agent) error {
		return a.manager.AnswerSIDR(r.event.Conn, cm.SIDRAnswer{
			QPN: q.QPN(), QKey: q.engine.Attributes().QKey, PrivateData: private,
		})
	})
}
