package wire

// MPLSLen is the length of a label stack entry.
const MPLSLen = 4

const (
	mplsLabelMask  = 0xFFFFF000
	mplsEXPMask    = 0x00000E00
	mplsBottomMask = 0x01 // of byte 2
	mplsTTL        = 3
)

// MPLS is one entry of an MPLS label stack (RFC 3032, 2.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------+-----+-+---------------+
//	|                 label                 | EXP |S|      TTL      |
//	+---------------------------------------+-----+-+---------------+
type MPLS []byte

func (h MPLS) word() uint32 { return be.Uint32(h) }

func (h MPLS) setWord(v, mask uint32) { be.PutUint32(h, merge(h.word(), v, mask)) }

// Label is the label value.
func (h MPLS) Label() uint32 { return h.word() >> 12 }

// SetLabel sets the label value.
func (h MPLS) SetLabel(v uint32) { h.setWord(v<<12, mplsLabelMask) }

// EXP is the traffic class, formerly "experimental" (RFC 5462).
func (h MPLS) EXP() uint8 { return uint8(h.word() & mplsEXPMask >> 9) }

// SetEXP sets the traffic class.
func (h MPLS) SetEXP(v uint8) { h.setWord(uint32(v)<<9, mplsEXPMask) }

// Bottom reports whether this is the last entry of the stack.
func (h MPLS) Bottom() bool { return h[2]&mplsBottomMask != 0 }

// SetBottom marks the last entry of the stack.
func (h MPLS) SetBottom(on bool) { putBit(&h[2], mplsBottomMask, on) }

// TTL is the time to live.
func (h MPLS) TTL() uint8 { return h[mplsTTL] }

// SetTTL sets the time to live.
func (h MPLS) SetTTL(v uint8) { h[mplsTTL] = v }

var mplsSpec = Spec{
	ID: HdrMPLS, Name: "mpls", Title: "MultiProtocol Label Switching Header", Len: MPLSLen,
	Fields: []Field{
		{Name: "mpls.label", Title: "MPLS Label", Bit: 0, Bits: 20, Width: 32},
		{Name: "mpls.exp", Title: "MPLS Experimental Bits", Bit: 20, Bits: 3, Width: 32},
		{Name: "mpls.bottom", Title: "MPLS Bottom Of Label Stack", Bit: 23, Bits: 1, Width: 32},
		{Name: "mpls.ttl", Title: "MPLS TTL", Bit: 24, Bits: 8, Width: 32},
	},
}
