package wire

import "encoding/binary"

// RDMAPAtomicRequestHeader is a view of what follows the DDP header of an
// Atomic Request (RFC 7306 section 5.2.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Reserved                       |AOpCode|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Request Identifier                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          Remote STag                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Remote Tagged Offset (64 bits)                |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Add or Swap Data (64 bits)                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Add or Swap Mask (64 bits)                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Compare Data (64 bits)                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Compare Mask (64 bits)                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAPAtomicRequestHeader []byte

// The lengths of the atomic headers.
const (
	RDMAPAtomicRequestLen  = 52
	RDMAPAtomicResponseLen = 12
)

// The atomic operations (RFC 7306 section 5.2.1).
const (
	AtomicFetchAdd = 0
	AtomicSwap     = 1
	AtomicCmpSwap  = 2
)

const (
	atomicOp          = 0
	atomicRequestID   = 4
	atomicSTag        = 8
	atomicTO          = 12
	atomicData        = 20
	atomicMask        = 28
	atomicCompareData = 36
	atomicCompareMask = 44

	atomicOpMask = 0x0f
)

// Op returns the AOpCode, the low four bits of the first word. The bits above
// it are reserved and do not change the layout.
func (a RDMAPAtomicRequestHeader) Op() uint8 { return a[atomicOp+3] & atomicOpMask }

// SetOp writes the AOpCode.
func (a RDMAPAtomicRequestHeader) SetOp(v uint8) {
	a[atomicOp+3] = a[atomicOp+3]&^atomicOpMask | v&atomicOpMask
}

// Reserved returns the 28 reserved bits.
func (a RDMAPAtomicRequestHeader) Reserved() uint32 {
	return binary.BigEndian.Uint32(a[atomicOp:]) >> 4
}

// SetReserved writes the 28 reserved bits.
func (a RDMAPAtomicRequestHeader) SetReserved(v uint32) {
	binary.BigEndian.PutUint32(a[atomicOp:], v<<4|uint32(a.Op()))
}

// RequestID returns the identifier that the response repeats.
func (a RDMAPAtomicRequestHeader) RequestID() uint32 {
	return binary.BigEndian.Uint32(a[atomicRequestID:])
}

// SetRequestID writes the request identifier.
func (a RDMAPAtomicRequestHeader) SetRequestID(v uint32) {
	binary.BigEndian.PutUint32(a[atomicRequestID:], v)
}

// STag returns the STag of the remote buffer.
func (a RDMAPAtomicRequestHeader) STag() uint32 { return binary.BigEndian.Uint32(a[atomicSTag:]) }

// SetSTag writes the STag of the remote buffer.
func (a RDMAPAtomicRequestHeader) SetSTag(v uint32) { binary.BigEndian.PutUint32(a[atomicSTag:], v) }

// Offset returns the tagged offset of the remote word.
func (a RDMAPAtomicRequestHeader) Offset() uint64 { return binary.BigEndian.Uint64(a[atomicTO:]) }

// SetOffset writes the tagged offset of the remote word.
func (a RDMAPAtomicRequestHeader) SetOffset(v uint64) { binary.BigEndian.PutUint64(a[atomicTO:], v) }

// Data returns the value to add or to swap in.
func (a RDMAPAtomicRequestHeader) Data() uint64 { return binary.BigEndian.Uint64(a[atomicData:]) }

// SetData writes the value to add or to swap in.
func (a RDMAPAtomicRequestHeader) SetData(v uint64) { binary.BigEndian.PutUint64(a[atomicData:], v) }

// Mask returns the mask that goes with Data.
func (a RDMAPAtomicRequestHeader) Mask() uint64 { return binary.BigEndian.Uint64(a[atomicMask:]) }

// SetMask writes the mask that goes with Data.
func (a RDMAPAtomicRequestHeader) SetMask(v uint64) { binary.BigEndian.PutUint64(a[atomicMask:], v) }

// CompareData returns the value to compare with.
func (a RDMAPAtomicRequestHeader) CompareData() uint64 {
	return binary.BigEndian.Uint64(a[atomicCompareData:])
}

// SetCompareData writes the value to compare with.
func (a RDMAPAtomicRequestHeader) SetCompareData(v uint64) {
	binary.BigEndian.PutUint64(a[atomicCompareData:], v)
}

// CompareMask returns the mask of the comparison.
func (a RDMAPAtomicRequestHeader) CompareMask() uint64 {
	return binary.BigEndian.Uint64(a[atomicCompareMask:])
}

// SetCompareMask writes the mask of the comparison.
func (a RDMAPAtomicRequestHeader) SetCompareMask(v uint64) {
	binary.BigEndian.PutUint64(a[atomicCompareMask:], v)
}

// RDMAPAtomicResponseHeader is a view of what follows the DDP header of an
// Atomic Response (RFC 7306 section 5.2.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Original Request Identifier                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|             Original Remote Data Value (64 bits)              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAPAtomicResponseHeader []byte

// RequestID returns the identifier of the request that is answered.
func (a RDMAPAtomicResponseHeader) RequestID() uint32 { return binary.BigEndian.Uint32(a) }

// SetRequestID writes the identifier of the request that is answered.
func (a RDMAPAtomicResponseHeader) SetRequestID(v uint32) { binary.BigEndian.PutUint32(a, v) }

// Value returns the remote word as it was before the operation.
func (a RDMAPAtomicResponseHeader) Value() uint64 { return binary.BigEndian.Uint64(a[4:]) }

// SetValue writes the remote word.
func (a RDMAPAtomicResponseHeader) SetValue(v uint64) { binary.BigEndian.PutUint64(a[4:], v) }

var rdmapAtomicRequestSpec = Spec{
	ID: HdrRDMAPAtomicRequest, Name: "iwarp_rdma.atomic", Title: "Atomic Request Header", Len: RDMAPAtomicRequestLen,
	Fields: []Field{
		{Name: "iwarp_rdma.atomic.reserved", Title: "Reserved", Bit: 0, Bits: 28},
		{Name: "iwarp_rdma.atomic.opcode", Title: "OpCode", Bit: 28, Bits: 4, Names: atomicOpName},
		{Name: "iwarp_rdma.atomic.request_identifier", Title: "Request Identifier", Bit: 32, Bits: 32},
		{Name: "iwarp_rdma.atomic.remote_stag", Title: "Remote STag", Bit: 64, Bits: 32},
		{Name: "iwarp_rdma.atomic.remote_tagged_offset", Title: "Remote Tagged Offset", Bit: 96, Bits: 64},
		{Name: "iwarp_rdma.atomic.add_data", Title: "Add Data", Bit: 160, Bits: 64, When: isFetchAdd},
		{Name: "iwarp_rdma.atomic.add_mask", Title: "Add Mask", Base: Hex, Bit: 224, Bits: 64, When: isFetchAdd},
		{Name: "iwarp_rdma.atomic.swap_data", Title: "Swap Data", Bit: 160, Bits: 64, When: isSwap},
		{Name: "iwarp_rdma.atomic.swap_mask", Title: "Swap Mask", Base: Hex, Bit: 224, Bits: 64, When: isSwap},
		{Name: "iwarp_rdma.atomic.compare_data", Title: "Compare Data", Bit: 288, Bits: 64, When: isCmpSwap},
		{Name: "iwarp_rdma.atomic.compare_mask", Title: "Compare Mask", Base: Hex, Bit: 352, Bits: 64, When: isCmpSwap},
	},
}

func atomicOpName(v uint64) string {
	switch v {
	case AtomicFetchAdd:
		return "FetchAdd"
	case AtomicSwap:
		return "Swap"
	case AtomicCmpSwap:
		return "CmpSwap"
	default:
		return ""
	}
}

func isFetchAdd(h []byte) bool { return RDMAPAtomicRequestHeader(h).Op() == AtomicFetchAdd }

func isSwap(h []byte) bool {
	op := RDMAPAtomicRequestHeader(h).Op()
	return op == AtomicSwap || op == AtomicCmpSwap
}

func isCmpSwap(h []byte) bool { return RDMAPAtomicRequestHeader(h).Op() == AtomicCmpSwap }

var rdmapAtomicResponseSpec = Spec{
	ID: HdrRDMAPAtomicResponse, Name: "iwarp_rdma.atomic_response", Title: "Atomic Response Header", Len: RDMAPAtomicResponseLen,
	Fields: []Field{
		{Name: "iwarp_rdma.atomic.original_request_identifier", Title: "Original Request Identifier", Bit: 0, Bits: 32},
		{Name: "iwarp_rdma.atomic.original_remote_data_value", Title: "Original Remote Data Value", Bit: 32, Bits: 64},
	},
}
