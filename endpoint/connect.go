package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

// Service is the service ID that a connection is asked for with.
type Service uint64

// TCPPort is the service of a port of rdma_cm's connections.
func TCPPort(port uint16) Service { return Service(cm.ServiceID(cm.PortSpaceTCP, port)) }

// UDPPort is the service of a port of rdma_cm's datagrams.
func UDPPort(port uint16) Service { return Service(cm.ServiceID(cm.PortSpaceUDP, port)) }

// UDPQKey is the Q_Key of rdma_cm's datagrams (RDMA_UDP_QKEY).
const UDPQKey = 0x01234567

// ConnOptions say what a side wants of a connection.
type ConnOptions struct {
	// Private is handed to the other side: up to 56 bytes of a REQ to a port, 92
	// to another service, 196 of a REP.
	Private []byte
	// Source and SourcePort are named in a REQ to a port; the device's address and
	// a port of choice, if not given.
	Source     netip.Addr
	SourcePort uint16
	// Change changes the attributes with which the queue pair is connected. What
	// they have for retries, path MTU and numbers of READs is told to the other
	// side; what it has agreed to is not asked about again. To Dial, a Timeout of 0
	// is the one that the other side answers with.
	Change func(*Attributes)
}

// RejectReason is why a connection is refused (IBTA 12.6.7.2).
type RejectReason = cm.RejectReason

// RejectError says that the other side has refused a connection or the
// resolution of a service.
type RejectError struct {
	Reason  RejectReason // of a connection
	Status  uint8        // of a resolution, if not 0
	Private []byte
}

var _ error = (*RejectError)(nil)

func (e *RejectError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the peer did not resolve the service: %v", cm.SIDRStatus(e.Status))
	}
	return fmt.Sprintf("the peer rejected the connection: %v", e.Reason)
}

// ErrUnreachable is for a peer that does not answer a request.
var ErrUnreachable = errors.New("the peer's connection manager does not answer")

// outcome is the error that an event stands for.
func outcome(e *cm.Event) error {
	switch {
	case e.Kind == cm.Rejected:
		return &RejectError{Reason: e.Reason, Private: e.PrivateData()}
	case e.Kind == cm.Unreachable:
		return ErrUnreachable
	case e.Kind == cm.SIDRReply && e.Status != cm.SIDRSuccess:
		return &RejectError{Status: uint8(e.Status), Private: e.PrivateData()}
	}
	return nil
}

// Conn is a connection that connection management has made.
type Conn struct {
	QP      *QP
	Remote  Remote
	Private []byte // what the other side handed over, and the zeros behind it

	device *Device
	id     cm.ConnID
	done   chan struct{}
	once   sync.Once
}

func (d *Device) newConn(id cm.ConnID, q *QP, e *cm.Event) *Conn {
	return &Conn{
		QP: q, Remote: Remote{QPN: e.Remote.QPN, PSN: q.firstPSN(), GID: e.Peer.GID},
		Private: e.PrivateData(), device: d, id: id, done: make(chan struct{}),
	}
}

func (c *Conn) end() { c.once.Do(func() { close(c.done) }) }

// Done is closed when either side has ended the connection.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Disconnect ends the connection: the queue pair goes to the error state, the
// peer is told, and its answer is waited for. When the peer has ended it first,
// only the queue pair is left to be ended.
func (c *Conn) Disconnect(ctx context.Context) error {
	err := c.device.with(func(a *agent) error {
		if err := c.QP.usable(); err != nil {
			return err
		}
		if err := c.QP.modify(Error, Attributes{}); err != nil {
			return err
		}
		err := a.manager.Disconnect(c.device.now, c.id, nil)
		if errors.Is(err, cm.ErrUnknown) { // timewait is over
			c.end()
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.device.done:
		return c.device.ended()
	}
}

// Dial connects a queue pair in RESET or INIT to a service of a peer, and
// returns when it is in RTS.
func (d *Device) Dial(ctx context.Context, peer netip.Addr, service Service, q *QP, o ConnOptions) (*Conn, error) {
	address, err := d.address(ctx, Address{DGID: peer, SGID: o.Source}, sourcePort(q.QPN()))
	if err != nil {
		return nil, err
	}
	attr := q.attributes(Remote{PSN: q.firstPSN()})
	attr.Address, attr.Timeout = address, 0 // so that Change says whether one is wished
	if o.Change != nil {
		o.Change(&attr)
	}
	var x *exchange
	var id cm.ConnID
	if err := d.with(func(a *agent) (err error) {
		if err = q.connectable(d); err != nil {
			return err
		}
		if id, err = a.manager.Connect(d.now, d.request(q, service, address, &attr, &o)); err == nil {
			x = a.follow(id)
		}
		return err
	}); err != nil {
		return nil, err
	}
	conn, err := d.established(ctx, x, id, q, attr)
	if err != nil {
		d.abandon(id, nil)
		return nil, err
	}
	return conn, nil
}

// request is the REQ for a queue pair.
func (d *Device) request(q *QP, service Service, to *Address, attr *Attributes, o *ConnOptions) *cm.Request {
	r := &cm.Request{
		To:        d.peerAt(to.DGID, to.SGID),
		ServiceID: uint64(service),
		Local:     q.side(attr),
		Terms: cm.Terms{
			Transport:  transport(q.Type()),
			PathMTU:    mtuCode(attr.PathMTU),
			RetryCount: attr.RetryCount,
			PKey:       attr.PKey,
			Primary:    cm.RoCEPath(to.SGID, to.DGID),
		},
		PrivateData: o.Private,
	}
	r.IP = d.ipHeader(service, to, o)
	return r
}

// ipHeader is what rdma_cm's services want to know about who asks.
func (d *Device) ipHeader(service Service, to *Address, o *ConnOptions) cm.IPHeader {
	if _, _, isPort := service.port(); !isPort {
		return cm.IPHeader{}
	}
	port := o.SourcePort
	if port == 0 {
		port = firstPort | uint16(d.rng.Uint32())&portMask
	}
	return cm.IPHeader{Src: to.SGID, SrcPort: port, Dst: to.DGID}
}

// side is what the other side is told of a queue pair. Each side chooses the PSN
// that the other one begins with (IBTA 12.7, Starting PSN).
func (q *QP) side(attr *Attributes) cm.Side {
	return cm.Side{
		QPN: q.QPN(), QKey: attr.QKey, StartingPSN: attr.RQPSN,
		ResponderResources: uint8(attr.MaxDestRdAtomic), InitiatorDepth: uint8(attr.MaxRdAtomic),
		RNRRetryCount: attr.RNRRetry, SRQ: q.srq != nil,
	}
}

// transport is how a REQ names the type of a queue pair.
func transport(t Type) uint8 {
	if t == UC {
		return wire.TransportUC
	}
	return wire.TransportRC
}

// mtuCode is the code of a path MTU, 1 for 256 to 5 for 4096.
func mtuCode(mtu int) (code uint8) {
	for ; mtu >= 256; mtu /= 2 {
		code++
	}
	return code
}

// established waits for the reply to a REQ and connects the queue pair.
func (d *Device) established(ctx context.Context, x *exchange, id cm.ConnID, q *QP, attr Attributes) (*Conn, error) {
	e, err := d.wait(ctx, x)
	if err != nil {
		return nil, err
	}
	wished := attr.Timeout
	agree(&attr, &e)
	if wished != 0 {
		attr.Timeout = wished
	}
	conn := d.newConn(id, q, &e)
	err = d.with(func(a *agent) error {
		if err := q.start(d, attr); err != nil {
			return err
		}
		x.conn = conn
		return q.unless(a.manager.Establish(id, nil))
	})
	return conn, err
}

// agree takes over what the other side has said of its queue pair.
func agree(a *Attributes, e *cm.Event) {
	responder, initiator := e.Limits()
	a.DestQP, a.SQPSN = e.Remote.QPN, e.Remote.StartingPSN
	a.MaxDestRdAtomic = min(a.MaxDestRdAtomic, int(responder))
	a.MaxRdAtomic = min(a.MaxRdAtomic, int(initiator))
	a.RNRRetry = e.Remote.RNRRetryCount
	a.Timeout = e.ACKTimeout
}

// connectable says why connection management cannot connect a queue pair of the
// device's, nil if it can.
func (q *QP) connectable(d *Device) error {
	if q.device != d {
		return errForeign
	}
	if err := q.usable(); err != nil {
		return err
	}
	if t := q.Type(); t != RC && t != UC {
		return fmt.Errorf("a queue pair of type %v is not connected so", t)
	}
	if s := q.engine.State(); s != Reset && s != Init {
		return &StateError{State: s, Reason: "connected already"}
	}
	return nil
}

// start brings a queue pair in RESET or INIT to RTS.
func (q *QP) start(d *Device, attr Attributes) error {
	if err := q.connectable(d); err != nil {
		return err
	}
	states := []State{Init, RTR, RTS}
	if q.engine.State() == Init {
		states = states[1:]
	}
	for _, s := range states {
		if err := q.modify(s, attr); err != nil {
			return err
		}
	}
	return nil
}

// unless takes a queue pair that has been connected to the error state if there is
// an error after all, which it returns. So does rdma_cm (cma_modify_qp_err).
func (q *QP) unless(err error) error {
	if err != nil && !q.destroyed {
		_ = q.modify(Error, Attributes{})
	}
	return err
}

// abandon ends what was not established, or not waited for, and with it the queue
// pair that was connected for it, if any.
func (d *Device) abandon(id cm.ConnID, q *QP) {
	_ = d.with(func(a *agent) error {
		delete(a.exchanges, id)
		if q != nil && !q.destroyed {
			_ = q.modify(Error, Attributes{})
		}
		return a.manager.Abort(d.now, id)
	})
}

// Datagram is where the datagrams of a service go, and what it said.
type Datagram struct {
	To      *Address
	QPN     uint32
	QKey    uint32
	Private []byte
}

// Lookup asks a peer for the queue pair of a datagram service (SIDR).
func (d *Device) Lookup(ctx context.Context, peer netip.Addr, service Service, o ConnOptions) (*Datagram, error) {
	address, err := d.address(ctx, Address{DGID: peer, SGID: o.Source}, firstPort)
	if err != nil {
		return nil, err
	}
	var x *exchange
	var id cm.ConnID
	if err := d.with(func(a *agent) (err error) {
		id, err = a.manager.ResolveSIDR(d.now, &cm.SIDR{
			To: d.peerAt(address.DGID, address.SGID), ServiceID: uint64(service),
			IP: d.ipHeader(service, address, &o), PrivateData: o.Private,
		})
		if err == nil {
			x = a.follow(id)
		}
		return err
	}); err != nil {
		return nil, err
	}
	e, err := d.wait(ctx, x)
	if err != nil {
		d.abandon(id, nil)
		return nil, err
	}
	return &Datagram{To: address, QPN: e.Remote.QPN, QKey: e.Remote.QKey, Private: e.PrivateData()}, nil
}
