package wire

// AtomicETHLen is the length of an Atomic Extended Transport Header.
const AtomicETHLen = 28

// AtomicETH is an Atomic Extended Transport Header (IBTA vol. 1, 9.3.4).
//
//	+---------------------------------------------------------------+
//	|                       Virtual Address (8)                     |
//	+---------------------------------------------------------------+
//	|                            R_Key                              |
//	+---------------------------------------------------------------+
//	|                     Swap or Add Data (8)                      |
//	+---------------------------------------------------------------+
//	|                       Compare Data (8)                        |
//	+---------------------------------------------------------------+
type AtomicETH []byte

// VA is the virtual address.
func (h AtomicETH) VA() uint64 { return be.Uint64(h) }

// SetVA sets the virtual address.
func (h AtomicETH) SetVA(v uint64) { be.PutUint64(h, v) }

// RKey is the remote key.
func (h AtomicETH) RKey() uint32 { return be.Uint32(h[8:]) }

// SetRKey sets the remote key.
func (h AtomicETH) SetRKey(v uint32) { be.PutUint32(h[8:], v) }

// SwapAdd is the value to swap in, or to add.
func (h AtomicETH) SwapAdd() uint64 { return be.Uint64(h[12:]) }

// SetSwapAdd sets the value to swap in, or to add.
func (h AtomicETH) SetSwapAdd(v uint64) { be.PutUint64(h[12:], v) }

// Compare is the value to compare with.
func (h AtomicETH) Compare() uint64 { return be.Uint64(h[20:]) }

// SetCompare sets the value to compare with.
func (h AtomicETH) SetCompare(v uint64) { be.PutUint64(h[20:], v) }

// The address and key carry the RETH's names, as in Wireshark, so that one
// filter finds all access to a region.
var atomicETHSpec = Spec{ID: HdrAtomicETH, Name: "infiniband.atomiceth", Title: "Atomic Extended Transport Header", Len: AtomicETHLen, Fields: []Field{
	{Name: "infiniband.reth.va", Title: "Virtual Address", Base: Hex, Bit: 0, Bits: 64},
	{Name: "infiniband.reth.r_key", Title: "Remote Key", Base: Hex, Bit: 64, Bits: 32},
	{Name: "infiniband.atomiceth.swapdt", Title: "Swap (Or Add) Data", Bit: 96, Bits: 64},
	{Name: "infiniband.atomiceth.cmpdt", Title: "Compare Data", Bit: 160, Bits: 64},
}}
