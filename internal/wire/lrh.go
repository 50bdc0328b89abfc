package wire

// LRHLen is the length of a Local Route Header.
const LRHLen = 8

// LRH is a Local Route Header (IBTA vol. 1, 7.7).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-------+-------+---+---+-------------------------------+
//	|  VL   | LVer  |  SL   |rsv|LNH|             DLID              |
//	+-------+-------+-------+---+---+-------------------------------+
//	|  rsv    |       PktLen        |             SLID              |
//	+---------+---------------------+-------------------------------+
type LRH []byte

const (
	lrhVL     = 0
	lrhSL     = 1
	lrhDLID   = 2
	lrhPktLen = 4
	lrhSLID   = 6
)

// The values of LNH, the link next header.
const (
	LNHRaw    = 0 // RWH follows
	LNHIPv6   = 1 // raw IPv6
	LNHLocal  = 2 // BTH follows
	LNHGlobal = 3 // GRH follows
)

// VL is the virtual lane.
func (h LRH) VL() uint8 { return h[lrhVL] >> 4 }

// SetVL sets the virtual lane.
func (h LRH) SetVL(v uint8) { putBits(&h[lrhVL], 0xF0, v<<4) }

// Version is the link version, 0.
func (h LRH) Version() uint8 { return h[lrhVL] & 0x0F }

// SetVersion sets the link version.
func (h LRH) SetVersion(v uint8) { putBits(&h[lrhVL], 0x0F, v) }

// SL is the service level.
func (h LRH) SL() uint8 { return h[lrhSL] >> 4 }

// SetSL sets the service level.
func (h LRH) SetSL(v uint8) { putBits(&h[lrhSL], 0xF0, v<<4) }

// LNH says which header follows: one of the LNH constants.
func (h LRH) LNH() uint8 { return h[lrhSL] & 0x03 }

// SetLNH sets the link next header.
func (h LRH) SetLNH(v uint8) { putBits(&h[lrhSL], 0x03, v) }

// DLID is the destination local identifier.
func (h LRH) DLID() uint16 { return be.Uint16(h[lrhDLID:]) }

// SetDLID sets the destination local identifier.
func (h LRH) SetDLID(v uint16) { be.PutUint16(h[lrhDLID:], v) }

// PktLen is the packet's length in 4-byte words, from the LRH to the ICRC; the
// VCRC is left out.
func (h LRH) PktLen() int { return int(be.Uint16(h[lrhPktLen:]) & 0x07FF) }

// SetPktLen sets the packet's length in 4-byte words.
func (h LRH) SetPktLen(words int) {
	be.PutUint16(h[lrhPktLen:], be.Uint16(h[lrhPktLen:])&0xF800|uint16(words)&0x07FF)
}

// SLID is the source local identifier.
func (h LRH) SLID() uint16 { return be.Uint16(h[lrhSLID:]) }

// SetSLID sets the source local identifier.
func (h LRH) SetSLID(v uint16) { be.PutUint16(h[lrhSLID:], v) }

func lnhName(v uint64) string {
	return [...]string{LNHRaw: "Raw", LNHIPv6: "Raw IPv6", LNHLocal: "IBA local", LNHGlobal: "IBA global"}[v&3]
}

var lrhSpec = Spec{ID: HdrLRH, Name: "infiniband.lrh", Title: "Local Route Header", Len: LRHLen, Fields: []Field{
	{Name: "infiniband.lrh.vl", Title: "Virtual Lane", Base: Hex, Bit: 0, Bits: 4},
	{Name: "infiniband.lrh.lver", Title: "Link Version", Bit: 4, Bits: 4},
	{Name: "infiniband.lrh.sl", Title: "Service Level", Bit: 8, Bits: 4},
	{Name: "infiniband.lrh.reserved2", Title: "Reserved (2 bits)", Bit: 12, Bits: 2},
	{Name: "infiniband.lrh.lnh", Title: "Link Next Header", Base: Hex, Bit: 14, Bits: 2, Names: lnhName},
	{Name: "infiniband.lrh.dlid", Title: "Destination Local ID", Bit: 16, Bits: 16},
	{Name: "infiniband.lrh.reserved5", Title: "Reserved (5 bits)", Bit: 32, Bits: 5, Width: 16},
	{Name: "infiniband.lrh.pktlen", Title: "Packet Length (4-byte words)", Bit: 37, Bits: 11},
	{Name: "infiniband.lrh.slid", Title: "Source Local ID", Bit: 48, Bits: 16},
}}
