// Package filter compiles display filters, in the language of tshark 4.0, to
// predicates on decoded packets.
//
// A filter passes three stages: lexer.go and parser.go make a syntax tree,
// check.go gives every part of it a type and turns literals into values, and
// eval.go runs the result on packets without allocating. The language is the
// one that wireshark-filter(4) describes, with these differences:
//
//   - "xor" and "^^" exist (they came with Wireshark 4.2);
//   - a slice or a function may stand before "in", and in a function;
//   - a negative number that is compared with an unsigned field is an error,
//     where tshark's filter never matches;
//   - regular expressions are Go's, which lack back references and look-around;
//   - the bytes of a header ("udp contains ...") are the header's own, where
//     tshark's reach to the end of the packet; "frame" has them all.
package filter

import "github.com/rocecap/rocecap/internal/present/packet"

// Filter is a compiled display filter. It never changes, so that any number of
// goroutines may use it at once, each with a Scratch of its own.
type Filter struct{ root test }

// Compile compiles a display filter. An error is always an *Error. The empty
// filter lets every packet pass.
func Compile(src string) (*Filter, error) {
	tree, fault := parse(src)
	if fault != nil {
		return nil, fault.in(src)
	}
	if tree == nil {
		return &Filter{root: everything{}}, nil
	}
	root, fault := check(tree)
	if fault != nil {
		return nil, fault.in(src)
	}
	return &Filter{root: root}, nil
}

// Match reports whether the filter lets the packet pass.
func (f *Filter) Match(p *packet.Packet, scratch *Scratch) bool {
	scratch.values = scratch.values[:0]
	scratch.bytes = scratch.bytes[:0]
	return f.root.match(p, scratch)
}
