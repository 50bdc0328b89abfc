package pause

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/tally"
	"github.com/rocecap/rocecap/internal/wire"
)

// Kind is what was found.
type Kind uint8

// The findings.
const (
	Storm  Kind = iota // a pause without a break, for stormTime
	Paused             // PFC paused a priority
	Plain              // PAUSE stopped all priorities
	Odd                // a frame is not as the standards want it
	Kinds              // how many there are
)

// Event is one thing that was found.
type Event struct {
	Kind   Kind
	Packet int // in which it shows
	Class  int // the priority; All
}

// All stands for all priorities together: what a PAUSE speaks of.
const All = -1

// stormTime is how long a pause lasts that is no longer flow control: switches
// whose watchdogs look for PFC storms wait so long by default (SONiC, pfcwd).
const stormTime = int64(200 * time.Millisecond)

// DefaultSpeed is the speed of the links that is assumed, in bit/s. Most links of
// RoCE are not faster, so that pauses are rather too short than too long.
const DefaultSpeed = 100e9

// maxLinks bounds how many senders are followed.
const maxLinks = 256

// maxTime bounds the time of frames, so that sums stay in range.
const maxTime = 1 << 62

// Link is one sender of flow control, and what it does with its peer.
type Link struct {
	Src     MAC
	Frames  int
	Plain   Channel // PAUSE
	Classes [wire.PFCClasses]Channel
	Tallies tally.List[Kind]
}

// Channel returns that of a priority, or of All.
func (l *Link) Channel(class int) *Channel {
	if class == All {
		return &l.Plain
	}
	return &l.Classes[class]
}

// Tracker takes the flow control frames of a capture, in its order.
type Tracker struct {
	Speed int64 // of the links, in bit/s
	// Backwards is how many frames are older than one before them; they count
	// as no older.
	Backwards int
	// Unlisted is how many frames there was no room to follow.
	Unlisted int
	// Report is called with each event. May be nil.
	Report func(l *Link, e Event)
	// Over is called with each pause that is over: which priority's, and its time.
	// May be nil.
	Over func(l *Link, class int, from, to int64)

	links []*Link
	of    map[MAC]*Link
	last  *Link
	now   int64
	// While anything is paused, on whichever link: the time up to since, and when
	// the last of the pauses ends.
	total, since, until int64
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker() *Tracker {
	return &Tracker{Speed: DefaultSpeed, of: make(map[MAC]*Link)}
}

// Links returns the senders in the order of their first frames.
func (t *Tracker) Links() []*Link { return t.links }

// Frame takes the next flow control frame.
func (t *Tracker) Frame(f *Frame) {
	l := t.link(f.Src)
	if l == nil {
		t.Unlisted++
		return
	}
	if f.Time < t.now {
		t.Backwards++
	}
	t.pass(f.Time)
	l.Frames++
	if f.odd() {
		t.tell(l, Event{Odd, f.Number, All})
	}
	if f.Plain {
		t.set(l, Event{Plain, f.Number, All}, f.Quanta[0])
	} else {
		for class := range l.Classes {
			if f.Enabled>>class&1 == 1 {
				t.set(l, Event{Paused, f.Number, class}, f.Quanta[class])
			}
		}
	}
	t.until = t.now
	for _, l := range t.links {
		for class := All; class < wire.PFCClasses; class++ {
			if c := l.Channel(class); c.paused {
				t.until = max(t.until, c.until)
			}
		}
	}
}

// Clock is for how long anything was paused, on whichever link, up to a time that
// is not before the last frame. The difference of two times tells how much of
// the time between them was paused.
func (t *Tracker) Clock(at int64) time.Duration {
	return time.Duration(t.total + max(t.since, min(at, t.until)) - t.since)
}

// Finish ends the capture, whose last packet came at a time.
func (t *Tracker) Finish(at int64) {
	t.pass(at)
	for _, l := range t.links {
		for class := All; class < wire.PFCClasses; class++ {
			t.advance(l, class)
			t.over(l, class, t.now)
		}
	}
}

// pass lets time pass, but for the channels.
func (t *Tracker) pass(at int64) {
	t.now = min(max(at, t.now), maxTime)
	t.total, t.since = int64(t.Clock(t.now)), t.now
}

// set takes what a frame says about one channel; the event is that of a pause
// which begins.
func (t *Tracker) set(l *Link, begins Event, quanta uint16) {
	t.advance(l, begins.Class)
	c := l.Channel(begins.Class)
	if quanta == 0 {
		t.over(l, begins.Class, t.now)
		c.resume(t.now)
		return
	}
	// A quantum is 512 bit times.
	if c.pause(t.now, int64(quanta)*512*int64(time.Second)/max(1, t.Speed), begins.Packet) {
		t.tell(l, begins)
	}
}

// advance lets time pass on a channel.
func (t *Tracker) advance(l *Link, class int) {
	c := l.Channel(class)
	if c.until < t.now {
		t.over(l, class, c.until)
	}
	if c.advance(t.now) {
		t.tell(l, Event{Storm, c.packet, class})
	}
}

// over tells of a pause that ends, if there is one.
func (t *Tracker) over(l *Link, class int, at int64) {
	if c := l.Channel(class); c.paused && t.Over != nil {
		t.Over(l, class, c.begun, at)
	}
}

func (t *Tracker) tell(l *Link, e Event) {
	l.Tallies.Add(e.Kind, e.Packet, 1)
	if t.Report != nil {
		t.Report(l, e)
	}
}

// link finds a sender; nil when there is no room for another one.
func (t *Tracker) link(src MAC) *Link {
	if t.last != nil && t.last.Src == src {
		return t.last
	}
	l := t.of[src]
	if l == nil {
		if len(t.links) == maxLinks {
			return nil
		}
		l = &Link{Src: src}
		t.links = append(t.links, l)
		t.of[src] = l
	}
	t.last = l
	return l
}
