package iwarp

import (
	"github.com/rocecap/rocecap/internal/track/tcpstream"
	"github.com/rocecap/rocecap/internal/wire"
)

// state is what a stream is doing.
type state uint8

const (
	probing state = iota // looking for a start-up frame or an FPDU
	synced               // pos is where the next FPDU begins
	dead                 // not iWARP, or rejected
)

const (
	// maxProbe bounds what a stream holds back while it looks for a place to
	// begin. It has room for a chain of three FPDUs of the largest size.
	maxProbe = 256 << 10
	// maxVain is how many bytes of a connection without any sign of iWARP are
	// looked at before it is given up.
	maxVain = 1 << 20
	// maxDoubt is how many FPDUs in a row may look wrong before the stream is
	// taken to have lost its place.
	maxDoubt = 2
)

// stream is one direction of a connection.
type stream struct {
	conn   *conn
	dir    int
	win    window
	state  state
	pos    int64 // synced: where the next FPDU begins, a preceding marker included
	weak   bool  // synced by a guess and not by the start-up frames
	doubt  int   // FPDUs in a row that look wrong
	mk     markers
	plain  int64 // bytes in sync without a marker while mk is unknown
	grid   bool  // FPDUs begin at a multiple of four bytes from origin
	origin int64

	started bool  // the stream's start-up frame was seen
	first   int64 // where it ended

	probe probe
	// skipped and missed count bytes that no PDU has accounted for yet:
	// captured ones that could not be framed, and missing ones.
	skipped, missed int64
}

// feed takes the next chunk of the stream.
func (s *stream) feed(c tcpstream.Chunk) {
	switch {
	case s.state == dead:
		s.skipped += int64(len(c.Data))
		s.missed += c.Gap
		s.win.off = c.Off + int64(len(c.Data)) + c.Gap
		return
	case c.Gap > 0:
		s.gap(c)
	default:
		s.win.add(c)
	}
	s.run()
}

// run cuts all PDUs that the window holds.
func (s *stream) run() {
	for more := true; more; {
		switch s.state {
		case probing:
			more = s.search()
		case synced:
			more = s.cut()
		case dead:
			s.win.release()
			return
		}
	}
}

// gap takes a run of missing bytes. An FPDU whose length is known survives it,
// and so does the place in the stream when the gap ends within that FPDU.
func (s *stream) gap(c tcpstream.Chunk) {
	to := s.win.end() + c.Gap
	if s.state == synced {
		if end, ok := s.frame(); ok {
			inside := min(c.Gap, end-s.win.end())
			s.win.addHole(inside, c)
			s.run()
			c.Gap -= inside
			c.Off += inside
			if c.Gap == 0 {
				return
			}
		}
	}
	if s.state == probing && c.Gap < maxProbe && len(s.probe.candidates) > 0 {
		s.win.addHole(c.Gap, c)
		return
	}
	s.missed += c.Gap
	s.lose(s.win.end())
	s.win.restart(to)
	s.probe.reset(to)
	s.conn.emitUnframed(s)
}

// pass drops the bytes before offset to, which no PDU accounts for.
func (s *stream) pass(to int64) {
	missing, _ := s.win.missing(s.win.off, to)
	s.missed += missing
	s.skipped += to - s.win.off - missing
	s.win.drop(to)
}

// lose gives up the place in the stream and looks for a new one from offset at.
func (s *stream) lose(at int64) {
	s.state = probing
	s.weak = true
	s.doubt = 0
	s.pass(at)
	s.probe.reset(at)
}

// sync fixes the place in the stream: an FPDU, or the marker before it, begins
// at offset at.
func (s *stream) sync(at int64, weak bool) {
	s.state = synced
	s.pos = at
	s.weak = weak
	s.doubt = 0
	s.grid, s.origin = true, at
	s.pass(at)
	s.conn.emitUnframed(s)
}

// frame finds where the FPDU at pos ends; ok is false while the bytes of its
// length are not there.
func (s *stream) frame() (end int64, ok bool) {
	at := s.pos
	if s.mk.at(at) {
		at += wire.MPAMarkerLen
	}
	if at+wire.FPDULengthLen > s.win.end() {
		return 0, false
	}
	if missing, _ := s.win.missing(at, at+wire.FPDULengthLen); missing > 0 {
		return 0, false
	}
	n := wire.FPDU(s.win.bytes(at, at+wire.FPDULengthLen)).ULPDULen()
	return s.mk.end(at, wire.FPDULen(n)), true
}

// cut takes the FPDU at pos out of the window and reports whether there may be
// more to do.
func (s *stream) cut() bool {
	end, ok := s.frame()
	if !ok {
		return s.frameLost()
	}
	if s.mk.mode == markersUnknown && s.implausible() {
		s.lose(s.pos)
		return true
	}
	if end > s.win.end() {
		return false
	}
	v := s.judge(s.pos, end)
	if s.wrong(v, end) {
		s.lose(s.pos)
		return true
	}
	s.conn.emitFPDU(s, end, v)
	s.noteMarkers(end)
	s.win.drop(end)
	s.pos = end
	return true
}

// frameLost handles a length field that lies in a hole: the place is lost. It
// reports whether that was so.
func (s *stream) frameLost() bool {
	_, first := s.win.missing(s.pos, s.win.end())
	if first == s.win.end() {
		return false
	}
	s.lose(s.pos)
	return true
}

// verdict is what judge found.
type verdict struct {
	crc       CRC
	computed  uint32
	plausible bool
}

// judge checks the CRC of the FPDU at [lo, hi).
func (s *stream) judge(lo, hi int64) verdict {
	v := verdict{plausible: !s.implausible()}
	if missing, _ := s.win.missing(lo, hi); missing > 0 {
		return v
	}
	computed, field := crc(&s.win, lo, hi)
	v.computed = computed
	switch {
	case computed == field:
		v.crc = CRCGood
		if s.conn.crc == crcUnknown {
			s.conn.crc = crcOn
		}
	case s.conn.crc == crcOn:
		v.crc = CRCBad
	case s.conn.crc == crcOff:
		v.crc = CRCUnused
	}
	return v
}

// wrong reports that the verdict on the FPDU from pos to end means that it is
// none.
func (s *stream) wrong(v verdict, end int64) bool {
	if v.crc == CRCGood {
		s.doubt = 0
		return false
	}
	if s.mk.mode == markersUnknown && (v.crc == CRCBad || s.markerWithin(end)) {
		return true // a marker may have been taken for data
	}
	if v.plausible && v.crc != CRCBad {
		s.doubt = 0
		return false
	}
	s.doubt++
	if s.weak && !v.plausible {
		return true
	}
	return s.doubt > maxDoubt && !v.plausible
}

// markerWithin reports that the FPDU from pos to end holds what may be its first
// marker.
func (s *stream) markerWithin(end int64) bool {
	d := s.nextMarker(s.pos, 0)
	return d >= 0 && s.pos+d < end
}

// implausible reports that the bytes at pos are there and cannot begin an FPDU.
func (s *stream) implausible() bool {
	var head [headLen]byte
	n, ok := s.peek(&head, s.pos, s.mk)
	return ok && matchFPDU(head[:n]) == no
}

// noteMarkers concludes that a stream has no markers when one would have had
// to appear by now.
func (s *stream) noteMarkers(end int64) {
	if s.mk.mode != markersUnknown {
		return
	}
	s.plain += end - s.pos
	if s.plain > wire.MPAMarkerStep+wire.MPAMarkerLen {
		s.mk.mode = markersOff
	}
}

// flush gives up what cannot be completed any more.
func (s *stream) flush() {
	s.pass(s.win.end())
	s.conn.emitUnframed(s)
}

// headLen is how much of an FPDU matchFPDU looks at: the length and, of an
// untagged header, everything up to the queue number.
const headLen = 12

// matchFPDU reports whether b, the front of an FPDU without markers, can be
// one: DDP and RDMAP versions, reserved bits, opcode, buffer model, queue and
// length agree.
func matchFPDU(b []byte) match {
	if len(b) < 4 {
		return maybe
	}
	n := wire.FPDU(b).ULPDULen()
	ddp := wire.DDP(b[wire.FPDULengthLen:])
	rdmap := wire.RDMAP(ddp[wire.RDMAPInDDP:])
	op := rdmap.Opcode()
	if ddp.Version() != wire.DDPVersion || ddp.Reserved() != 0 || n < ddp.HeaderLen() ||
		rdmap.Version() != wire.RDMAPVersion || rdmap.Reserved() != 0 ||
		!op.Known() || op.Tagged() != ddp.Tagged() {
		return no
	}
	if ddp.Tagged() {
		return yes
	}
	if body, fixed := op.BodyLen(); fixed && n != wire.DDPUntaggedLen+body {
		return no
	}
	if len(b) < headLen {
		return maybe
	}
	if !op.Invalidates() && rdmap.InvalidateSTag() != 0 {
		return no
	}
	if wire.DDPUntagged(ddp).QN() != op.QN() {
		return no
	}
	return yes
}
