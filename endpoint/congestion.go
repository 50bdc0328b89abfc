package endpoint

import (
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/transport/dcqcn"
	"github.com/rocecap/rocecap/internal/wire"
)

// Codepoints of ECN (RFC 3168, 5).
const (
	ecnCapable = 2 // ECT(0)
	ecnCE      = 3
	ecnMask    = 3
)

const (
	defaultLineRate = 10_000_000_000
	// maxNotified is how many queue pairs can get CNPs in the same interval.
	maxNotified = 4096
)

func (d *Device) setCongestion(o Congestion) error {
	if o.Notify {
		if o.Interval == 0 {
			o.Interval = dcqcn.CNPInterval
		}
		d.notifier = dcqcn.NewNotifier(dcqcn.PerQP, o.Interval, maxNotified)
	}
	if !o.React {
		return nil
	}
	if o.LineRate == 0 {
		o.LineRate = defaultLineRate
	}
	rates := dcqcn.Defaults(float64(o.LineRate) / 1e6)
	d.rates = &rates
	return rates.Check()
}

// marked is told of a packet with CE, and sends the peer a CNP if it is time.
func (d *Device) marked(q *QP, a *arrival) {
	d.stats.MarkedReceived++
	to := q.engine.Attributes().Address
	if d.notifier == nil || to == nil || !d.notifier.CE(d.now, a.src, q.QPN()) {
		return
	}
	place, _ := d.reserve()
	head := copy(place, to.Head)
	if d.moved {
		d.redirect(place, to)
	}
	frame := place[:head+wire.BTHLen+wire.CNPLen+icrc.Len]
	clear(frame[head:])
	bth := wire.BTH(frame[head:])
	bth.SetOpcode(wire.OpcodeRoCECNP)
	bth.SetBECN(true) // IBTA A17.9.3
	bth.SetMigReq(true)
	bth.SetPKey(q.pkey)
	bth.SetDestQP(q.engine.Attributes().DestQP)
	d.stats.CNPsSent++
	d.seal(frame, head)
	d.commit(frame)
}

// slow is told of a CNP.
func (d *Device) slow(q *QP) {
	d.stats.CNPsReceived++
	if q.rate != nil {
		q.rate.CNP(d.now)
	}
}

// held reports whether a queue pair has to wait because of its rate, and when
// it may go on.
func (q *QP) held(now time.Time) (until time.Time, held bool) {
	if q.rate == nil {
		return until, false
	}
	until = q.rate.Next(now)
	return until, until.After(now)
}
