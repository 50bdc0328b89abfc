package wire

// FETHLen is the length of a Flush Extended Transport Header.
const FETHLen = 4

// FETH is a Flush Extended Transport Header (IBTA A19.4.1; the bits as Linux
// rxe_hdr.h sends them. Wireshark 4.4 reads five bits of other widths).
//
//	+-----------------------------------------------+-----+---------+
//	|              reserved (26)                    |SEL 2|  PLT 4  |
//	+-----------------------------------------------+-----+---------+
type FETH []byte

// The selectivity levels of a FLUSH.
const (
	FlushRange  = 0 // the memory range of the RETH
	FlushRegion = 1 // the whole memory region
)

// The placement bits of a FLUSH.
const (
	FlushGlobal     = 1 << 0 // global visibility
	FlushPersistent = 1 << 1 // persistence
)

// Selectivity is FlushRange or FlushRegion.
func (h FETH) Selectivity() uint8 { return h[3] >> 4 & 3 }

// SetSelectivity sets the selectivity level.
func (h FETH) SetSelectivity(v uint8) { putBits(&h[3], 0x30, v<<4) }

// Placement is a set of placement bits.
func (h FETH) Placement() uint8 { return h[3] & 0x0F }

// SetPlacement sets the placement bits.
func (h FETH) SetPlacement(v uint8) { putBits(&h[3], 0x0F, v) }

// fethDefined is the bits of a FETH that have a meaning: of the selectivity and
// the placement the upper half is reserved too.
const fethDefined = 0x13

// reservedSet reports whether a reserved bit is set.
func (h FETH) reservedSet() bool { return be.Uint32(h)&^fethDefined != 0 }

func selName(v uint64) string {
	switch v {
	case FlushRange:
		return "Memory Region Range"
	case FlushRegion:
		return "Memory Region"
	}
	return ""
}

func pltName(v uint64) string {
	switch v {
	case FlushGlobal:
		return "Global Visibility"
	case FlushPersistent:
		return "Persistence"
	case FlushGlobal | FlushPersistent:
		return "Global Visibility and Persistence"
	}
	return ""
}

var fethSpec = Spec{ID: HdrFETH, Name: "infiniband.feth", Title: "Flush Extended Transport Header", Len: FETHLen, Fields: []Field{
	{Name: "infiniband.feth.reserved26", Title: "Reserved (26 bits)", Bit: 0, Bits: 26, Width: 32},
	{Name: "infiniband.feth.sel", Title: "Selectivity Level", Bit: 26, Bits: 2, Names: selName},
	{Name: "infiniband.feth.plt", Title: "Placement Type", Base: Hex, Bit: 28, Bits: 4, Names: pltName},
}}
