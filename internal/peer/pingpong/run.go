package pingpong

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/wire"
)

// QKey is the Q_Key of the UD example.
const QKey = 0x11111111

// pageLen is the distance of the bytes that the examples' own check looks at.
const pageLen = 4096

// Options say what ping-pong to play. The zero value of none is useful.
type Options struct {
	Type       endpoint.Type // RC, UC or UD
	QPs        int           // more than one only with Shared
	Shared     bool          // receives come from a shared receive queue
	Size       int           // of a message, in bytes
	Iterations int           // messages in each direction
	RxDepth    int           // receives posted at a time
	Client     bool          // sends first
	// Check compares what comes back with what was sent; as a server, as the
	// originals do, the first byte of each page with zero.
	Check bool
	// Change changes the attributes of the queue pairs.
	Change func(*endpoint.Attributes)
	// GID is the index of the address to use.
	GID int
}

// Game is one side of a ping-pong.
type Game struct {
	Options
	dev    *endpoint.Device
	cq     *endpoint.CQ
	srq    *endpoint.SRQ
	region *endpoint.Region
	send   []byte // parts of the region's buffer: one for each queue pair
	recv   []byte
	qps    []*player
	bad    int // messages that were not as they had to be
}

// player is one queue pair.
type player struct {
	qp      *endpoint.QP
	local   Address
	remote  Address
	to      *endpoint.Address // of UD
	waiting bool              // for a message
	sending bool
}

// New makes the queue pairs and posts receives, so that a peer may send as soon
// as it knows of them.
func New(dev *endpoint.Device, o Options) (*Game, error) {
	if o.Type == endpoint.UD && o.Size > dev.MTU() {
		return nil, fmt.Errorf("a UD message of %d bytes does not fit into the path MTU of %d", o.Size, dev.MTU())
	}
	g := &Game{Options: o, dev: dev, cq: dev.CreateCQ(o.RxDepth + 2*o.QPs)}
	pd := dev.AllocPD()
	slot := g.slot()
	buf := make([]byte, slot*(o.QPs+g.rooms()))
	g.send, g.recv = buf[:slot*o.QPs], buf[slot*o.QPs:]
	var err error
	if g.region, err = pd.RegisterMemory(buf, endpoint.LocalWrite); err != nil {
		return nil, err
	}
	if o.Shared {
		if g.srq, err = dev.CreateSRQ(endpoint.SRQOptions{PD: pd, MaxRecv: o.RxDepth}); err != nil {
			return nil, err
		}
	}
	for range o.QPs {
		if err := g.add(pd); err != nil {
			return nil, err
		}
	}
	for i := range o.RxDepth {
		if err := g.post(uint64(i % g.rooms())); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// rooms is how many slots there are for receives. One queue pair's message comes
// when the one before has been answered; those of several overlap as they like.
func (g *Game) rooms() int {
	if g.Shared {
		return g.RxDepth
	}
	return min(g.RxDepth, 2)
}

func (g *Game) add(pd *endpoint.PD) error {
	qp, err := g.dev.CreateQP(endpoint.QPOptions{
		Type: g.Type, PD: pd, SendCQ: g.cq, RecvCQ: g.cq, SRQ: g.srq, MaxSend: 1, MaxRecv: g.RxDepth, SignalAll: true,
	})
	if err != nil {
		return err
	}
	if err := qp.Prepare(g.attributes); err != nil {
		return err
	}
	local := qp.LocalFor(g.GID)
	g.qps = append(g.qps, &player{
		qp: qp, local: Address{QPN: local.QPN, PSN: local.PSN, GID: local.GID}, waiting: true,
	})
	return nil
}

func (g *Game) attributes(a *endpoint.Attributes) {
	if g.Type == endpoint.UD {
		a.QKey = QKey
	}
	if g.Change != nil {
		g.Change(a)
	}
}

// slot is the room of one message.
func (g *Game) slot() int {
	if g.Type == endpoint.UD {
		return wire.GRHLen + g.Size
	}
	return max(g.Size, 1)
}

// post posts a receive into the slot of that number.
func (g *Game) post(id uint64) error {
	wr := endpoint.RecvRequest{ID: id, SGL: g.region.SGL(g.slot()*(len(g.qps)+int(id)), g.slot())}
	if g.srq != nil {
		return g.srq.PostRecv(wr)
	}
	return g.qps[0].qp.PostRecv(wr)
}

// Local are the addresses of this side's queue pairs.
func (g *Game) Local() []Address {
	return g.addresses(func(p *player) Address { return p.local })
}

// Remote are those of the other side.
func (g *Game) Remote() []Address {
	return g.addresses(func(p *player) Address { return p.remote })
}

func (g *Game) addresses(of func(*player) Address) (list []Address) {
	for _, p := range g.qps {
		list = append(list, of(p))
	}
	return list
}

// Connect makes the queue pairs ready to talk to the remote ones.
func (g *Game) Connect(ctx context.Context, remote []Address) error {
	for i, p := range g.qps {
		p.remote = remote[i]
		gid := remote[i].GID.Unmap()
		if gid.IsUnspecified() {
			return errors.New("the peer tells no GID; ibv_*_pingpong tells one with -g INDEX")
		}
		if err := p.qp.Connect(ctx, endpoint.Remote{QPN: remote[i].QPN, PSN: remote[i].PSN, GID: gid}, g.attributes); err != nil {
			return err
		}
		if g.Type != endpoint.UD {
			continue
		}
		var err error
		if p.to, err = g.dev.CreateAH(ctx, endpoint.Address{DGID: gid, SGID: p.local.GID.Unmap(), HopLimit: 1}); err != nil {
			return err
		}
	}
	return nil
}

// Result is how a game went.
type Result struct {
	Bytes      uint64 // in both directions
	Iterations int
	Took       time.Duration
	Bad        int // messages that did not pass the check
}

// Run plays until all messages have gone and come.
func (g *Game) Run(ctx context.Context) (Result, error) {
	start := time.Now()
	sent, received := 0, 0
	if g.Client {
		for i := range g.qps {
			if err := g.serve(i, g.fill(i, 0)); err != nil {
				return Result{}, err
			}
		}
	}
	for sent < g.Iterations || received < g.Iterations {
		c, err := peer.Next(ctx, g.cq)
		if err != nil {
			return Result{}, fmt.Errorf("%d messages sent and %d received: %w", sent, received, err)
		}
		i := g.index(c.QPN)
		p := g.qps[i]
		message := g.message(i)
		if c.Op == endpoint.Receive {
			received++
			p.waiting = false
			g.take(i, c)
			if err := g.post(c.ID); err != nil {
				return Result{}, err
			}
		} else {
			sent++
			p.sending = false
		}
		if !p.waiting && !p.sending && sent < g.Iterations {
			if g.Client {
				message = g.fill(i, sent)
			}
			if err := g.serve(i, message); err != nil {
				return Result{}, err
			}
		}
	}
	return Result{
		Bytes: uint64(g.Size) * uint64(g.Iterations) * 2, Iterations: g.Iterations, Took: time.Since(start), Bad: g.bad,
	}, nil
}

func (g *Game) index(qpn uint32) int {
	for i, p := range g.qps {
		if p.qp.QPN() == qpn {
			return i
		}
	}
	return 0
}

// message is the send buffer of a queue pair.
func (g *Game) message(i int) []byte {
	return g.send[i*g.slot():][:g.Size]
}

// fill makes a client's next message: bytes that depend on their place and on
// the message's number, with zero where the examples check for it.
func (g *Game) fill(i, number int) []byte {
	message := g.message(i)
	if g.Shared { // the peer has one buffer for all: only equal messages come back as they were
		i, number = 0, 0
	}
	for k := range message {
		message[k] = 0
		if k%pageLen != 0 {
			message[k] = byte(k ^ k>>8 + number*7 + i)
		}
	}
	return message
}

// take looks at a message that came. A server sends it back, so that its client
// can compare: the originals receive into the buffer that they send from.
func (g *Game) take(i int, c endpoint.Completion) {
	from := int(c.ID) * g.slot()
	if g.Type == endpoint.UD {
		from += wire.GRHLen
	}
	got := g.recv[from:][:g.Size]
	mine := g.message(i)
	switch {
	case !g.Check:
	case g.Client:
		if string(got) != string(mine) {
			g.bad++
		}
	default:
		for k := 0; k < len(got); k += pageLen {
			if got[k] != 0 {
				g.bad++
				break
			}
		}
	}
	if !g.Client {
		copy(mine, got)
	}
}

// serve sends a queue pair's message.
func (g *Game) serve(i int, message []byte) error {
	p := g.qps[i]
	p.waiting, p.sending = true, true
	return p.qp.PostSend(endpoint.WorkRequest{
		Op: endpoint.Send, Flags: endpoint.Signaled, SGL: g.region.SGL(i*g.slot(), len(message)),
		To: p.to, DestQP: p.remote.QPN, QKey: QKey,
	})
}

// Close destroys the queue pairs.
func (g *Game) Close() error {
	var err error
	for _, p := range g.qps {
		err = errors.Join(err, p.qp.Destroy())
	}
	return err
}
