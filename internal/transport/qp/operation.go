package qp

import "github.com/rocecap/rocecap/internal/wire"

// answer is what completes a request of a reliable service.
type answer uint8

const (
	noAnswer     answer = iota // an acknowledgement, its own or of anything later
	readAnswer                 // READ responses
	atomicAnswer               // an atomic acknowledgement
	emptyAnswer                // a READ response without payload (oA19-1, oA19-28)
)

// operation is what a requester knows of an Op. The opcodes are those within
// the service, by the packet's place in its message; requests of one packet have
// only the last.
type operation struct {
	first, middle, last, only uint8

	local    bool // nothing is sent
	payload  bool // the data goes to the responder
	consumes bool // a receive request of the responder
	answer   answer
	types    typeSet
}

type typeSet uint8

func setOf(types ...Type) (s typeSet) {
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

func (s typeSet) has(t Type) bool { return s&(1<<t) != 0 }

// operations says which service has what (IBTA 9.4 and 10.8; wire's table of
// opcodes agrees).
var operations = func() (t [LocalInvalidate + 1]operation) {
	reliable := setOf(RC, XRCSend)
	connected := setOf(RC, UC, XRCSend)
	all := setOf(RC, UC, UD, XRCSend)
	message := func(first, middle, last, only uint8) operation {
		return operation{first: first, middle: middle, last: last, only: only, payload: true}
	}

	t[Send] = message(wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendOnly)
	t[Send].consumes, t[Send].types = true, all
	t[SendImmediate] = message(wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLastImmediate, wire.OpSendOnlyImmediate)
	t[SendImmediate].consumes, t[SendImmediate].types = true, all
	t[SendInvalidate] = message(wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLastInvalidate, wire.OpSendOnlyInvalidate)
	t[SendInvalidate].consumes, t[SendInvalidate].types = true, reliable
	t[Write] = message(wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLast, wire.OpWriteOnly)
	t[Write].types = connected
	t[WriteImmediate] = message(wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLastImmediate, wire.OpWriteOnlyImmediate)
	t[WriteImmediate].consumes, t[WriteImmediate].types = true, connected

	t[Read] = operation{only: wire.OpReadRequest, answer: readAnswer, types: reliable}
	t[CompareSwap] = operation{only: wire.OpCompareSwap, answer: atomicAnswer, types: reliable}
	t[FetchAdd] = operation{only: wire.OpFetchAdd, answer: atomicAnswer, types: reliable}
	t[Flush] = operation{only: wire.OpFlush, answer: emptyAnswer, types: reliable}
	t[AtomicWrite] = operation{only: wire.OpAtomicWrite, payload: true, answer: emptyAnswer, types: reliable}

	t[BindWindow] = operation{local: true, types: connected}
	t[LocalInvalidate] = operation{local: true, types: connected}
	return t
}()

// opcode is the service's opcode for packet i of n.
func (o *operation) opcode(base wire.Opcode, i, n int) wire.Opcode {
	switch {
	case n == 1:
		return base + wire.Opcode(o.only)
	case i == 0:
		return base + wire.Opcode(o.first)
	case i == n-1:
		return base + wire.Opcode(o.last)
	}
	return base + wire.Opcode(o.middle)
}
