package wire

// RDETHLen is the length of a Reliable Datagram Extended Transport Header.
const RDETHLen = 4

// RDETH is a Reliable Datagram Extended Transport Header (IBTA vol. 1, 9.3.1).
//
//	+---------------+-----------------------------------------------+
//	|   reserved    |                  EE context                   |
//	+---------------+-----------------------------------------------+
type RDETH []byte

// EEContext is the end-to-end context number.
func (h RDETH) EEContext() uint32 { return uint24(h[1:]) }

// SetEEContext sets the end-to-end context number.
func (h RDETH) SetEEContext(v uint32) { putUint24(h[1:], v) }

var rdethSpec = Spec{ID: HdrRDETH, Name: "infiniband.rdeth", Title: "Reliable Datagram Extended Transport Header", Len: RDETHLen, Fields: []Field{
	{Name: "infiniband.rdeth.reserved8", Title: "Reserved (8 bits)", Bit: 0, Bits: 8},
	{Name: "infiniband.rdeth.eecnxt", Title: "EE Context", Bit: 8, Bits: 24},
}}
