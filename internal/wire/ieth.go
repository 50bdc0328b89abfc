package wire

// IETHLen is the length of an Invalidate Extended Transport Header.
const IETHLen = 4

// IETH is an Invalidate Extended Transport Header (IBTA vol. 1, 9.3.7).
type IETH []byte

// RKey is the remote key to invalidate.
func (h IETH) RKey() uint32 { return be.Uint32(h) }

// SetRKey sets the remote key to invalidate.
func (h IETH) SetRKey(v uint32) { be.PutUint32(h, v) }

var iethSpec = Spec{ID: HdrIETH, Name: "infiniband.ieth", Title: "Invalidate Extended Transport Header", Len: IETHLen, Fields: []Field{
	{Name: "infiniband.ieth.r_key", Title: "Invalidated Remote Key", Base: Hex, Bit: 0, Bits: 32},
}}
