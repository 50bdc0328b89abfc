// Package craft makes packets from recipes. A Recipe lists headers, outermost
// first, with the fields that shall not have their default; everything else —
// types, lengths, pad, checksums, CRCs — follows from what is there. Every
// field can be set, also to what no packet should have.
//
// Describe is the way back: the recipe of a captured frame, which builds the
// same bytes again.
package craft

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/wire"
)

// Recipe says how to make one packet.
type Recipe struct {
	Link    wire.LinkType
	Layers  []Layer // outermost first
	Payload []byte
	// Pad is the number of pad bytes behind the payload; AutoPad fills up to
	// four bytes, whatever the BTH's PadCnt says.
	Pad     int
	CRC     CRC    // of a packet with an FPDU
	ICRC    CRC    // of a packet with a BTH
	VCRC    CRC    // of a packet with an LRH
	Trailer []byte // bytes behind the packet: Ethernet pad, FCS
	Raw     []Edit // made before checksums and CRCs, which are right for them
	Edits   []Edit // made last, when checksums and CRCs stand
	// Snap is how many bytes a capture of the packet keeps; 0 means all.
	Snap int
}

func (r *Recipe) has(id wire.HeaderID) bool { return r.last(id) >= 0 }

// last is the place of the innermost layer with the id, -1 when there is none.
func (r *Recipe) last(id wire.HeaderID) int {
	for i := len(r.Layers) - 1; i >= 0; i-- {
		if r.Layers[i].ID == id {
			return i
		}
	}
	return -1
}

// framed is the place of the innermost layer that pad and CRC belong to, -1 when
// there is none.
func (r *Recipe) framed() int { return max(r.last(wire.HdrBTH), r.last(wire.HdrFPDU)) }

// AutoPad asks for the pad that the payload needs.
const AutoPad = -1

// Layer is one header of a recipe.
type Layer struct {
	ID  wire.HeaderID
	Set []Setting
	// Tail is what stands behind the fixed part: options, for example.
	Tail []byte
	// Len is the length of a header that is longer than its fixed part and
	// Tail; 0 means just those.
	Len int
}

// Setting gives a field a value.
type Setting struct {
	Field *wire.Field
	Num   uint64 // for Uint and Bool
	Raw   []byte // for every other kind
	Auto  bool   // compute it: checksums that are 0 by default
}

// CRCMode says what stands in the place of a CRC.
type CRCMode uint8

// What can stand in the place of a CRC.
const (
	CRCAuto    CRCMode = iota // the right value
	CRCNone                   // nothing: the packet ends before it, and lengths do not count it
	CRCWrong                  // all bits of the right value turned over
	CRCSwapped                // the right value in the other byte order
	CRCFlip                   // the right value with bit Value turned over, 0 the lowest of the first byte
	CRCValue                  // Value, its highest byte first
)

// CRC is how a CRC is made.
type CRC struct {
	Mode  CRCMode
	Value uint32
}

// Edit replaces bytes, whatever field they belong to.
type Edit struct {
	Off   int
	Bytes []byte
}

// FieldError says which field of which layer cannot be what it was set to.
type FieldError struct {
	Layer  string
	Field  string
	Reason string
}

var _ error = (*FieldError)(nil)

func (e *FieldError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Layer, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", e.Layer, e.Field, e.Reason)
}
