package perftest

import (
	"context"
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/wire"
)

// Test is one side of a test whose other side is on a Talk.
type Test struct {
	Options
	dev      *endpoint.Device
	talk     *Talk
	settings Settings
	sendCQ   *endpoint.CQ
	recvCQ   *endpoint.CQ
	region   *endpoint.Region
	memory   []byte
	lanes    []*lane
}

// lane is a queue pair and its two pieces of memory: what it sends from and
// receives into, and what the other side reaches.
type lane struct {
	qp            *endpoint.QP
	local, remote Destination
	to            *endpoint.Address // of UD
	conn          *endpoint.Conn    // with a Control
	own, exposed  int               // places in the region
}

// New agrees with the other side about the settings and makes the queue pairs.
func New(dev *endpoint.Device, talk *Talk, o Options) (*Test, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	mine := Settings{CycleBuffer: usualCycleBuffer, CacheLine: usualCacheLine, MTU: min(o.MTU, dev.MTU())}
	settings, err := talk.Agree(mine)
	if err != nil {
		return nil, err
	}
	if o.Type == endpoint.UD && o.Size > settings.MTU {
		return nil, fmt.Errorf("a UD message of %d bytes does not fit into the path MTU of %d", o.Size, settings.MTU)
	}
	t := &Test{
		Options: o, dev: dev, talk: talk, settings: settings,
		sendCQ: dev.CreateCQ(o.QPs * o.TxDepth), recvCQ: dev.CreateCQ(o.QPs * o.RxDepth),
	}
	pd := dev.AllocPD()
	t.memory = make([]byte, 2*o.QPs*t.room())
	const access = endpoint.LocalWrite | endpoint.RemoteWrite | endpoint.RemoteRead | endpoint.RemoteAtomic
	if t.region, err = pd.RegisterMemory(t.memory, access); err != nil {
		return nil, err
	}
	for i := range o.QPs {
		if err := t.add(pd, i); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// MTU is the path MTU agreed on.
func (t *Test) MTU() int { return t.settings.MTU }

// room is one piece of memory: a message, or the buffer that small ones go
// round in, whichever is longer, in whole cache lines.
func (t *Test) room() int {
	n := max(t.Size, int(t.settings.CycleBuffer))
	if t.Type == endpoint.UD {
		n += wire.GRHLen
	}
	line := max(int(t.settings.CacheLine), 1)
	return (n + line - 1) / line * line
}

func (t *Test) add(pd *endpoint.PD, i int) error {
	qp, err := t.dev.CreateQP(endpoint.QPOptions{
		Type: t.Type, PD: pd, SendCQ: t.sendCQ, RecvCQ: t.recvCQ, MaxSend: t.TxDepth, MaxRecv: t.RxDepth,
	})
	if err != nil {
		return err
	}
	if err := qp.Prepare(t.attributes); err != nil {
		return err
	}
	at := qp.LocalFor(t.GID)
	l := &lane{qp: qp, own: 2 * i * t.room(), exposed: (2*i + 1) * t.room()}
	l.local = Destination{
		OutReads: 1, QPN: at.QPN, PSN: at.PSN, GID: at.GID, RKey: t.region.RKey(), VAddr: t.region.VA() + uint64(l.exposed),
	}
	if t.Verb.reads() {
		l.local.OutReads = uint16(t.OutReads)
	}
	t.lanes = append(t.lanes, l)
	if !t.receives() {
		return nil
	}
	for range t.Depth(t.RxDepth) {
		if err := t.postReceive(l); err != nil {
			return err
		}
	}
	return nil
}

func (t *Test) attributes(a *endpoint.Attributes) {
	a.Access = endpoint.RemoteWrite | endpoint.RemoteRead | endpoint.RemoteAtomic
	a.PathMTU, a.QKey = t.settings.MTU, QKey
	a.MaxDestRdAtomic = 1
	if t.Verb.reads() {
		a.MaxDestRdAtomic = t.OutReads
	}
	if t.Change != nil {
		t.Change(a)
	}
}

func (t *Test) postReceive(l *lane) error {
	return l.qp.PostRecv(endpoint.RecvRequest{SGL: t.region.SGL(l.own, t.room())})
}

// Meet connects the queue pairs to those of the other side, and returns when
// both sides are ready.
func (t *Test) Meet(ctx context.Context) error {
	control, managed := t.talk.Conn.(*Control)
	if managed {
		if err := t.connectBy(ctx, control); err != nil {
			return err
		}
	}
	remote, err := t.talk.Exchange(t.Local())
	if err != nil {
		return err
	}
	for i, l := range t.lanes {
		if l.remote = remote[i]; managed {
			continue
		}
		if err := t.connect(ctx, l); err != nil {
			return err
		}
	}
	for _, step := range t.prelude() {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// connectBy connects the queue pairs by rdma_cm. Both sides say, with addresses
// of nothing, when they begin and when they are done.
func (t *Test) connectBy(ctx context.Context, control *Control) error {
	if t.Type != endpoint.RC {
		return errors.New("with rdma_cm, RC is all that there is here")
	}
	if err := t.talk.Sync(Destination{}); err != nil {
		return err
	}
	for _, l := range t.lanes {
		var err error
		if l.conn, err = control.Connect(ctx, l.qp, t.terms); err != nil {
			return err
		}
	}
	return t.talk.Sync(Destination{})
}

// terms are the attributes of a connection by rdma_cm. The client's path MTU
// counts.
func (t *Test) terms(a *endpoint.Attributes) {
	mtu := a.PathMTU
	t.attributes(a)
	if a.MaxRdAtomic = a.MaxDestRdAtomic; !t.Client {
		a.PathMTU = mtu
	}
}

// Part ends the connections of rdma_cm: the server does, and the client waits
// for it. All are ended at once, because the original answers no end before it
// has seen all.
func (t *Test) Part(ctx context.Context) error {
	ended := make(chan error, len(t.lanes))
	count := 0
	for _, l := range t.lanes {
		if l.conn == nil {
			continue
		}
		count++
		go func() {
			if t.Client {
				ended <- peer.Ended(ctx, l.conn)
				return
			}
			ended <- l.conn.Disconnect(ctx)
		}()
	}
	var err error
	for range count {
		err = errors.Join(err, <-ended)
	}
	return err
}

// prelude is what the originals exchange between the addresses and the test:
// once more the addresses, and the first of them alone.
func (t *Test) prelude() []func() error {
	all := func() error { _, err := t.talk.Exchange(t.Local()); return err }
	switch {
	case t.Verb == Send || t.Latency:
		return []func() error{t.sync, all, t.sync}
	case t.Both:
		return []func() error{all, t.sync, t.sync}
	}
	return []func() error{all, t.sync}
}

func (t *Test) sync() error { return t.talk.Sync(t.lanes[0].local) }

func (t *Test) connect(ctx context.Context, l *lane) error {
	gid := l.remote.GID.Unmap()
	if gid.Is4() != l.local.GID.Unmap().Is4() {
		return fmt.Errorf("the peer's GID %s and this side's %s are of different families: -x chooses the peer's", gid, l.local.GID.Unmap())
	}
	err := l.qp.Connect(ctx, endpoint.Remote{QPN: l.remote.QPN, PSN: l.remote.PSN, GID: gid}, func(a *endpoint.Attributes) {
		t.attributes(a)
		a.MaxRdAtomic = max(1, int(l.remote.OutReads))
	})
	if err != nil || t.Type != endpoint.UD {
		return err
	}
	l.to, err = t.dev.CreateAH(ctx, endpoint.Address{DGID: gid, SGID: l.local.GID.Unmap()})
	return err
}

// Local and Remote are the addresses of this and of the other side.
func (t *Test) Local() (list []Destination) {
	for _, l := range t.lanes {
		list = append(list, l.local)
	}
	return list
}

// Remote are the addresses of the other side, once met.
func (t *Test) Remote() (list []Destination) {
	for _, l := range t.lanes {
		list = append(list, l.remote)
	}
	return list
}

// Memory is what the other side has written, of one queue pair. It may be looked
// at when the test is over.
func (t *Test) Memory(i int) []byte { return t.memory[t.lanes[i].exposed:][:t.room()] }

// request is a request of a lane to an offset of what the other side exposes.
func (t *Test) request(l *lane, offset int) endpoint.WorkRequest {
	wr := endpoint.WorkRequest{
		SGL: t.region.SGL(l.own, t.Size), RemoteAddr: l.remote.VAddr + uint64(offset), RKey: l.remote.RKey,
	}
	switch t.Verb {
	case Send:
		wr.Op, wr.To, wr.DestQP, wr.QKey = endpoint.Send, l.to, l.remote.QPN, QKey
	case Write:
		wr.Op = endpoint.Write
	case Read:
		wr.Op = endpoint.Read
	case Atomic:
		wr.Op, wr.SwapAdd = endpoint.FetchAdd, 1
		if t.Swap {
			wr.Op = endpoint.CompareSwap
		}
	}
	return wr
}

// Close destroys the queue pairs.
func (t *Test) Close() error {
	var err error
	for _, l := range t.lanes {
		err = errors.Join(err, l.qp.Destroy())
	}
	return err
}
