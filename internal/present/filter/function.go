package filter

import (
	"math/bits"

	"github.com/rocecap/rocecap/internal/present/field"
)

// function checks the arguments of one function and makes its operand.
type function func(o *operandTree, args []*typed) (*typed, *fault)

func functions(name string) (function, bool) {
	switch name {
	case "len":
		return checkLen, true
	case "count":
		return checkCount, true
	case "max":
		return checkMax, true
	case "min":
		return checkMin, true
	case "string":
		return checkString, true
	case "lower":
		return checkLower, true
	case "upper":
		return checkUpper, true
	case "abs":
		return checkAbs, true
	}
	return nil, false
}

func checkCall(o *operandTree) (*typed, *fault) {
	name := o.token
	result, known := functions(name.text)
	if !known {
		return nil, name.fault("function %q does not exist", name.text)
	}
	variadic := name.text == "max" || name.text == "min"
	switch n := len(o.args); {
	case n == 0:
		return nil, o.fault("%s() needs an argument", name.text)
	case n > 1 && !variadic:
		return nil, o.fault("%s() takes one argument, not %d", name.text, n)
	}
	var args []*typed
	for _, a := range o.args {
		var like *typed
		if len(args) > 0 {
			like = args[0]
		}
		if isLiteral(a) && like == nil && !(a.form == formWord && mayBeName(a.token.text)) {
			return nil, a.fault("the first argument of %s() must be a field", name.text)
		}
		arg, fault := checkOperand(a, like)
		if fault != nil {
			return nil, fault
		}
		args = append(args, arg)
	}
	t, fault := result(o, args)
	if fault == nil {
		t.name = name.text + "()"
	}
	return t, fault
}

func wrongArgument(o *operandTree, args []*typed) *fault {
	return o.args[0].fault("%s (%s) cannot be an argument of %s()", args[0].name, titles[args[0].kind], o.token.text)
}

func checkLen(o *operandTree, args []*typed) (*typed, *fault) {
	of, fixed := args[0], 0
	switch of.kind {
	case field.None, field.Time, field.Span:
		return nil, wrongArgument(o, args)
	case field.Uint, field.Bool:
		fixed = (bits.Len64(of.max) + 7) / 8
	}
	return unsigned(lenOperand{of: of.operand, width: fixed}), nil
}

func checkCount(_ *operandTree, args []*typed) (*typed, *fault) {
	return unsigned(countOperand{args[0].operand}), nil
}

func unsigned(o operand) *typed { return &typed{operand: o, kind: field.Uint, max: maxOf(8)} }

func checkMax(o *operandTree, args []*typed) (*typed, *fault) { return checkExtreme(o, args, 1) }
func checkMin(o *operandTree, args []*typed) (*typed, *fault) { return checkExtreme(o, args, -1) }

func checkExtreme(o *operandTree, args []*typed, sign int) (*typed, *fault) {
	if args[0].kind == field.None {
		return nil, wrongArgument(o, args)
	}
	e := &extreme{order: orderOf(args[0].kind, args[0].kind), sign: sign}
	result := *args[0]
	for i, a := range args {
		if a.kind != args[0].kind {
			return nil, o.args[i].fault("all arguments of %s() must have the same type", o.token.text)
		}
		e.args = append(e.args, a.operand)
		result.max = max(result.max, a.max)
	}
	result.operand, result.ref = e, nil
	return &result, nil
}

func checkLower(o *operandTree, args []*typed) (*typed, *fault) { return checkCase(o, args, 'A', 'Z') }

func checkUpper(o *operandTree, args []*typed) (*typed, *fault) { return checkCase(o, args, 'a', 'z') }

func checkCase(o *operandTree, args []*typed, first, last byte) (*typed, *fault) {
	if args[0].kind != field.Text {
		return nil, wrongArgument(o, args)
	}
	return &typed{operand: &mapped{of: args[0].operand, change: changeCase(first, last)}, kind: field.Text}, nil
}

// checkString makes the operand that prints values; integers are printed in
// decimal whatever their field's base is.
func checkString(o *operandTree, args []*typed) (*typed, *fault) {
	of := args[0]
	printer := field.Ref{Kind: of.kind}
	switch of.kind {
	case field.Uint, field.MAC, field.IPv4, field.IPv6, field.EUI64:
	default:
		return nil, wrongArgument(o, args)
	}
	change := func(v field.Value, s *Scratch) field.Value {
		mark := len(s.bytes)
		s.bytes = printer.AppendText(s.bytes, v)
		return field.Value{Raw: s.bytes[mark:]}
	}
	return &typed{operand: &mapped{of: of.operand, change: change}, kind: field.Text}, nil
}

func checkAbs(o *operandTree, args []*typed) (*typed, *fault) {
	result := *args[0]
	result.ref = nil
	switch result.kind {
	case field.Uint:
	case field.Span:
		result.operand = &mapped{of: args[0].operand, change: func(v field.Value, _ *Scratch) field.Value {
			if int64(v.Num) < 0 {
				v.Num = -v.Num
			}
			return v
		}}
	default:
		return nil, wrongArgument(o, args)
	}
	return &result, nil
}

// calculation returns an operator on unsigned numbers; ok is false for a result
// that is none.
func calculation(op kind) func(a, b uint64) (v uint64, ok bool) {
	switch op {
	case tokPlus:
		return func(a, b uint64) (uint64, bool) { return a + b, a+b >= a }
	case tokMinus:
		return func(a, b uint64) (uint64, bool) { return a - b, a >= b }
	case tokStar:
		return func(a, b uint64) (uint64, bool) {
			hi, lo := bits.Mul64(a, b)
			return lo, hi == 0
		}
	case tokSlash:
		return func(a, b uint64) (uint64, bool) {
			if b == 0 {
				return 0, false
			}
			return a / b, true
		}
	case tokPercent:
		return func(a, b uint64) (uint64, bool) {
			if b == 0 {
				return 0, false
			}
			return a % b, true
		}
	}
	return func(a, b uint64) (uint64, bool) { return a & b, true }
}

// spanCalculation adds or subtracts durations.
func spanCalculation(op kind) func(a, b uint64) (v uint64, ok bool) {
	if op == tokPlus {
		return func(a, b uint64) (uint64, bool) { return a + b, true }
	}
	return func(a, b uint64) (uint64, bool) { return a - b, true }
}
