// Package replay says when the frames of one side of a recorded conversation
// are sent again, and judges what a live peer answers. It has no clock and no
// sockets: times are nanoseconds of whatever clock the caller has.
package replay

// Pace says when frames are due. The zero value sends without gaps.
type Pace struct {
	// Speed divides the gaps of the recording: 1 keeps them, 2 halves them, 0
	// leaves none.
	Speed float64
	// Cost, when not nil, is how long the sending of a frame must at least
	// take.
	Cost func(length int) int64

	begun    bool
	recorded int64 // time of the last event in the recording
	last     int64 // when it was due, had Cost not been
	free     int64 // when Cost allows the next frame
}

// slack is how far behind its cost a sender may be and still catch up.
const slack = 1e6

// Due returns when a frame must be sent.
func (p *Pace) Due(recorded int64, length int, now int64) int64 {
	due := p.reach(recorded, now)
	if p.Cost != nil {
		due = max(due, p.free)
		p.free = max(due, now-slack) + p.Cost(length)
	}
	return due
}

// Await says that something that was waited for has happened: the gap behind it
// begins now.
func (p *Pace) Await(recorded, now int64) {
	p.last = max(p.reach(recorded, now), now)
}

// reach moves on to an event of the recording and returns when it is due.
func (p *Pace) reach(recorded, now int64) int64 {
	if !p.begun {
		p.begun, p.last = true, now
	} else if gap := recorded - p.recorded; gap > 0 && p.Speed > 0 {
		p.last += int64(float64(gap) / p.Speed)
	}
	p.recorded = recorded
	return p.last
}
