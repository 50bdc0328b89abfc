package filter

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"github.com/rocecap/rocecap/internal/present/field"
)

// typed is an operand with what is known about its values.
type typed struct {
	operand operand
	kind    field.Kind
	name    string              // as it is called in messages
	max     uint64              // largest number that the field's type holds
	names   func(uint64) string // enumerated values, or nil
	ref     *field.Ref          // the field, nil for anything made from one
}

var titles = [...]string{
	field.Uint: "unsigned integer", field.Bool: "boolean", field.Bytes: "byte sequence",
	field.MAC: "Ethernet or other MAC address", field.IPv4: "IPv4 address", field.IPv6: "IPv6 address",
	field.EUI64: "EUI64 address", field.Text: "character string", field.Time: "date and time",
	field.Span: "time offset", field.None: "protocol",
}

// comparable reports whether values of two kinds can be compared.
func comparable(a, b field.Kind) bool {
	if a == b {
		return a != field.None
	}
	return bytesLike(a) && bytesLike(b)
}

func bytesLike(k field.Kind) bool {
	return k == field.Bytes || k == field.MAC || k == field.EUI64 || k == field.Text
}

// orderOf returns how values of two comparable kinds are ordered.
func orderOf(a, b field.Kind) func(a, b *field.Value) int {
	c := classOf(a)
	if c == classBytes || a != b {
		order := byteOrder(a)
		return func(a, b *field.Value) int { return order(a.Raw, b.Raw) }
	}
	return func(a, b *field.Value) int { return cmp.Compare(c.key(a), c.key(b)) }
}

// holds returns the relation that a comparison operator stands for.
func holds(op kind, order func(a, b *field.Value) int) func(a, b *field.Value) bool {
	switch op {
	case tokEq:
		return func(a, b *field.Value) bool { return order(a, b) == 0 }
	case tokNe:
		return func(a, b *field.Value) bool { return order(a, b) != 0 }
	case tokGt:
		return func(a, b *field.Value) bool { return order(a, b) > 0 }
	case tokGe:
		return func(a, b *field.Value) bool { return order(a, b) >= 0 }
	case tokLt:
		return func(a, b *field.Value) bool { return order(a, b) < 0 }
	}
	return func(a, b *field.Value) bool { return order(a, b) <= 0 }
}

// contains: nothing contains an empty string, as in tshark.
func contains(a, b *field.Value) bool { return len(b.Raw) > 0 && bytes.Contains(a.Raw, b.Raw) }

// checkOperand gives an operand its type. A literal takes the type of like, or
// is a fault when like is nil.
func checkOperand(o *operandTree, like *typed) (*typed, *fault) {
	switch o.form {
	case formSlice:
		return checkSlice(o)
	case formLayer:
		return checkLayer(o)
	case formCall:
		return checkCall(o)
	case formBinary:
		return checkBinary(o, like)
	case formWord:
		if t := lookup(o.token.text); t != nil {
			return t, nil
		}
	}
	switch {
	case o.form == formMinus && !isLiteral(o):
		return nil, o.fault("only a number can be negative")
	case like != nil:
		l, fault := toLiteral(o, like)
		if fault != nil {
			return nil, fault
		}
		t := *like
		t.operand, t.ref = constant{l.value(like.kind)}, nil
		return &t, nil
	case o.form == formWord && mayBeName(o.token.text):
		return nil, noSuchField(o)
	}
	return nil, o.fault("a constant is neither a field nor a protocol name")
}

// lookup returns the field with the name, nil when there is none. A dot in
// front says that the word is a name and not a literal.
func lookup(name string) *typed {
	name = strings.TrimPrefix(name, ".")
	ref := field.Lookup(name)
	switch {
	case ref == nil:
		return nil
	case name == "frame":
		return &typed{operand: frameOperand{}, kind: field.Bytes, name: name, ref: ref}
	case ref.Kind == field.Text:
		return &typed{operand: textOperand{ref}, kind: field.Text, name: name, ref: ref}
	}
	return &typed{operand: fieldOperand{ref}, kind: ref.Kind, name: name, max: maxOf(ref.Size()), names: ref.Names, ref: ref}
}

func maxOf(width int) uint64 {
	if width >= 8 {
		return math.MaxUint64
	}
	return 1<<(8*uint(width)) - 1
}

// isLiteral reports whether an operand is a constant, perhaps a negative one.
func isLiteral(o *operandTree) bool {
	switch o.form {
	case formString, formChar:
		return true
	case formWord:
		return lookup(o.token.text) == nil
	case formMinus:
		return o.args[0].form == formWord && isLiteral(o.args[0])
	}
	return false
}

// mayBeName reports whether a word was meant as a name rather than a number or
// an address.
func mayBeName(s string) bool {
	c := s[0] | 0x20
	return (c >= 'a' && c <= 'z' || c == '_' || s[0] == '.') && !strings.Contains(s, ":")
}

func noSuchField(o *operandTree) *fault {
	return o.fault("%s", field.NoSuch(strings.TrimPrefix(o.token.text, ".")))
}

func checkSlice(o *operandTree) (*typed, *fault) {
	of, fault := checkOperand(o.args[0], nil)
	switch {
	case fault != nil:
		return nil, fault
	case classOf(of.kind) != classBytes && classOf(of.kind) != classAddress:
		return nil, o.args[0].fault("%s (%s) cannot be sliced into a sequence of bytes", of.name, titles[of.kind])
	}
	cut := &sliceOperand{of: of.operand, ranges: o.ranges}
	return &typed{operand: cut, kind: field.Bytes, name: of.name + "[" + o.token.text + "]"}, nil
}

func checkLayer(o *operandTree) (*typed, *fault) {
	of, fault := checkOperand(o.args[0], nil)
	if fault != nil {
		return nil, fault
	}
	if of.ref == nil {
		return nil, o.args[0].fault("only a field can be restricted to a layer")
	}
	first, _, _ := strings.Cut(of.name, ".")
	protocol := of
	if p := lookup(first); p != nil {
		protocol = p
	}
	layered := *of
	layered.operand = &layerOperand{of: of.operand, protocol: protocol.operand, ranges: o.ranges}
	return &layered, nil
}

func checkBinary(o *operandTree, like *typed) (*typed, *fault) {
	if like == nil && isLiteral(o.args[0]) {
		return nil, o.args[0].fault("a constant cannot begin an arithmetic expression on the left side")
	}
	left, fault := checkOperand(o.args[0], like)
	if fault != nil {
		return nil, fault
	}
	right, fault := checkOperand(o.args[1], left)
	if fault != nil {
		return nil, fault
	}
	result := *left
	result.ref = nil
	result.name = "the result of " + o.token.text
	switch {
	case left.kind == field.Uint && right.kind == field.Uint:
		result.operand = &arithmetic{left: left.operand, right: right.operand, op: calculation(o.token.kind)}
	case left.kind == field.Span && right.kind == field.Span && (o.token.kind == tokPlus || o.token.kind == tokMinus):
		result.operand = &arithmetic{left: left.operand, right: right.operand, op: spanCalculation(o.token.kind)}
	case o.token.kind == tokBitAnd && classOf(left.kind) == classBytes && comparable(left.kind, right.kind):
		result.operand = &byteMask{left: left.operand, right: right.operand}
	default:
		return nil, o.fault("%s and %s cannot be operands of %q", titles[left.kind], titles[right.kind], o.token.text)
	}
	return &result, nil
}
