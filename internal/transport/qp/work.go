package qp

import "github.com/rocecap/rocecap/internal/transport/mr"

// Op is the operation of a work request.
type Op uint8

// The operations (IBTA 10.8.1; FLUSH and ATOMIC WRITE: annex A19).
const (
	Send Op = iota + 1
	SendImmediate
	SendInvalidate
	Write
	WriteImmediate
	Read
	CompareSwap
	FetchAdd
	Flush
	AtomicWrite
	BindWindow
	LocalInvalidate
	// Receive is the operation of completions of receive requests that a SEND
	// used, ReceiveWrite of those that a WRITE with immediate did.
	Receive
	ReceiveWrite
)

var opNames = [...]string{
	"none", "SEND", "SEND with immediate", "SEND with invalidate", "RDMA WRITE", "RDMA WRITE with immediate",
	"RDMA READ", "COMPARE SWAP", "FETCH ADD", "FLUSH", "ATOMIC WRITE", "BIND WINDOW", "LOCAL INVALIDATE",
	"RECEIVE", "RECEIVE of RDMA WRITE",
}

// String names the operation.
func (o Op) String() string { return opNames[o] }

// Flags change how a work request is done.
type Flags uint8

// The flags, with verbs' meaning.
const (
	Signaled  Flags = 1 << iota // tell when it is complete
	Solicited                   // wake the responder's consumer
	Fence                       // not before earlier READs and atomics are complete
)

// SGE is a piece of registered local memory.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// WorkRequest is what a consumer posts to a send queue. Post copies it; the
// memory that SGL names must stay until the completion, Inline need not.
type WorkRequest struct {
	ID    uint64
	Op    Op
	Flags Flags

	SGL    []SGE
	Inline []byte // the data itself, instead of SGL

	// Remote memory: of WRITE, READ, atomics, FLUSH, ATOMIC WRITE.
	RemoteAddr uint64
	RKey       uint32
	Length     uint32 // of FLUSH alone: the range, in bytes
	Placement  uint8  // of FLUSH: FETH placement type
	WholeMR    bool   // of FLUSH: selectivity, the whole region instead of the range

	Compare uint64 // of COMPARE SWAP
	SwapAdd uint64 // new value of COMPARE SWAP, addend of FETCH ADD

	Immediate  uint32 // of SEND and WRITE with immediate, host order
	Invalidate uint32 // the rkey of SEND with invalidate, the key of LOCAL INVALIDATE

	Bind Bind // of BIND WINDOW

	// Where a UD packet goes.
	To     *Address
	DestQP uint32
	QKey   uint32 // with its top bit set the queue pair's own is used (IBTA 10.2.5)

	SRQ uint32 // the shared receive queue of an XRC request
}

// Bind is what a BIND WINDOW binds; a Length of 0 unbinds a window of type 1.
type Bind struct {
	Window  *mr.Window
	Region  *mr.Region
	NewRKey uint32 // its low byte becomes the key's, for type 2
	Addr    uint64
	Length  uint64
	Access  mr.Access
}

// RecvRequest is what a consumer posts to a receive queue.
type RecvRequest struct {
	ID  uint64
	SGL []SGE
}

// Status is how a work request ended, with verbs' names and numbers.
type Status uint8

// The statuses (IBTA 11.6.2).
const (
	Success              Status = 0
	LocalLengthError     Status = 1
	LocalOperationError  Status = 2
	LocalProtectionError Status = 4
	FlushError           Status = 5 // flushed because the queue pair is in error
	WindowBindError      Status = 6
	BadResponse          Status = 7
	LocalAccessError     Status = 8
	RemoteInvalidRequest Status = 9
	RemoteAccessError    Status = 10
	RemoteOperationError Status = 11
	RetryExceeded        Status = 12
	RNRRetryExceeded     Status = 13
	RemoteAborted        Status = 16
	FatalError           Status = 19
)

var statusNames = [...]string{
	Success:              "success",
	LocalLengthError:     "local length error",
	LocalOperationError:  "local QP operation error",
	LocalProtectionError: "local protection error",
	FlushError:           "Work Request Flushed Error",
	WindowBindError:      "memory bind operation error",
	BadResponse:          "bad response error",
	LocalAccessError:     "local access error",
	RemoteInvalidRequest: "remote invalid request error",
	RemoteAccessError:    "remote access error",
	RemoteOperationError: "remote operation error",
	RetryExceeded:        "transport retry counter exceeded",
	RNRRetryExceeded:     "RNR retry counter exceeded",
	RemoteAborted:        "remote aborted error",
	FatalError:           "fatal error",
}

// String returns the name that verbs' users know.
func (s Status) String() string { return statusNames[s] }

// Completion tells how a work request ended. Of one that failed only ID,
// Status and QPN mean something.
type Completion struct {
	ID     uint64
	Status Status
	Op     Op
	QPN    uint32
	// Bytes received, read, or swapped; for UD it counts the GRH's 40.
	Bytes        uint32
	HasImmediate bool
	Immediate    uint32
	Invalidated  uint32 // the rkey that a SEND with invalidate has invalidated
	HasInvalid   bool
	Solicited    bool   // the sender asked for an event
	SrcQP        uint32 // of UD
	HasGRH       bool   // the first 40 bytes of the buffer are the GRH's
}
