package dcqcn

import "time"

const (
	// near is how close, in Mb/s, the rate comes to its target by halves before
	// it is taken to be there; it would never get there else.
	near = 0.001
	// faint is an alpha that no longer matters: below it, it is 0.
	faint = 1e-9
)

// Rate is the reaction point of one flow. It tells when the next packet may
// leave, and is told of packets and CNPs. Times that it is given never go back.
type Rate struct {
	params          *Params
	current, target float64 // R_C and R_T
	alpha           float64

	alphaAt, timerAt       time.Time // when each timer next runs out
	timerStage, bytesStage int64     // T and BC: expiries since the last CNP
	bytes                  int64     // of the byte counter

	due  time.Time // when the next packet may leave
	part float64   // and the part of a nanosecond after that
}

// NewRate returns the machine of a flow that starts now, at line rate. The
// parameters pass Check and stay as they are.
func NewRate(params *Params, now time.Time) Rate {
	return Rate{
		params: params, current: params.LineRate, target: params.LineRate,
		alpha:   params.InitialAlpha,
		alphaAt: now.Add(params.AlphaPeriod), timerAt: now.Add(params.Timer),
		due: now,
	}
}

// Current is R_C, the rate that the flow has, in Mb/s. As all values, it is that
// of the time of the last call that told one.
func (r *Rate) Current() float64 { return r.current }

// Target is R_T, the rate that the flow goes back to, in Mb/s.
func (r *Rate) Target() float64 { return r.target }

// Alpha is the estimate of the congestion, 0 to 1.
func (r *Rate) Alpha() float64 { return r.alpha }

// CNP cuts the rate (equation 1) and starts the way back anew.
func (r *Rate) CNP(now time.Time) {
	r.Advance(now)
	p := r.params
	r.target = r.current
	r.set(now, max(p.MinRate, r.current*(1-r.alpha/2)))
	r.alpha = (1-p.Gain)*r.alpha + p.Gain
	r.timerStage, r.bytesStage, r.bytes = 0, 0, 0
	r.alphaAt, r.timerAt = now.Add(p.AlphaPeriod), now.Add(p.Timer)
}

// Advance lets the timers run that have run out by now. The other methods that
// are told the time do so themselves.
func (r *Rate) Advance(now time.Time) {
	p := r.params
	n := runOut(&r.alphaAt, now, p.AlphaPeriod)
	for ; n > 0 && r.alpha > 0; n-- {
		r.alpha *= 1 - p.Gain // equation 2
		if r.alpha < faint {
			r.alpha = 0
		}
	}
	at := r.timerAt
	n = runOut(&r.timerAt, now, p.Timer)
	for ; n > 0 && r.limited(); n-- {
		r.timerStage++
		r.raise(at)
		at = at.Add(p.Timer)
	}
}

// runOut moves a timer past now and returns how often it has run out.
func runOut(at *time.Time, now time.Time, period time.Duration) int64 {
	if now.Before(*at) {
		return 0
	}
	n := now.Sub(*at)/period + 1
	*at = at.Add(n * period)
	return int64(n)
}

// limited reports whether the flow is below the line rate.
func (r *Rate) limited() bool { return r.current < r.params.LineRate }

// raise is one expiry of the timer or the byte counter, which has been counted:
// fast recovery (equation 3) for the first F of either, then additive increase
// (equation 4), and hyper increase once both are past F. Its step grows with
// each, as in QCN (IEEE 802.1Qau), since the paper has no equation for it.
func (r *Rate) raise(at time.Time) {
	p := r.params
	if past := min(r.timerStage, r.bytesStage) - p.FastRecovery; past > 0 {
		r.target += float64(past) * p.Hyper
	} else if max(r.timerStage, r.bytesStage) > p.FastRecovery {
		r.target += p.Additive
	}
	r.target = min(r.target, p.LineRate)
	rate := (r.target + r.current) / 2
	if r.target-rate < near {
		rate = r.target
	}
	r.set(at, rate)
}

// set changes the rate. What is left to wait of the last packet's time is bits
// that are still to drain: they do so at the new rate, or a flow that was slow
// would be held for long after it has recovered.
func (r *Rate) set(at time.Time, rate float64) {
	if wait := r.due.Sub(at); wait > 0 {
		r.due = at.Add(time.Duration(float64(wait) * r.current / rate))
	}
	r.current = rate
}

// Next is when the next packet may leave: now, or later. At line rate that is
// always now, since the link itself is what holds the flow back.
func (r *Rate) Next(now time.Time) time.Time {
	r.Advance(now)
	if !r.limited() || r.due.Before(now) {
		return now
	}
	return r.due
}

// Sent tells of a packet of n bytes that leaves now: it counts for the byte
// counter, and takes its time at the present rate.
func (r *Rate) Sent(now time.Time, n int) {
	r.Advance(now)
	if !r.limited() {
		r.due, r.part = now, 0
		return
	}
	if earliest := now.Add(-r.params.Slack); r.due.Before(earliest) {
		r.due, r.part = earliest, 0
	}
	cost := float64(n)*8000/r.current + r.part // ns: bits by Mb/s is us
	r.due = r.due.Add(time.Duration(cost))
	r.part = cost - float64(time.Duration(cost))

	r.bytes += int64(n)
	for r.bytes >= r.params.ByteCounter {
		r.bytes -= r.params.ByteCounter
		r.bytesStage++
		r.raise(now)
	}
}
