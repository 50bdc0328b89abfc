package endpoint

import (
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/transport/qp"
	"github.com/rocecap/rocecap/internal/wire"
)

// What the transport is told and tells.
type (
	// WorkRequest is what is posted to a send queue.
	WorkRequest = qp.WorkRequest
	// RecvRequest is what is posted to a receive queue.
	RecvRequest = qp.RecvRequest
	// Bind is a memory window's binding, of a WorkRequest.
	Bind = qp.Bind
	// SGE is a piece of registered memory.
	SGE = qp.SGE
	// Completion tells how a work request ended.
	Completion = qp.Completion
	// Status is how it ended.
	Status = qp.Status
	// Op is the operation of a work request.
	Op = qp.Op
	// Flags change how a work request is done.
	Flags = qp.Flags
	// Type is the transport service of a queue pair.
	Type = qp.Type
	// State is the state of a queue pair.
	State = qp.State
	// Attributes are what Modify sets.
	Attributes = qp.Attributes
	// Address is where packets go.
	Address = qp.Address
	// Policy holds the decisions in which devices differ.
	Policy = qp.Policy
	// Event tells what happened in a queue pair.
	Event = qp.Event
	// EventKind is what happened.
	EventKind = qp.EventKind
	// StateError says why a state does not allow something.
	StateError = qp.StateError
	// Access is a set of rights to memory.
	Access = mr.Access
	// WindowType is the type of a memory window.
	WindowType = mr.WindowType
	// PSN is a packet sequence number.
	PSN = wire.PSN
)

// RxePolicy is the Policy of Linux's soft RoCE: what it does otherwise than the
// default. The ICRC of its FLUSH requests is RxeFlushICRC's.
func RxePolicy() Policy { return qp.Rxe() }

// What a Link carries.
type (
	// Frame is a received frame.
	Frame = nic.Frame
	// Batch is what one Receive of a Link returns.
	Batch = nic.Batch
	// Writer sends the frames of a Link.
	Writer = nic.Writer
)

// The transport services.
const (
	RC      = qp.RC
	UC      = qp.UC
	UD      = qp.UD
	XRCSend = qp.XRCSend
	XRCRecv = qp.XRCRecv
)

// The states of a queue pair.
const (
	Reset = qp.Reset
	Init  = qp.Init
	RTR   = qp.RTR
	RTS   = qp.RTS
	SQD   = qp.SQD
	SQE   = qp.SQE
	Error = qp.Error
)

// The operations.
const (
	Send            = qp.Send
	SendImmediate   = qp.SendImmediate
	SendInvalidate  = qp.SendInvalidate
	Write           = qp.Write
	WriteImmediate  = qp.WriteImmediate
	Read            = qp.Read
	CompareSwap     = qp.CompareSwap
	FetchAdd        = qp.FetchAdd
	Flush           = qp.Flush
	AtomicWrite     = qp.AtomicWrite
	BindMW          = qp.BindWindow
	LocalInvalidate = qp.LocalInvalidate
	Receive         = qp.Receive
	ReceiveWrite    = qp.ReceiveWrite
)

// The flags of a work request.
const (
	Signaled  = qp.Signaled
	Solicited = qp.Solicited
	Fence     = qp.Fence
)

// How work requests end.
const (
	Success              = qp.Success
	LocalLengthError     = qp.LocalLengthError
	LocalOperationError  = qp.LocalOperationError
	LocalProtectionError = qp.LocalProtectionError
	FlushError           = qp.FlushError
	WindowBindError      = qp.WindowBindError
	BadResponse          = qp.BadResponse
	LocalAccessError     = qp.LocalAccessError
	RemoteInvalidRequest = qp.RemoteInvalidRequest
	RemoteAccessError    = qp.RemoteAccessError
	RemoteOperationError = qp.RemoteOperationError
	RetryExceeded        = qp.RetryExceeded
	RNRRetryExceeded     = qp.RNRRetryExceeded
	RemoteAborted        = qp.RemoteAborted
	FatalError           = qp.FatalError
)

// The rights to memory.
const (
	LocalWrite      = mr.LocalWrite
	RemoteWrite     = mr.RemoteWrite
	RemoteRead      = mr.RemoteRead
	RemoteAtomic    = mr.RemoteAtomic
	BindWindow      = mr.BindWindow
	ZeroBased       = mr.ZeroBased
	FlushGlobal     = mr.FlushGlobal
	FlushPersistent = mr.FlushPersistent
)

// The types of memory windows.
const (
	Type1 = mr.Type1
	Type2 = mr.Type2
)
