package wire

// ImmDtLen is the length of an Immediate Data header.
const ImmDtLen = 4

// ImmDt is an Immediate Data extended header (IBTA vol. 1, 9.3.6).
type ImmDt []byte

// Data is the immediate value.
func (h ImmDt) Data() uint32 { return be.Uint32(h) }

// SetData sets the immediate value.
func (h ImmDt) SetData(v uint32) { be.PutUint32(h, v) }

var immDtSpec = Spec{ID: HdrImmDt, Name: "infiniband.immdt", Title: "Immediate Data", Len: ImmDtLen, Fields: []Field{
	{Name: "infiniband.immdt.data", Title: "Immediate Data", Base: Hex, Bit: 0, Bits: 32},
}}
