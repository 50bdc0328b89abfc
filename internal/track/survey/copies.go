package survey

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rdmap"
)

// A capture can have a packet twice: a mirror port saw it going in and going out,
// all interfaces of a host or bridge were captured at once, or captures of two
// places were merged. What is sent again looks the same, but for one of these:
//
//   - The identification of IPv4, where the sender numbers its packets, is that of
//     a packet that is sent, so that the same one is the same packet.
//   - A router has taken one off the time to live, or the hop limit.
//   - Nothing is sent again without an answer in less than the shortest local ACK
//     timeout (IBTA vol. 1, C9-140). The first packet to a place has nothing that tells
//     whether its sender numbers its packets: it is the same one when it comes in less
//     than the timeouts that are in use.
//
// A packet that the network has made two of is none that was sent twice either.

const (
	// copyTime is how far apart the two are at most.
	copyTime = int64(10 * time.Millisecond)
	// shortestTimeout is 4.096 us times two.
	shortestTimeout = 2 * 4096
	// usualTimeout is below the timeouts that are in use, which begin at 4.096 us times
	// two to the power of 8.
	usualTimeout = int64(500 * time.Microsecond)

	rememberedPackets = 1 << 13
	bucket            = 4 // of them can be in one place
	rememberedStreams = 1 << 12
)

// sight is what is compared. Facts have that of each packet, because mixing takes
// longer than comparing.
type sight struct {
	print     uint64 // of all that stays the same
	stream    uint32 // what it belongs to
	way, back uint32 // from its source to its destination, and the way back
	id        uint16
	hops      uint8
}

// copies finds packets that are in the capture for the second time.
type copies struct {
	packets []passed
	streams []stream // their packets are numbered, or are not
	ways    []stream // when something came there
	begun   bool
	first   int64
	timed   bool // the capture has times
}

// passed is a packet that was seen: four of them are a line of the cache.
type passed struct {
	print  uint32 // 24 bits, and the hops
	number uint32
	time   int64
}

func (p *passed) hops() uint8 { return uint8(p.print) }

// looks reports whether a packet looks the same, but for the hops.
func (p *passed) looks(s *sight) bool { return p.number > 0 && p.print>>8 == uint32(s.print>>40) }

// stream is what goes from one place to another.
type stream struct {
	print     uint32
	last      uint32 // packet
	id        uint16
	numbering numbering
}

// numbering is whether the packets of a stream have IDs of their own.
type numbering uint8

const (
	unseen   numbering = iota // nothing of it was seen
	unknown                   // one packet was seen
	constant                  // the IDs are the same
	counted                   // they are not
)

// note takes a packet that was not there before.
func (s *stream) note(print uint32, id uint16, number int) {
	if s.print != print {
		*s = stream{print: print}
	}
	switch {
	case s.numbering == unseen:
		s.numbering = unknown
	case s.id != id:
		s.numbering = counted
	case s.numbering == unknown:
		s.numbering = constant
	}
	s.id, s.last = id, max(s.last, uint32(number))
}

func newCopies() *copies {
	return &copies{
		packets: make([]passed, rememberedPackets), streams: make([]stream, rememberedStreams), ways: make([]stream, rememberedStreams),
	}
}

// twice reports whether a packet was there before.
func (c *copies) twice(s *sight, number int, now int64) bool {
	if !c.begun {
		c.begun, c.first = true, now
	}
	c.timed = c.timed || now != c.first
	of, way := &c.streams[s.stream%rememberedStreams], &c.ways[s.way%rememberedStreams]
	before, known := c.find(s)
	if known {
		apart := max(now-before.time, before.time-now)
		numbered := s.id != 0 && s.numbered(of, way)
		if c.timed && apart <= copyTime && (numbered || s.hops != before.hops() || c.silent(s, before) && apart < s.leastTimeout(of, way)) {
			return true
		}
	}
	*before = passed{uint32(s.print>>40)<<8 | uint32(s.hops), uint32(number), now}
	of.note(s.stream, s.id, number)
	way.note(s.way, s.id, number)
	return false
}

// find returns the packet that looks the same, or the place for this one: that of the
// oldest that is remembered there.
func (c *copies) find(s *sight) (p *passed, known bool) {
	const buckets = rememberedPackets / bucket
	at := int(s.print%buckets) * bucket
	list := c.packets[at : at+bucket]
	p = &list[0]
	for i := range list {
		q := &list[i]
		if q.looks(s) {
			return q, true
		}
		if q.number < p.number {
			p = q
		}
	}
	return p, false
}

// numbered reports whether the sender gives each packet an ID of its own. Of a new
// stream that is not known yet, but perhaps of others to the same place.
func (s *sight) numbered(of, way *stream) bool {
	if of.print == s.stream && of.numbering != unknown {
		return of.numbering == counted
	}
	return way.print == s.way && way.numbering == counted
}

// leastTimeout is the time within which nothing is sent again without a reason.
func (s *sight) leastTimeout(of, way *stream) int64 {
	if s.id != 0 && of.print == s.stream && of.numbering == unknown && way.print == s.way && way.numbering == unknown {
		return usualTimeout
	}
	return shortestTimeout
}

// silent reports whether nothing came back that can have led to sending a packet again.
func (c *copies) silent(s *sight, before *passed) bool {
	back := &c.ways[s.back%rememberedStreams]
	return back.print != s.back || back.last < before.number
}

// print mixes what is compared into one number.
type print uint64

func (p *print) add(v uint64) {
	x := (uint64(*p) ^ v) * 0x9e3779b97f4a7c15
	*p = print(x ^ x>>29)
}

func (p *print) address(a netip.Addr) {
	b := a.As16()
	p.add(binary.BigEndian.Uint64(b[:8]))
	p.add(binary.BigEndian.Uint64(b[8:]))
}

// ways mixes the addresses of packets. Most of them have those of the one before, or
// the same the other way round.
type ways struct {
	src, dst    netip.Addr
	there, back print
}

func (w *ways) of(src, dst netip.Addr) (there, back print) {
	switch {
	case src == w.src && dst == w.dst:
		return w.there, w.back
	case src == w.dst && dst == w.src:
		return w.back, w.there
	}
	*w = ways{src: src, dst: dst}
	w.there.address(src)
	w.there.address(dst)
	w.back.address(dst)
	w.back.address(src)
	return w.there, w.back
}

func (p print) short() uint32 { return uint32(p >> 16) }

// sightOf is what is compared of a packet to a queue pair. The ICRC covers all that
// stays the same on the way; where the capture lacks it, the headers have to do.
func sightOf(p *conversation.Packet, w *ways) sight {
	there, back := w.of(p.Src, p.Dst)
	s := sight{way: there.short(), back: back.short(), id: p.IPID, hops: p.Hops}
	there.add(uint64(p.DestQP))
	s.stream = there.short()
	there.add(uint64(p.PSN)<<32 | uint64(p.Opcode)<<24 | uint64(p.MSN))
	there.add(uint64(p.ICRC)<<32 | uint64(p.IPID)<<16 | uint64(uint16(p.Payload)))
	there.add(p.VA ^ uint64(p.RKey)<<32 ^ uint64(p.DMALen) ^ uint64(p.Syndrome)<<56)
	s.print = uint64(there)
	return s
}

// sightOfSegment is what is compared of a TCP segment.
func sightOfSegment(g *rdmap.Segment, w *ways, id uint16, hops uint8) sight {
	there, back := w.of(g.Src.Addr(), g.Dst.Addr())
	s := sight{way: there.short(), back: back.short(), id: id, hops: hops}
	there.add(uint64(g.Src.Port())<<16 | uint64(g.Dst.Port()))
	s.stream = there.short()
	there.add(uint64(g.Seq)<<32 | uint64(g.Ack))
	there.add(uint64(id)<<48 | uint64(g.Window)<<32 | uint64(g.Flags)<<24 | uint64(g.WireLen))
	s.print = uint64(there)
	return s
}
