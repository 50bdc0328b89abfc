package conversation

import "time"

// Before any answer was captured nothing tells the timer from a NAK that was not
// captured: the capture may have one direction only, or begin behind the NAK. What
// looks like a timeout is a suspect until it is known how long answers take.

// unheard is how long a wait has to be to be the timer's in any case. An answer, or
// the time in an RNR NAK, is seldom so long.
const unheard = 50 * time.Millisecond

// maxSuspects bounds how many wait for an answer.
const maxSuspects = 16

func (d *Direction) suspect(e Event) {
	if len(d.suspects) == maxSuspects {
		d.convict(1)
	}
	d.suspects = append(d.suspects, e)
}

// convict gives the verdict on the first suspects.
func (d *Direction) convict(n int) {
	for _, e := range d.suspects[:n] {
		if d.heard && int64(e.Waited) > d.answers.ample() {
			d.timer(e.Waited)
		} else {
			e.Kind = RetransmitUnseen
		}
		d.judge(e, d.now)
	}
	d.suspects = append(d.suspects[:0], d.suspects[n:]...)
}
