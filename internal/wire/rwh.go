package wire

// RWHLen is the length of a Raw Header.
const RWHLen = 4

// RWH is the Raw Header of a native InfiniBand raw packet (IBTA vol. 1, 5.3).
//
//	+-------------------------------+-------------------------------+
//	|           reserved            |           EtherType           |
//	+-------------------------------+-------------------------------+
type RWH []byte

// EtherType is the type of what follows.
func (h RWH) EtherType() uint16 { return be.Uint16(h[2:]) }

// SetEtherType sets the type of what follows.
func (h RWH) SetEtherType(v uint16) { be.PutUint16(h[2:], v) }

var rwhSpec = Spec{ID: HdrRWH, Name: "infiniband.rwh", Title: "Raw Header", Len: RWHLen, Fields: []Field{
	{Name: "infiniband.rwh.reserved", Title: "Reserved (16 bits)", Base: Hex, Bit: 0, Bits: 16},
	{Name: "infiniband.rwh.etype", Title: "EtherType", Base: Hex, Bit: 16, Bits: 16, Names: EtherTypeName},
}}
