package filter

import (
	"bytes"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
)

// operand has values in a packet: load adds them to s.values.
type operand interface {
	load(p *packet.Packet, s *Scratch)
}

type fieldOperand struct{ ref *field.Ref }

func (o fieldOperand) load(p *packet.Packet, s *Scratch) {
	s.values = o.ref.Append(s.values, p)
}

// textOperand is a field of text: its values become bytes without the NULs
// that pad them.
type textOperand struct{ ref *field.Ref }

func (o textOperand) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	s.values = o.ref.Append(s.values, p)
	for i := mark; i < len(s.values); i++ {
		v := &s.values[i]
		if v.Raw == nil {
			v.Raw = s.put(v.Text)
		}
		if n := bytes.IndexByte(v.Raw, 0); n >= 0 {
			v.Raw = v.Raw[:n]
		}
	}
}

// put copies a text into the scratch memory.
func (s *Scratch) put(text string) []byte {
	mark := len(s.bytes)
	s.bytes = append(s.bytes, text...)
	return s.bytes[mark:]
}

// frameOperand is every captured byte of the frame.
type frameOperand struct{}

func (frameOperand) load(p *packet.Packet, s *Scratch) {
	s.values = append(s.values, field.Value{Raw: p.Frame.Data})
}

type constant struct{ value field.Value }

func (o constant) load(_ *packet.Packet, s *Scratch) { s.values = append(s.values, o.value) }

// layerOperand keeps the values that stand in some of the layers. A field has
// the same number of values in each of its protocol's layers; when that does
// not come out even, every value is a layer of its own.
type layerOperand struct {
	of       operand
	protocol operand
	ranges   []byteRange
}

func (o *layerOperand) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	o.protocol.load(p, s)
	layers := len(s.values) - mark
	s.values = s.values[:mark]
	o.of.load(p, s)
	values := s.values[mark:]
	each := 1
	if layers > 0 && len(values)%layers == 0 {
		each = max(len(values)/layers, 1)
	}
	kept := values[:0]
	for i, v := range values {
		if o.selects(i/each, (len(values)+each-1)/each) {
			kept = append(kept, v)
		}
	}
	s.values = s.values[:mark+len(kept)]
}

// selects reports whether layer i of n, counted from 0, is wanted. Layers are
// written from 1, and from -1 backwards.
func (o *layerOperand) selects(i, n int) bool {
	for _, r := range o.ranges {
		first, last := r.first-1, r.last-1
		if r.first < 0 {
			first = n + r.first
		}
		if r.last < 0 {
			last = n + r.last
		}
		if i >= first && i <= last {
			return true
		}
	}
	return false
}

// sliceOperand cuts parts out of the bytes of each value. A value that is too
// short for every part is dropped.
type sliceOperand struct {
	of     operand
	ranges []byteRange
}

func (o *sliceOperand) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	o.of.load(p, s)
	kept := s.values[:mark]
	for _, v := range s.values[mark:] {
		if b, ok := o.cut(v.Raw, s); ok {
			kept = append(kept, field.Value{Raw: b})
		}
	}
	s.values = kept
}

func (o *sliceOperand) cut(b []byte, s *Scratch) ([]byte, bool) {
	mark := len(s.bytes)
	for _, r := range o.ranges {
		first, end, ok := r.resolve(len(b))
		switch {
		case !ok:
			s.bytes = s.bytes[:mark]
			return nil, false
		case len(o.ranges) == 1:
			return b[first:end], true
		}
		s.bytes = append(s.bytes, b[first:end]...)
	}
	return s.bytes[mark:], true
}

// arithmetic joins the numbers of two operands, every one with every other. A
// result that is no number (division by zero, below zero, too big) is dropped.
type arithmetic struct {
	left, right operand
	op          func(a, b uint64) (uint64, bool)
}

func (o *arithmetic) load(p *packet.Packet, s *Scratch) {
	cross(o.left, o.right, p, s, func(a, b *field.Value) (field.Value, bool) {
		n, ok := o.op(a.Num, b.Num)
		return field.Value{Num: n}, ok
	})
}

// byteMask is "&" on byte strings of the same length.
type byteMask struct{ left, right operand }

func (o *byteMask) load(p *packet.Packet, s *Scratch) {
	cross(o.left, o.right, p, s, func(a, b *field.Value) (field.Value, bool) {
		if len(a.Raw) != len(b.Raw) {
			return field.Value{}, false
		}
		mark := len(s.bytes)
		for i := range a.Raw {
			s.bytes = append(s.bytes, a.Raw[i]&b.Raw[i])
		}
		return field.Value{Raw: s.bytes[mark:]}, true
	})
}

// cross replaces the values of two operands by what join makes of each pair.
func cross(left, right operand, p *packet.Packet, s *Scratch, join func(a, b *field.Value) (field.Value, bool)) {
	mark := len(s.values)
	left.load(p, s)
	middle := len(s.values)
	right.load(p, s)
	end := len(s.values)
	for i := mark; i < middle; i++ {
		for j := middle; j < end; j++ {
			if v, ok := join(&s.values[i], &s.values[j]); ok {
				s.values = append(s.values, v)
			}
		}
	}
	n := copy(s.values[mark:], s.values[end:])
	s.values = s.values[:mark+n]
}

// lenOperand is the length of each value in bytes; width is that of kinds whose
// values all have the same, 0 for the others.
type lenOperand struct {
	of    operand
	width int
}

func (o lenOperand) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	o.of.load(p, s)
	for i, v := range s.values[mark:] {
		n := o.width
		if n == 0 {
			n = len(v.Raw)
		}
		s.values[mark+i] = field.Value{Num: uint64(n)}
	}
}

// countOperand is how many values there are; nothing when there are none, as a
// function of a field that does not exist has no value in tshark.
type countOperand struct{ of operand }

func (o countOperand) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	o.of.load(p, s)
	n := len(s.values) - mark
	s.values = s.values[:mark]
	if n > 0 {
		s.values = append(s.values, field.Value{Num: uint64(n)})
	}
}

// extreme is the largest (sign 1) or the smallest (sign -1) of the values.
type extreme struct {
	args  []operand
	order func(a, b *field.Value) int
	sign  int
}

func (o *extreme) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	for _, arg := range o.args {
		arg.load(p, s)
	}
	values := s.values[mark:]
	if len(values) == 0 {
		return
	}
	best := 0
	for i := range values {
		if o.order(&values[i], &values[best]) == o.sign {
			best = i
		}
	}
	s.values = append(s.values[:mark], values[best])
}

// mapped changes each value of an operand by itself.
type mapped struct {
	of     operand
	change func(v field.Value, s *Scratch) field.Value
}

func (o *mapped) load(p *packet.Packet, s *Scratch) {
	mark := len(s.values)
	o.of.load(p, s)
	for i := mark; i < len(s.values); i++ {
		s.values[i] = o.change(s.values[i], s)
	}
}

// changeCase maps the ASCII letters of a text.
func changeCase(first, last byte) func(field.Value, *Scratch) field.Value {
	return func(v field.Value, s *Scratch) field.Value {
		mark := len(s.bytes)
		for _, c := range v.Raw {
			if c >= first && c <= last {
				c ^= 'a' ^ 'A'
			}
			s.bytes = append(s.bytes, c)
		}
		return field.Value{Raw: s.bytes[mark:]}
	}
}
