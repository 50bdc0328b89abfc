package conversation

import "github.com/rocecap/rocecap/internal/wire"

// An answer to what was not sent yet is a ghost, or the capture misses requests. The
// next new request tells: if that is what was answered, or before it, it was a ghost,
// which a requester drops (IBTA vol. 1, 9.7.5.1.2), and nothing that it says counts.
// Until then it waits. A ghost is told when what it answers is sent, or at the end when
// nothing reaches it.

// early is an answer to what was not sent when it came.
type early struct {
	Packet
	ghost bool
}

// maxEarly bounds how many such answers wait. Of more, the newest takes the place of
// the one before it.
const maxEarly = 16

// outruns reports whether a packet is an answer to what was not sent yet. What a NAK
// names was asked for, and the response to a READ that was not captured says how long
// that is.
func (d *Direction) outruns(p *Packet) bool {
	if !p.Opcode.Info().Response || !p.Syndrome.Defined() && p.hasAETH() || p.PSN.Less(d.furthest()) {
		return false
	}
	open := d.messages.open()
	return len(open) == 0 || !open[len(open)-1].cut() || p.Opcode.Operation() == wire.OpAcknowledge
}

func (d *Direction) hold(p *Packet) {
	if len(d.early) == maxEarly {
		d.early = d.early[:maxEarly-1]
	}
	// What is really behind all before it counts no fewer messages.
	back := d.count.heard && p.hasAETH() && d.count.newest.Diff(msn(p.MSN)) > 0
	d.early = append(d.early, early{*p, back})
}

// overtaken looks, at a new request, at the answers that came before what they
// answer.
func (d *Direction) overtaken(p *Packet) {
	kept := d.early[:0]
	for i := range d.early {
		e := &d.early[i]
		e.ghost = e.ghost || !e.PSN.Less(p.PSN)
		switch {
		case !e.ghost:
			d.answered(&e.Packet)
		case e.PSN.Less(d.frontier):
			d.tell(Event{Kind: AckUnsent, Packet: e.Number, Cause: p.Number, PSN: e.PSN, N: 1})
		default:
			kept = append(kept, *e)
		}
	}
	d.early = kept
}

// neverReached tells, at the end, of answers to what no request reaches. Those that
// no new request came behind may well be answers to what was sent before.
func (d *Direction) neverReached() {
	for i := range d.early {
		e := &d.early[i]
		if !e.ghost {
			d.answered(&e.Packet)
			d.window.note(d.now, &d.messages.volume)
		}
		if next := i + 1; e.ghost || next == len(d.early) || d.early[next].ghost {
			d.tell(Event{Kind: AckBeyond, Packet: e.Number, PSN: e.PSN, N: 1})
		}
	}
	d.early = nil
}
