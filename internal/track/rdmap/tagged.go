package rdmap

import "github.com/rocecap/rocecap/internal/wire"

// tagged is the WRITE that is under way. The segments of a tagged message have
// one STag, and follow each other in their tagged offsets (RFC 5041 section 5.2).
type tagged struct {
	known  bool // the first segment of the message was seen, or will be
	open   bool
	stag   uint32
	to     uint64 // where the next segment has to go
	bytes  int64
	broken bool
	began  int64
}

// write takes a segment of an RDMA WRITE.
func (c *Connection) write(from int, f *fpdu, t wire.DDPTagged) {
	e := &c.Ends[from]
	w := &e.stream.writes
	stag, to := t.STag(), t.Offset()
	switch {
	case !w.open:
		*w = tagged{known: true, open: true, began: f.time, broken: !w.known}
		c.judgeSTag(from, stag, f.packet)
	case !w.known:
		w.known, w.broken = true, true
	case stag != w.stag || to != w.to:
		got, want := differ(stag, to, w.stag, w.to)
		e.tell(Event{Kind: TaggedOrder, Packet: f.packet, Got: got, Want: want})
	}
	w.stag, w.to = stag, to+uint64(f.bytes)
	w.bytes += f.bytes
	w.broken = w.broken || f.broken
	e.region(stag, to, f.bytes, 0)
	if f.last {
		w.open = false
		c.data(from, f, Write, w.bytes, w.broken, w.began)
	}
}

// differ returns the STags when they differ, and else the tagged offsets.
func differ(stag uint32, to uint64, wantSTag uint32, wantTO uint64) (got, want uint64) {
	if stag != wantSTag {
		return uint64(stag), uint64(wantSTag)
	}
	return to, wantTO
}

// invalidated is an STag that its owner was told to invalidate.
type invalidated struct {
	stag   uint32
	packet int
}

func (e *End) invalidate(stag uint32, packet int) {
	s := &e.stream
	if len(s.invalid) == maxInvalid {
		s.invalid = s.invalid[:copy(s.invalid, s.invalid[1:])]
	}
	s.invalid = append(s.invalid, invalidated{stag, packet})
}

// forgive forgets invalidated STags: the owner has sent something, and may have
// told in it that they are valid again.
func (e *End) forgive() { e.stream.invalid = e.stream.invalid[:0] }

// judgeSTag tells when a message uses an STag that was invalidated, unless its
// sender has got something from the owner that the capture has not shown yet.
func (c *Connection) judgeSTag(from int, stag uint32, packet int) {
	e, owner := &c.Ends[from], &c.Ends[1-from]
	if owner.stream.cut < owner.tcp.acked {
		return
	}
	for _, i := range e.stream.invalid {
		if i.stag == stag {
			e.tell(Event{Kind: InvalidSTag, Packet: packet, Cause: i.packet, Got: uint64(stag)})
			return
		}
	}
}
