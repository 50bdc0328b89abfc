package pause

import "time"

// Channel is what one link's sender does with one priority of its peer, or with
// all that the peer sends. Its exported fields are results.
type Channel struct {
	XOFF, XON int // frames that pause, and that end a pause
	// Pauses are those without a break; by the quanta, at the tracker's speed.
	Pauses  int
	Paused  time.Duration // together
	Longest time.Duration
	// LongestAt is the packet that began the longest.
	LongestAt int
	// Ended are the pauses that an XON ended, and Held how long those were, from
	// the first XOFF to the XON; that needs no speed.
	Ended int
	Held  time.Duration

	since  int64 // up to when Paused counts
	paused bool
	until  int64 // when the pause ends
	begun  int64
	packet int  // that began it
	storm  bool // it has lasted for stormTime

	held bool // an XOFF came, and no XON since
	from int64
}

// Frames is how many frames speak of the channel.
func (c *Channel) Frames() int { return c.XOFF + c.XON }

// advance lets time pass, and reports whether a pause has become a storm.
func (c *Channel) advance(now int64) (storm bool) {
	if !c.paused {
		c.since = now
		return false
	}
	end := min(now, c.until)
	c.Paused += time.Duration(max(0, end-c.since))
	c.since = now
	if d := time.Duration(end - c.begun); d > c.Longest {
		c.Longest, c.LongestAt = d, c.packet
	}
	c.paused = now <= c.until
	storm = !c.storm && end-c.begun >= stormTime
	c.storm = c.storm || storm
	return storm
}

// pause takes an XOFF for a time, and reports whether a pause begins with it.
func (c *Channel) pause(now, length int64, packet int) (begins bool) {
	c.XOFF++
	if !c.held {
		c.held, c.from = true, now
	}
	c.until = now + length
	if c.paused {
		return false
	}
	c.Pauses++
	c.paused, c.storm, c.begun, c.packet = true, false, now, packet
	return true
}

// resume takes an XON.
func (c *Channel) resume(now int64) {
	c.XON++
	c.paused = false
	if c.held {
		c.Ended++
		c.Held += time.Duration(now - c.from)
		c.held = false
	}
}
