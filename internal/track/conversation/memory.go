package conversation

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/latency"
)

// What a conversation holds beyond a fixed part depends on how much of it is
// open. In a capture without answers, for example, no message is ever complete.
// The sum over all conversations is bounded.

// The most that one of what there can be many of takes.
const (
	messageBytes = 200
	doubtedBytes = 64
	holeBytes    = 48
	pointBytes   = 48
	regionBytes  = 96
	momentBytes  = 16
	packetBytes  = 264
	signBytes    = 48
	timeBytes    = 16
)

// weighEvery is after how many packets of an end a conversation is weighed
// again. Until then it can only hold little more.
const weighEvery = 16

// fewOpen is how many messages of a direction stay open when memory is short.
const fewOpen = 8

// weigh finds out what a conversation holds. When all together hold half of what
// they may, it gives up its oldest messages; when they hold too much for all that,
// the conversations that were silent longest are given up.
func (t *Tracker) weigh(c *Conversation) {
	t.hold(c)
	if t.limits.Bytes == 0 || t.held <= t.limits.Bytes/2 {
		return
	}
	for i := range c.Ends {
		c.Ends[i].Asks.thin()
	}
	for t.hold(c); t.held > t.limits.Bytes && t.silent.oldest != c; {
		t.evict(t.silent.oldest)
	}
}

// hold notes what a conversation holds.
func (t *Tracker) hold(c *Conversation) {
	n := c.Ends[0].Asks.held() + c.Ends[1].Asks.held()
	t.held += n - c.held
	c.held = n
}

// thin gives up all but the newest few messages.
func (d *Direction) thin() {
	if cap(d.messages.list) <= 2*fewOpen {
		return
	}
	d.bound(fewOpen)
	d.messages.list, d.messages.head = slices.Clone(d.messages.open()), 0
}

// evict gives up a conversation.
func (t *Tracker) evict(c *Conversation) {
	c.Evicted = true
	t.evicted++
	t.close(c)
}

func (d *Direction) held() int {
	n := cap(d.messages.list)*messageBytes + cap(d.doubt.waiting)*doubtedBytes + cap(d.holes)*holeBytes
	n += cap(d.window.points)*pointBytes + cap(d.messages.asked.Regions)*regionBytes + cap(d.Pace.recent)*momentBytes
	n += cap(d.early)*packetBytes + (cap(d.lateOnes)+cap(d.refills))*signBytes
	n += cap(d.sentTimes.list) * timeBytes
	for op := range d.Operations {
		n += sizeOf(d.Operations[op].Latency)
	}
	for _, h := range [...]*latency.Histogram{d.Pace.GapToNak, d.Pace.NakToResend, d.Pace.Timeout, d.Pace.RNR} {
		n += sizeOf(h)
	}
	return n
}

func sizeOf(h *latency.Histogram) int {
	if h == nil {
		return 0
	}
	return h.Bytes()
}
