package conversation

import "time"

// Stalls are the times in which nothing of a direction came, neither requests nor
// answers, while a message was outstanding: for at least stallTime, and for
// longer than answers take. Waits that an RNR NAK tells are none.
type Stalls struct {
	Count   int
	Time    time.Duration // together
	Longest time.Duration
	// LongestAt is the packet that ended the longest.
	LongestAt int
	// Paused are those in which something was paused by flow control, on
	// whichever link, and PausedTime how long of them.
	Paused     int
	PausedTime time.Duration

	begun bool
	last  int64
	clock time.Duration // Packet.Paused of the last packet
}

// stallTime is longer than a device takes between two packets of a window.
const stallTime = int64(100 * time.Microsecond)

// progress takes a packet of a direction before it is followed.
func (d *Direction) progress(p *Packet) {
	s := &d.Stalls
	waited := p.Time - s.last
	if s.begun && waited >= stallTime && d.owes() && waited > d.answers.usual() {
		d.stalled(p, time.Duration(waited), max(0, p.Paused-s.clock))
	}
	s.begun, s.last, s.clock = true, p.Time, p.Paused
}

// owes reports whether a message is outstanding, and nothing told to wait. Where
// answers come, how long they take has to be known.
func (d *Direction) owes() bool {
	known := !d.reliable || d.answers.mean > 0
	return known && !d.Dead && !d.rnr.set && len(d.messages.open()) > 0
}

func (d *Direction) stalled(p *Packet, waited, paused time.Duration) {
	s := &d.Stalls
	s.Count++
	s.Time += waited
	if waited > s.Longest {
		s.Longest, s.LongestAt = waited, p.Number
	}
	if paused == 0 {
		return
	}
	s.Paused++
	s.PausedTime += min(paused, waited)
	if paused >= waited/2 {
		d.tell(Event{Kind: StallPaused, Packet: p.Number, PSN: p.PSN, N: 1, Waited: waited})
	}
}
