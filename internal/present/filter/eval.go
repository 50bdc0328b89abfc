package filter

import (
	"bytes"
	"cmp"
	"regexp"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
)

// Scratch is the memory that matching needs. The zero Scratch is ready; it
// grows to what the filter needs and is then reused. One goroutine at a time
// may use it.
type Scratch struct {
	values []field.Value
	bytes  []byte // texts and slices that were put together
}

// test decides about a packet. Tests never change once they are compiled.
type test interface {
	match(p *packet.Packet, s *Scratch) bool
}

type everything struct{}

func (everything) match(*packet.Packet, *Scratch) bool { return true }

type allOf []test

func (tests allOf) match(p *packet.Packet, s *Scratch) bool {
	for _, t := range tests {
		if !t.match(p, s) {
			return false
		}
	}
	return true
}

type anyOf []test

func (tests anyOf) match(p *packet.Packet, s *Scratch) bool {
	for _, t := range tests {
		if t.match(p, s) {
			return true
		}
	}
	return false
}

// oddOf passes when an odd number of its tests pass: exclusive or.
type oddOf []test

func (tests oddOf) match(p *packet.Packet, s *Scratch) bool {
	odd := false
	for _, t := range tests {
		if t.match(p, s) {
			odd = !odd
		}
	}
	return odd
}

type not struct{ of test }

func (t not) match(p *packet.Packet, s *Scratch) bool { return !t.of.match(p, s) }

// load returns the values of an operand. They are valid until values are
// loaded at the same place again; keep keeps them until then.
func load(o operand, p *packet.Packet, s *Scratch) []field.Value {
	mark := len(s.values)
	o.load(p, s)
	loaded := s.values[mark:]
	s.values = s.values[:mark]
	return loaded
}

func (s *Scratch) keep(loaded []field.Value) { s.values = s.values[:len(s.values)+len(loaded)] }

type exists struct{ of operand }

func (t exists) match(p *packet.Packet, s *Scratch) bool { return len(load(t.of, p, s)) > 0 }

// nonZero passes when any value has a bit that is set: what a bare "a & b"
// means.
type nonZero struct{ of operand }

func (t nonZero) match(p *packet.Packet, s *Scratch) bool {
	for _, v := range load(t.of, p, s) {
		if v.Num != 0 {
			return true
		}
		for _, b := range v.Raw {
			if b != 0 {
				return true
			}
		}
	}
	return false
}

// A quantifier says how many of the values of a field must satisfy a test.
// Without any value no test is satisfied.
type quantifier bool

const (
	forAny quantifier = false
	forAll quantifier = true
)

// class is how values of a kind are compared.
type class uint8

const (
	classUnsigned class = iota
	classSigned         // Num, ordered as int64
	classAddress        // Raw of up to eight bytes, ordered as a number
	classBytes          // Raw, ordered byte by byte
)

const signBit = 1 << 63

func classOf(k field.Kind) class {
	switch k {
	case field.Time, field.Span:
		return classSigned
	case field.IPv4, field.MAC, field.EUI64:
		return classAddress
	case field.IPv6, field.Bytes, field.Text:
		return classBytes
	}
	return classUnsigned
}

// key maps a value to a number of the same order.
func (c class) key(v *field.Value) uint64 {
	switch c {
	case classSigned:
		return v.Num ^ signBit
	case classAddress:
		return bigEndian(v.Raw)
	}
	return v.Num
}

func bigEndian(b []byte) (v uint64) {
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// span is a range of keys, both ends included; it is empty when lo > hi.
type span struct{ lo, hi uint64 }

// inSpans compares the values of an operand with constants: they lie in one of
// the spans, or outside all of them.
type inSpans struct {
	of      operand
	class   class
	spans   []span
	outside bool
	need    quantifier
}

func (t *inSpans) match(p *packet.Packet, s *Scratch) bool {
	values := load(t.of, p, s)
	for i := range values {
		if t.has(t.class.key(&values[i])) == (t.need == forAny) {
			return t.need == forAny
		}
	}
	return t.need == forAll && len(values) > 0
}

func (t *inSpans) has(key uint64) bool {
	for _, r := range t.spans {
		if key >= r.lo && key <= r.hi {
			return !t.outside
		}
	}
	return t.outside
}

// compareBytes orders byte strings as tshark does: a shorter one comes first
// whatever it holds.
func compareBytes(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// byteOrder returns the order of the values of a kind of classBytes.
func byteOrder(k field.Kind) func(a, b []byte) int {
	if k == field.Text {
		return bytes.Compare
	}
	return compareBytes
}

// byteSpan is a range of byte strings. A bound belongs to the range unless it
// is open.
type byteSpan struct {
	lo, hi         []byte
	hasLo, hasHi   bool
	openLo, openHi bool
}

func (r *byteSpan) has(b []byte, order func(a, b []byte) int) bool {
	if r.hasLo {
		if c := order(b, r.lo); c < 0 || c == 0 && r.openLo {
			return false
		}
	}
	if r.hasHi {
		if c := order(b, r.hi); c > 0 || c == 0 && r.openHi {
			return false
		}
	}
	return true
}

// inByteSpans is inSpans for values that are compared byte by byte.
type inByteSpans struct {
	of      operand
	order   func(a, b []byte) int
	spans   []byteSpan
	outside bool
	need    quantifier
}

func (t *inByteSpans) match(p *packet.Packet, s *Scratch) bool {
	values := load(t.of, p, s)
	for i := range values {
		if t.has(values[i].Raw) == (t.need == forAny) {
			return t.need == forAny
		}
	}
	return t.need == forAll && len(values) > 0
}

func (t *inByteSpans) has(b []byte) bool {
	for i := range t.spans {
		if t.spans[i].has(b, t.order) {
			return !t.outside
		}
	}
	return t.outside
}

// relation compares the values of two operands, every one with every other.
type relation struct {
	left, right operand
	holds       func(a, b *field.Value) bool
	need        quantifier
}

func (t *relation) match(p *packet.Packet, s *Scratch) bool {
	left := load(t.left, p, s)
	s.keep(left)
	right := load(t.right, p, s)
	s.values = s.values[:len(s.values)-len(left)]
	for i := range left {
		for j := range right {
			if t.holds(&left[i], &right[j]) == (t.need == forAny) {
				return t.need == forAny
			}
		}
	}
	return t.need == forAll && len(left) > 0 && len(right) > 0
}

// between passes when a value lies between values of two other operands.
type between struct {
	of, first, last operand
	order           func(a, b *field.Value) int
	need            quantifier
}

func (t *between) match(p *packet.Packet, s *Scratch) bool {
	values := load(t.of, p, s)
	s.keep(values)
	first := load(t.first, p, s)
	s.keep(first)
	last := load(t.last, p, s)
	s.values = s.values[:len(s.values)-len(values)-len(first)]
	for i := range values {
		if t.inside(&values[i], first, last) == (t.need == forAny) {
			return t.need == forAny
		}
	}
	return t.need == forAll && len(values) > 0
}

func (t *between) inside(v *field.Value, first, last []field.Value) bool {
	return t.reached(first, v, false) && t.reached(last, v, true)
}

// reached reports whether v is not below any of the limits, or not above when
// they are upper ones.
func (t *between) reached(limits []field.Value, v *field.Value, upper bool) bool {
	for i := range limits {
		if c := t.order(v, &limits[i]); c == 0 || (c < 0) == upper {
			return true
		}
	}
	return false
}

// matches runs a regular expression over the bytes of the values.
type matches struct {
	of   operand
	re   *regexp.Regexp
	need quantifier
}

func (t *matches) match(p *packet.Packet, s *Scratch) bool {
	values := load(t.of, p, s)
	for i := range values {
		if t.re.Match(values[i].Raw) == (t.need == forAny) {
			return t.need == forAny
		}
	}
	return t.need == forAll && len(values) > 0
}
