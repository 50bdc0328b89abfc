package iwarp

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// mode says whether a stream has markers.
type mode uint8

const (
	markersUnknown mode = iota // taken as off until something shows otherwise
	markersOff
	markersOn
)

// markers is the geometry of a stream's markers. A marker begins at every
// offset that differs from phase by a multiple of 512; the first one precedes
// the first FPDU (RFC 5044 section 4.3).
type markers struct {
	mode  mode
	phase int64
}

// at reports whether a marker begins at stream offset pos.
func (m markers) at(pos int64) bool {
	return m.mode == markersOn && m.toNext(pos) == 0
}

// toNext returns the distance from pos to the first marker at or after it.
func (m markers) toNext(pos int64) int64 {
	return (m.phase - pos) & (wire.MPAMarkerStep - 1)
}

// end returns the stream offset behind n bytes of FPDU that begin at pos, or
// behind the marker at pos. A marker behind the last byte is not counted.
func (m markers) end(pos int64, n int) int64 {
	left := int64(n)
	if m.mode != markersOn {
		return pos + left
	}
	for left > 0 {
		if m.at(pos) {
			pos += wire.MPAMarkerLen
		}
		run := min(left, m.toNext(pos))
		pos += run
		left -= run
	}
	return pos
}

// strip appends the bytes of [lo, hi) without the markers to dst.
func (m markers) strip(dst []byte, w *window, lo, hi int64) []byte {
	if m.mode != markersOn {
		return append(dst, w.bytes(lo, hi)...)
	}
	for lo < hi {
		if m.at(lo) {
			lo += wire.MPAMarkerLen
			continue
		}
		run := min(hi, lo+m.toNext(lo))
		dst = append(dst, w.bytes(lo, run)...)
		lo = run
	}
	return dst
}

// find appends the markers that lie whole in [lo, hi), where lo begins an FPDU,
// or the marker that precedes it, and none of whose bytes is missing.
func (m markers) find(dst []Marker, w *window, lo, hi int64) []Marker {
	if m.mode != markersOn {
		return dst
	}
	start := lo
	if m.at(lo) {
		start += wire.MPAMarkerLen
	}
	before := 0
	for pos := lo + m.toNext(lo); pos+wire.MPAMarkerLen <= hi; pos += wire.MPAMarkerStep {
		mk := Marker{At: int(max(pos-start, 0)) - before}
		copy(mk.Bytes[:], w.bytes(pos, pos+wire.MPAMarkerLen))
		mk.Good = goodMarker(mk.Bytes[:], max(pos-start, 0))
		dst = append(dst, mk)
		if pos >= start {
			before += wire.MPAMarkerLen
		}
	}
	return dst
}

// goodMarker reports that b is a marker at the given distance from the start of
// its FPDU.
func goodMarker(b wire.MPAMarker, distance int64) bool {
	return b.Reserved() == 0 && b.FPDUPtr() == uint16(distance)
}

// crc returns the CRC32c of an FPDU at [lo, hi), markers included, and the value
// of its CRC field.
func crc(w *window, lo, hi int64) (computed, field uint32) {
	b := w.bytes(lo, hi)
	n := len(b) - wire.FPDUCRCLen
	return icrc.CRC32C(b[:n]), icrc.Load(b[n:])
}
