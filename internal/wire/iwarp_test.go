package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fpdu builds an FPDU with a zero CRC field around a ULPDU.
func fpdu(ulpdu []byte) []byte {
	b := make([]byte, FPDULen(len(ulpdu)))
	FPDU(b).SetULPDULen(len(ulpdu))
	copy(b[FPDULengthLen:], ulpdu)
	return b
}

func untagged(op RDMAPOpcode, qn uint32, body ...byte) []byte {
	b := make([]byte, DDPUntaggedLen, DDPUntaggedLen+len(body))
	DDP(b).SetVersion(DDPVersion)
	DDP(b).SetLast(true)
	RDMAP(b[RDMAPInDDP:]).SetVersion(RDMAPVersion)
	RDMAP(b[RDMAPInDDP:]).SetOpcode(op)
	DDPUntagged(b).SetQN(qn)
	DDPUntagged(b).SetMSN(1)
	return append(b, body...)
}

func tagged(op RDMAPOpcode, body ...byte) []byte {
	b := make([]byte, DDPTaggedLen, DDPTaggedLen+len(body))
	DDP(b).SetTagged(true)
	DDP(b).SetVersion(DDPVersion)
	RDMAP(b[RDMAPInDDP:]).SetVersion(RDMAPVersion)
	RDMAP(b[RDMAPInDDP:]).SetOpcode(op)
	return append(b, body...)
}

// layout writes the headers of a stack as "id@offset+length".
func layout(s *Stack) string {
	var b strings.Builder
	for _, h := range s.Headers() {
		fmt.Fprintf(&b, "%s@%d+%d ", SpecOf(h.ID).Name, h.Off, h.Len)
	}
	return strings.TrimSpace(b.String())
}

func edit(b []byte, at int, v byte) []byte {
	b[at] = v
	return b
}

func TestParseFPDUFindsTheHeadersOfEveryOpcode(t *testing.T) {
	const pre = "iwarp_mpa.fpdu@0+2 "
	const un = pre + "iwarp_ddp.untagged@2+18 iwarp_rdma@3+5"
	const tg = pre + "iwarp_ddp.tagged@2+14 iwarp_rdma@3+1"
	term := []byte{0x11, 0x00, 0xc0, 0x00, 0x00, 0x64}
	quoted := tagged(RDMAPWrite)
	readReq := untagged(RDMAPReadRequest, QNReadRequest)
	tests := []struct {
		name     string
		ulpdu    []byte
		layout   string
		problems Problem
	}{
		{"Write", tagged(RDMAPWrite, 1, 2), tg + " iwarp_rdma.payload@16+2 iwarp_mpa.pad@18+2 iwarp_mpa.crc@20+4", 0},
		{"zero-length Write", tagged(RDMAPWrite), tg + " iwarp_mpa.crc@16+4", 0},
		{"Read Request", untagged(RDMAPReadRequest, 1, make([]byte, 28)...), un + " iwarp_rdma.rr@20+28 iwarp_mpa.crc@48+4", 0},
		{"Read Response", tagged(RDMAPReadResponse, 1, 2, 3, 4), tg + " iwarp_rdma.payload@16+4 iwarp_mpa.crc@20+4", 0},
		{"Send", untagged(RDMAPSend, 0, 1), un + " iwarp_rdma.payload@20+1 iwarp_mpa.pad@21+3 iwarp_mpa.crc@24+4", 0},
		{"Send with Invalidate", edit(untagged(RDMAPSendInvalidate, 0), 5, 9), un + " iwarp_mpa.crc@20+4", 0},
		{"Send with SE", untagged(RDMAPSendSE, 0), un + " iwarp_mpa.crc@20+4", 0},
		{"Send with SE and Invalidate", edit(untagged(RDMAPSendSEInvalidate, 0), 5, 9), un + " iwarp_mpa.crc@20+4", 0},
		{"Immediate Data", untagged(RDMAPImmediate, 0, make([]byte, 8)...), un + " iwarp_rdma.immediate@20+8 iwarp_mpa.crc@28+4", 0},
		{"Immediate Data with SE", untagged(RDMAPImmediateSE, 0, make([]byte, 8)...), un + " iwarp_rdma.immediate@20+8 iwarp_mpa.crc@28+4", 0},
		{"Atomic Request", untagged(RDMAPAtomicRequest, 1, make([]byte, 52)...), un + " iwarp_rdma.atomic@20+52 iwarp_mpa.crc@72+4", 0},
		{"Atomic Response", untagged(RDMAPAtomicResponse, 3, make([]byte, 12)...), un + " iwarp_rdma.atomic_response@20+12 iwarp_mpa.crc@32+4", 0},
		{"Terminate without headers", untagged(RDMAPTerminate, 2, 0x20, 2, 0, 0), un + " iwarp_rdma.terminate@20+4 iwarp_mpa.crc@24+4", 0},
		{
			"Terminate with a DDP header", untagged(RDMAPTerminate, 2, append(term, quoted...)...),
			un + " iwarp_rdma.terminate@20+6 iwarp_rdma.term_ddp_h@26+14 iwarp_mpa.crc@40+4", 0,
		},
		{
			"Terminate with DDP and Read Request headers",
			untagged(RDMAPTerminate, 2, append(append([]byte{1, 0, 0xe0, 0, 0, 46}, readReq...), make([]byte, 28)...)...),
			un + " iwarp_rdma.terminate@20+6 iwarp_rdma.term_ddp_h@26+18 iwarp_rdma.term_rdma_h@44+28 iwarp_mpa.crc@72+4", 0,
		},
		{
			"Terminate that promises a DDP header", untagged(RDMAPTerminate, 2, term...),
			un + " iwarp_rdma.terminate@20+6 iwarp_mpa.pad@26+2 iwarp_mpa.crc@28+4", ProblemShort,
		},
		{"empty ULPDU", nil, pre + "iwarp_mpa.pad@2+2 iwarp_mpa.crc@4+4", ProblemShort},
		{"ULPDU of one byte", []byte{0x41}, pre + "iwarp_rdma.payload@2+1 iwarp_mpa.pad@3+1 iwarp_mpa.crc@4+4", ProblemShort},
		{"short Read Request", untagged(RDMAPReadRequest, 1, 1, 2), un + " iwarp_rdma.payload@20+2 iwarp_mpa.pad@22+2 iwarp_mpa.crc@24+4", ProblemShort},
		{"long Immediate Data", untagged(RDMAPImmediate, 0, make([]byte, 12)...), un + " iwarp_rdma.immediate@20+8 iwarp_rdma.payload@28+4 iwarp_mpa.crc@32+4", ProblemLength},
		{"unknown opcode", untagged(0xc, 0), un + " iwarp_mpa.crc@20+4", ProblemUnknownOpcode},
		{"DDP version 2", edit(untagged(RDMAPSend, 0), 0, 0x42), un + " iwarp_mpa.crc@20+4", ProblemDDPVersion},
		{"RDMAP version 0", edit(untagged(RDMAPSend, 0), 1, 0x03), un + " iwarp_mpa.crc@20+4", ProblemRDMAPVersion},
		{"DDP reserved bits", edit(untagged(RDMAPSend, 0), 0, 0x45), un + " iwarp_mpa.crc@20+4", ProblemReserved},
		{"RDMAP reserved bits", edit(untagged(RDMAPSend, 0), 1, 0x53), un + " iwarp_mpa.crc@20+4", ProblemReserved},
		{"STag in a plain Send", edit(untagged(RDMAPSend, 0), 5, 1), un + " iwarp_mpa.crc@20+4", ProblemReserved},
		{"reserved bits above AOpCode", edit(untagged(RDMAPAtomicRequest, 1, make([]byte, 52)...), 18, 0x80), un + " iwarp_rdma.atomic@20+52 iwarp_mpa.crc@72+4", ProblemReserved},
		{"Send on the read queue", untagged(RDMAPSend, 1), un + " iwarp_mpa.crc@20+4", ProblemQueue},
		{"untagged Write", untagged(RDMAPWrite, 0), un + " iwarp_mpa.crc@20+4", ProblemQueue},
		{"tagged Send", tagged(RDMAPSend), tg + " iwarp_mpa.crc@16+4", ProblemQueue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s Stack
			problems := ParseFPDU(&s, fpdu(tt.ulpdu))
			if diff := cmp.Diff(tt.layout, layout(&s)); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if problems != tt.problems {
				t.Errorf("problems %b, want %b", problems, tt.problems)
			}
		})
	}
}

func TestParseFPDUReportsPadAndBytesBehindTheCRC(t *testing.T) {
	var s Stack
	padded := fpdu(untagged(RDMAPSend, 0, 1))
	if got := ParseFPDU(&s, edit(padded, 23, 7)); got != ProblemFPDUPad {
		t.Errorf("pad byte 7 gives %b, want ProblemFPDUPad", got)
	}
	if got := ParseFPDU(&s, append(fpdu(untagged(RDMAPSend, 0)), 0)); got != ProblemLength {
		t.Errorf("a byte behind the CRC gives %b, want ProblemLength", got)
	}
}

func TestParseFPDUKeepsWireLengthsWhenCut(t *testing.T) {
	whole := fpdu(untagged(RDMAPReadRequest, 1, make([]byte, 28)...))
	var want, got Stack
	ParseFPDU(&want, whole)
	for n := FPDULengthLen + 2; n < len(whole); n++ {
		ParseFPDU(&got, bytes.Clone(whole[:n])[:n:n])
		if layout(&got) != layout(&want) {
			t.Errorf("cut to %d bytes: %s, want %s", n, layout(&got), layout(&want))
		}
	}
}

func TestParseMPAStart(t *testing.T) {
	frame := func(key string, flags, rev byte, private string) []byte {
		b := make([]byte, MPAStartLen+len(private))
		m := MPAStart(b)
		m.SetKey(key)
		b[mpaFlags] = flags
		m.SetRevision(rev)
		m.SetPrivateLen(len(private))
		copy(b[MPAStartLen:], private)
		return b
	}
	tests := []struct {
		name     string
		frame    []byte
		layout   string
		problems Problem
	}{
		{"request", frame(MPARequestKey, 0x40, 1, "hi"), "iwarp_mpa.req@0+20 iwarp_mpa.privatedata@20+2", 0},
		{"reply without private data", frame(MPAReplyKey, 0xc0, 1, ""), "iwarp_mpa.rep@0+20", 0},
		{"enhanced", frame(MPARequestKey, 0x50, 2, "\xc0\x08\x80\x10priv"), "iwarp_mpa.req@0+20 iwarp_mpa.enhanced@20+4 iwarp_mpa.privatedata@24+4", 0},
		{"enhanced without room", frame(MPARequestKey, 0x50, 2, "ab"), "iwarp_mpa.req@0+20 iwarp_mpa.privatedata@20+2", ProblemMPA | ProblemShort},
		{"legacy", frame(MPARequestKey, 0x40, 1, "\x00\x00\x00\x20\x00\x00\x00\x01"), "iwarp_mpa.req@0+20 iwarp_mpa.legacy@20+8", 0},
		{"legacy little-endian", frame(MPARequestKey, 0x40, 1, "\x20\x00\x00\x00\x01\x00\x00\x00"), "iwarp_mpa.req@0+20 iwarp_mpa.legacy@20+8", 0},
		{"eight other bytes", frame(MPARequestKey, 0x40, 1, "password"), "iwarp_mpa.req@0+20 iwarp_mpa.privatedata@20+8", 0},
		{"S in revision 1", frame(MPARequestKey, 0x50, 1, ""), "iwarp_mpa.req@0+20", ProblemMPA | ProblemReserved},
		{"revision 0", frame(MPAReplyKey, 0, 0, ""), "iwarp_mpa.rep@0+20", ProblemMPA},
		{"revision 3", frame(MPAReplyKey, 0, 3, ""), "iwarp_mpa.rep@0+20", ProblemMPA},
		{"rejecting request", frame(MPARequestKey, 0x20, 1, ""), "iwarp_mpa.req@0+20", ProblemMPA},
		{"rejecting reply", frame(MPAReplyKey, 0x20, 1, ""), "iwarp_mpa.rep@0+20", 0},
		{"too much private data", frame(MPAReplyKey, 0, 1, strings.Repeat("x", 513)), "iwarp_mpa.rep@0+20 iwarp_mpa.privatedata@20+513", ProblemMPA},
		{"private data cut", frame(MPAReplyKey, 0, 1, "abcd")[:22], "iwarp_mpa.rep@0+20 iwarp_mpa.privatedata@20+4", ProblemLength},
		{"another key", frame("GET / HTTP/1.1\r\n", 0, 1, ""), "iwarp_mpa.req@0+20", ProblemMPA},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s Stack
			problems := ParseMPAStart(&s, tt.frame)
			if diff := cmp.Diff(tt.layout, layout(&s)); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if problems != tt.problems {
				t.Errorf("problems %b, want %b", problems, tt.problems)
			}
		})
	}
}

// readAll reads every field that the stack's headers have.
func readAll(s *Stack) {
	for _, h := range s.Headers() {
		b := s.Bytes(h)
		spec := SpecOf(h.ID)
		for i := range spec.Fields {
			f := &spec.Fields[i]
			switch {
			case !f.Present(b):
			case f.Kind == Uint || f.Kind == Bool:
				_ = f.Uint(b)
				if f.Names != nil {
					_ = f.Names(f.Uint(b))
				}
			default:
				_ = f.Raw(b)
			}
		}
	}
}

func TestEveryPrefixOfAnIWARPFrameParses(t *testing.T) {
	frames := [][]byte{
		fpdu(untagged(RDMAPTerminate, 2, append(append([]byte{1, 0, 0xe0, 0, 0, 46}, untagged(RDMAPReadRequest, 1)...), make([]byte, 28)...)...)),
		fpdu(untagged(RDMAPAtomicRequest, 1, make([]byte, 52)...)),
		fpdu(tagged(RDMAPWrite, 1, 2, 3)),
		append([]byte(MPARequestKey), 0x50, 2, 0, 8, 0x80, 1, 0x40, 2, 1, 2, 3, 4),
		append([]byte(MPAReplyKey), 0x40, 1, 0, 8, 1, 0, 0, 0, 1, 0, 0, 0),
	}
	var s Stack
	for _, frame := range frames {
		for n := range len(frame) + 1 {
			prefix := bytes.Clone(frame[:n])[:n:n]
			ParseFPDU(&s, prefix)
			readAll(&s)
			ParseMPAStart(&s, prefix)
			readAll(&s)
		}
	}
}

func TestIWARPFieldsAgreeWithTheViews(t *testing.T) {
	term := RDMAPTerminateHeader(make([]byte, 6))
	term.SetLayer(TermLayerDDP)
	term.SetType(TermDDPUntagged)
	term.SetCode(2)
	term.SetSegmentLenValid(true)
	term.SetHasDDP(true)
	term.SetReserved(0x1234)
	term.SetSegmentLen(100)
	if got := hex.EncodeToString(term); got != "1202d2340064" {
		t.Errorf("Terminate header %s, want 1202d2340064", got)
	}
	if got := term.CodeName(); got != "Invalid MSN - no buffer available" {
		t.Errorf("code name %q", got)
	}
	if term.Layer() != 1 || term.Type() != 2 || term.Code() != 2 || !term.SegmentLenValid() ||
		!term.HasDDP() || term.HasRDMAP() || term.Reserved() != 0x1234 || term.SegmentLen() != 100 {
		t.Errorf("Terminate header does not read back: %x", []byte(term))
	}

	e := MPAEnhanced(make([]byte, 4))
	e.SetIRD(0xffff)
	e.SetORD(16)
	e.SetPeerToPeer(true)
	e.SetRTRRead(true)
	if got := hex.EncodeToString(e); got != "bfff4010" {
		t.Errorf("enhanced data %s, want bfff4010", got)
	}
	if e.IRD() != 0x3fff || e.ORD() != 16 || !e.PeerToPeer() || e.RTRSend() || e.RTRWrite() || !e.RTRRead() {
		t.Errorf("enhanced data does not read back: %x", []byte(e))
	}

	rr := RDMAPReadRequestHeader(make([]byte, RDMAPReadRequestLen))
	rr.SetSinkSTag(1)
	rr.SetSinkOffset(2)
	rr.SetSize(3)
	rr.SetSourceSTag(4)
	rr.SetSourceOffset(5)
	if got := hex.EncodeToString(rr); got != "00000001000000000000000200000003000000040000000000000005" {
		t.Errorf("Read Request %s", got)
	}
	if rr.SinkSTag() != 1 || rr.SinkOffset() != 2 || rr.Size() != 3 || rr.SourceSTag() != 4 || rr.SourceOffset() != 5 {
		t.Errorf("Read Request does not read back: %x", []byte(rr))
	}
}

func TestAtomicOpIsMasked(t *testing.T) {
	a := RDMAPAtomicRequestHeader(make([]byte, RDMAPAtomicRequestLen))
	a.SetOp(AtomicCmpSwap)
	a.SetReserved(0xabcdef1)
	a.SetRequestID(1)
	a.SetSTag(2)
	a.SetOffset(3)
	a.SetData(4)
	a.SetMask(5)
	a.SetCompareData(6)
	a.SetCompareMask(7)
	want := []uint64{0xabcdef1, 2, 1, 2, 3, 4, 5, 6, 7}
	got := []uint64{
		uint64(a.Reserved()), uint64(a.Op()), uint64(a.RequestID()), uint64(a.STag()),
		a.Offset(), a.Data(), a.Mask(), a.CompareData(), a.CompareMask(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	names := fieldNames(&rdmapAtomicRequestSpec, a)
	if !strings.Contains(names, "swap_data") || !strings.Contains(names, "compare_data") || strings.Contains(names, "add_data") {
		t.Errorf("fields of a CmpSwap with reserved bits: %s", names)
	}
	r := RDMAPAtomicResponseHeader(make([]byte, RDMAPAtomicResponseLen))
	r.SetRequestID(8)
	r.SetValue(9)
	if r.RequestID() != 8 || r.Value() != 9 {
		t.Errorf("response does not read back: %x", []byte(r))
	}
}

// fieldNames lists the fields that h has.
func fieldNames(spec *Spec, h []byte) string {
	var names []string
	for i := range spec.Fields {
		if spec.Fields[i].Present(h) {
			names = append(names, spec.Fields[i].Name)
		}
	}
	return strings.Join(names, " ")
}

func TestLegacyByteOrder(t *testing.T) {
	be := MPALegacy(make([]byte, MPALegacyLen))
	be.SetIRD(32)
	be.SetORD(1)
	le := make(MPALegacy, MPALegacyLen)
	binary.LittleEndian.PutUint32(le, 32)
	binary.LittleEndian.PutUint32(le[4:], 1)
	for name, m := range map[string]MPALegacy{"big": be, "little": le} {
		if m.IRD() != 32 || m.ORD() != 1 || !m.Plausible() {
			t.Errorf("%s-endian: IRD %d ORD %d plausible %t", name, m.IRD(), m.ORD(), m.Plausible())
		}
	}
	if be.LittleEndian() || !le.LittleEndian() {
		t.Error("byte orders are confused")
	}
	if got := fieldNames(&mpaLegacySpec, be); got != "iwarp_mpa.legacy.ird iwarp_mpa.legacy.ord" {
		t.Errorf("fields of the big-endian form: %s", got)
	}
	if got := fieldNames(&mpaLegacySpec, le); got != "iwarp_mpa.broken_le_legacy" {
		t.Errorf("fields of the little-endian form: %s", got)
	}
	for _, other := range []string{"\x00\x00\x00\x00\x00\x00\x00\x00", "cafef00d", "\x00\x00\x40\x00\x00\x00\x00\x01"} {
		if MPALegacy(other).Plausible() {
			t.Errorf("%q is taken for IRD and ORD", other)
		}
	}
}

func TestStartFlagsRoundTrip(t *testing.T) {
	m := MPAStart(make([]byte, MPAStartLen))
	m.SetKey(MPAReplyKey)
	m.SetRevision(2)
	m.SetMarkers(true)
	m.SetEnhanced(true)
	m.SetReserved(0xf5)
	m.SetPrivateLen(300)
	if got := hex.EncodeToString(m[mpaFlags:]); got != "9502012c" {
		t.Errorf("flags, revision, length %s, want 9502012c", got)
	}
	if !m.Markers() || m.CRC() || m.Reject() || !m.Enhanced() || m.Reserved() != 5 || m.PrivateLen() != 300 {
		t.Errorf("does not read back: %x", []byte(m))
	}
	m.SetMarkers(false)
	m.SetCRC(true)
	m.SetReject(true)
	if got := m[mpaFlags]; got != 0x75 {
		t.Errorf("flags 0x%02x, want 0x75", got)
	}
}

func TestFPDUViewWritesTheCRCLowOctetFirst(t *testing.T) {
	b := fpdu(untagged(RDMAPSend, 0, 1))
	FPDU(b).SetCRC(0x01020304)
	if got := hex.EncodeToString(b[len(b)-4:]); got != "04030201" {
		t.Errorf("CRC bytes %s, want 04030201", got)
	}
	if got := FPDU(b).CRC(); got != 0x01020304 {
		t.Errorf("CRC reads back as %08x", got)
	}
	if got := len(FPDU(b).ULPDU()); got != 19 {
		t.Errorf("ULPDU of %d bytes, want 19", got)
	}
}

func TestTerminateCodesHaveNames(t *testing.T) {
	tests := []struct {
		layer, etype, code uint8
		want               string
	}{
		{0, 1, 2, "Access rights violation"},
		{0, 2, 0xff, "Unspecific Error"},
		{0, 2, 10, ""},
		{1, 1, 4, "Invalid DDP version"},
		{1, 2, 5, "DDP Message too long for available buffer"},
		{1, 2, 0, ""},
		{1, 0, 0, ""},
		{2, 0, 2, "MPA CRC Error"},
		{2, 0, 7, "No Matching RTR Option"},
		{2, 0, 8, ""},
		{3, 0, 1, ""},
	}
	for _, tt := range tests {
		h := RDMAPTerminateHeader(make([]byte, 4))
		h.SetLayer(tt.layer)
		h.SetType(tt.etype)
		h.SetCode(tt.code)
		if got := h.CodeName(); got != tt.want {
			t.Errorf("layer %d type %d code %d: %q, want %q", tt.layer, tt.etype, tt.code, got, tt.want)
		}
	}
}

func TestIWARPSpecsStayInsideTheirHeaders(t *testing.T) {
	for id := HdrMPARequest; id <= HdrFPDUCRC; id++ {
		spec := SpecOf(id)
		if spec == nil || spec.ID != id {
			t.Fatalf("header %d has no spec of its own", id)
		}
		for _, f := range spec.Fields {
			if spec.Len > 0 && id != HdrRDMAP && id != HdrRDMAPTerminate && id != HdrRDMAPTermDDP && f.Bit+f.Bits > 8*spec.Len {
				t.Errorf("%s: %s ends behind the header", spec.Name, f.Name)
			}
		}
	}
}

func TestParseFPDUDoesNotAllocate(t *testing.T) {
	b := fpdu(untagged(RDMAPSend, 0, make([]byte, 1000)...))
	var s Stack
	if n := testing.AllocsPerRun(100, func() { ParseFPDU(&s, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFPDU(f *testing.F) {
	f.Add(fpdu(untagged(RDMAPReadRequest, 1, make([]byte, 28)...)))
	f.Add(fpdu(untagged(RDMAPTerminate, 2, 1, 0, 0xe0, 0, 0, 46)))
	f.Add(fpdu(tagged(RDMAPWrite, 1, 2, 3)))
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Stack
		ParseFPDU(&s, b[:len(b):len(b)])
		readAll(&s)
		checkContiguous(t, &s)
	})
}

func FuzzMPAStart(f *testing.F) {
	f.Add(append([]byte(MPARequestKey), 0x50, 2, 0, 8, 0x80, 1, 0x40, 2, 1, 2, 3, 4))
	f.Add(append([]byte(MPAReplyKey), 0x40, 1, 0, 8, 1, 0, 0, 0, 1, 0, 0, 0))
	f.Add([]byte(MPAReplyKey))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Stack
		ParseMPAStart(&s, b[:len(b):len(b)])
		readAll(&s)
		checkContiguous(t, &s)
	})
}

// checkContiguous checks that the headers follow each other without hole or
// overlap; RDMAP's octets alone lie inside the DDP header.
func checkContiguous(t *testing.T, s *Stack) {
	at := 0
	for _, h := range s.Headers() {
		if h.ID == HdrRDMAP {
			continue
		}
		if int(h.Off) != at {
			t.Fatalf("a header begins at %d, the one before it ends at %d: %s", h.Off, at, layout(s))
		}
		at += int(h.Len)
	}
}
