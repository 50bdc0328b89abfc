package iwarp

import (
	"math/bits"
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
	"github.com/rocecap/rocecap/internal/wire"
)

// crcMode says whether the connection uses CRCs. They are used when either side
// asks for them; the field is always there (RFC 5044 section 7.1).
type crcMode uint8

const (
	crcUnknown crcMode = iota
	crcOff
	crcOn
)

// conn is one TCP connection.
type conn struct {
	out     *output
	tcp     *tcpstream.Conn
	addr    [2]netip.AddrPort
	streams [2]stream
	known   bool // it carries iWARP
	crc     crcMode
	request start
	hasReq  bool

	idler, busier *conn // neighbours in the order of last use
}

// begin makes c a connection that nothing is known of but its two ends.
func (c *conn) begin(budget *tcpstream.Budget) {
	c.tcp = tcpstream.NewConn(budget)
	c.known, c.crc, c.hasReq = false, crcUnknown, false
	for dir := range c.streams {
		c.streams[dir] = stream{conn: c, dir: dir, win: window{budget: budget}}
	}
}

// hopeless reports that neither direction can yield a PDU before a new
// connection begins on the same ports.
func (c *conn) hopeless() bool {
	return c.streams[0].state == dead && c.streams[1].state == dead && !c.known
}

// drain hands what the TCP connection has in order to the streams.
func (c *conn) drain() {
	for chunk, ok := c.tcp.Next(); ok; chunk, ok = c.tcp.Next() {
		c.streams[chunk.Dir].feed(chunk)
	}
}

// finish cuts what can still be cut and gives all memory back.
func (c *conn) finish() {
	c.tcp.Flush()
	c.drain()
	for dir := range c.streams {
		c.streams[dir].flush()
		c.streams[dir].win.release()
	}
	c.tcp.Reset()
}

// recognise notes that the connection carries iWARP, and takes up a direction
// that had been given up.
func (c *conn) recognise() {
	if c.known {
		return
	}
	c.known = true
	for dir := range c.streams {
		if s := &c.streams[dir]; s.state == dead {
			s.state = probing
			s.probe.reset(s.win.end())
		}
	}
}

// emitStart turns the start-up frame at the front of the stream's window, up to
// offset end, into a PDU and acts on what it says.
func (c *conn) emitStart(s *stream, kind Kind, end int64) {
	c.recognise()
	c.emitUnframed(s)
	p := c.out.add(kind, c, s.dir)
	p.Problems = wire.ParseMPAStart(&p.Stack, c.out.keep(s.win.bytes(s.win.off, end)))
	p.place(s, s.win.off, end, c.out.number)
	p.raiseStart()
	s.win.drop(end)
	s.started, s.first = true, end
	s.grid, s.origin = true, end
	s.probe.reset(end)
	st := startOf(&p.Stack)
	if kind == MPARequest {
		c.request, c.hasReq = st, true
		return
	}
	if c.hasReq {
		p.raiseReply(&c.request)
	}
	c.settle(s, st)
}

// settle sets both directions up as the reply, seen on stream s, says.
func (c *conn) settle(s *stream, reply start) {
	other := &c.streams[1-s.dir]
	if reply.reject {
		s.state, other.state = dead, dead
		return
	}
	switch {
	case reply.crc || c.hasReq && c.request.crc:
		c.crc = crcOn
	case c.hasReq:
		c.crc = crcOff
	}
	s.mk = markers{phase: s.first}
	if c.hasReq {
		s.mk.mode = modeOf(c.request.markers)
	}
	s.sync(s.first, !c.hasReq)
	switch {
	case other.started:
		other.mk = markers{mode: modeOf(reply.markers), phase: other.first}
		if other.state == probing && other.win.off <= other.first {
			other.sync(other.first, false)
			other.run()
		}
	case !reply.markers:
		other.mk.mode = markersOff
	}
}

// modeOf turns flag M of one side's start-up frame into what it means for the
// stream that this side receives.
func modeOf(m bool) mode {
	if m {
		return markersOn
	}
	return markersOff
}

// emitFPDU turns the stream's FPDU from pos to end into a PDU.
func (c *conn) emitFPDU(s *stream, end int64, v verdict) {
	p := c.out.add(FPDU, c, s.dir)
	p.place(s, s.pos, end, c.out.number)
	_, first := s.win.missing(s.pos, end)
	from := len(c.out.arena)
	c.out.arena = s.mk.strip(c.out.arena, &s.win, s.pos, first)
	p.Problems = wire.ParseFPDU(&p.Stack, c.out.arena[from:len(c.out.arena):len(c.out.arena)])
	p.Markers = s.mk.find(p.Markers, &s.win, s.pos, first)
	p.CRC, p.Computed = v.crc, v.computed
	if len(p.Markers) > 0 {
		p.Offset = -1
	}
	p.raiseProblems()
	p.raiseFraming(s, end)
}

// emitUnframed reports the bytes of the stream that no PDU accounts for.
func (c *conn) emitUnframed(s *stream) {
	if !c.known {
		return
	}
	if s.missed > 0 {
		p := c.out.add(Gap, c, s.dir)
		p.Stream, p.Len, p.Missing = s.win.off-s.missed, s.missed, s.missed
		s.missed = 0
	}
	if s.skipped > 0 {
		p := c.out.add(Skipped, c, s.dir)
		p.Stream, p.Len = s.win.off-s.skipped, s.skipped
		s.skipped = 0
	}
}

// place fills in where the PDU at [lo, hi) of the stream came from. number is
// the packet that is being looked at.
func (p *PDU) place(s *stream, lo, hi int64, number uint64) {
	p.Stream, p.Len = lo, hi-lo
	p.Missing, _ = s.win.missing(lo, hi)
	offset := -1
	for i := range s.win.parts {
		part := &s.win.parts[i]
		if part.hi <= lo || part.lo >= hi {
			continue
		}
		if p.Segments == 0 {
			p.First = part.number
			if part.lo <= lo && part.offset >= 0 {
				offset = part.offset + int(lo-part.lo)
			}
		}
		if p.Segments == 0 || part.number != p.Last {
			p.Segments++
		}
		p.Last = part.number
	}
	if p.Segments == 1 && p.Last == number {
		p.Offset = offset
	}
}

// raiseFraming judges how the FPDU from the stream's pos to end is framed.
func (p *PDU) raiseFraming(s *stream, end int64) {
	if p.CRC == CRCBad {
		p.raiseCRC()
	}
	for i := range p.Markers {
		if m := &p.Markers[i]; !m.Good {
			p.raise(IssueMarker, "marker with reserved bits 0x%04x and FPDUPTR %d before byte %d (RFC 5044 section 4.3)",
				m.View().Reserved(), m.View().FPDUPtr(), m.At)
		}
	}
	longest := 0
	for _, part := range s.win.parts {
		if part.hi > s.pos && part.lo < end {
			longest = max(longest, part.segLen)
		}
	}
	if p.Segments > 1 && p.Len > int64(longest) {
		p.raise(IssueExceeds, "FPDU of %d bytes is spread over %d TCP segments that cannot hold it: it is not aligned as RFC 5044 section 5 asks", p.Len, p.Segments)
	}
}

// raiseCRC shows both values in the order of the wire, as the field is shown.
func (p *PDU) raiseCRC() {
	field := bits.ReverseBytes32(wire.FPDU(p.Stack.Data).CRC())
	want := bits.ReverseBytes32(p.Computed)
	hint := ""
	if field == p.Computed {
		hint = ", byte-swapped"
	}
	p.raise(IssueCRC, "CRC32c is 0x%08x and should be 0x%08x%s", field, want, hint)
}
