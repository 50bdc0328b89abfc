package endpoint

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/transport/dcqcn"
	"github.com/rocecap/rocecap/internal/transport/qp"
)

// QPOptions are what a queue pair is made with.
type QPOptions struct {
	Type           Type
	PD             *PD
	SendCQ, RecvCQ *CQ  // nil loses the completions; see SRQ for XRC
	SRQ            *SRQ // instead of an own receive queue
	MaxSend        int  // work requests outstanding; 0 means 128
	MaxRecv        int
	MaxSGE         int // 0 means 1
	MaxInline      int
	SignalAll      bool    // complete every send, not only those with Signaled
	Policy         *Policy // nil for the device's
	Number         uint32  // 0 lets the device choose
}

const defaultDepth = 128

// QP is a queue pair.
type QP struct {
	device *Device
	pd     *PD
	engine *qp.QP
	sendCQ *CQ
	recvCQ *CQ
	srq    *SRQ

	// Guarded by the device's lock.
	psn         PSN        // of the first packet to send, if the program does not choose one
	peer, local netip.Addr // of a connected queue pair
	pkey        uint16
	headLen     int  // of what stood before the last packet
	queued      bool // in the sender's queue
	destroyed   bool
	modifying   bool // what happens now is the user's wish
	timerAt     int  // place in timers, from 1; 0 is none
	due         time.Time
	rate        *dcqcn.Rate // nil when nothing slows it down
	agent       *agent      // of queue pair 1
}

// Remote is the other side of a connection.
type Remote struct {
	QPN uint32
	PSN PSN        // of the first packet that it sends
	GID netip.Addr // its IP address
	MTU int        // the largest path MTU that it takes; 0 is not said
}

var errNumberTaken = errors.New("the number is taken")

// CreateQP makes a queue pair, in RESET.
func (d *Device) CreateQP(o QPOptions) (*QP, error) {
	if o.PD == nil {
		return nil, errors.New("a queue pair needs a protection domain")
	}
	if o.Number == 1 || o.Number >= 0xFFFFFF {
		return nil, fmt.Errorf("queue pair %#x: %w", o.Number, errNumberTaken)
	}
	if o.PD.device != d || o.SendCQ.foreign(d) || o.RecvCQ.foreign(d) || o.SRQ != nil && o.SRQ.device != d {
		return nil, errForeign
	}
	d.lock()
	defer d.unlock()
	if d.closed != nil {
		return nil, d.closed
	}
	return d.createQP(o)
}

var errForeign = errors.New("it belongs to another device")

func (d *Device) createQP(o QPOptions) (*QP, error) {
	number := o.Number
	if number == 0 {
		number = d.freeNumber()
	}
	if d.pairs[number] != nil {
		return nil, fmt.Errorf("queue pair %#x: %w", number, errNumberTaken)
	}
	q := &QP{
		device: d, pd: o.PD, sendCQ: o.SendCQ, recvCQ: o.RecvCQ, srq: o.SRQ,
		psn: PSN(d.rng.Uint32() & 0xFFFFFF), headLen: maxHead,
	}
	cfg := d.config(o, number)
	cfg.Trace = q.event
	var err error
	if q.engine, err = qp.New(cfg); err != nil {
		return nil, err
	}
	if err := d.memory.HoldPD(o.PD.id); err != nil {
		return nil, err
	}
	if q.srq != nil {
		q.srq.users++
	}
	d.pairs[number] = q
	return q, nil
}

// config translates the options for the engine.
func (d *Device) config(o QPOptions, number uint32) qp.Config {
	cfg := qp.Config{
		Number: number, Type: o.Type, PD: o.PD.id, Memory: d.memory,
		MaxSend: orDefault(o.MaxSend), MaxRecv: orDefault(o.MaxRecv),
		MaxSGE: o.MaxSGE, Inline: o.MaxInline, SignalAll: o.SignalAll,
		Policy: d.options.Policy,
	}
	if o.Policy != nil {
		cfg.Policy = *o.Policy
	}
	if o.SRQ != nil {
		cfg.SRQ, cfg.MaxRecv = o.SRQ.engine, 0
	}
	if o.Type == XRCRecv {
		cfg.MaxSend = 0
		cfg.FindSRQ = func(number uint32) *qp.SRQ {
			if s := d.shared[number]; s != nil {
				return s.engine
			}
			return nil
		}
	}
	return cfg
}

func orDefault(depth int) int {
	if depth == 0 {
		return defaultDepth
	}
	return depth
}

// freeNumber begins anywhere, so that a device opened again does not take for
// its own what is still under way to its predecessor.
func (d *Device) freeNumber() uint32 {
	for {
		if d.number == 0 || d.number >= 0xFFFFFE {
			d.number = 0x100 + d.rng.Uint32N(0x7F0000)
		}
		d.number++
		if d.pairs[d.number] == nil {
			return d.number
		}
	}
}

// event is told by the engine, with the device locked.
func (q *QP) event(e Event) {
	d := q.device
	kind := AsyncKind(0)
	switch e.Kind {
	case qp.EventState:
		if (e.State == Error || e.State == SQE) && !q.modifying {
			kind = AsyncQPFatal
		}
	case qp.EventCommEstablished:
		kind = AsyncCommEstablished
	case qp.EventDrained:
		kind = AsyncSQDrained
	case qp.EventLastReceive:
		kind = AsyncLastReceive
	}
	if kind != 0 {
		d.tell(AsyncEvent{Kind: kind, QPN: q.QPN()})
	}
	if d.options.Trace != nil {
		d.options.Trace(e)
	}
}

// QPN is the queue pair number.
func (q *QP) QPN() uint32 { return q.engine.Number() }

// Type is the transport service.
func (q *QP) Type() Type { return q.engine.Type() }

// State is the present state.
func (q *QP) State() State {
	q.device.mu.Lock()
	defer q.device.mu.Unlock()
	return q.engine.State()
}

// Attributes are those in force.
func (q *QP) Attributes() Attributes {
	q.device.mu.Lock()
	defer q.device.mu.Unlock()
	return q.engine.Attributes()
}

// Local is what a peer needs to connect to the queue pair, its Remote, with GID
// 0. The PSN is what Connect will begin with; after RESET it is another.
func (q *QP) Local() Remote { return q.LocalFor(0) }

// LocalFor is Local with the GID of an index.
func (q *QP) LocalFor(gid int) Remote {
	return Remote{QPN: q.QPN(), PSN: q.firstPSN(), GID: q.device.GID(gid), MTU: q.device.MTU()}
}

func (q *QP) firstPSN() PSN {
	q.device.mu.Lock()
	defer q.device.mu.Unlock()
	return q.psn
}

// PostSend posts send work requests in their order. It stops at the first that
// is refused and returns why; those before it are posted.
func (q *QP) PostSend(wrs ...WorkRequest) error {
	d := q.device
	d.lock()
	defer d.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	d.ready(q)
	for i := range wrs {
		if to := wrs[i].To; to != nil && !d.canBeHead(to.Head) {
			return errNoHandle
		}
		if err := q.engine.PostSend(d.now, wrs[i]); err != nil {
			return err
		}
	}
	return nil
}

// PostRecv posts receive work requests, as PostSend does.
func (q *QP) PostRecv(wrs ...RecvRequest) error {
	d := q.device
	d.lock()
	defer d.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	d.ready(q)
	for i := range wrs {
		if err := q.engine.PostRecv(d.now, wrs[i]); err != nil {
			return err
		}
	}
	return nil
}

var (
	errDestroyed = errors.New("the queue pair is destroyed")
	errNoHandle  = errors.New("the address is not one that CreateAH has made")
)

func (q *QP) usable() error {
	if q.destroyed {
		return errDestroyed
	}
	return q.device.closed
}

// Destroy ends the queue pair. What is outstanding does not complete.
func (q *QP) Destroy() error {
	d := q.device
	d.lock()
	defer d.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	q.destroyed = true
	delete(d.pairs, q.QPN())
	d.timers.drop(q)
	if q.srq != nil {
		q.srq.users--
	}
	for group := range d.groups {
		q.leave(group)
	}
	d.memory.ReleaseQP(q.QPN())
	d.memory.ReleasePD(q.pd.id)
	return nil
}
