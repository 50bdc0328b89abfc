package filter

import "strconv"

// maxDepth bounds how deep a filter may be nested, so that no filter exhausts
// the stack.
const maxDepth = 200

// The syntax tree. A tree is a test; tests have operands.
type (
	logicTree struct { // two or more tests joined by one operator
		op    kind
		tests []tree
	}
	notTree    struct{ of tree }
	existTree  struct{ of *operandTree }
	relateTree struct { // a comparison, contains, matches
		op          token
		quantifier  kind // tokAny, tokAll or tokEnd for what the operator says
		left, right *operandTree
	}
	memberTree struct {
		quantifier kind
		left       *operandTree
		set        []element
	}
	tree interface{ isTree() }
)

func (*logicTree) isTree()  {}
func (*notTree) isTree()    {}
func (*existTree) isTree()  {}
func (*relateTree) isTree() {}
func (*memberTree) isTree() {}

// element is one value of a set, or a range when last is not nil.
type element struct{ first, last *operandTree }

// operandTree is a part of a test that has a value.
type operandTree struct {
	region
	form   form
	token  token          // name, literal or operator
	args   []*operandTree // of a call or operator; the one that is cut or layered
	ranges []byteRange
}

type form uint8

const (
	formWord form = iota
	formString
	formChar
	formSlice
	formLayer
	formCall
	formBinary
	formMinus
)

// The binding powers, weakest first, as in the grammar of Wireshark 4.0; that
// of xor is Wireshark 4.2's.
func binding(k kind) int {
	switch k {
	case tokOr:
		return 1
	case tokXor:
		return 2
	case tokAnd:
		return 3
	case tokBitAnd:
		return 1
	case tokPlus, tokMinus:
		return 2
	case tokStar, tokSlash, tokPercent:
		return 3
	}
	return 0
}

func isLogic(k kind) bool      { return k >= tokOr && k <= tokAnd }
func isArithmetic(k kind) bool { return k >= tokBitAnd && k <= tokPercent }
func isOrder(k kind) bool      { return k >= tokEq && k <= tokLe }

type parser struct {
	tokens []token
	at     int
	depth  int
}

// parse makes the tree of a filter; it is nil for an empty one.
func parse(src string) (tree, *fault) {
	tokens, fault := lex(src)
	if fault != nil {
		return nil, fault
	}
	p := parser{tokens: tokens}
	if p.peek().kind == tokEnd {
		return nil, nil
	}
	t, fault := p.test(0)
	if fault != nil {
		return nil, fault
	}
	if p.peek().kind != tokEnd {
		return nil, p.unexpected()
	}
	return t, nil
}

func (p *parser) peek() *token { return &p.tokens[p.at] }

// take returns the next token; the end is never passed.
func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

func (p *parser) accept(k kind) bool {
	if p.peek().kind != k {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(k kind) *fault {
	if !p.accept(k) {
		return p.unexpected()
	}
	return nil
}

func (p *parser) unexpected() *fault {
	t := p.peek()
	switch t.kind {
	case tokEnd:
		return t.fault("unexpected end of filter expression")
	case tokString:
		return t.fault("%q was unexpected in this context", t.text)
	case tokRanges:
		return t.fault("\"[%s]\" was unexpected in this context", t.text)
	}
	return t.fault("\"%s\" was unexpected in this context", t.text)
}

func (p *parser) enter() *fault {
	p.depth++
	if p.depth > maxDepth {
		return p.peek().fault("the filter is nested too deeply")
	}
	return nil
}

// test parses tests joined by operators that bind stronger than least.
func (p *parser) test(least int) (tree, *fault) {
	left, fault := p.single()
	for fault == nil {
		op := p.peek().kind
		power := binding(op)
		if !isLogic(op) || power <= least {
			return left, nil
		}
		join := &logicTree{op: op, tests: []tree{left}}
		for fault == nil && p.accept(op) {
			var next tree
			next, fault = p.test(power)
			join.tests = append(join.tests, next)
		}
		left = join
	}
	return nil, fault
}

// single parses a test in parentheses, a negation, or one relation.
func (p *parser) single() (tree, *fault) {
	if fault := p.enter(); fault != nil {
		return nil, fault
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept(tokOpen):
		t, fault := p.test(0)
		if fault == nil {
			fault = p.expect(tokClose)
		}
		return t, fault
	case p.accept(tokNot):
		t, fault := p.single()
		return &notTree{of: t}, fault
	}
	return p.relation()
}

func (p *parser) relation() (tree, *fault) {
	quantifier := tokEnd
	if k := p.peek().kind; k == tokAny || k == tokAll {
		quantifier = p.take().kind
	}
	left, fault := p.operand(0)
	if fault != nil {
		return nil, fault
	}
	switch k := p.peek().kind; {
	case isOrder(k):
		return p.chain(quantifier, left)
	case k == tokContains || k == tokMatches:
		op := p.take()
		right, fault := p.operand(0)
		return &relateTree{op: op, quantifier: quantifier, left: left, right: right}, fault
	case k == tokIn:
		return p.member(quantifier, left)
	case k == tokNot && p.tokens[p.at+1].kind == tokIn:
		p.take()
		t, fault := p.member(quantifier, left)
		return &notTree{of: t}, fault
	case quantifier != tokEnd:
		return nil, p.unexpected()
	}
	return &existTree{of: left}, nil
}

// chain parses comparisons; "a < b < c" means "a < b and b < c".
func (p *parser) chain(quantifier kind, left *operandTree) (tree, *fault) {
	var tests []tree
	for isOrder(p.peek().kind) {
		op := p.take()
		right, fault := p.operand(0)
		if fault != nil {
			return nil, fault
		}
		tests = append(tests, &relateTree{op: op, quantifier: quantifier, left: left, right: right})
		left = right
	}
	if len(tests) == 1 {
		return tests[0], nil
	}
	return &logicTree{op: tokAnd, tests: tests}, nil
}

func (p *parser) member(quantifier kind, left *operandTree) (tree, *fault) {
	p.take()
	m := &memberTree{quantifier: quantifier, left: left}
	if fault := p.expect(tokLeft); fault != nil {
		return nil, fault
	}
	for {
		first, fault := p.operand(0)
		if fault != nil {
			return nil, fault
		}
		e := element{first: first}
		if p.accept(tokTo) {
			if e.last, fault = p.operand(0); fault != nil {
				return nil, fault
			}
		}
		m.set = append(m.set, e)
		if !p.accept(tokComma) {
			return m, p.expect(tokRight)
		}
	}
}

// operand parses values joined by operators that bind stronger than least.
func (p *parser) operand(least int) (*operandTree, *fault) {
	left, fault := p.value()
	for fault == nil {
		op := *p.peek()
		if !isArithmetic(op.kind) || binding(op.kind) <= least {
			return left, nil
		}
		p.take()
		if fault = p.enter(); fault != nil {
			break
		}
		defer func() { p.depth-- }() // the tree grows deeper with every turn
		var right *operandTree
		if right, fault = p.operand(binding(op.kind)); fault == nil {
			left = &operandTree{region: left.to(right.region), form: formBinary, token: op, args: []*operandTree{left, right}}
		}
	}
	return nil, fault
}

// value parses one operand with its slices and layers.
func (p *parser) value() (*operandTree, *fault) {
	if fault := p.enter(); fault != nil {
		return nil, fault
	}
	defer func() { p.depth-- }()
	t := p.take()
	o := &operandTree{region: t.region, token: t}
	switch t.kind {
	case tokWord:
		if p.peek().kind == tokOpen {
			return p.suffixes(p.call(o))
		}
		return p.suffixes(o, nil)
	case tokString:
		o.form = formString
		return o, nil
	case tokChar:
		o.form = formChar
		return o, nil
	case tokLeft:
		inner, fault := p.operand(0)
		if fault == nil {
			fault = p.expect(tokRight)
		}
		return inner, fault
	case tokPlus:
		return p.value()
	case tokMinus:
		inner, fault := p.value()
		if fault != nil {
			return nil, fault
		}
		return &operandTree{region: t.to(inner.region), form: formMinus, token: t, args: []*operandTree{inner}}, nil
	}
	if t.kind != tokEnd {
		p.at--
	}
	return nil, p.unexpected()
}

func (p *parser) call(o *operandTree) (*operandTree, *fault) {
	o.form = formCall
	p.take()
	for p.peek().kind != tokClose {
		if len(o.args) > 0 {
			if fault := p.expect(tokComma); fault != nil {
				return nil, fault
			}
		}
		arg, fault := p.operand(0)
		if fault != nil {
			return nil, fault
		}
		o.args = append(o.args, arg)
	}
	o.region = o.to(p.take().region)
	return o, nil
}

// suffixes parses the layers and the slices behind a field or a call.
func (p *parser) suffixes(o *operandTree, fault *fault) (*operandTree, *fault) {
	if fault != nil {
		return nil, fault
	}
	if p.peek().kind == tokLayer {
		if o, fault = p.layer(o); fault != nil {
			return nil, fault
		}
	}
	for n := 0; p.peek().kind == tokRanges; n++ {
		if n == maxDepth {
			return nil, p.peek().fault("the filter is nested too deeply")
		}
		t := p.take()
		ranges, fault := parseRanges(t)
		if fault != nil {
			return nil, fault
		}
		o = &operandTree{region: o.to(t.region), form: formSlice, token: t, args: []*operandTree{o}, ranges: ranges}
	}
	return o, nil
}

func (p *parser) layer(o *operandTree) (*operandTree, *fault) {
	p.take()
	t := *p.peek()
	layered := &operandTree{region: o.to(t.region), form: formLayer, token: t, args: []*operandTree{o}}
	switch {
	case t.kind == tokRanges:
		ranges, fault := parseRanges(t)
		if fault != nil {
			return nil, fault
		}
		layered.ranges = ranges
	case t.kind == tokWord && digits(t.text) == len(t.text):
		n, err := strconv.ParseInt(t.text, 10, 32)
		if err != nil {
			return nil, t.fault("%s is not a layer", t.text)
		}
		layered.ranges = []byteRange{{first: int(n), last: int(n)}}
	default:
		return nil, t.fault("expected a number or \"[\" after \"#\"")
	}
	p.take()
	return layered, nil
}
