package conversation

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Congestion is what marks and notifications did to what an end sends. A
// histogram is nil when it has nothing.
type Congestion struct {
	Marked   int // packets with payload that were marked
	Notified int // CNPs that the other end sent for them
	// Early are the CNPs that came before any packet was marked: those were
	// marked behind the capture point, or in another conversation, or not at all.
	Early int
	// Delay runs from the first packet with payload that is marked behind a CNP,
	// or behind a time without marks, to the next CNP; Interval from one CNP to
	// the next.
	Delay, Interval *latency.Histogram
	Data, CNP       Class // of packets with payload, and of the CNPs
	Reaction        Reaction

	marked   bool // one was, ever
	mark     int64
	waiting  bool // for a CNP
	since    int64
	due      due
	notified int64
}

// due is the first marked packet that is not so close behind a CNP that it needs
// none of its own.
type due struct {
	set    bool
	packet int
	psn    wire.PSN
	time   int64
	told   bool // that there was no CNP
}

// Class is the DSCP of packets of one kind.
type Class struct {
	DSCP  uint8 // of the last of them
	Seen  bool
	Mixed bool // another packet had another one
}

func (c *Class) note(dscp uint8) {
	c.Mixed = c.Mixed || c.Seen && c.DSCP != dscp
	c.DSCP, c.Seen = dscp, true
}

// replyTime is within what a marked packet is followed by a CNP. Receivers leave
// some time between CNPs, 50 us in the paper on DCQCN (SIGCOMM 2015, section
// 4), so that this is twenty of them.
const replyTime = int64(time.Millisecond)

// reply is within what a CNP comes back in a conversation.
func (c *Conversation) reply() int64 {
	return replyTime + max(c.Ends[0].Asks.answers.usual(), c.Ends[1].Asks.answers.usual())
}

// timed reports whether it is known how long answers take.
func (c *Conversation) timed() bool {
	return c.Ends[0].Asks.answers.mean > 0 || c.Ends[1].Asks.answers.mean > 0
}

// passes takes note of what a packet tells about congestion.
func (h *half) passes(p *Packet) {
	g := &h.sender().Congestion
	g.Reaction.pass(p.Time, p.Payload)
	if p.Opcode.Info().Service == wire.CNP {
		return
	}
	if p.Payload > 0 {
		g.Data.note(p.DSCP)
	}
	if p.CE {
		h.marked(p)
	}
	if g.due.set && !g.due.told {
		h.overdue(p)
	}
}

// marked takes a packet that was marked. Receivers answer those with payload.
func (h *half) marked(p *Packet) {
	g, c := &h.sender().Congestion, h.conversation
	since := p.Time - g.mark
	g.marked, g.mark = true, p.Time
	if service := p.Opcode.Info().Service; p.Payload == 0 || service == wire.UD || service == wire.RD {
		return
	}
	g.Marked++
	if !g.waiting || since > c.reply() {
		g.waiting, g.since = true, p.Time
	}
	if !g.due.set && (g.Notified == 0 || p.Time-g.notified > c.reply()) {
		g.due = due{set: true, packet: p.Number, psn: p.PSN, time: p.Time}
	}
}

// overdue tells when the CNP for a marked packet does not come. It would not have
// been captured without the other direction.
func (h *half) overdue(p *Packet) {
	g, c := &h.sender().Congestion, h.conversation
	waited := p.Time - g.due.time
	if c.Joined == NotJoined || !c.timed() || waited <= c.reply() {
		return
	}
	g.due.told = true
	h.sender().Asks.tell(Event{Kind: CEUnanswered, Packet: g.due.packet, PSN: g.due.psn, N: 1, Waited: time.Duration(waited)})
}

// maxReached bounds how many addresses are known to be reached.
const maxReached = 1 << 14

// reach notes that something goes to an address; lost says that it is a CNP which
// belongs to nothing that is known.
func (t *Tracker) reach(to netip.Addr, lost bool) {
	if before, known := t.reached[to]; known && (before || !lost) || !known && len(t.reached) == maxReached {
		return
	}
	t.reached[to] = lost
}

// silence tells at the end of a conversation of one direction that no CNP came at
// all, although the capture has what goes to the sender of the marked packets. With
// both directions it is known for how long a CNP was missing.
func (t *Tracker) silence(c *Conversation) {
	e := &c.Ends[0]
	g := &e.Congestion
	if lost, reached := t.reached[e.Addr]; c.Joined != NotJoined || g.Notified > 0 || !g.due.set || !reached || lost {
		return
	}
	e.Asks.tell(Event{Kind: CEUnanswered, Packet: g.due.packet, PSN: g.due.psn, N: 1, Waited: time.Duration(c.Ended - g.due.time)})
}

// notify takes a CNP.
func (t *Tracker) notify(h *half, p *Packet) {
	slowed := t.slowed(h)
	if slowed == nil {
		t.reach(h.key.dst, true)
		return
	}
	g := &slowed.Congestion
	g.CNP.note(p.DSCP)
	if g.Notified++; g.Notified > 1 {
		measure(&g.Interval, time.Duration(p.Time-g.notified))
	}
	g.notified = p.Time
	switch {
	case !g.marked:
		g.Early++
	case p.Time-g.mark > h.conversation.reply():
		h.sender().Asks.tell(Event{Kind: CNPUnmarked, Packet: p.Number, N: 1, Waited: time.Duration(p.Time - g.mark)})
	case g.waiting:
		measure(&g.Delay, time.Duration(p.Time-g.since))
	}
	g.waiting, g.due.set = false, false
	g.Reaction.notify(p.Time)
}

// slowed is the end that a CNP speaks to, as far as its own packets are known.
// Before the directions are joined, that is the only stream the other way that
// waits for one; nil when there are several.
func (t *Tracker) slowed(h *half) *End {
	if h.conversation.Joined != NotJoined {
		return h.receiver()
	}
	if other := t.notified(pair{h.key.dst, h.key.src}); other != nil {
		return other.sender()
	}
	return nil
}
