package conversation

import "time"

// Reaction is how fast an end sends before and after CNPs: the payload of
// ReactionWindow on either side of each one whose window has packets in it and
// is over. A CNP within the window of the one before belongs to that. An end
// that sends nothing any more behind the window is not counted, because it may
// just be done.
type Reaction struct {
	CNPs          int   // that were measured
	Slower        int   // after which less was sent
	Before, After int64 // payload bytes, together
	Windows       time.Duration

	slots   [reactionSlots]slotted
	newest  int64 // number of the slot
	watch   bool
	began   int64
	until   int64
	sent    int64 // before
	sending int64 // since
}

// slotted is what was sent in a slot.
type slotted struct {
	bytes   int64
	packets int
}

// ReactionWindow is twice the interval between CNPs of the paper on DCQCN
// (SIGCOMM 2015, section 4): long enough for a notification to arrive and show,
// short enough for the rate not to have recovered.
const (
	ReactionWindow = 100 * time.Microsecond
	reactionSlots  = 8
	reactionSlot   = int64(ReactionWindow) / reactionSlots
)

// minBefore is how many packets make a rate.
const minBefore = 4

// pass takes a packet that the end sends.
func (r *Reaction) pass(at int64, payload int) {
	r.conclude(at)
	if r.watch {
		r.sending += int64(payload)
	}
	r.roll(at)
	s := &r.slots[r.newest&(reactionSlots-1)]
	s.bytes += int64(payload)
	s.packets++
}

// roll empties the slots that the time has passed. Where it goes back the newest
// slot is used.
func (r *Reaction) roll(at int64) {
	now := at / reactionSlot
	for n := max(r.newest, now-reactionSlots); n < now; n++ {
		r.slots[(n+1)&(reactionSlots-1)] = slotted{}
	}
	r.newest = max(r.newest, now)
}

// notify takes a CNP to the end. The window behind it is as long as what the
// slots hold of the time before.
func (r *Reaction) notify(at int64) {
	if r.watch && at < r.until {
		return
	}
	r.roll(at)
	packets, bytes := 0, int64(0)
	for i := range r.slots {
		packets += r.slots[i].packets
		bytes += r.slots[i].bytes
	}
	r.watch = packets >= minBefore && bytes > 0
	r.sent, r.sending, r.began = bytes, 0, at
	r.until = at + min(at-(r.newest-reactionSlots+1)*reactionSlot, int64(ReactionWindow))
}

// conclude counts a CNP whose window is over.
func (r *Reaction) conclude(at int64) {
	if !r.watch || at < r.until {
		return
	}
	r.watch = false
	r.CNPs++
	r.Before += r.sent
	r.Windows += time.Duration(r.until - r.began)
	r.After += r.sending
	if r.sending < r.sent {
		r.Slower++
	}
}
