package wire

// RETHLen is the length of an RDMA Extended Transport Header.
const RETHLen = 16

// RETH is an RDMA Extended Transport Header (IBTA vol. 1, 9.3.3).
//
//	+---------------------------------------------------------------+
//	|                       Virtual Address                         |
//	|                                                               |
//	+---------------------------------------------------------------+
//	|                            R_Key                              |
//	+---------------------------------------------------------------+
//	|                          DMA Length                           |
//	+---------------------------------------------------------------+
type RETH []byte

// VA is the virtual address.
func (h RETH) VA() uint64 { return be.Uint64(h) }

// SetVA sets the virtual address.
func (h RETH) SetVA(v uint64) { be.PutUint64(h, v) }

// RKey is the remote key.
func (h RETH) RKey() uint32 { return be.Uint32(h[8:]) }

// SetRKey sets the remote key.
func (h RETH) SetRKey(v uint32) { be.PutUint32(h[8:], v) }

// DMALen is the length of the whole operation in bytes.
func (h RETH) DMALen() uint32 { return be.Uint32(h[12:]) }

// SetDMALen sets the length of the whole operation.
func (h RETH) SetDMALen(v uint32) { be.PutUint32(h[12:], v) }

var rethSpec = Spec{ID: HdrRETH, Name: "infiniband.reth", Title: "RDMA Extended Transport Header", Len: RETHLen, Fields: []Field{
	{Name: "infiniband.reth.va", Title: "Virtual Address", Base: Hex, Bit: 0, Bits: 64},
	{Name: "infiniband.reth.r_key", Title: "Remote Key", Base: Hex, Bit: 64, Bits: 32},
	{Name: "infiniband.reth.dmalen", Title: "DMA Length", Bit: 96, Bits: 32},
}}
