package iwarp

import "github.com/rocecap/rocecap/internal/wire"

const (
	// chainLen is how many FPDU headers must follow each other where their
	// lengths say, when no CRC can confirm the first.
	chainLen = 3
	// maxCandidates bounds the places that are watched at once.
	maxCandidates = 64
	// crcFree and crcShare bound the work of trying CRCs on a stream: so many
	// bytes, and so many more for each byte of the stream.
	crcFree  = 1 << 20
	crcShare = 64
)

// probe is the search for a start-up frame or an FPDU in a stream.
type probe struct {
	from       int64 // places before this offset have been looked at
	keyed      int64 // start-up frames before this offset have been looked for
	candidates []candidate
	vain       int64 // bytes looked at without success
	work       int64 // bytes put through the CRC
}

// candidate is a place that may begin an FPDU.
type candidate struct {
	at   int64
	need int64 // window end that is needed to decide
}

func (p *probe) reset(to int64) {
	p.from, p.keyed = to, to
	p.candidates = p.candidates[:0]
}

// search looks for a place to begin and reports whether it has found one.
func (s *stream) search() bool {
	hold, found := s.searchStart()
	if found {
		return true
	}
	for from := int64(-1); from != s.probe.from && s.state != dead; {
		from = s.probe.from
		if s.searchFPDU() {
			return true
		}
		s.forget(hold)
	}
	return s.state == dead
}

// searchStart looks for a start-up frame at the beginning of a segment. hold is
// the offset of one that is not complete, or the end of the window.
func (s *stream) searchStart() (hold int64, found bool) {
	hold = s.win.end()
	for _, p := range s.win.parts {
		if !p.start || p.lo < s.probe.keyed {
			continue
		}
		if missing, _ := s.win.missing(p.lo, hold); missing > 0 {
			continue
		}
		m, kind, n := matchStart(s.win.bytes(p.lo, s.win.end()), p.lo == 0)
		switch m {
		case yes:
			s.pass(p.lo)
			s.conn.emitStart(s, kind, p.lo+int64(n))
			return 0, true
		case maybe:
			return p.lo, false
		case no:
			s.probe.keyed = p.lo + 1
		}
	}
	return hold, false
}

// searchFPDU looks for an FPDU and reports whether the stream is in sync.
func (s *stream) searchFPDU() bool {
	s.scan()
	p := &s.probe
	kept := p.candidates[:0]
	for _, c := range p.candidates {
		if c.need > s.win.end() {
			kept = append(kept, c)
			continue
		}
		r := s.evaluate(c.at)
		switch r.match {
		case yes:
			s.mk = r.mk
			s.conn.recognise()
			s.sync(r.start, true)
			p.reset(r.start)
			return true
		case maybe:
			kept = append(kept, candidate{at: c.at, need: max(r.need, s.win.end()+1)})
		case no:
		}
	}
	p.candidates = kept
	return false
}

// scan adds the places that look like the front of an FPDU to the candidates.
func (s *stream) scan() {
	p := &s.probe
	step := 1
	if s.grid {
		step = 4
		p.from += (s.origin - p.from) & 3
	}
	if p.from+4 > s.win.end() {
		return
	}
	b := s.win.bytes(p.from, s.win.end())
	i := 0
	for ; i+4 <= len(b) && len(p.candidates) < maxCandidates; i += step {
		if matchFPDU(b[i:i+4]) != no {
			p.candidates = append(p.candidates, candidate{at: p.from + int64(i)})
		}
	}
	p.from += int64(i)
}

// result is the outcome of looking at one candidate.
type result struct {
	match match
	need  int64 // maybe: window end that is needed to decide
	start int64 // yes: where the FPDU, or the marker before it, begins
	mk    markers
}

// evaluate decides whether an FPDU begins at offset at. When it is not known if
// the stream has markers it tries without and then with them, at each phase
// that a marker in the bytes vouches for.
func (s *stream) evaluate(at int64) result {
	if s.mk.mode != markersUnknown {
		return s.chain(at, s.mk)
	}
	best := s.chain(at, markers{mode: markersUnknown})
	if best.match == yes {
		if s.nextMarker(at, 0) >= 0 {
			best.mk.mode = markersOff // what looks like a marker is data
		}
		return best
	}
	try := func(phase int64) bool {
		r := s.chain(at, markers{mode: markersOn, phase: phase})
		if r.match != no && best.match == no || r.match == yes {
			best = r
		}
		return r.match == yes
	}
	if before := at - wire.MPAMarkerLen; before >= s.win.off &&
		goodMarker(s.win.bytes(before, at), 0) && try(before) {
		return best
	}
	for d := s.nextMarker(at, 0); d >= 0; d = s.nextMarker(at, d) {
		if try(at + d) {
			return best
		}
	}
	return best
}

// nextMarker returns the distance from the FPDU at offset at, larger than d, of
// bytes that would be a good marker of it; -1 when there are none up to where
// its first marker could be.
func (s *stream) nextMarker(at, d int64) int64 {
	for d += 4; d < wire.MPAMarkerStep && at+d+wire.MPAMarkerLen <= s.win.end(); d += 4 {
		if goodMarker(s.win.bytes(at+d, at+d+wire.MPAMarkerLen), d) {
			return d
		}
	}
	return -1
}

// chain follows the lengths of FPDUs from offset at on. A good CRC, a chain of
// chainLen headers, or on a connection known to be iWARP an FPDU that fills its
// segments is enough to believe it.
func (s *stream) chain(at int64, mk markers) result {
	if mk.at(at) {
		return result{}
	}
	start := at
	if mk.at(at - wire.MPAMarkerLen) {
		start -= wire.MPAMarkerLen
	}
	if start < s.win.off {
		return result{}
	}
	yesAt := result{match: yes, start: start, mk: mk}
	blind := s.conn.crc != crcOn // no CRC will confirm the FPDUs
	for n, pos := 0, start; ; n++ {
		var head [headLen]byte
		got, ok := s.peek(&head, pos, mk)
		if !ok {
			return result{} // the header is missing
		}
		m := matchFPDU(head[:got])
		if m == no {
			return result{}
		}
		if m == maybe {
			return result{match: maybe, need: s.win.end() + 1}
		}
		if n == chainLen-1 && blind {
			return yesAt
		}
		end := mk.end(pos, wire.FPDULen(wire.FPDU(head[:]).ULPDULen()))
		if end > s.win.end() {
			return result{match: maybe, need: end}
		}
		if mk.mode == markersOn && !s.markersGood(pos, end, mk) {
			return result{}
		}
		if missing, _ := s.win.missing(pos, end); missing > 0 {
			blind = true
		} else if s.tryCRC(pos, end) {
			return yesAt
		} else if s.conn.crc == crcOn {
			return result{}
		}
		if n == 0 && blind && s.conn.known && s.win.startsSegment(start) && s.win.endsSegment(end) {
			return yesAt
		}
		pos = end
	}
}

// markersGood checks the markers of the FPDU at [lo, hi) that are there.
func (s *stream) markersGood(lo, hi int64, mk markers) bool {
	var room [8]Marker
	pos := lo + mk.toNext(lo)
	for _, m := range mk.find(room[:0], &s.win, lo, hi) {
		if missing, _ := s.win.missing(pos, pos+wire.MPAMarkerLen); missing == 0 && !m.Good {
			return false
		}
		pos += wire.MPAMarkerStep
	}
	return true
}

// tryCRC reports that the FPDU at [lo, hi) has a good CRC. When a stream has
// had more than its share of tries, none is good any more.
func (s *stream) tryCRC(lo, hi int64) bool {
	s.probe.work += hi - lo
	if s.probe.work > crcFree+crcShare*s.win.end() {
		return false
	}
	computed, field := crc(&s.win, lo, hi)
	return computed == field
}

// peek copies the front of the FPDU at pos, markers left out, into head. It
// returns how many bytes there are; ok is false when one of them is missing.
func (s *stream) peek(head *[headLen]byte, pos int64, mk markers) (n int, ok bool) {
	end := min(mk.end(pos, headLen), s.win.end())
	if pos >= end {
		return 0, true
	}
	if missing, _ := s.win.missing(pos, end); missing > 0 {
		return 0, false
	}
	return len(mk.strip(head[:0], &s.win, pos, end)), true
}

// forget drops what the search will not look at again: all before hold, before
// the first candidate, and before the bytes that are yet to be scanned, but not
// a marker that may precede them.
func (s *stream) forget(hold int64) {
	keep := min(hold, s.probe.from-wire.MPAMarkerLen)
	for len(s.probe.candidates) > 0 {
		first := s.probe.candidates[0].at
		if s.win.end()-first <= maxProbe && !s.win.budget.Full() {
			keep = min(keep, first-wire.MPAMarkerLen)
			break
		}
		s.probe.candidates = s.probe.candidates[1:]
	}
	if keep <= s.win.off {
		return
	}
	gone := keep - s.win.off
	s.pass(keep)
	s.probe.vain += gone
	if s.probe.vain > maxVain && !s.conn.known {
		s.state = dead
	}
}
