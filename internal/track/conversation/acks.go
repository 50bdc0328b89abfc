package conversation

import "github.com/rocecap/rocecap/internal/wire"

// Asking is how a requester asks for acknowledgements: by the AckReq bit, or by
// a READ or atomic, which has an answer anyway.
type Asking struct {
	Packets      int   // request packets that ask
	LongestRun   int   // the most packets in a row that do not
	LongestBytes int64 // the most bytes in a row that do not

	run   int
	bytes int64
}

func (a *Asking) add(p *Packet) {
	if p.AckReq || opOf(p.Opcode).answered() {
		a.Packets++
		a.run, a.bytes = 0, 0
		return
	}
	a.run++
	a.bytes += int64(p.Payload)
	a.LongestRun, a.LongestBytes = max(a.LongestRun, a.run), max(a.LongestBytes, a.bytes)
}

// neverAsked looks, at the end, at a requester that has waited for its timeouts
// without ever having asked for an acknowledgement: a responder owes it none
// (C9-124 and on).
func (d *Direction) neverAsked() {
	timeouts := d.Tallies.Of(RetransmitTimeout)
	if !d.reliable || d.Asking.Packets > 0 || timeouts.Count == 0 {
		return
	}
	d.tell(Event{Kind: AckReqNever, Packet: timeouts.First()[0], PSN: d.acked, N: 1})
}

// past is what was acknowledged at two times, each longer ago than anything is
// on its way, to know acknowledgements from another age.
type past struct {
	acked, before wire.PSN
	again, lately wire.PSN // the lowest request that was sent again since
	since         int64
	widest        int // PSNs that were outstanding at a time
}

// age lets time pass.
func (d *Direction) age(now int64) {
	x := &d.past
	if !d.begun {
		return
	}
	if x.since == 0 {
		// What was on its way when the capture began is of this age.
		unknown := d.origin.Add(-maxWindow)
		*x = past{acked: unknown, before: unknown, again: d.frontier, lately: d.frontier, since: now}
	}
	x.widest = max(x.widest, d.frontier.Diff(d.acked))
	if now-x.since <= d.settled() {
		return
	}
	x.before, x.acked, x.since = x.acked, d.acked, now
	x.lately, x.again = x.again, d.frontier
}

// repeat notes a request that was sent again.
func (x *past) repeat(psn wire.PSN) {
	if psn.Less(x.again) {
		x.again = psn
	}
}

// reacknowledge takes an acknowledgement of what is acknowledged already. A responder
// acknowledges a request that comes again with the newest PSN that it has
// (C9-105), or its own. What is older than that, and than all that was
// outstanding lately, was on its way for too long, or is forged: a ghost, which
// a requester must not take for one of this age (IBTA vol. 1, 9.7.5.1.2).
func (d *Direction) reacknowledge(p *Packet) {
	if !p.PSN.Less(d.acked) || d.leading {
		return
	}
	d.DuplicateAcks++
	x := &d.past
	old := p.PSN.Less(x.before) && p.PSN.Diff(d.acked) < -x.widest
	if old && p.PSN.Less(x.again) && p.PSN.Less(x.lately) {
		d.tell(Event{Kind: AckGhost, Packet: p.Number, PSN: p.PSN, N: 1})
	}
}
