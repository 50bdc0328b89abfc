package layers

import "github.com/rocecap/rocecap/internal/wire"

// The opcodes of the reliable connected service.
const (
	RCSendFirst          = Opcode(wire.BaseRC) | wire.OpSendFirst
	RCSendMiddle         = Opcode(wire.BaseRC) | wire.OpSendMiddle
	RCSendLast           = Opcode(wire.BaseRC) | wire.OpSendLast
	RCSendLastImmediate  = Opcode(wire.BaseRC) | wire.OpSendLastImmediate
	RCSendOnly           = Opcode(wire.BaseRC) | wire.OpSendOnly
	RCSendOnlyImmediate  = Opcode(wire.BaseRC) | wire.OpSendOnlyImmediate
	RCWriteFirst         = Opcode(wire.BaseRC) | wire.OpWriteFirst
	RCWriteMiddle        = Opcode(wire.BaseRC) | wire.OpWriteMiddle
	RCWriteLast          = Opcode(wire.BaseRC) | wire.OpWriteLast
	RCWriteLastImmediate = Opcode(wire.BaseRC) | wire.OpWriteLastImmediate
	RCWriteOnly          = Opcode(wire.BaseRC) | wire.OpWriteOnly
	RCWriteOnlyImmediate = Opcode(wire.BaseRC) | wire.OpWriteOnlyImmediate
	RCReadRequest        = Opcode(wire.BaseRC) | wire.OpReadRequest
	RCReadResponseFirst  = Opcode(wire.BaseRC) | wire.OpReadResponseFirst
	RCReadResponseMiddle = Opcode(wire.BaseRC) | wire.OpReadResponseMiddle
	RCReadResponseLast   = Opcode(wire.BaseRC) | wire.OpReadResponseLast
	RCReadResponseOnly   = Opcode(wire.BaseRC) | wire.OpReadResponseOnly
	RCAcknowledge        = Opcode(wire.BaseRC) | wire.OpAcknowledge
	RCAtomicAcknowledge  = Opcode(wire.BaseRC) | wire.OpAtomicAcknowledge
	RCCompareSwap        = Opcode(wire.BaseRC) | wire.OpCompareSwap
	RCFetchAdd           = Opcode(wire.BaseRC) | wire.OpFetchAdd
	RCSendLastInvalidate = Opcode(wire.BaseRC) | wire.OpSendLastInvalidate
	RCSendOnlyInvalidate = Opcode(wire.BaseRC) | wire.OpSendOnlyInvalidate
	RCFlush              = Opcode(wire.BaseRC) | wire.OpFlush
	RCAtomicWrite        = Opcode(wire.BaseRC) | wire.OpAtomicWrite
)

// The opcodes of the unreliable connected service.
const (
	UCSendFirst          = Opcode(wire.BaseUC) | wire.OpSendFirst
	UCSendMiddle         = Opcode(wire.BaseUC) | wire.OpSendMiddle
	UCSendLast           = Opcode(wire.BaseUC) | wire.OpSendLast
	UCSendLastImmediate  = Opcode(wire.BaseUC) | wire.OpSendLastImmediate
	UCSendOnly           = Opcode(wire.BaseUC) | wire.OpSendOnly
	UCSendOnlyImmediate  = Opcode(wire.BaseUC) | wire.OpSendOnlyImmediate
	UCWriteFirst         = Opcode(wire.BaseUC) | wire.OpWriteFirst
	UCWriteMiddle        = Opcode(wire.BaseUC) | wire.OpWriteMiddle
	UCWriteLast          = Opcode(wire.BaseUC) | wire.OpWriteLast
	UCWriteLastImmediate = Opcode(wire.BaseUC) | wire.OpWriteLastImmediate
	UCWriteOnly          = Opcode(wire.BaseUC) | wire.OpWriteOnly
	UCWriteOnlyImmediate = Opcode(wire.BaseUC) | wire.OpWriteOnlyImmediate
)

// The opcodes of the reliable datagram service.
const (
	RDSendFirst          = Opcode(wire.BaseRD) | wire.OpSendFirst
	RDSendMiddle         = Opcode(wire.BaseRD) | wire.OpSendMiddle
	RDSendLast           = Opcode(wire.BaseRD) | wire.OpSendLast
	RDSendLastImmediate  = Opcode(wire.BaseRD) | wire.OpSendLastImmediate
	RDSendOnly           = Opcode(wire.BaseRD) | wire.OpSendOnly
	RDSendOnlyImmediate  = Opcode(wire.BaseRD) | wire.OpSendOnlyImmediate
	RDWriteFirst         = Opcode(wire.BaseRD) | wire.OpWriteFirst
	RDWriteMiddle        = Opcode(wire.BaseRD) | wire.OpWriteMiddle
	RDWriteLast          = Opcode(wire.BaseRD) | wire.OpWriteLast
	RDWriteLastImmediate = Opcode(wire.BaseRD) | wire.OpWriteLastImmediate
	RDWriteOnly          = Opcode(wire.BaseRD) | wire.OpWriteOnly
	RDWriteOnlyImmediate = Opcode(wire.BaseRD) | wire.OpWriteOnlyImmediate
	RDReadRequest        = Opcode(wire.BaseRD) | wire.OpReadRequest
	RDReadResponseFirst  = Opcode(wire.BaseRD) | wire.OpReadResponseFirst
	RDReadResponseMiddle = Opcode(wire.BaseRD) | wire.OpReadResponseMiddle
	RDReadResponseLast   = Opcode(wire.BaseRD) | wire.OpReadResponseLast
	RDReadResponseOnly   = Opcode(wire.BaseRD) | wire.OpReadResponseOnly
	RDAcknowledge        = Opcode(wire.BaseRD) | wire.OpAcknowledge
	RDAtomicAcknowledge  = Opcode(wire.BaseRD) | wire.OpAtomicAcknowledge
	RDCompareSwap        = Opcode(wire.BaseRD) | wire.OpCompareSwap
	RDFetchAdd           = Opcode(wire.BaseRD) | wire.OpFetchAdd
	RDResync             = Opcode(wire.BaseRD) | wire.OpResync
	RDFlush              = Opcode(wire.BaseRD) | wire.OpFlush
	RDAtomicWrite        = Opcode(wire.BaseRD) | wire.OpAtomicWrite
)

// The opcodes of the unreliable datagram service.
const (
	UDSendOnly          = Opcode(wire.BaseUD) | wire.OpSendOnly
	UDSendOnlyImmediate = Opcode(wire.BaseUD) | wire.OpSendOnlyImmediate
)

// The opcodes of the extended reliable connected service.
const (
	XRCSendFirst          = Opcode(wire.BaseXRC) | wire.OpSendFirst
	XRCSendMiddle         = Opcode(wire.BaseXRC) | wire.OpSendMiddle
	XRCSendLast           = Opcode(wire.BaseXRC) | wire.OpSendLast
	XRCSendLastImmediate  = Opcode(wire.BaseXRC) | wire.OpSendLastImmediate
	XRCSendOnly           = Opcode(wire.BaseXRC) | wire.OpSendOnly
	XRCSendOnlyImmediate  = Opcode(wire.BaseXRC) | wire.OpSendOnlyImmediate
	XRCWriteFirst         = Opcode(wire.BaseXRC) | wire.OpWriteFirst
	XRCWriteMiddle        = Opcode(wire.BaseXRC) | wire.OpWriteMiddle
	XRCWriteLast          = Opcode(wire.BaseXRC) | wire.OpWriteLast
	XRCWriteLastImmediate = Opcode(wire.BaseXRC) | wire.OpWriteLastImmediate
	XRCWriteOnly          = Opcode(wire.BaseXRC) | wire.OpWriteOnly
	XRCWriteOnlyImmediate = Opcode(wire.BaseXRC) | wire.OpWriteOnlyImmediate
	XRCReadRequest        = Opcode(wire.BaseXRC) | wire.OpReadRequest
	XRCReadResponseFirst  = Opcode(wire.BaseXRC) | wire.OpReadResponseFirst
	XRCReadResponseMiddle = Opcode(wire.BaseXRC) | wire.OpReadResponseMiddle
	XRCReadResponseLast   = Opcode(wire.BaseXRC) | wire.OpReadResponseLast
	XRCReadResponseOnly   = Opcode(wire.BaseXRC) | wire.OpReadResponseOnly
	XRCAcknowledge        = Opcode(wire.BaseXRC) | wire.OpAcknowledge
	XRCAtomicAcknowledge  = Opcode(wire.BaseXRC) | wire.OpAtomicAcknowledge
	XRCCompareSwap        = Opcode(wire.BaseXRC) | wire.OpCompareSwap
	XRCFetchAdd           = Opcode(wire.BaseXRC) | wire.OpFetchAdd
	XRCSendLastInvalidate = Opcode(wire.BaseXRC) | wire.OpSendLastInvalidate
	XRCSendOnlyInvalidate = Opcode(wire.BaseXRC) | wire.OpSendOnlyInvalidate
	XRCFlush              = Opcode(wire.BaseXRC) | wire.OpFlush
	XRCAtomicWrite        = Opcode(wire.BaseXRC) | wire.OpAtomicWrite
)

// Congestion notification packets.
const (
	CNPInfiniBand = wire.OpcodeCNP     // native InfiniBand
	CNPRoCE       = wire.OpcodeRoCECNP // RoCEv2
)
