package fault

import (
	"slices"

	"github.com/rocecap/rocecap/internal/wire"
)

// Kind is the operation that a message does.
type Kind uint8

// The kinds of message. A READ's request and its response are one kind, but of
// two flows: the one goes to the responder's queue pair, the other back.
const (
	KindNone Kind = iota // not a message, or any
	KindSend
	KindWrite
	KindRead
	KindAtomic
	KindFlush
	kinds
)

// kindOf tells an opcode's kind. Acknowledgements are no messages, but an
// atomic operation's response is.
func kindOf(op wire.Opcode) Kind {
	if !op.Info().Defined() || op.Service() == wire.CNP {
		return KindNone
	}
	switch op.Operation() {
	case wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendLastImmediate, wire.OpSendOnly,
		wire.OpSendOnlyImmediate, wire.OpSendLastInvalidate, wire.OpSendOnlyInvalidate:
		return KindSend
	case wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLast, wire.OpWriteLastImmediate, wire.OpWriteOnly,
		wire.OpWriteOnlyImmediate:
		return KindWrite
	case wire.OpReadRequest, wire.OpReadResponseFirst, wire.OpReadResponseMiddle, wire.OpReadResponseLast, wire.OpReadResponseOnly:
		return KindRead
	case wire.OpCompareSwap, wire.OpFetchAdd, wire.OpAtomicAcknowledge, wire.OpAtomicWrite:
		return KindAtomic
	case wire.OpFlush:
		return KindFlush
	}
	return KindNone
}

// Opcodes is a set of opcodes.
type Opcodes [4]uint64

// Add puts an opcode into the set.
func (o *Opcodes) Add(op wire.Opcode) { o[op>>6] |= 1 << (op & 63) }

// Has reports whether the opcode is in the set.
func (o *Opcodes) Has(op wire.Opcode) bool { return o[op>>6]>>(op&63)&1 != 0 }

func (o *Opcodes) empty() bool { return *o == Opcodes{} }

// Kind is the kind of message that all of the set's opcodes are of, KindNone
// when they are of several.
func (o *Opcodes) Kind() Kind {
	kind := KindNone
	for code := range 256 {
		op := wire.Opcode(code)
		switch k := kindOf(op); {
		case !o.Has(op):
		case k == KindNone || (kind != KindNone && k != kind):
			return KindNone
		default:
			kind = k
		}
	}
	return kind
}

// class is a set of opcodes that has a name.
type class struct {
	name string
	has  func(op wire.Opcode, info *wire.OpcodeInfo) bool
}

func ofKind(k Kind) func(wire.Opcode, *wire.OpcodeInfo) bool {
	return func(op wire.Opcode, _ *wire.OpcodeInfo) bool { return kindOf(op) == k }
}

func classes() []class {
	return []class{
		{"data", func(_ wire.Opcode, i *wire.OpcodeInfo) bool { return i.Payload }},
		{"request", func(op wire.Opcode, i *wire.OpcodeInfo) bool { return !i.Response && op.Service() != wire.CNP }},
		{"response", func(_ wire.Opcode, i *wire.OpcodeInfo) bool { return i.Response }},
		{"ack", func(op wire.Opcode, i *wire.OpcodeInfo) bool {
			return i.Response && op.Operation() == wire.OpAcknowledge
		}},
		{"send", ofKind(KindSend)},
		{"write", ofKind(KindWrite)},
		{"read", ofKind(KindRead)},
		{"read-request", func(op wire.Opcode, i *wire.OpcodeInfo) bool { return kindOf(op) == KindRead && !i.Response }},
		{"read-response", func(op wire.Opcode, i *wire.OpcodeInfo) bool { return kindOf(op) == KindRead && i.Response }},
		{"atomic", ofKind(KindAtomic)},
		{"flush", ofKind(KindFlush)},
		{"cnp", func(op wire.Opcode, _ *wire.OpcodeInfo) bool { return op.Service() == wire.CNP }},
	}
}

// ClassNames lists what AddClass knows.
func ClassNames() []string {
	var names []string
	for _, c := range classes() {
		names = append(names, c.name)
	}
	return names
}

// AddClass puts a class of opcodes into the set; it reports false when there
// is no such class.
func (o *Opcodes) AddClass(name string) bool {
	all := classes()
	i := slices.IndexFunc(all, func(c class) bool { return c.name == name })
	if i < 0 {
		return false
	}
	for code := range 256 {
		op := wire.Opcode(code)
		if info := op.Info(); info.Defined() && all[i].has(op, info) {
			o.Add(op)
		}
	}
	return true
}
