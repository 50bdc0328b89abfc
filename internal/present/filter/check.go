package filter

import (
	"math"
	"regexp"

	"github.com/rocecap/rocecap/internal/present/field"
)

// check turns a syntax tree into a test.
func check(t tree) (test, *fault) {
	switch t := t.(type) {
	case *logicTree:
		return checkLogic(t)
	case *notTree:
		of, fault := check(t.of)
		return not{of}, fault
	case *existTree:
		return checkExist(t.of)
	case *relateTree:
		return checkRelate(t)
	case *memberTree:
		return checkMember(t)
	}
	panic("filter: unknown kind of tree")
}

func checkLogic(t *logicTree) (test, *fault) {
	tests := make([]test, len(t.tests))
	for i, sub := range t.tests {
		var fault *fault
		if tests[i], fault = check(sub); fault != nil {
			return nil, fault
		}
	}
	switch t.op {
	case tokAnd:
		return allOf(tests), nil
	case tokOr:
		return anyOf(tests), nil
	}
	return oddOf(tests), nil
}

func checkExist(o *operandTree) (test, *fault) {
	if o.form == formCall {
		if _, known := functions(o.token.text); known {
			return nil, o.fault("you cannot test whether a function is present; compare its value")
		}
	}
	of, fault := checkOperand(o, nil)
	switch {
	case fault != nil:
		return nil, fault
	case o.form == formBinary:
		return nonZero{of.operand}, nil
	}
	return exists{of.operand}, nil
}

func quantified(written kind, otherwise quantifier) quantifier {
	switch written {
	case tokAny:
		return forAny
	case tokAll:
		return forAll
	}
	return otherwise
}

func checkRelate(t *relateTree) (test, *fault) {
	left, fault := checkLeft(t.left, t.op)
	if fault != nil {
		return nil, fault
	}
	switch t.op.kind {
	case tokMatches:
		return checkMatches(t, left)
	case tokContains:
		return checkContains(t, left)
	}
	op, need := t.op.kind, forAny
	switch op {
	case tokNe:
		need = forAll
	case tokAllEq:
		op, need = tokEq, forAll
	case tokAnyNe:
		op = tokNe
	}
	need = quantified(t.quantifier, need)
	if isLiteral(t.right) {
		l, fault := toLiteral(t.right, left)
		return compareLiteral(left, op, l, need), fault
	}
	right, fault := checkOperand(t.right, left)
	if fault != nil {
		return nil, fault
	}
	if !comparable(left.kind, right.kind) {
		return nil, incompatible(t, left, right)
	}
	order := orderOf(left.kind, right.kind)
	return &relation{left: left.operand, right: right.operand, holds: holds(op, order), need: need}, nil
}

// checkLeft checks what stands on the left of a relation: something that has a
// value of its own.
func checkLeft(o *operandTree, op token) (*typed, *fault) {
	if isLiteral(o) {
		if o.form == formWord && mayBeName(o.token.text) {
			return nil, noSuchField(o)
		}
		return nil, o.fault("left side of %q expression must be a field or function", op.text)
	}
	left, fault := checkOperand(o, nil)
	if fault == nil && left.kind == field.None {
		return nil, o.fault("%s has no value: it can only be tested for existence", left.name)
	}
	return left, fault
}

func incompatible(t *relateTree, left, right *typed) *fault {
	return t.right.fault("%s (%s) and %s (%s) are not of compatible types",
		left.name, titles[left.kind], right.name, titles[right.kind])
}

func checkMatches(t *relateTree, left *typed) (test, *fault) {
	if classOf(left.kind) != classBytes && left.kind != field.MAC && left.kind != field.EUI64 || left.kind == field.IPv6 {
		return nil, t.left.fault("%s (%s) cannot participate in a matches comparison", left.name, titles[left.kind])
	}
	if t.right.form != formString {
		return nil, t.right.fault("matches requires a double quoted string on the right side")
	}
	re, err := regexp.Compile("(?i)" + t.right.token.text)
	if err != nil {
		return nil, t.right.fault("%s", err)
	}
	return &matches{of: left.operand, re: re, need: quantified(t.quantifier, forAny)}, nil
}

func checkContains(t *relateTree, left *typed) (test, *fault) {
	switch left.kind {
	case field.Bytes, field.Text, field.MAC, field.EUI64:
	default:
		return nil, t.left.fault("%s (%s) cannot participate in a contains comparison", left.name, titles[left.kind])
	}
	like := &typed{kind: field.Bytes, name: left.name}
	if left.kind == field.Text {
		like.kind = field.Text
	}
	right, fault := checkOperand(t.right, like)
	if fault != nil {
		return nil, fault
	}
	if !comparable(left.kind, right.kind) {
		return nil, incompatible(t, left, right)
	}
	return &relation{left: left.operand, right: right.operand, holds: contains, need: quantified(t.quantifier, forAny)}, nil
}

// compareLiteral makes the test that compares an operand with a constant: the
// values that satisfy it are a range.
func compareLiteral(left *typed, op kind, l literal, need quantifier) test {
	outside := op == tokNe
	if classOf(left.kind) == classBytes {
		return &inByteSpans{
			of: left.operand, order: byteOrder(left.kind),
			spans: []byteSpan{byteBounds(op, l.bytes)}, outside: outside, need: need,
		}
	}
	spans := l.spans
	if op != tokEq && op != tokNe {
		spans = bounds(op, l.spans)
	}
	return &inSpans{of: left.operand, class: classOf(left.kind), spans: spans, outside: outside, need: need}
}

// bounds is the range of the keys that are above or below a constant. An empty
// one is {1, 0}.
func bounds(op kind, of []span) []span {
	if len(of) == 0 {
		return nil
	}
	lo, hi, nothing := of[0].lo, of[0].hi, []span{{1, 0}}
	switch {
	case op == tokGe:
		return []span{{lo, math.MaxUint64}}
	case op == tokLe:
		return []span{{0, hi}}
	case op == tokGt && hi < math.MaxUint64:
		return []span{{hi + 1, math.MaxUint64}}
	case op == tokLt && lo > 0:
		return []span{{0, lo - 1}}
	}
	return nothing
}

func byteBounds(op kind, of byteSpan) byteSpan {
	switch op {
	case tokGe:
		return byteSpan{lo: of.lo, hasLo: true}
	case tokGt:
		return byteSpan{lo: of.hi, hasLo: true, openLo: true}
	case tokLe:
		return byteSpan{hi: of.hi, hasHi: true}
	case tokLt:
		return byteSpan{hi: of.lo, hasHi: true, openHi: true}
	}
	return of
}

// checkMember makes the test for "in". Constants become spans of one test,
// anything else a test of its own.
func checkMember(t *memberTree) (test, *fault) {
	left, fault := checkLeft(t.left, token{text: "in"})
	if fault != nil {
		return nil, fault
	}
	need := quantified(t.quantifier, forAny)
	numbers := &inSpans{of: left.operand, class: classOf(left.kind), need: need}
	texts := &inByteSpans{of: left.operand, order: byteOrder(left.kind), need: need}
	var others anyOf
	for _, e := range t.set {
		if !isLiteral(e.first) || e.last != nil && !isLiteral(e.last) {
			other, fault := checkElement(left, e, need)
			if fault != nil {
				return nil, fault
			}
			others = append(others, other)
			continue
		}
		l, fault := toLiteral(e.first, left)
		if fault != nil {
			return nil, fault
		}
		if e.last != nil {
			last, fault := toLiteral(e.last, left)
			if fault != nil {
				return nil, fault
			}
			l = rangeOf(l, last)
		}
		numbers.spans = append(numbers.spans, l.spans...)
		if l.spans == nil {
			texts.spans = append(texts.spans, l.bytes)
		}
	}
	switch {
	case len(numbers.spans) > 0:
		others = append(others, numbers)
	case len(texts.spans) > 0:
		others = append(others, texts)
	}
	if len(others) == 1 {
		return others[0], nil
	}
	return others, nil
}

// rangeOf joins the constants at the two ends of a range.
func rangeOf(first, last literal) literal {
	if first.spans != nil {
		return literal{spans: []span{{first.spans[0].lo, last.spans[0].hi}}}
	}
	r := first.bytes
	r.hi = last.bytes.hi
	return literal{bytes: r}
}

// checkElement checks an element of a set that is, or has an end that is, a
// field.
func checkElement(left *typed, e element, need quantifier) (test, *fault) {
	first, fault := checkOperand(e.first, left)
	if fault != nil {
		return nil, fault
	}
	last, at := first, e.first
	if e.last != nil {
		at = e.last
		if last, fault = checkOperand(e.last, left); fault != nil {
			return nil, fault
		}
	}
	for _, right := range []*typed{first, last} {
		if !comparable(left.kind, right.kind) {
			return nil, incompatible(&relateTree{right: at}, left, right)
		}
	}
	order := orderOf(left.kind, first.kind)
	return &between{of: left.operand, first: first.operand, last: last.operand, order: order, need: need}, nil
}
