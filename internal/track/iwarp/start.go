package iwarp

import (
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// start is what a start-up frame says.
type start struct {
	revision                                   uint8
	markers, crc, reject, enhanced, peerToPeer bool
}

// startOf reads the start-up frame that s was filled from.
func startOf(s *wire.Stack) start {
	m := wire.MPAStart(s.Data)
	st := start{
		revision: m.Revision(), markers: m.Markers(), crc: m.CRC(),
		reject: m.Reject(), enhanced: m.Enhanced(),
	}
	if e := wire.MPAEnhanced(s.View(wire.HdrMPAEnhanced)); len(e) == wire.MPAEnhancedLen {
		st.peerToPeer = e.PeerToPeer()
	}
	return st
}

// match says how far bytes agree with something that is looked for.
type match uint8

const (
	no    match = iota
	maybe       // all bytes agree, but more are needed
	yes
)

// matchStart looks for a start-up frame at the front of b and returns its
// length, when that can be known. At the very beginning of a stream the key is
// enough; elsewhere the key may be quoted, and the rest has to make sense too.
func matchStart(b []byte, beginning bool) (m match, kind Kind, length int) {
	n := min(len(b), len(wire.MPARequestKey))
	key := string(b[:n])
	switch {
	case strings.HasPrefix(wire.MPARequestKey, key):
		kind = MPARequest
	case strings.HasPrefix(wire.MPAReplyKey, key):
		kind = MPAReply
	default:
		return no, 0, 0
	}
	if len(b) < wire.MPAStartLen {
		return maybe, kind, wire.MPAStartLen
	}
	h := wire.MPAStart(b)
	if !beginning && (h.Revision() < 1 || h.Revision() > 2 || h.PrivateLen() > wire.MaxMPAPrivate) {
		return no, 0, 0
	}
	length = wire.MPAStartLen + h.PrivateLen()
	if len(b) < length {
		return maybe, kind, length
	}
	return yes, kind, length
}
