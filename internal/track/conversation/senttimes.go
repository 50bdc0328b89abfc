package conversation

import "github.com/rocecap/rocecap/internal/wire"

// sentTimes are when the last requests came, of a direction in which the responder has
// missed something once: others need no memory for it.
type sentTimes struct {
	list []sentTime
	next int
}

type sentTime struct {
	psn  wire.PSN
	time int64
}

// maxSentTimes is more than a window of most requesters.
const maxSentTimes = 256

// begin remembers requests from now on.
func (x *sentTimes) begin() {
	if x.list == nil {
		x.list = make([]sentTime, 0, maxSentTimes)
	}
}

func (x *sentTimes) note(p *Packet) {
	s := sentTime{p.PSN, p.Time}
	if len(x.list) < maxSentTimes {
		x.list = append(x.list, s)
		return
	}
	x.list[x.next] = s
	x.next = (x.next + 1) % maxSentTimes
}

// of returns when the request of a PSN came, if it came once among the last.
func (x *sentTimes) of(psn wire.PSN) (at int64, ok bool) {
	for i := range x.list {
		if x.list[i].psn != psn {
			continue
		}
		if ok {
			return 0, false
		}
		at, ok = x.list[i].time, true
	}
	return at, ok
}
