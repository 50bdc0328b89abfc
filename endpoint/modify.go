package endpoint

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/internal/transport/dcqcn"
)

// Modify changes the state. A path MTU of 0 is the device's. On the way to RTR
// attr.Address gets what it lacks: only DGID is needed. That may mean asking
// for a MAC address, for as long as ctx lets.
func (q *QP) Modify(ctx context.Context, to State, attr Attributes) error {
	d := q.device
	if attr.PathMTU == 0 {
		attr.PathMTU = d.MTU()
	}
	if to == RTR && attr.PathMTU > d.MTU() {
		return fmt.Errorf("%w: %d, and the device has %d", ErrMTU, attr.PathMTU, d.MTU())
	}
	if to != RTR && to != SQD || q.Type() == UD {
		attr.Address = nil
	}
	if attr.Address != nil {
		address, err := d.address(ctx, *attr.Address, sourcePort(q.QPN()))
		if err != nil {
			return err
		}
		attr.Address = address
	}
	d.lock()
	defer d.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	return q.modify(to, attr)
}

// modify is Modify for an address that is complete.
func (q *QP) modify(to State, attr Attributes) error {
	d := q.device
	q.modifying = true
	err := q.engine.Modify(d.now, to, attr)
	q.modifying = false
	now := q.engine.Attributes()
	q.pkey, q.peer, q.local = now.PKey, netip.Addr{}, netip.Addr{}
	if a := now.Address; a != nil {
		q.peer, q.local, q.headLen = a.DGID, a.SGID, len(a.Head)
	}
	if err == nil && to == Reset { // what is still under way to it shall not fit
		q.psn = PSN(d.rng.Uint32() & 0xFFFFFF)
	}
	if err == nil && to == RTS && d.rates != nil && q.Type() != UD {
		rate := dcqcn.NewRate(d.rates, d.now)
		q.rate = &rate
	}
	d.ready(q)
	return err
}

// die takes the queue pair to the error state, as a fault and not as the user's
// wish.
func (q *QP) die() {
	if s := q.engine.State(); s != Reset && s != Error {
		_ = q.engine.Modify(q.device.now, Error, Attributes{}) // every other state may
	}
}

// attributes are what Connect sets: retry counts and timers with which a lost
// packet is noticed in 67 ms and a dead peer in half a second, and as many READs
// at a time as most cards take.
func (q *QP) attributes(to Remote) Attributes {
	a := Attributes{
		PKey:            0xFFFF,
		Access:          LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic | FlushGlobal | FlushPersistent,
		DestQP:          to.QPN,
		PathMTU:         q.device.MTU(),
		RQPSN:           to.PSN,
		SQPSN:           q.firstPSN(),
		MaxDestRdAtomic: 16,
		MaxRdAtomic:     16,
		MinRNRTimer:     12, // 0.64 ms
		Timeout:         14,
		RetryCount:      7,
		RNRRetry:        7,
	}
	if to.MTU != 0 {
		a.PathMTU = min(a.PathMTU, to.MTU)
	}
	if q.Type() != UD {
		a.Address = &Address{DGID: to.GID}
	} else {
		a.QKey = DefaultQKey
	}
	return a
}

// DefaultQKey is the Q_Key that Connect gives a UD queue pair: that of the
// ibv_*_pingpong programs.
const DefaultQKey = 0x11111111

// Prepare goes from RESET to INIT with the attributes of Connect, which change
// may change first. Receive requests can then be posted before the peer sends.
func (q *QP) Prepare(change ...func(*Attributes)) error {
	a := q.attributes(Remote{})
	for _, f := range change {
		f(&a)
	}
	return q.Modify(context.Background(), Init, a)
}

// Connect goes from RESET or INIT to RTS, connected to a remote queue pair of
// the same type, with attributes that suit most; change may change them first.
// A UD queue pair needs no remote.
func (q *QP) Connect(ctx context.Context, to Remote, change ...func(*Attributes)) error {
	a := q.attributes(to)
	for _, f := range change {
		f(&a)
	}
	states := []State{Init, RTR, RTS}
	if q.State() == Init {
		states = states[1:]
	}
	for _, s := range states {
		if err := q.Modify(ctx, s, a); err != nil {
			return err
		}
	}
	return nil
}
