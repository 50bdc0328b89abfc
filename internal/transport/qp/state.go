package qp

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// State is the state of a queue pair (IBTA 10.3.1).
type State uint8

// The states.
const (
	Reset State = iota
	Init
	RTR   // ready to receive
	RTS   // ready to send
	SQD   // send queue drained
	SQE   // send queue in error: UC and UD
	Error //
)

var stateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}

// String returns verbs' name.
func (s State) String() string { return stateNames[s] }

// Attributes are what Modify sets, with verbs' names. Those that a transition
// does not need are ignored by it.
type Attributes struct {
	// INIT.
	PKey   uint16 // 0 means 0xFFFF
	Access mr.Access
	QKey   uint32

	// RTR.
	DestQP          uint32
	PathMTU         int // 256, 512, 1024, 2048 or 4096
	RQPSN           wire.PSN
	MaxDestRdAtomic int
	MinRNRTimer     uint8 // code of the AETH
	Address         *Address

	// RTS.
	SQPSN       wire.PSN
	MaxRdAtomic int
	Timeout     uint8 // 4.096 us x 2^Timeout; 0: none
	RetryCount  uint8
	RNRRetry    uint8 // 7: without end
}

// StateError says why a transition or a request is not allowed.
type StateError struct {
	State  State
	Reason string
}

func (e *StateError) Error() string { return fmt.Sprintf("queue pair in %s: %s", e.State, e.Reason) }
