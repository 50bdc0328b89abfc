package wire

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// RDMAPTerminateHeader is a view of the control part of a Terminate message
// (RFC 5040 section 4.8). The DDP segment length is there when M or D is set;
// the headers that were in error follow it.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Layer | EType |  Error Code   |M|D|R|        Reserved         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|      DDP Segment Length       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type RDMAPTerminateHeader []byte

// The length of an RDMAPTerminateHeader without and with the segment length.
const (
	RDMAPTerminateLen        = 4
	RDMAPTerminateWithSegLen = 6
)

// The layer that found the error (RFC 5040 section 4.8).
const (
	TermLayerRDMAP = 0
	TermLayerDDP   = 1
	TermLayerLLP   = 2
)

// Error types of the RDMAP and DDP layers.
const (
	TermRDMAPCatastrophic = 0
	TermRDMAPProtection   = 1
	TermRDMAPOperation    = 2
	TermDDPCatastrophic   = 0
	TermDDPTagged         = 1
	TermDDPUntagged       = 2
	TermLLPMPA            = 0
)

const (
	termHdrCt  = 2
	termSegLen = 4

	termM = 0x80
	termD = 0x40
	termR = 0x20
)

// Layer returns the layer that found the error.
func (t RDMAPTerminateHeader) Layer() uint8 { return t[0] >> 4 }

// SetLayer writes the layer that found the error.
func (t RDMAPTerminateHeader) SetLayer(v uint8) { t[0] = t[0]&0x0f | v<<4 }

// Type returns the error type, whose meaning depends on the layer.
func (t RDMAPTerminateHeader) Type() uint8 { return t[0] & 0x0f }

// SetType writes the error type.
func (t RDMAPTerminateHeader) SetType(v uint8) { t[0] = t[0]&0xf0 | v&0x0f }

// Code returns the error code, whose meaning depends on layer and type.
func (t RDMAPTerminateHeader) Code() uint8 { return t[1] }

// SetCode writes the error code.
func (t RDMAPTerminateHeader) SetCode(v uint8) { t[1] = v }

// SegmentLenValid reports bit M.
func (t RDMAPTerminateHeader) SegmentLenValid() bool { return t[termHdrCt]&termM != 0 }

// SetSegmentLenValid sets bit M.
func (t RDMAPTerminateHeader) SetSegmentLenValid(on bool) { setIWARPFlag(t, termHdrCt, termM, on) }

// HasDDP reports bit D: the DDP header in error follows.
func (t RDMAPTerminateHeader) HasDDP() bool { return t[termHdrCt]&termD != 0 }

// SetHasDDP sets bit D.
func (t RDMAPTerminateHeader) SetHasDDP(on bool) { setIWARPFlag(t, termHdrCt, termD, on) }

// HasRDMAP reports bit R: the Read Request header in error follows.
func (t RDMAPTerminateHeader) HasRDMAP() bool { return t[termHdrCt]&termR != 0 }

// SetHasRDMAP sets bit R.
func (t RDMAPTerminateHeader) SetHasRDMAP(on bool) { setIWARPFlag(t, termHdrCt, termR, on) }

// Reserved returns the 13 reserved bits.
func (t RDMAPTerminateHeader) Reserved() uint16 {
	return binary.BigEndian.Uint16(t[termHdrCt:]) & 0x1fff
}

// SetReserved writes the 13 reserved bits.
func (t RDMAPTerminateHeader) SetReserved(v uint16) {
	old := binary.BigEndian.Uint16(t[termHdrCt:])
	binary.BigEndian.PutUint16(t[termHdrCt:], old&^0x1fff|v&0x1fff)
}

// Words names the layer, the error type and the error code; what is not defined
// is written as a number.
func (t RDMAPTerminateHeader) Words() string {
	var words [3]string
	for i := range rdmapTerminateSpec.Fields {
		f := &rdmapTerminateSpec.Fields[i]
		if place := f.Bit / 4; place <= 2 && (f.When == nil || f.When(t)) {
			v := uint64([3]uint8{t.Layer(), t.Type(), t.Code()}[place])
			if f.Names != nil {
				words[place] = f.Names(v)
			}
			if words[place] == "" {
				words[place] = fmt.Sprintf("0x%x", v)
			}
		}
	}
	return strings.Join(words[:], ", ")
}

// Len returns the length of the view that the header control bits ask for.
func (t RDMAPTerminateHeader) Len() int {
	if t.SegmentLenValid() || t.HasDDP() {
		return RDMAPTerminateWithSegLen
	}
	return RDMAPTerminateLen
}

// SegmentLen returns the length of the DDP segment in error.
func (t RDMAPTerminateHeader) SegmentLen() uint16 { return binary.BigEndian.Uint16(t[termSegLen:]) }

// SetSegmentLen writes the length of the DDP segment in error.
func (t RDMAPTerminateHeader) SetSegmentLen(v uint16) {
	binary.BigEndian.PutUint16(t[termSegLen:], v)
}

// CodeName names the error code within its layer and type, "" for an
// undefined one.
func (t RDMAPTerminateHeader) CodeName() string {
	code := uint64(t.Code())
	switch {
	case t.Layer() == TermLayerRDMAP:
		return termRDMAPCodeName(code)
	case t.Layer() == TermLayerDDP && t.Type() == TermDDPTagged:
		return termTaggedCodeName(code)
	case t.Layer() == TermLayerDDP && t.Type() == TermDDPUntagged:
		return termUntaggedCodeName(code)
	case t.Layer() == TermLayerLLP && t.Type() == TermLLPMPA:
		return termMPACodeName(code)
	default:
		return ""
	}
}

func nameAt(names []string, v uint64) string {
	if v < uint64(len(names)) {
		return names[v]
	}
	return ""
}

func termLayerName(v uint64) string { return nameAt([]string{"RDMA", "DDP", "LLP"}, v) }

func termRDMAPTypeName(v uint64) string {
	return nameAt([]string{"Local Catastrophic Error", "Remote Protection Error", "Remote Operation Error"}, v)
}

func termDDPTypeName(v uint64) string {
	return nameAt([]string{
		"Local Catastrophic Error", "Tagged Buffer Error", "Untagged Buffer Error",
		"Reserved for the use by the LLP",
	}, v)
}

func termLLPTypeName(v uint64) string { return nameAt([]string{"MPA Error"}, v) }

// RFC 5040 section 4.8.
func termRDMAPCodeName(v uint64) string {
	if v == 0xff {
		return "Unspecific Error"
	}
	return nameAt([]string{
		"Invalid STag", "Base or bounds violation", "Access rights violation",
		"STag not associated with RDMAP Stream", "TO wrap", "Invalid RDMAP version",
		"Unexpected OpCode", "Catastrophic error, localized to RDMAP Stream",
		"Catastrophic error, global", "STag cannot be Invalidated",
	}, v)
}

// RFC 5041 section 8.2.
func termTaggedCodeName(v uint64) string {
	return nameAt([]string{
		"Invalid STag", "Base or bounds violation", "STag not associated with DDP Stream",
		"TO wrap", "Invalid DDP version",
	}, v)
}

func termUntaggedCodeName(v uint64) string {
	return nameAt([]string{
		"", "Invalid QN", "Invalid MSN - no buffer available",
		"Invalid MSN - MSN range is not valid", "Invalid MO",
		"DDP Message too long for available buffer", "Invalid DDP version",
	}, v)
}

// RFC 5044 section 8, RFC 6581 section 8.
func termMPACodeName(v uint64) string {
	return nameAt([]string{
		"", "TCP connection closed, terminated or lost", "MPA CRC Error",
		"MPA Marker and ULPDU Length field mismatch",
		"Invalid MPA Request Frame or MPA Response Frame", "Local Catastrophic Error",
		"Insufficient IRD Resources", "No Matching RTR Option",
	}, v)
}

var rdmapTerminateSpec = Spec{
	ID: HdrRDMAPTerminate, Name: "iwarp_rdma.terminate", Title: "Terminate Header", Len: RDMAPTerminateLen,
	Fields: []Field{
		{Name: "iwarp_rdma.term_layer", Title: "Layer", Base: Hex, Bit: 0, Bits: 4, Names: termLayerName},
		{Name: "iwarp_rdma.term_etype_rdma", Title: "Error type", Base: Hex, Bit: 4, Bits: 4, Names: termRDMAPTypeName, When: isTermRDMAP},
		{Name: "iwarp_rdma.term_etype_ddp", Title: "Error type", Base: Hex, Bit: 4, Bits: 4, Names: termDDPTypeName, When: isTermDDP},
		{Name: "iwarp_rdma.term_etype_llp", Title: "Error type", Base: Hex, Bit: 4, Bits: 4, Names: termLLPTypeName, When: isTermLLP},
		{Name: "iwarp_rdma.term_etype", Title: "Error type", Base: Hex, Bit: 4, Bits: 4, When: isTermOther},
		{Name: "iwarp_rdma.term_errcode_rdma", Title: "Error code", Base: Hex, Bit: 8, Bits: 8, Names: termRDMAPCodeName, When: isTermRDMAP},
		{Name: "iwarp_rdma.term_errcode_ddp_tagged", Title: "Error code", Base: Hex, Bit: 8, Bits: 8, Names: termTaggedCodeName, When: isTermTagged},
		{Name: "iwarp_rdma.term_errcode_ddp_untagged", Title: "Error code", Base: Hex, Bit: 8, Bits: 8, Names: termUntaggedCodeName, When: isTermUntagged},
		{Name: "iwarp_rdma.term_errcode_llp", Title: "Error code", Base: Hex, Bit: 8, Bits: 8, Names: termMPACodeName, When: isTermLLP},
		{Name: "iwarp_rdma.term_errcode", Title: "Error code", Base: Hex, Bit: 8, Bits: 8, When: isTermPlainCode},
		{Name: "iwarp_rdma.term_hdrct_m", Title: "DDP segment length valid (M)", Kind: Bool, Bit: 16, Bits: 1},
		{Name: "iwarp_rdma.hdrct_d", Title: "DDP header included (D)", Kind: Bool, Bit: 17, Bits: 1},
		{Name: "iwarp_rdma.hdrct_r", Title: "RDMAP header included (R)", Kind: Bool, Bit: 18, Bits: 1},
		{Name: "iwarp_rdma.term_rsvd", Title: "Reserved", Base: Hex, Bit: 19, Bits: 13},
		{Name: "iwarp_rdma.term_ddp_seg_len", Title: "DDP Segment Length", Kind: Bytes, Bit: 32, Bits: 16, When: hasSegmentLen},
	},
}

func isTermRDMAP(h []byte) bool { return RDMAPTerminateHeader(h).Layer() == TermLayerRDMAP }

func isTermDDP(h []byte) bool { return RDMAPTerminateHeader(h).Layer() == TermLayerDDP }

func isTermLLP(h []byte) bool { return RDMAPTerminateHeader(h).Layer() == TermLayerLLP }

func isTermOther(h []byte) bool { return RDMAPTerminateHeader(h).Layer() > TermLayerLLP }

func isTermTagged(h []byte) bool {
	return isTermDDP(h) && RDMAPTerminateHeader(h).Type() == TermDDPTagged
}

func isTermUntagged(h []byte) bool {
	return isTermDDP(h) && RDMAPTerminateHeader(h).Type() == TermDDPUntagged
}

func isTermPlainCode(h []byte) bool {
	return !isTermRDMAP(h) && !isTermTagged(h) && !isTermUntagged(h) && !isTermLLP(h)
}

func hasSegmentLen(h []byte) bool { return RDMAPTerminateHeader(h).Len() == RDMAPTerminateWithSegLen }

// rdmapTermDDPSpec shows the header as bytes under Wireshark's name and then
// its parts, under names of our own so that a filter on iwarp_ddp.stag does not
// match the headers that a Terminate quotes.
var rdmapTermDDPSpec = Spec{
	ID: HdrRDMAPTermDDP, Name: "iwarp_rdma.term_ddp_h", Title: "Terminated DDP Header", Len: DDPTaggedLen,
	Fields: []Field{
		{Name: "iwarp_rdma.term_ddp_h", Title: "Terminated DDP header", Kind: Bytes},
		{Name: "iwarp_rdma.term_ddp_h.tagged_flag", Title: "Tagged flag (T)", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "iwarp_rdma.term_ddp_h.last_flag", Title: "Last flag (L)", Kind: Bool, Bit: 1, Bits: 1},
		{Name: "iwarp_rdma.term_ddp_h.dv", Title: "DDP protocol version", Bit: 6, Bits: 2},
		{Name: "iwarp_rdma.term_ddp_h.opcode", Title: "OpCode", Base: Hex, Bit: 12, Bits: 4, Names: rdmapOpcodeName},
		{Name: "iwarp_rdma.term_ddp_h.stag", Title: "Steering Tag", Base: Hex, Bit: 16, Bits: 32, When: isTaggedDDP},
		{Name: "iwarp_rdma.term_ddp_h.tagged_offset", Title: "Tagged offset", Base: Hex, Bit: 48, Bits: 64, When: isTaggedDDP},
		{Name: "iwarp_rdma.term_ddp_h.qn", Title: "Queue number", Bit: 48, Bits: 32, When: isUntaggedDDP},
		{Name: "iwarp_rdma.term_ddp_h.msn", Title: "Message sequence number", Bit: 80, Bits: 32, When: isUntaggedDDP},
		{Name: "iwarp_rdma.term_ddp_h.mo", Title: "Message offset", Bit: 112, Bits: 32, When: isUntaggedDDP},
	},
}

func isTaggedDDP(h []byte) bool { return DDP(h).Tagged() }

func isUntaggedDDP(h []byte) bool { return !isTaggedDDP(h) }

var rdmapTermReadSpec = Spec{
	ID: HdrRDMAPTermRead, Name: "iwarp_rdma.term_rdma_h", Title: "Terminated RDMA Header", Len: RDMAPReadRequestLen,
	Fields: []Field{
		{Name: "iwarp_rdma.term_rdma_h", Title: "Terminated RDMA header", Kind: Bytes},
		{Name: "iwarp_rdma.term_rdma_h.sinkstag", Title: "Data Sink STag", Base: Hex, Bit: 0, Bits: 32},
		{Name: "iwarp_rdma.term_rdma_h.sinkto", Title: "Data Sink Tagged Offset", Base: Hex, Bit: 32, Bits: 64},
		{Name: "iwarp_rdma.term_rdma_h.rdmardsz", Title: "RDMA Read Message Size", Bit: 96, Bits: 32},
		{Name: "iwarp_rdma.term_rdma_h.srcstag", Title: "Data Source STag", Base: Hex, Bit: 128, Bits: 32},
		{Name: "iwarp_rdma.term_rdma_h.srcto", Title: "Data Source Tagged Offset", Base: Hex, Bit: 160, Bits: 64},
	},
}
