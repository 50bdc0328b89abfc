package qp

import "github.com/rocecap/rocecap/internal/wire"

// Type is the transport service of a queue pair.
type Type uint8

// The types. An XRC connection has a sending queue pair on one side and a
// receiving one on the other, which puts what it gets into the shared receive
// queue that the packet names (IBTA annex A14).
const (
	RC Type = iota + 1
	UC
	UD
	XRCSend
	XRCRecv
)

var typeNames = [...]string{"none", RC: "RC", UC: "UC", UD: "UD", XRCSend: "XRC send", XRCRecv: "XRC receive"}

// String returns the type's short name.
func (t Type) String() string { return typeNames[t] }

// Base is the part of the opcode that names the service.
func (t Type) Base() wire.Opcode {
	switch t {
	case UC:
		return wire.BaseUC
	case UD:
		return wire.BaseUD
	case XRCSend, XRCRecv:
		return wire.BaseXRC
	}
	return wire.BaseRC
}

// Reliable reports whether requests are acknowledged.
func (t Type) Reliable() bool { return t != UC && t != UD }
