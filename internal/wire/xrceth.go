package wire

// XRCETHLen is the length of an XRC Extended Transport Header.
const XRCETHLen = 4

// XRCETH is an Extended Reliable Connection Extended Transport Header (IBTA
// vol. 1, A14.3). Every XRC request carries it.
//
//	+---------------+-----------------------------------------------+
//	|   reserved    |                    XRC SRQ                    |
//	+---------------+-----------------------------------------------+
type XRCETH []byte

// SRQN is the number of the shared receive queue.
func (h XRCETH) SRQN() uint32 { return uint24(h[1:]) }

// SetSRQN sets the number of the shared receive queue.
func (h XRCETH) SetSRQN(v uint32) { putUint24(h[1:], v) }

var xrcethSpec = Spec{ID: HdrXRCETH, Name: "infiniband.xrceth", Title: "XRC Extended Transport Header", Len: XRCETHLen, Fields: []Field{
	{Name: "infiniband.xrceth.reserved8", Title: "Reserved (8 bits)", Bit: 0, Bits: 8},
	{Name: "infiniband.xrceth.srqn", Title: "XRC SRQ Number", Base: Hex, Bit: 8, Bits: 24},
}}
