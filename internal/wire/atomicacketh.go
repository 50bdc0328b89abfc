package wire

// AtomicAckETHLen is the length of an Atomic ACK Extended Transport Header.
const AtomicAckETHLen = 8

// AtomicAckETH is an Atomic ACK Extended Transport Header (IBTA vol. 1, 9.5.3):
// the 8 bytes that the memory held before the operation.
type AtomicAckETH []byte

// Original is the value before the operation.
func (h AtomicAckETH) Original() uint64 { return be.Uint64(h) }

// SetOriginal sets the value before the operation.
func (h AtomicAckETH) SetOriginal(v uint64) { be.PutUint64(h, v) }

var atomicAckETHSpec = Spec{ID: HdrAtomicAckETH, Name: "infiniband.atomicacketh", Title: "Atomic ACK Extended Transport Header", Len: AtomicAckETHLen, Fields: []Field{
	{Name: "infiniband.atomicacketh.origremdt", Title: "Original Remote Data", Bit: 0, Bits: 64},
}}
