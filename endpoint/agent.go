package endpoint

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// managementQKey is QP 1's, which everybody knows (IBTA 9.2.3).
	managementQKey = 0x80010000
	managementRecv = 256
	madRoom        = wire.GRHLen + wire.MADLen
	// exchangeDepth is how many events of a connection wait for its owner: a
	// reply, its end, the end of timewait, and one that should not have come.
	exchangeDepth = 4
)

// agent joins the connection manager to queue pair 1. Everything in it is
// guarded by the device's lock.
type agent struct {
	device    *Device
	manager   *cm.Manager
	qp        *QP
	lkey      uint32
	memory    []byte
	exchanges map[cm.ConnID]*exchange
	listeners map[Service]*Listener
	mad       [wire.MADLen]byte
}

// exchange is where the owner of a connection hears of it.
type exchange struct {
	events chan cm.Event
	conn   *Conn // nil before it is established
}

// management returns the agent. The first call makes it: a device that nobody
// connects with sends no answers to connection managers.
func (d *Device) management() (*agent, error) {
	if d.closed != nil {
		return nil, d.closed
	}
	if d.agent != nil {
		return d.agent, nil
	}
	a := &agent{
		device:    d,
		manager:   cm.New(d.managerConfig()),
		memory:    make([]byte, managementRecv*madRoom),
		exchanges: map[cm.ConnID]*exchange{},
		listeners: map[Service]*Listener{},
	}
	pd := &PD{d, d.memory.AllocPD()}
	region, err := d.memory.Register(pd.id, a.memory, 0, LocalWrite)
	if err != nil {
		return nil, err
	}
	a.lkey = region.LKey()
	a.qp, err = d.createQP(QPOptions{Type: UD, PD: pd, MaxRecv: managementRecv, MaxInline: wire.MADLen, Number: 1})
	if err != nil {
		return nil, err
	}
	a.qp.agent = a
	attr := Attributes{PKey: 0xFFFF, QKey: managementQKey, PathMTU: 256}
	for _, state := range []State{Init, RTR, RTS} {
		if err := a.qp.modify(state, attr); err != nil {
			return nil, err
		}
	}
	for i := range managementRecv {
		a.post(i)
	}
	d.agent = a
	return a, nil
}

// maxPeerTimeout is the code of the longest time that a peer may ask for: 69 s,
// which is what Linux asks for in an MRA (CMA_CM_MRA_SETTING).
const maxPeerTimeout = 24

func (d *Device) managerConfig() cm.Config {
	c := cm.DefaultConfig(d.guid(), d.rng.Uint64())
	c.MaxPeerTimeout = maxPeerTimeout
	return c
}

// guid is an EUI-64 of the MAC address, as Linux makes node GUIDs of RoCE
// devices (addrconf_addr_eui48 in include/net/addrconf.h).
func (d *Device) guid() uint64 {
	m := d.mac
	high := uint64(m[0]^2)<<16 | uint64(m[1])<<8 | uint64(m[2])
	low := uint64(m[3])<<16 | uint64(m[4])<<8 | uint64(m[5])
	return high<<40 | 0xFFFE<<24 | low
}

func (a *agent) buffer(i int) []byte { return a.memory[i*madRoom : (i+1)*madRoom] }

func (a *agent) post(i int) {
	list := [1]SGE{{Addr: uint64(i * madRoom), Length: madRoom, LKey: a.lkey}}
	_ = a.qp.engine.PostRecv(a.device.now, RecvRequest{ID: uint64(i), SGL: list[:]}) // there is room: it has just been taken
}

// complete takes a completion of queue pair 1.
func (a *agent) complete(c Completion) {
	if c.Op != Receive || c.Status != Success {
		return
	}
	b := a.buffer(int(c.ID))
	if c.Bytes == madRoom && c.SrcQP == 1 {
		a.manager.Receive(a.device.now, b[wire.GRHLen:], a.peer(b[:wire.GRHLen]))
		a.run()
	}
	a.post(int(c.ID))
}

// peer reads who has sent a datagram from the area before it. The handle is the
// GID that it was sent to, which the answer comes from.
func (a *agent) peer(area []byte) cm.Peer {
	ip := wire.IPv6Header(area)
	src, dst := ip.Src(), ip.Dst()
	if v4 := area[wire.GRHLen-wire.IPv4MinLen:]; ip.Version() != 6 {
		src, dst = wire.IPv4Header(v4).Src(), wire.IPv4Header(v4).Dst()
	}
	return a.device.peerAt(src, dst)
}

// peerAt is how the manager is told of a peer that is spoken to from one of the
// device's addresses.
func (d *Device) peerAt(peer, own netip.Addr) cm.Peer {
	for i, prefix := range d.options.Addresses {
		if prefix.Addr() == own {
			return cm.Peer{GID: peer, QPN: 1, Handle: uint64(i)}
		}
	}
	return cm.Peer{GID: peer, QPN: 1}
}

// run sends what the manager wants to send, and hands out what it tells.
func (a *agent) run() {
	d := a.device
	for {
		to, ok := a.manager.Emit(&a.mad)
		if !ok {
			break
		}
		address, err := d.known(Address{DGID: to.GID, SGID: d.GID(int(to.Handle))})
		if err != nil {
			continue // it is sent again
		}
		_ = a.qp.engine.PostSend(d.now, WorkRequest{ // what the queue has no room for is sent again, too
			Op: Send, Inline: a.mad[:], To: address, DestQP: 1, QKey: managementQKey,
		})
	}
	d.ready(a.qp)
	for {
		e, ok := a.manager.Event()
		if !ok {
			return
		}
		a.event(e)
	}
}

// known completes an address vector whose neighbour is known.
func (d *Device) known(a Address) (*Address, error) {
	a, err := d.fill(a, firstPort)
	if err != nil {
		return nil, err
	}
	mac := d.mac
	if !d.owns(a.DGID) {
		// Who has sent a datagram is known by its own address, even if packets to
		// it would go to a gateway: the answer goes the same way back.
		n := d.neighbours[a.DGID]
		if n == nil || !n.known {
			n = d.neighbours[d.next(a.DGID)]
		}
		if n == nil || !n.known {
			return nil, errNoNeighbour
		}
		mac = n.mac
	}
	a.Head = d.head(&a, mac)
	return &a, nil
}

var errNoNeighbour = errors.New("the neighbour's MAC address is not known")

func (a *agent) event(e cm.Event) {
	if e.Kind == cm.ConnectRequest || e.Kind == cm.SIDRRequest {
		a.request(e)
		return
	}
	x := a.exchanges[e.Conn]
	if x == nil {
		return
	}
	if x.conn != nil && (e.Kind == cm.Disconnected || e.Kind == cm.Rejected) {
		x.conn.end()
	}
	select {
	case x.events <- e:
	default: // it has ended already, and more often than once
	}
	switch e.Kind {
	case cm.Rejected, cm.Unreachable, cm.TimewaitExit, cm.SIDRReply:
		delete(a.exchanges, e.Conn)
	}
}

// advance lets the manager's timers run.
func (a *agent) advance(now time.Time) {
	if at := a.manager.Deadline(); !at.IsZero() && !at.After(now) {
		a.manager.Advance(now)
		a.run()
	}
}

// follow makes the place where a connection's owner hears of it.
func (a *agent) follow(id cm.ConnID) *exchange {
	x := &exchange{events: make(chan cm.Event, exchangeDepth)}
	a.exchanges[id] = x
	return x
}

// wait waits for the next event of a connection.
func (d *Device) wait(ctx context.Context, x *exchange) (cm.Event, error) {
	select {
	case e := <-x.events:
		return e, outcome(&e)
	case <-ctx.Done():
		return cm.Event{}, ctx.Err()
	case <-d.done:
		return cm.Event{}, d.ended()
	}
}

// with calls the manager and does what follows.
func (d *Device) with(f func(a *agent) error) error {
	d.lock()
	defer d.unlock()
	a, err := d.management()
	if err != nil {
		return err
	}
	err = f(a)
	a.run()
	return err
}

// service tells which of the manager's ways of listening a service needs: those
// of rdma_cm's ports have a header before the private data.
func (s Service) port() (space cm.PortSpace, port uint16, isPort bool) {
	switch space = cm.PortSpace(s >> 16); space {
	case cm.PortSpaceTCP, cm.PortSpaceUDP, cm.PortSpaceIB, cm.PortSpaceIPoIB:
		return space, uint16(s), s>>32 == 0
	}
	return 0, 0, false
}
