package survey

import "time"

// Span is the time from the first frame that was looked at to the last, and what
// the clock of the capture did meanwhile.
type Span struct {
	First, Last int64

	// Back is how often a frame has an earlier time than the one before it, Most by
	// how much at most, and MostAt the frame behind that step.
	Back   int
	Most   time.Duration
	MostAt int

	known bool
	from  int // the first frame
}

// Length is how long it is; a clock that was set back leaves none.
func (s *Span) Length() time.Duration { return max(0, time.Duration(s.Last-s.First)) }

func (s *Span) note(at Stamp) {
	if !s.known {
		*s = Span{First: at.Time, Last: at.Time, known: true, from: at.Number}
		return
	}
	s.next(at)
}

// next takes the time of the next frame. Some frames of pcapng have none, which is
// told as 0.
func (s *Span) next(at Stamp) {
	if at.Time == 0 {
		return
	}
	if at.Time < s.Last {
		s.Back++
		s.worse(time.Duration(s.Last-at.Time), at.Number)
	}
	s.Last = at.Time
}

func (s *Span) worse(by time.Duration, at int) {
	if by > s.Most {
		s.Most, s.MostAt = by, at
	}
}

// add takes over what was noted of the frames that come next.
func (s *Span) add(more Span) {
	if !more.known {
		return
	}
	if !s.known {
		*s = more
		return
	}
	s.next(Stamp{more.from, more.First})
	s.Back += more.Back
	s.worse(more.Most, more.MostAt)
	if more.Last != 0 {
		s.Last = more.Last
	}
}
