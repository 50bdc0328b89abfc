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

// Explain looks for the mistake that gives the wrong ICRC of the packet in an
// Ethernet frame. Some thousand hypotheses are tried, and the fields of 16 bits
// and single bits are solved for, so that the chance to accuse wrongly is about
// 1 in 10,000. It costs far more than the ICRC does.
//
// seen are addresses from elsewhere in the capture: one of them may be what the
// source or destination was before it was rewritten. Without them a rewritten
// address can hardly be told from any other damage: for every 32-bit CRC there
// is one IPv4 address that fits.
func Explain(ethernetFrame []byte, seen ...netip.Addr) Explanation {
	return explain(wire.LinkEthernet, ethernetFrame, seen)
}

// ExplainIB is Explain for a native InfiniBand packet, which begins with its
// LRH.
func ExplainIB(packet []byte, seen ...netip.Addr) Explanation {
	return explain(wire.LinkIB, packet, seen)
}

func explain(link wire.LinkType, data []byte, seen []netip.Addr) Explanation {
	var f wire.Frame
	f.Parse(link, data, 0)
	return new(Hasher).Explain(&f, seen...)
}

// Explain is the function of the same name, for a parsed frame.
func (h *Hasher) Explain(f *wire.Frame, seen ...netip.Addr) Explanation {
	v, computed, received := h.Judge(f)
	if v != Bad {
		return Explanation{Offset: -1, Bit: -1}
	}
	s := newSuspect(f, computed, received)
	if e, ok := s.explain(seen); ok {
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

func (s *suspect) explain(seen []netip.Addr) (Explanation, bool) {
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
	if e, ok := s.addressOneOf(seen); ok {
		return e, true
	}
	received := s.received
	for _, st := range storage {
		s.receive(st.undo(received))
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
	// changes holds for each covered byte, and for the place behind the last
	// one, the change to the CRC register before it that alone would give the
	// received value. The register takes a byte in at its low end, so it is
	// also the change to that byte and the three after it.
	//
	// A CRC is linear: the difference of two CRCs is what the changed bits
	// alone give. Undoing the steps of the bytes behind a place leaves the
	// change there, and no hypothesis about the head has to sum the tail.
	changes []uint32
	solved  bool   // changes are those of received
	right   uint32 // the CRC of seed and head
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
	s.right = update(s.seed, s.head)
	return s
}

// receive makes v the value to explain.
func (s *suspect) receive(v uint32) { s.received, s.solved = v, false }

// solve computes the changes. Many mistakes are found without them.
func (s *suspect) solve() []uint32 {
	if s.solved {
		return s.changes
	}
	s.solved = true
	n := s.f.ICRC - s.f.Net
	if s.changes == nil {
		s.changes = make([]uint32, n+1)
	}
	d := s.computed ^ s.received
	s.changes[n] = d
	for at := n - 1; at >= 0; at-- {
		d = d<<8 ^ unwind[d>>24]
		s.changes[at] = d
	}
	return s.changes
}

// wanted is what the head would have to add up to.
func (s *suspect) wanted() uint32 { return s.right ^ s.solve()[len(s.head)] }

// with computes the CRC of seed and another head.
func (s *suspect) with(edit func(head []byte)) uint32 {
	var saved [headRoom]byte
	copy(saved[:], s.head)
	edit(s.head)
	crc := update(s.seed, s.head)
	copy(s.head, saved[:])
	return crc
}

// unwind undoes a step of the CRC by one byte: the index is the top byte of the
// register after the step.
var unwind = newUnwindTable()

func newUnwindTable() (t [256]uint32) {
	for b, v := range crc32.IEEETable {
		t[v>>24] = v<<8 | uint32(b)
	}
	return t
}

func update(crc uint32, b []byte) uint32 { return crc32.Update(crc, crc32.IEEETable, b) }
