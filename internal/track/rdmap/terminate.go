package rdmap

import (
	"slices"

	"github.com/rocecap/rocecap/internal/wire"
)

// place is what a DDP header says of where a segment belongs.
type place struct {
	tagged bool
	which  uint32 // STag or queue
	where  uint64 // tagged offset, or MSN and MO
	packet int
}

// placeOf reads one of the two headers.
func placeOf(t wire.DDPTagged, u wire.DDPUntagged, packet int) place {
	if len(t) > 0 {
		return place{true, t.STag(), t.Offset(), packet}
	}
	return place{false, u.QN(), uint64(u.MSN())<<32 | uint64(u.MO()), packet}
}

// recents are the last segments of a stream, the place of the next in a ring.
type recents struct {
	all  []place
	next int
}

func (r *recents) add(p place) {
	if len(r.all) < maxRecent {
		r.all = append(r.all, p)
		return
	}
	r.all[r.next] = p
	r.next = (r.next + 1) % maxRecent
}

// newest are the last n, in memory of their own.
func (r *recents) newest(n int) recents {
	inOrder := slices.Concat(r.all[r.next:], r.all[:r.next])
	return recents{all: slices.Clone(inOrder[max(0, len(inOrder)-n):])}
}

// find returns the packet with the only segment of a place, 0 when there is none
// or more than one.
func (r *recents) find(p place) (packet int) {
	for _, q := range r.all {
		if q.tagged != p.tagged || q.which != p.which || q.where != p.where {
			continue
		}
		if packet > 0 {
			return 0
		}
		packet = q.packet
	}
	return packet
}

// terminate takes a Terminate message (RFC 5040 section 4.8).
func (c *Connection) terminate(from int, f *fpdu) {
	e := &c.Ends[from]
	head := f.Stack.View(wire.HdrRDMAPTerminate)
	if len(head) < wire.RDMAPTerminateLen || e.Terminate != nil {
		return
	}
	t := &Terminate{Packet: f.packet, Head: [2]byte(head)}
	if quoted := f.Stack.View(wire.HdrRDMAPTermDDP); len(quoted) > 0 && len(quoted) == wire.DDP(quoted).HeaderLen() {
		p := place{}
		if wire.DDP(quoted).Tagged() {
			p = placeOf(quoted, nil, 0)
		} else {
			p = placeOf(nil, quoted, 0)
		}
		t.Cause = c.Ends[1-from].stream.recent.find(p)
	}
	e.Terminate = t
	e.tell(Event{Kind: Terminated, Packet: f.packet, Cause: t.Cause, Got: uint64(t.Head[0])<<8 | uint64(t.Head[1])})
}
