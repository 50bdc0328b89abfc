package conversation

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Pace is how long losses, and what is done about them, take. A histogram is nil
// when there was none of its kind.
type Pace struct {
	// GapToNak runs from the packet that shows a gap, or the one that was lost
	// behind the capture point, to the first NAK that asks for it.
	GapToNak *latency.Histogram
	// NakToResend runs from a NAK to the first packet that is sent again for it.
	NakToResend *latency.Histogram
	Timeout     *latency.Histogram // without progress before a RetransmitTimeout
	RNR         *latency.Histogram // from an RNR NAK to the RetransmitRNR

	recent []moment
	next   int
	run    int64 // the last sending again that was looked at began then
}

// moment is when a packet came that a verdict may speak of later.
type moment struct {
	packet int
	time   int64
}

// maxMoments bounds how many are remembered; verdicts that come later than so
// many others are not measured.
const maxMoments = 32

func (x *Pace) note(p *Packet) {
	m := moment{p.Number, p.Time}
	if len(x.recent) < maxMoments {
		x.recent = append(x.recent, m)
		return
	}
	x.recent[x.next] = m
	x.next = (x.next + 1) % maxMoments
}

func (x *Pace) when(packet int) (at int64, ok bool) {
	for i := range x.recent {
		if x.recent[i].packet == packet {
			return x.recent[i].time, true
		}
	}
	return 0, false
}

// told measures what an event says.
func (x *Pace) told(e *Event) {
	switch e.Kind {
	case RetransmitTimeout:
		measure(&x.Timeout, e.Waited)
	case RetransmitRNR:
		measure(&x.RNR, e.Waited)
	case RetransmitNak:
		nak, asked := x.when(e.Cause)
		if at, ok := x.when(e.Packet); ok && asked {
			measure(&x.NakToResend, time.Duration(at-nak))
		}
	}
}

func measure(h **latency.Histogram, d time.Duration) {
	if *h == nil {
		*h = &latency.Histogram{}
	}
	(*h).Add(d)
}

// sentAt is when the packet of a PSN came, if it came once. Before the first NAK it is
// known of the first and the last one of a message.
func (d *Direction) sentAt(psn wire.PSN) (at int64, ok bool) {
	m := d.messages.covering(psn)
	switch {
	case d.sentTimes.list != nil:
		return d.sentTimes.of(psn)
	case m == nil || m.again:
		return 0, false
	case psn == m.first:
		return m.time, m.headed
	case psn.Add(1) == m.end:
		return m.lastTime, true
	}
	return 0, false
}

// goesBack notes when a request came that may begin to send again.
func (d *Direction) goesBack(p *Packet) {
	if d.cursor == d.frontier || p.PSN != d.cursor {
		d.Pace.note(p)
	}
}
