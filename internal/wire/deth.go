package wire

// DETHLen is the length of a Datagram Extended Transport Header.
const DETHLen = 8

// QKeyQP1 is the well-known Q_Key of QP 1 (IBTA vol. 1, 16.1.1).
const QKeyQP1 = 0x80010000

// DETH is a Datagram Extended Transport Header (IBTA vol. 1, 9.3.2).
//
//	+---------------------------------------------------------------+
//	|                             Q_Key                             |
//	+---------------+-----------------------------------------------+
//	|   reserved    |                   Source QP                   |
//	+---------------+-----------------------------------------------+
type DETH []byte

// QKey is the queue key.
func (h DETH) QKey() uint32 { return be.Uint32(h) }

// SetQKey sets the queue key.
func (h DETH) SetQKey(v uint32) { be.PutUint32(h, v) }

// SrcQP is the 24-bit number of the sending queue pair.
func (h DETH) SrcQP() uint32 { return uint24(h[5:]) }

// SetSrcQP sets the sending queue pair.
func (h DETH) SetSrcQP(v uint32) { putUint24(h[5:], v) }

var dethSpec = Spec{ID: HdrDETH, Name: "infiniband.deth", Title: "Datagram Extended Transport Header", Len: DETHLen, Fields: []Field{
	{Name: "infiniband.deth.q_key", Title: "Queue Key", Base: Hex, Bit: 0, Bits: 32, Width: 64},
	{Name: "infiniband.deth.reserved8", Title: "Reserved (8 bits)", Bit: 32, Bits: 8},
	{Name: "infiniband.deth.srcqp", Title: "Source QP", Base: Hex, Bit: 40, Bits: 24, Width: 32},
}}
