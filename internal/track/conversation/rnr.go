package conversation

import "time"

// stormAt is how many RNR NAKs of one message in a row are a storm: a requester
// tries seven times more at most, but for one that tries for ever (IBTA vol. 1,
// 9.7.5.2.8), and five are more than a receive request that is a little late.
const stormAt = 5

// refusals are the RNR NAKs of one message.
type refusals struct {
	first sign
	n     int
}

// storm counts an RNR NAK.
func (d *Direction) storm(p *Packet) {
	x := &d.refusals
	if !x.first.set || x.first.psn != p.PSN {
		*x = refusals{first: sign{set: true, psn: p.PSN, packet: p.Number, time: p.Time}}
	}
	if x.n++; x.n == stormAt {
		d.tell(Event{Kind: RNRStorm, Packet: p.Number, Cause: x.first.packet, PSN: p.PSN, N: 1, Waited: time.Duration(p.Time - x.first.time)})
	}
}

// unheardRefusal reports whether something is sent again before the time of an RNR
// NAK is over, and after such a wait that it can be the timer: then the NAK may have
// been lost behind the capture point.
func (d *Direction) unheardRefusal(at, waited int64) bool {
	if at-d.rnr.time >= d.rnr.wait {
		return false
	}
	known := d.ShortestTimeout > 0 && waited >= int64(d.ShortestTimeout)*3/4
	return known || d.Terms.AckTimeout > 0 && waited >= int64(d.Terms.AckTimeout)/2
}

// clockwork is how much longer than it was told a requester may wait: timers of
// kernels tick as seldom as every 10 ms.
const clockwork = int64(20 * time.Millisecond)

// punctual checks the time after which a requester sends again what was refused:
// no earlier than it was told (C9-142), and not much later, which the standard
// allows.
func (d *Direction) punctual(s *stray) {
	e := Event{Packet: s.packet, Cause: s.because.sign.packet, PSN: s.psn, N: 1, Waited: time.Duration(s.because.waited)}
	told := s.because.sign.wait
	switch {
	case s.because.early > 0 && s.because.waited > 0: // without times nothing was measured
		e.Kind = RNREarly
	case s.because.waited > 4*told+clockwork+d.settled():
		e.Kind = RNRLate
	default:
		return
	}
	d.tell(e)
}
