package conversation

import "time"

// A requester that has tried as often as it may gives up: its queue pair is in the
// error state, and sends nothing any more (IBTA vol. 1, 10.3.1). What a capture shows
// of it is silence.

// minSpent is how often a requester has to have tried again before silence means that
// it has given up, where CM did not agree on a number: one answer that was not
// captured looks the same.
const minSpent = 3

// patient is how many times as long as its last wait a requester may wait: the local
// ACK timeout is up to four times the setting (C9-140).
const patient = 4

// spent tells, at the end, that the oldest request was given up. until is how far the
// capture goes.
func (d *Direction) spent(until int64) {
	r := &d.run
	if !d.reliable || !r.begun || d.Dead || d.acked == d.frontier || d.rules.fatal {
		return
	}
	e := Event{Kind: RetriesSpent, Packet: r.packet, PSN: r.start, N: r.times + 1, Waited: time.Duration(until - r.last)}
	switch {
	case r.kind == RetransmitRNR:
		if x := &d.rnr; !x.set || x.psn != r.start || until-x.time <= patient*x.wait+clockwork {
			return
		}
		e.Kind, e.Cause, e.Waited = RNRSpent, d.rnr.packet, time.Duration(until-d.rnr.time)
	case r.kind != RetransmitTimeout, d.since > r.time, until-r.last <= patient*r.waited:
		return
	case r.times < minSpent && (!d.Terms.Asked || r.times < d.Terms.Retries):
		return
	}
	d.tell(e)
}
