package roceinject

import "math/bits"

// pace says when frames are due. Times are nanoseconds of any clock; they are
// arguments, so that pacing can be tested without waiting.
type pace interface {
	// due is asked once for each frame, in order: when it may go at the
	// earliest. now is not later than the present.
	due(now int64, f frame) int64
	// again says that the frames begin again.
	again()
}

const (
	second = 1_000_000_000
	// maxLate is how far the schedule is made up for after the machine was
	// busy; more is given up, so that no flood follows a pause.
	maxLate = second / 100
)

// steady sends at a rate, in bursts.
type steady struct {
	rate  rate
	burst int

	begun bool
	start int64  // when the schedule began
	units uint64 // packets or bits before this frame
	place int    // of this frame in its burst
	at    int64  // when the burst is due
}

func (p *steady) due(now int64, f frame) int64 {
	if !p.begun {
		p.begun, p.start = true, now
	}
	if p.place == 0 {
		p.at = p.start + p.rate.timeOf(p.units)
		if late := now - p.at - maxLate; late > 0 {
			p.start += late
			p.at += late
		}
	}
	if p.place++; p.place == p.burst {
		p.place = 0
	}
	if p.rate.bits {
		p.units += 8 * uint64(f.length)
	} else {
		p.units++
	}
	return p.at
}

func (p *steady) again() {}

// timeOf is how long so many packets or bits take, exactly.
func (r rate) timeOf(units uint64) int64 {
	hi, lo := bits.Mul64(units, second)
	t, _ := bits.Div64(hi%r.perSecond, lo, r.perSecond)
	return int64(t)
}

// recorded sends at the times of a capture, speed times as fast. A frame that
// is older than the one before it goes right after that one, and so does the
// first frame when they begin again.
type recorded struct {
	speed float64

	begun bool
	first int64 // time of the capture that is sent at start
	start int64
	last  int64 // when the frame before was due
}

func (p *recorded) due(now int64, f frame) int64 {
	if !p.begun && f.hasTime {
		p.begun, p.first = true, f.time
		p.start = max(p.last, now)
	}
	at := now
	if p.begun {
		at = p.last
		if f.hasTime {
			at = p.start + int64(float64(f.time-p.first)/p.speed)
		}
	}
	p.last = max(p.last, at)
	return p.last
}

func (p *recorded) again() { p.begun = false }

// pace makes the one that the flags ask for, nil for none.
func (o *sendOptions) pace() (pace, error) {
	if o.timing != "" {
		speed, err := parseTiming(o.timing)
		return &recorded{speed: speed}, err
	}
	r := defaultRate()
	if o.rate != "" {
		var err error
		if r, err = parseRate(o.rate); err != nil {
			return nil, err
		}
	}
	if r.perSecond == 0 {
		return nil, nil
	}
	return &steady{rate: r, burst: o.burst}, nil
}
