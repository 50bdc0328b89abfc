package conversation

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// idents follow the identifications of the IPv4 headers of a requester. One that
// gives each packet the next number shows by them what was sent in between, whatever
// became of it: fewer packets than the numbers that are left out, for other packets
// of the host are numbered with these.
type idents struct {
	last  uint16
	set   bool
	time  int64 // when the last request came
	new   bool  // it was beyond all others
	steps int   // numbers that followed each other since the last jump

	recycled bool     // what is sent again has the number of the first time
	copies   int      // requests in a row that were seen before, with older numbers
	behind   wire.PSN // the one that would follow them
}

// minSteps is how many numbers have to follow each other to be no chance.
const minSteps = 4

// nearStep is how far numbers that follow each other are apart: answers and the
// packets of other queue pairs lie between them. Where one is more than maxStep away
// the numbers are random, or too much lies between.
const (
	nearStep = 16
	maxStep  = 1 << 12
)

func (x *idents) note(p *Packet) {
	if x.recycled {
		return
	}
	x.time = p.Time
	switch step := int16(p.IPID - x.last); {
	case !x.set || step < -maxStep || step > maxStep:
		*x = idents{last: p.IPID, set: true, time: p.Time}
	case step > 0:
		if x.last = p.IPID; step <= nearStep {
			x.steps++
		}
	}
}

// soonest is the time in which no host gets through all its numbers: those that number
// packets do it in software, and send no million of them in a second.
const soonest = int64(50 * time.Millisecond)

// overtaken reports whether a request was sent before the last one, or is a copy of
// one that was: no sender gives two packets one number, until all were used.
func (x *idents) overtaken(p *Packet) bool {
	step := int16(p.IPID - x.last)
	return x.set && x.steps >= minSteps && -maxStep <= step && step <= 0 && p.Time-x.time < soonest
}

// maxCopies is how many requests in a row come twice at most, in their order, because
// they were late and had been sent again meanwhile.
const maxCopies = 3

// recycles reports whether a request with an older number shows that the requester
// gives what it sends again the number of the first time, as one does that makes its
// headers from the PSN: one after the other comes again. Its numbers tell nothing from
// then on.
func (d *Direction) recycles(p *Packet) bool {
	x := &d.idents
	if d.lacks(p.PSN) || !p.PSN.Less(d.frontier) {
		return false
	}
	if p.PSN != x.behind {
		x.copies = 0
	}
	x.copies++
	x.behind = p.PSN.Add(1)
	if x.copies > maxCopies {
		*x = idents{recycled: true}
	}
	return x.recycled
}

// fresh reports whether a request was sent behind the last one.
func (x *idents) fresh(p *Packet) bool {
	_, known := x.between(p)
	return known && int16(p.IPID-x.last) <= maxStep
}

// between is how many packets were sent at most between the last request and another;
// known is false when the numbers do not tell.
func (x *idents) between(p *Packet) (n int, known bool) {
	n = int(int16(p.IPID-x.last)) - 1
	return n, x.set && x.steps >= minSteps && n >= 0
}

// outlast notes a wait behind which the requester went on.
func (d *Direction) outlast(p *Packet) {
	x := &d.idents
	if p.IPID == x.last+1 && x.steps >= minSteps && !d.old.set && d.acked != p.PSN && p.Time-d.since > d.outlasted {
		d.outlasted = p.Time - d.since
	}
}
