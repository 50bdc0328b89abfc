package wire

import "encoding/binary"

// RDMAP is a view of the octets that RDMAP owns inside a DDP header: the
// control octet and, in an untagged header, four more (RFC 5040 section 4.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	                                                +-+-+-+-+-+-+-+-+
//	                                                |RV |Rsv|Opcode |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Invalidate STag, or reserved; untagged only            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAP []byte

// RDMAPVersion is the version that RFC 5040 defines.
const RDMAPVersion = 1

// The lengths of an RDMAP view in a tagged and in an untagged DDP header, and
// its place in either.
const (
	RDMAPTaggedLen   = 1
	RDMAPUntaggedLen = 5
	RDMAPInDDP       = 1
)

const (
	rdmapVersion   = 0xc0
	rdmapReserved  = 0x30
	rdmapOpcode    = 0x0f
	rdmapInvalSTag = 1
)

// RDMAPOpcode says what message a DDP segment belongs to.
type RDMAPOpcode uint8

// The opcodes of RFC 5040 section 4.3 and RFC 7306 section 4.
const (
	RDMAPWrite RDMAPOpcode = iota
	RDMAPReadRequest
	RDMAPReadResponse
	RDMAPSend
	RDMAPSendInvalidate
	RDMAPSendSE
	RDMAPSendSEInvalidate
	RDMAPTerminate
	RDMAPImmediate
	RDMAPImmediateSE
	RDMAPAtomicRequest
	RDMAPAtomicResponse
)

// The queues of untagged messages (RFC 5040 section 4.2, RFC 7306 section 5).
const (
	QNSend = iota
	QNReadRequest
	QNTerminate
	QNAtomicResponse
)

// String names the opcode, "Unknown" for an undefined one.
func (op RDMAPOpcode) String() string {
	if s := rdmapOpcodeName(uint64(op)); s != "" {
		return s
	}
	return "Unknown"
}

// Known reports whether the opcode is defined.
func (op RDMAPOpcode) Known() bool { return op <= RDMAPAtomicResponse }

// Tagged reports whether messages of the opcode use tagged buffers.
func (op RDMAPOpcode) Tagged() bool { return op == RDMAPWrite || op == RDMAPReadResponse }

// Invalidates reports whether messages of the opcode carry an STag to
// invalidate.
func (op RDMAPOpcode) Invalidates() bool {
	return op == RDMAPSendInvalidate || op == RDMAPSendSEInvalidate
}

// QN returns the queue of an untagged opcode.
func (op RDMAPOpcode) QN() uint32 {
	switch op {
	case RDMAPReadRequest, RDMAPAtomicRequest:
		return QNReadRequest
	case RDMAPTerminate:
		return QNTerminate
	case RDMAPAtomicResponse:
		return QNAtomicResponse
	default:
		return QNSend
	}
}

// BodyLen returns how many bytes follow the DDP header of a message whose
// length is fixed; ok is false for the others (RFC 5040 section 4.4, RFC 7306
// sections 5.2 and 6.1).
func (op RDMAPOpcode) BodyLen() (n int, ok bool) {
	switch op {
	case RDMAPReadRequest:
		return RDMAPReadRequestLen, true
	case RDMAPImmediate, RDMAPImmediateSE:
		return RDMAPImmediateLen, true
	case RDMAPAtomicRequest:
		return RDMAPAtomicRequestLen, true
	case RDMAPAtomicResponse:
		return RDMAPAtomicResponseLen, true
	}
	return 0, false
}

// Version returns the RDMAP version.
func (r RDMAP) Version() uint8 { return r[0] & rdmapVersion >> 6 }

// SetVersion writes the RDMAP version.
func (r RDMAP) SetVersion(v uint8) { r[0] = r[0]&^rdmapVersion | v<<6 }

// Reserved returns the reserved bits of the control octet.
func (r RDMAP) Reserved() uint8 { return r[0] & rdmapReserved >> 4 }

// SetReserved writes the reserved bits of the control octet.
func (r RDMAP) SetReserved(v uint8) { r[0] = r[0]&^rdmapReserved | v<<4&rdmapReserved }

// Opcode returns the opcode.
func (r RDMAP) Opcode() RDMAPOpcode { return RDMAPOpcode(r[0] & rdmapOpcode) }

// SetOpcode writes the opcode.
func (r RDMAP) SetOpcode(op RDMAPOpcode) { r[0] = r[0]&^rdmapOpcode | byte(op)&rdmapOpcode }

// InvalidateSTag returns the STag to invalidate, or the reserved word that an
// opcode without one has in its place.
func (r RDMAP) InvalidateSTag() uint32 { return binary.BigEndian.Uint32(r[rdmapInvalSTag:]) }

// SetInvalidateSTag writes the STag to invalidate.
func (r RDMAP) SetInvalidateSTag(v uint32) { binary.BigEndian.PutUint32(r[rdmapInvalSTag:], v) }

// RDMAPReadRequestHeader is a view of what follows the DDP header of a Read
// Request (RFC 5040 section 4.4).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Data Sink STag                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                    Data Sink Tagged Offset                    +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    RDMA Read Message Size                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Data Source STag                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                   Data Source Tagged Offset                   +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAPReadRequestHeader []byte

// RDMAPReadRequestLen is the length of an RDMAPReadRequestHeader.
const RDMAPReadRequestLen = 28

const (
	readSinkSTag = 0
	readSinkTO   = 4
	readSize     = 12
	readSrcSTag  = 16
	readSrcTO    = 20
)

// SinkSTag returns the STag of the buffer that the data goes to.
func (r RDMAPReadRequestHeader) SinkSTag() uint32 { return binary.BigEndian.Uint32(r[readSinkSTag:]) }

// SetSinkSTag writes the STag of the sink.
func (r RDMAPReadRequestHeader) SetSinkSTag(v uint32) {
	binary.BigEndian.PutUint32(r[readSinkSTag:], v)
}

// SinkOffset returns the tagged offset that the data goes to.
func (r RDMAPReadRequestHeader) SinkOffset() uint64 { return binary.BigEndian.Uint64(r[readSinkTO:]) }

// SetSinkOffset writes the tagged offset of the sink.
func (r RDMAPReadRequestHeader) SetSinkOffset(v uint64) {
	binary.BigEndian.PutUint64(r[readSinkTO:], v)
}

// Size returns how many bytes are to be read.
func (r RDMAPReadRequestHeader) Size() uint32 { return binary.BigEndian.Uint32(r[readSize:]) }

// SetSize writes how many bytes are to be read.
func (r RDMAPReadRequestHeader) SetSize(v uint32) { binary.BigEndian.PutUint32(r[readSize:], v) }

// SourceSTag returns the STag of the buffer that the data comes from.
func (r RDMAPReadRequestHeader) SourceSTag() uint32 { return binary.BigEndian.Uint32(r[readSrcSTag:]) }

// SetSourceSTag writes the STag of the source.
func (r RDMAPReadRequestHeader) SetSourceSTag(v uint32) {
	binary.BigEndian.PutUint32(r[readSrcSTag:], v)
}

// SourceOffset returns the tagged offset that the data comes from.
func (r RDMAPReadRequestHeader) SourceOffset() uint64 {
	return binary.BigEndian.Uint64(r[readSrcTO:])
}

// SetSourceOffset writes the tagged offset of the source.
func (r RDMAPReadRequestHeader) SetSourceOffset(v uint64) {
	binary.BigEndian.PutUint64(r[readSrcTO:], v)
}

// RDMAPImmediateHeader is a view of the eight bytes of an Immediate Data
// message (RFC 7306 section 6).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                        Immediate Data                         +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAPImmediateHeader []byte

// RDMAPImmediateLen is the length of an RDMAPImmediateHeader.
const RDMAPImmediateLen = 8

// Data returns the immediate data.
func (r RDMAPImmediateHeader) Data() []byte { return r[:RDMAPImmediateLen] }

// SetData writes the immediate data.
func (r RDMAPImmediateHeader) SetData(v [RDMAPImmediateLen]byte) { copy(r, v[:]) }

func rdmapOpcodeName(v uint64) string {
	names := [...]string{
		RDMAPWrite: "Write", RDMAPReadRequest: "Read Request", RDMAPReadResponse: "Read Response",
		RDMAPSend: "Send", RDMAPSendInvalidate: "Send with Invalidate",
		RDMAPSendSE: "Send with SE", RDMAPSendSEInvalidate: "Send with SE and Invalidate",
		RDMAPTerminate: "Terminate",
		RDMAPImmediate: "Immediate Data", RDMAPImmediateSE: "Immediate Data with SE",
		RDMAPAtomicRequest: "Atomic Request", RDMAPAtomicResponse: "Atomic Response",
	}
	if v < uint64(len(names)) {
		return names[v]
	}
	return ""
}

var rdmapSpec = Spec{
	ID: HdrRDMAP, Name: "iwarp_rdma", Title: "RDMAP Control", Len: RDMAPTaggedLen,
	Fields: []Field{
		{Name: "iwarp_rdma.version", Title: "Version", Bit: 0, Bits: 2},
		{Name: "iwarp_rdma.rsv", Title: "Reserved", Base: Hex, Bit: 2, Bits: 2},
		{Name: "iwarp_rdma.opcode", Title: "OpCode", Base: Hex, Bit: 4, Bits: 4, Names: rdmapOpcodeName},
		{Name: "iwarp_rdma.inval_stag", Title: "Invalidate STag", Bit: 8, Bits: 32, When: hasInvalidateSTag},
		{Name: "iwarp_rdma.reserved", Title: "Reserved", Kind: Bytes, Bit: 8, Bits: 32, When: lacksInvalidateSTag},
	},
}

func hasInvalidateSTag(h []byte) bool { return RDMAP(h).Opcode().Invalidates() }

func lacksInvalidateSTag(h []byte) bool { return !hasInvalidateSTag(h) }

var rdmapReadRequestSpec = Spec{
	ID: HdrRDMAPReadRequest, Name: "iwarp_rdma.rr", Title: "RDMA Read Request Header", Len: RDMAPReadRequestLen,
	Fields: []Field{
		{Name: "iwarp_rdma.sinkstag", Title: "Data Sink STag", Base: Hex, Bit: 0, Bits: 32},
		{Name: "iwarp_rdma.sinkto", Title: "Data Sink Tagged Offset", Base: Hex, Bit: 32, Bits: 64},
		{Name: "iwarp_rdma.rdmardsz", Title: "RDMA Read Message Size", Bit: 96, Bits: 32},
		{Name: "iwarp_rdma.srcstag", Title: "Data Source STag", Base: Hex, Bit: 128, Bits: 32},
		{Name: "iwarp_rdma.srcto", Title: "Data Source Tagged Offset", Base: Hex, Bit: 160, Bits: 64},
	},
}

// rdmapImmediateSpec has no Wireshark name: Wireshark 4.6 does not decode the
// message.
var rdmapImmediateSpec = Spec{
	ID: HdrRDMAPImmediate, Name: "iwarp_rdma.immediate", Title: "Immediate Data", Len: RDMAPImmediateLen,
	Fields: []Field{
		{Name: "iwarp_rdma.immediate.data", Title: "Immediate data", Kind: Bytes, Bit: 0, Bits: 64},
	},
}
