package layers

import "github.com/rocecap/rocecap/internal/wire"

// The services' places in the opcode space (IBTA vol. 1, table 38).
const (
	baseRC  Opcode = 0x00
	baseUC  Opcode = 0x20
	baseRD  Opcode = 0x40
	baseUD  Opcode = 0x60
	baseXRC Opcode = 0xA0
)

// The opcodes of the reliable connected service.
const (
	RCSendFirst          = baseRC | wire.OpSendFirst
	RCSendMiddle         = baseRC | wire.OpSendMiddle
	RCSendLast           = baseRC | wire.OpSendLast
	RCSendLastImmediate  = baseRC | wire.OpSendLastImmediate
	RCSendOnly           = baseRC | wire.OpSendOnly
	RCSendOnlyImmediate  = baseRC | wire.OpSendOnlyImmediate
	RCWriteFirst         = baseRC | wire.OpWriteFirst
	RCWriteMiddle        = baseRC | wire.OpWriteMiddle
	RCWriteLast          = baseRC | wire.OpWriteLast
	RCWriteLastImmediate = baseRC | wire.OpWriteLastImmediate
	RCWriteOnly          = baseRC | wire.OpWriteOnly
	RCWriteOnlyImmediate = baseRC | wire.OpWriteOnlyImmediate
	RCReadRequest        = baseRC | wire.OpReadRequest
	RCReadResponseFirst  = baseRC | wire.OpReadResponseFirst
	RCReadResponseMiddle = baseRC | wire.OpReadResponseMiddle
	RCReadResponseLast   = baseRC | wire.OpReadResponseLast
	RCReadResponseOnly   = baseRC | wire.OpReadResponseOnly
	RCAcknowledge        = baseRC | wire.OpAcknowledge
	RCAtomicAcknowledge  = baseRC | wire.OpAtomicAcknowledge
	RCCompareSwap        = baseRC | wire.OpCompareSwap
	RCFetchAdd           = baseRC | wire.OpFetchAdd
	RCSendLastInvalidate = baseRC | wire.OpSendLastInvalidate
	RCSendOnlyInvalidate = baseRC | wire.OpSendOnlyInvalidate
	RCFlush              = baseRC | wire.OpFlush
	RCAtomicWrite        = baseRC | wire.OpAtomicWrite
)

// The opcodes of the unreliable connected service.
const (
	UCSendFirst          = baseUC | wire.OpSendFirst
	UCSendMiddle         = baseUC | wire.OpSendMiddle
	UCSendLast           = baseUC | wire.OpSendLast
	UCSendLastImmediate  = baseUC | wire.OpSendLastImmediate
	UCSendOnly           = baseUC | wire.OpSendOnly
	UCSendOnlyImmediate  = baseUC | wire.OpSendOnlyImmediate
	UCWriteFirst         = baseUC | wire.OpWriteFirst
	UCWriteMiddle        = baseUC | wire.OpWriteMiddle
	UCWriteLast          = baseUC | wire.OpWriteLast
	UCWriteLastImmediate = baseUC | wire.OpWriteLastImmediate
	UCWriteOnly          = baseUC | wire.OpWriteOnly
	UCWriteOnlyImmediate = baseUC | wire.OpWriteOnlyImmediate
)

// The opcodes of the reliable datagram service.
const (
	RDSendFirst          = baseRD | wire.OpSendFirst
	RDSendMiddle         = baseRD | wire.OpSendMiddle
	RDSendLast           = baseRD | wire.OpSendLast
	RDSendLastImmediate  = baseRD | wire.OpSendLastImmediate
	RDSendOnly           = baseRD | wire.OpSendOnly
	RDSendOnlyImmediate  = baseRD | wire.OpSendOnlyImmediate
	RDWriteFirst         = baseRD | wire.OpWriteFirst
	RDWriteMiddle        = baseRD | wire.OpWriteMiddle
	RDWriteLast          = baseRD | wire.OpWriteLast
	RDWriteLastImmediate = baseRD | wire.OpWriteLastImmediate
	RDWriteOnly          = baseRD | wire.OpWriteOnly
	RDWriteOnlyImmediate = baseRD | wire.OpWriteOnlyImmediate
	RDReadRequest        = baseRD | wire.OpReadRequest
	RDReadResponseFirst  = baseRD | wire.OpReadResponseFirst
	RDReadResponseMiddle = baseRD | wire.OpReadResponseMiddle
	RDReadResponseLast   = baseRD | wire.OpReadResponseLast
	RDReadResponseOnly   = baseRD | wire.OpReadResponseOnly
	RDAcknowledge        = baseRD | wire.OpAcknowledge
	RDAtomicAcknowledge  = baseRD | wire.OpAtomicAcknowledge
	RDCompareSwap        = baseRD | wire.OpCompareSwap
	RDFetchAdd           = baseRD | wire.OpFetchAdd
	RDResync             = baseRD | wire.OpResync
	RDFlush              = baseRD | wire.OpFlush
	RDAtomicWrite        = baseRD | wire.OpAtomicWrite
)

// The opcodes of the unreliable datagram service.
const (
	UDSendOnly          = baseUD | wire.OpSendOnly
	UDSendOnlyImmediate = baseUD | wire.OpSendOnlyImmediate
)

// The opcodes of the extended reliable connected service.
const (
	XRCSendFirst          = baseXRC | wire.OpSendFirst
	XRCSendMiddle         = baseXRC | wire.OpSendMiddle
	XRCSendLast           = baseXRC | wire.OpSendLast
	XRCSendLastImmediate  = baseXRC | wire.OpSendLastImmediate
	XRCSendOnly           = baseXRC | wire.OpSendOnly
	XRCSendOnlyImmediate  = baseXRC | wire.OpSendOnlyImmediate
	XRCWriteFirst         = baseXRC | wire.OpWriteFirst
	XRCWriteMiddle        = baseXRC | wire.OpWriteMiddle
	XRCWriteLast          = baseXRC | wire.OpWriteLast
	XRCWriteLastImmediate = baseXRC | wire.OpWriteLastImmediate
	XRCWriteOnly          = baseXRC | wire.OpWriteOnly
	XRCWriteOnlyImmediate = baseXRC | wire.OpWriteOnlyImmediate
	XRCReadRequest        = baseXRC | wire.OpReadRequest
	XRCReadResponseFirst  = baseXRC | wire.OpReadResponseFirst
	XRCReadResponseMiddle = baseXRC | wire.OpReadResponseMiddle
	XRCReadResponseLast   = baseXRC | wire.OpReadResponseLast
	XRCReadResponseOnly   = baseXRC | wire.OpReadResponseOnly
	XRCAcknowledge        = baseXRC | wire.OpAcknowledge
	XRCAtomicAcknowledge  = baseXRC | wire.OpAtomicAcknowledge
	XRCCompareSwap        = baseXRC | wire.OpCompareSwap
	XRCFetchAdd           = baseXRC | wire.OpFetchAdd
	XRCSendLastInvalidate = baseXRC | wire.OpSendLastInvalidate
	XRCSendOnlyInvalidate = baseXRC | wire.OpSendOnlyInvalidate
	XRCFlush              = baseXRC | wire.OpFlush
	XRCAtomicWrite        = baseXRC | wire.OpAtomicWrite
)

// Congestion notification packets.
const (
	CNPInfiniBand = wire.OpcodeCNP     // native InfiniBand
	CNPRoCE       = wire.OpcodeRoCECNP // RoCEv2
)
