// Package fault decides what happens to the frames that pass through a bridge:
// which of them are dropped, duplicated, delayed, swapped, damaged, marked,
// rewritten or answered, and when each leaves. It is told the time and draws
// its chances from a seed, so that a run can be repeated.
//
// An Engine is given every frame. One that no rule names is to be passed on as
// it is; what is to be sent instead of any other comes from Emit.
package fault

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Direction is the way a frame takes through the bridge.
type Direction uint8

// The two ways.
const (
	Forward  Direction = iota // in by the first interface, out by the second
	Backward                  // the other way
)

// Reverse is the other way.
func (d Direction) Reverse() Direction { return Forward + Backward - d }

// Maybe is a value that need not be given.
type Maybe[T comparable] struct {
	Value T
	Given bool
}

// Just is a given value.
func Just[T comparable](v T) Maybe[T] { return Maybe[T]{v, true} }

func (m Maybe[T]) allows(v T) bool { return !m.Given || m.Value == v }

// Rule says what is done to which frames. Every rule is asked about every
// frame as it arrived, in their order; what several do to one frame is all
// done, and a drop undoes the rest but for answers.
type Rule struct {
	Name  string
	Match Match
	// Nth picks one of the frames that match, counted from 1; Every picks each
	// so many-th of them. 0 picks all.
	Nth, Every int
	// Probability is the chance that a picked frame is acted on; not given, it
	// is certain.
	Probability Maybe[float64]
	Times       int // act so often and then no more; 0 is without end
	Do          Actions
}

// Match selects frames: those that are everything that is given. What is not
// given is true of every frame, and anything about a queue pair is false of
// frames without a BTH.
type Match struct {
	Direction Maybe[Direction]
	QP        Maybe[uint32] // destination
	Opcodes   Opcodes       // empty allows all
	PSN       Maybe[wire.PSN]
	// Offset is how far the PSN is behind the first one: of the message when
	// Message is given, else of what was seen first of the flow.
	Offset Maybe[int]
	// Message is the number of the packet's message, from 1, among those of
	// its flow and, if Kind is given, of its kind.
	Message Maybe[uint32]
	Kind    Kind
	// Again is whether the PSN has been seen before.
	Again Maybe[bool]
	// Filter is the caller's own condition, nil for none.
	Filter func(f *wire.Frame) bool
}

// tracks reports whether the match depends on earlier packets.
func (m *Match) tracks() bool { return m.Offset.Given || m.Message.Given || m.Again.Given }

// transport reports whether only packets with a BTH can match.
func (m *Match) transport() bool {
	return m.QP.Given || m.PSN.Given || m.tracks() || !m.Opcodes.empty()
}

// Actions are what a rule does to a frame. Changes come first, then copies,
// then what decides when the frame leaves.
type Actions struct {
	Drop      bool
	Duplicate int           // so many more copies right behind the frame
	Delay     time.Duration // others overtake meanwhile
	// Reorder lets so many later frames of the same direction go first. When
	// they do not come, the frame leaves after reorderPatience.
	Reorder int
	Corrupt Maybe[Corrupt]
	// CE marks the innermost IP header or GRH as having met congestion, whether
	// its sender is ECN-capable or not.
	CE         bool
	FECN, BECN bool
	Set        []Edit // then checksums and ICRC are made right
	Answer     Maybe[Answer]
}

// changes reports whether the frame's bytes do not stay as they are.
func (a *Actions) changes() bool {
	return a.Corrupt.Given || a.CE || a.FECN || a.BECN || len(a.Set) > 0
}

// Corrupt damages one byte of the payload.
type Corrupt struct {
	Byte int  // place in the payload
	XOR  byte // bits to turn over
	Seal bool // make checksums and ICRC right again, so that the damage is not seen
}

// Edit sets a field of the innermost header that has it.
type Edit struct {
	Name string
	In   []Place
	Num  uint64 // for Uint and Bool
	Raw  []byte // for every other kind
}

// Place is a field of a kind of header.
type Place struct {
	Header wire.HeaderID
	Field  *wire.Field
}

// Answer is a packet sent back to where a frame came from.
type Answer struct {
	CNP      bool // else an acknowledgement
	Syndrome wire.Syndrome
	// QP is the one to answer to; not given, it is learned from the traffic.
	QP Maybe[uint32]
}

// Reply is what an answer to a frame has to be.
type Reply struct {
	To       *wire.Frame // addresses are turned round, the tags stay
	Opcode   wire.Opcode
	QP       uint32
	PSN      wire.PSN // of an acknowledgement
	Syndrome wire.Syndrome
	MSN      uint32
}
