package icrc

import (
	"hash/crc32"
	"math/bits"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Cause is the kind of mistake that produced a wrong ICRC.
type Cause uint8

// The causes that Explain knows.
const (
	CauseNone         Cause = iota // the ICRC is good, or was not judged
	CauseUnknown                   // no known mistake gives the received value
	CauseNotFilled                 // a placeholder is in its place
	CauseByteOrder                 // right value, most significant byte first
	CauseInversion                 // right value without the final inversion
	CauseBitOrder                  // right value with its 32 bits reversed
	CausePrefix                    // computed without the eight bytes of ones
	CausePolynomial                // computed as CRC32c
	CauseNotMasked                 // fields not masked that should be
	CauseZeroMask                  // fields masked with zeros instead of ones
	CauseOverMasked                // a field masked that should not be
	CauseLengthUnset               // computed before the length fields were right
	CauseCoverage                  // computed from a wrong header on
	CausePad                       // pad bytes left out
	CauseHeadersTwice              // transport headers covered twice
	CauseFCS                       // the Ethernet FCS stands in its place
	CausePlace                     // the right ICRC is elsewhere in the frame
	CauseRewritten                 // one field was changed on the way
	CauseBitFlip                   // one bit was changed on the way
)

var causeNames = [...]string{
	"none", "unknown", "not filled in", "byte order", "final inversion", "bit order", "prefix of ones",
	"polynomial", "field not masked", "masked with zeros", "field masked in error", "length not set",
	"coverage", "pad left out", "headers covered twice", "FCS taken for ICRC", "wrong place",
	"field rewritten", "bit flipped",
}

// String returns a short name of the cause.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "invalid"
}

// Explanation says why an ICRC is wrong.
type Explanation struct {
	Cause  Cause
	Detail string // one line for a person; empty when Cause is CauseNone
	// Offset is the byte of the frame that the cause is about: where the bit
	// was flipped, where the rewritten field begins, where the right ICRC is.
	// It is -1 when the cause is about no single place.
	Offset int
	Bit    int // the flipped bit, 0 the least significant of its byte, or -1
}

// explained is an explanation that is about no single place.
func explained(c Cause, detail string) (Explanation, bool) {
	return Explanation{Cause: c, Detail: detail, Offset: -1, Bit: -1}, true
}

// Explain looks for the mistake that gives a frame's wrong ICRC. Some
// thousand hypotheses are tried, and the fields of 16 bits and single bits are
// solved for, so that the chance to accuse wrongly is about 1 in 10,000.
func (h *Hasher) Explain(f *wire.Frame) Explanation { return h.ExplainWith(f, nil) }

// ExplainWith is Explain that also tries whether the source or destination
// address was rewritten, with addresses seen elsewhere. Without candidates a
// rewritten address cannot be told from any other damage: for every 32-bit CRC
// there is one IPv4 address that fits.
func (h *Hasher) ExplainWith(f *wire.Frame, candidates []netip.Addr) Explanation {
	v, computed, received := h.Judge(f)
	if v != Bad {
		return Explanation{Offset: -1, Bit: -1}
	}
	s := newSuspect(f, computed, received)
	if e, ok := s.explain(candidates); ok {
		return e
	}
	e, _ := explained(CauseUnknown, "no known mistake reproduces it")
	return e
}

// test is one group of hypotheses about a suspect.
type test func(*suspect) (Explanation, bool)

// calculation lists mistakes in computing the value, likeliest first.
var calculation = [...]test{
	(*suspect).pad, (*suspect).prefix, (*suspect).polynomial, (*suspect).headersTwice,
	(*suspect).notMasked, (*suspect).zeroMask, (*suspect).lengthUnset, (*suspect).coverage,
}

// damage lists what happens to a right value, or to the packet after it. Where
// a hypothesis of the one group equals one of the other, a flipped bit is the
// simpler one.
var damage = [...]test{
	(*suspect).fcs, (*suspect).place, (*suspect).bitFlip, (*suspect).overMasked,
	(*suspect).rewritten, (*suspect).addressConfirmed,
}

// storage lists mistakes in storing a value; each function is its own inverse.
var storage = [...]struct {
	cause  Cause
	detail string
	undo   func(uint32) uint32
}{
	{CauseByteOrder, "stored big-endian (byte-swapped)", bits.ReverseBytes32},
	{CauseInversion, "no final inversion", func(v uint32) uint32 { return ^v }},
	{CauseBitOrder, "bits in reverse order", bits.Reverse32},
}

func (s *suspect) explain(candidates []netip.Addr) (Explanation, bool) {
	if e, ok := s.notFilled(); ok {
		return e, true
	}
	for _, st := range storage {
		if s.computed == st.undo(s.received) {
			return explained(st.cause, st.detail)
		}
	}
	for _, group := range [...][]test{calculation[:], damage[:]} {
		for _, try := range group {
			if e, ok := try(s); ok {
				return e, true
			}
		}
	}
	if e, ok := s.addressOneOf(candidates); ok {
		return e, true
	}
	received := s.received
	for _, st := range storage {
		s.received = st.undo(received)
		for _, try := range calculation {
			if e, ok := try(s); ok {
				e.Detail += ", and " + st.detail
				return e, true
			}
		}
	}
	return Explanation{}, false
}

// suspect is a packet with a wrong ICRC, laid out to recompute it in many ways.
type suspect struct {
	f    *wire.Frame
	form Form
	// The right input of the CRC: seed stands for what comes before the
	// packet, head is a masked copy of its beginning, tail is its rest.
	seed uint32
	head []byte
	tail []byte

	computed, received uint32
}

// headRoom is how much of a packet a suspect copies: more than all headers of
// any packet.
const headRoom = 128

func newSuspect(f *wire.Frame, computed, received uint32) *suspect {
	form, _ := formOf(f)
	s := &suspect{f: f, form: form, computed: computed, received: received}
	if form < IBLocal {
		s.seed = ^uint32(stateDummy)
	}
	packet := f.Data[f.Net:f.ICRC]
	n := min(len(packet), headRoom)
	s.head, s.tail = make([]byte, n), packet[n:]
	copy(s.head, packet)
	mask(form, s.head)
	return s
}

// sum computes the CRC of head and tail after seed.
func (s *suspect) sum(seed uint32) uint32 {
	return update(update(seed, s.head), s.tail)
}

// with computes the CRC with another head.
func (s *suspect) with(edit func(head []byte)) uint32 {
	var saved [headRoom]byte
	copy(saved[:], s.head)
	edit(s.head)
	crc := s.sum(s.seed)
	copy(s.head, saved[:])
	return crc
}

func update(crc uint32, b []byte) uint32 { return crc32.Update(crc, crc32.IEEETable, b) }
