package craft

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// iwarpRecipe is a packet of an iWARP operation.
func iwarpRecipe(t testing.TB, base, name string) *Recipe {
	t.Helper()
	op, err := ParseOperation("iwarp " + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := op.In(base)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unitOf parses what is in the TCP segment of a built packet.
func unitOf(t testing.TB, f *wire.Frame) (*wire.Stack, wire.Problem) {
	t.Helper()
	var s wire.Stack
	if problems := wire.ParseMPAStart(&s, f.PayloadBytes()); problems == 0 {
		return &s, 0
	}
	problems := wire.ParseFPDU(&s, f.PayloadBytes())
	return &s, problems
}

// iwarpOps are the operations, and what a parser finds in the segment.
var iwarpOps = []struct {
	name    string
	opcode  wire.RDMAPOpcode
	qn      uint32
	headers []wire.HeaderID // behind FPDU, DDP and RDMAP
	payload bool
}{
	{"write", wire.RDMAPWrite, 0, nil, true},
	{"RDMA Read Request", wire.RDMAPReadRequest, 1, []wire.HeaderID{wire.HdrRDMAPReadRequest}, false},
	{"read-response", wire.RDMAPReadResponse, 0, nil, true},
	{"send", wire.RDMAPSend, 0, nil, true},
	{"send-invalidate", wire.RDMAPSendInvalidate, 0, nil, true},
	{"send-se", wire.RDMAPSendSE, 0, nil, true},
	{"Send with SE and Invalidate", wire.RDMAPSendSEInvalidate, 0, nil, true},
	{"terminate", wire.RDMAPTerminate, 2, []wire.HeaderID{wire.HdrRDMAPTerminate}, false},
	{"immediate", wire.RDMAPImmediate, 0, []wire.HeaderID{wire.HdrRDMAPImmediate}, false},
	{"9", wire.RDMAPImmediateSE, 0, []wire.HeaderID{wire.HdrRDMAPImmediate}, false},
	{"atomic-request", wire.RDMAPAtomicRequest, 1, []wire.HeaderID{wire.HdrRDMAPAtomicRequest}, false},
	{"cmp-swap", wire.RDMAPAtomicRequest, 1, []wire.HeaderID{wire.HdrRDMAPAtomicRequest}, false},
	{"atomic-response", wire.RDMAPAtomicResponse, 3, []wire.HeaderID{wire.HdrRDMAPAtomicResponse}, false},
}

func TestEveryIWARPOperationIsReadBackWithoutAProblem(t *testing.T) {
	for _, base := range iwarpBases {
		for _, op := range iwarpOps {
			for n := range 6 {
				if n > 0 && !op.payload {
					break
				}
				r := iwarpRecipe(t, base.Name, op.name)
				r.Wrap(1, Layer{ID: wire.HdrVLAN})
				r.Payload = bytes.Repeat([]byte{0xA5}, n)
				img, f := built(t, r)
				s, problems := unitOf(t, f)
				ddp := wire.HdrDDPUntagged
				if op.opcode.Tagged() {
					ddp = wire.HdrDDPTagged
				}
				want := append([]wire.HeaderID{wire.HdrFPDU, ddp, wire.HdrRDMAP}, op.headers...)
				if got := unitHeaders(s); !cmp.Equal(got, want) || problems != 0 || f.Problems != 0 {
					t.Errorf("%s %s: headers %v, problems %v and %v", base.Name, op.name, got, problems, f.Problems)
				}
				if got := wire.RDMAP(s.View(wire.HdrRDMAP)).Opcode(); got != op.opcode {
					t.Errorf("%s: opcode %v", op.name, got)
				}
				if h := wire.DDPUntagged(s.View(wire.HdrDDPUntagged)); h != nil && (h.QN() != op.qn || h.MSN() != 1) {
					t.Errorf("%s: QN %d MSN %d", op.name, h.QN(), h.MSN())
				}
				if got := s.View(wire.HdrFPDUPayload); !bytes.Equal(got, r.Payload) {
					t.Errorf("%s: payload %x", op.name, got)
				}
				fpdu := f.PayloadBytes()
				if crc := len(fpdu) - wire.FPDUCRCLen; len(fpdu)%4 != 0 || icrc.Load(fpdu[crc:]) != icrc.CRC32C(fpdu[:crc]) {
					t.Errorf("%s: FPDU %x", op.name, fpdu)
				}
				wantTCPChecksum(t, f)
				if img.CRC != f.End-wire.FPDUCRCLen {
					t.Errorf("%s: CRC at %d of %d", op.name, img.CRC, f.End)
				}
			}
		}
	}
}

func unitHeaders(s *wire.Stack) (ids []wire.HeaderID) {
	for _, h := range s.Headers() {
		if !isPart(h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

func wantTCPChecksum(t *testing.T, f *wire.Frame) {
	t.Helper()
	src, dst := f.Addresses()
	if tcp := f.Data[f.L4:f.End]; wire.TCPChecksum(src.AsSlice(), dst.AsSlice(), tcp) != wire.TCP(tcp).Checksum() {
		t.Errorf("TCP checksum 0x%04x", wire.TCP(tcp).Checksum())
	}
}

func TestEveryFieldOfIWARPCanBeSetAloneAndTheCRCFollows(t *testing.T) {
	names := []string{"mpa-request", "mpa-reply"}
	for _, op := range iwarpOps {
		names = append(names, op.name)
	}
	fields := 0
	for _, name := range names {
		r := iwarpRecipe(t, "iwarp", name)
		plain, _ := built(t, r)
		for i := r.last(wire.HdrTCP) + 1; i < len(r.Layers); i++ {
			spec := wire.SpecOf(r.Layers[i].ID)
			h := plain.Data[plain.Layers[i].Off:][:plain.Layers[i].Len]
			for j := range spec.Fields {
				f := &spec.Fields[j]
				// Opcodes decide defaults; RDMAP has the octets that DDP reserves for it.
				if f.Bits == 0 || !f.Present(h) || !CanCount(f) && f.Kind == wire.Uint || f.Name == "iwarp_ddp.rsvdulp" {
					continue
				}
				fields++
				r := iwarpRecipe(t, "iwarp", name)
				r.Layers[i].Put(otherValue(f, h))
				img, _ := built(t, r)
				want := bytes.Clone(plain.Data)
				for bit := f.Bit; bit < f.Bit+f.Bits; bit++ {
					want[plain.Layers[i].Off+bit/8] ^= 0x80 >> (bit % 8)
				}
				tcp := plain.Layers[r.last(wire.HdrTCP)]
				copy(want[tcp.Off+16:], img.Data[tcp.Off+16:][:2]) // its checksum follows
				if img.CRC >= 0 {
					icrc.Store(want[img.CRC:], icrc.CRC32C(want[tcp.Off+tcp.Len:img.CRC]))
				}
				if !bytes.Equal(img.Data, want) {
					t.Errorf("%s, %s:\ngot  %x\nwant %x", name, f.Name, img.Data, want)
				}
			}
		}
	}
	if fields < 150 {
		t.Errorf("%d fields set", fields)
	}
}

func TestTheCRCOfAnFPDUIsMadeAsAsked(t *testing.T) {
	plain, _ := built(t, iwarpRecipe(t, "iwarp", "send"))
	right := plain.Data[plain.CRC:]
	for how, want := range map[string]string{
		"auto":       fmt.Sprintf("%x", right),
		"wrong":      fmt.Sprintf("%02x%02x%02x%02x", ^right[0], ^right[1], ^right[2], ^right[3]),
		"swapped":    fmt.Sprintf("%02x%02x%02x%02x", right[3], right[2], right[1], right[0]),
		"flip:9":     fmt.Sprintf("%02x%02x%02x%02x", right[0], right[1]^2, right[2], right[3]),
		"0x01020304": "01020304",
		"none":       "",
	} {
		r := iwarpRecipe(t, "iwarp", "send")
		var err error
		if r.CRC, err = ParseCRC(how); err != nil {
			t.Fatal(err)
		}
		img, f := built(t, r)
		if got := fmt.Sprintf("%x", img.Data[plain.CRC:]); got != want || f.Problems != 0 {
			t.Errorf("%s: %s, want %s; %v", how, got, want, f.Problems)
		}
		wantTCPChecksum(t, f)
	}
}

func TestPadAndLengthOfAnFPDUAreAsAsked(t *testing.T) {
	r := iwarpRecipe(t, "iwarp", "write")
	r.Payload, r.Pad = []byte("ab"), 5
	_, f := built(t, put(t, r, "iwarp_mpa.ulpdulength=99"))
	fpdu := f.PayloadBytes()
	if n := wire.FPDULengthLen + wire.DDPTaggedLen + 2 + 5 + wire.FPDUCRCLen; len(fpdu) != n || wire.FPDU(fpdu).ULPDULen() != 99 {
		t.Errorf("%d bytes, want %d; length %d", len(fpdu), n, wire.FPDU(fpdu).ULPDULen())
	}
}

func TestAStartUpFrameSaysItsLengthAndRevision(t *testing.T) {
	r := iwarpRecipe(t, "iwarp-ipv6", "mpa-reply")
	r.Layers = append(r.Layers, Layer{ID: wire.HdrMPAEnhanced})
	r.Payload = []byte("hello")
	_, f := built(t, put(t, r, "iwarp_mpa.enhanced.ird=3"))
	s, problems := unitOf(t, f)
	m := wire.MPAStart(s.View(wire.HdrMPAReply))
	if problems != 0 || m == nil || m.Revision() != 2 || !m.Enhanced() || m.PrivateLen() != wire.MPAEnhancedLen+5 || wire.MPAEnhanced(s.View(wire.HdrMPAEnhanced)).IRD() != 3 {
		t.Errorf("%v, %x", problems, f.PayloadBytes())
	}
}

func TestATerminateAnnouncesWhatItQuotes(t *testing.T) {
	r := iwarpRecipe(t, "iwarp", "terminate")
	r.Layers = append(r.Layers, Layer{ID: wire.HdrRDMAPTermDDP}, Layer{ID: wire.HdrRDMAPTermRead})
	_, f := built(t, r)
	s, problems := unitOf(t, f)
	want := []wire.HeaderID{wire.HdrFPDU, wire.HdrDDPUntagged, wire.HdrRDMAP, wire.HdrRDMAPTerminate, wire.HdrRDMAPTermDDP, wire.HdrRDMAPTermRead}
	if diff := cmp.Diff(want, unitHeaders(s)); diff != "" || problems != 0 {
		t.Errorf("%v, %s", problems, diff)
	}
	if n := wire.RDMAPTerminateHeader(s.View(wire.HdrRDMAPTerminate)).SegmentLen(); n != wire.DDPUntaggedLen+wire.RDMAPReadRequestLen {
		t.Errorf("segment length %d", n)
	}
}

func TestOpcodesFollowFromTheHeaders(t *testing.T) {
	for _, op := range iwarpOps {
		r := iwarpRecipe(t, "iwarp", op.name)
		want := op.opcode
		switch { // those that no header tells
		case want == wire.RDMAPReadResponse:
			want = wire.RDMAPWrite
		case want == wire.RDMAPImmediateSE:
			want = wire.RDMAPImmediate
		case op.headers == nil && !want.Tagged():
			want = wire.RDMAPSend
		}
		r.Layers[r.last(wire.HdrRDMAP)].Set = nil
		_, f := built(t, r)
		s, problems := unitOf(t, f)
		if got := wire.RDMAP(s.View(wire.HdrRDMAP)).Opcode(); got != want || problems != 0 {
			t.Errorf("%s: %v, %v", op.name, got, problems)
		}
	}
}

func TestRDMAPHasNoLengthOfItsOwn(t *testing.T) {
	r := iwarpRecipe(t, "iwarp", "send")
	r.Layers[r.last(wire.HdrRDMAP)].Tail = []byte{1}
	wantFieldError(t, r, "iwarp_rdma")
}

func TestAnIWARPOperationNeedsABaseOfItsOwn(t *testing.T) {
	for text, base := range map[string]string{"iwarp send": "rocev2", "rc send-only": "iwarp", "cnp": "nothing"} {
		op, err := ParseOperation(text)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := op.In(base); err == nil {
			t.Errorf("%s in %s: %v", text, base, layerIDs(r))
		}
	}
	if _, err := ParseOperation("iwarp bye"); err == nil {
		t.Error("iwarp bye is an operation")
	}
}

// eachUnit calls do with a packet of every operation, and of some that are odd.
func eachUnit(t testing.TB, do func(name string, r *Recipe)) {
	for _, op := range append(iwarpOps[:len(iwarpOps):len(iwarpOps)], iwarpOps[0], iwarpOps[3]) {
		r := iwarpRecipe(t, "iwarp", op.name)
		if op.payload {
			r.Payload = []byte("hello")
		}
		do(op.name, r)
	}
	for _, how := range []string{"wrong", "0", "flip:3"} {
		r := iwarpRecipe(t, "iwarp-ipv6", "send-invalidate")
		r.CRC, _ = ParseCRC(how)
		do("crc "+how, put(t, r, "iwarp_rdma.inval_stag=0x1234", "iwarp_ddp.msn=7", "tcp.seq_raw=9"))
	}
	start := iwarpRecipe(t, "iwarp", "mpa-request")
	start.Layers = append(start.Layers, Layer{ID: wire.HdrMPAEnhanced})
	start.Payload = []byte("private")
	do("mpa-request", put(t, start, "iwarp_mpa.marker_flag=1", "iwarp_mpa.enhanced.ord=5"))
	do("undefined", iwarpRecipe(t, "iwarp", "14"))
	do("reserved", put(t, iwarpRecipe(t, "iwarp", "send"), "iwarp_rdma.reserved=01020304", "iwarp_ddp.rsvd=3"))
	quoting := iwarpRecipe(t, "iwarp", "terminate")
	quoting.Layers = append(quoting.Layers, Layer{ID: wire.HdrRDMAPTermDDP})
	do("quoting", quoting)
}

func TestAUnitIsDescribedHeaderByHeader(t *testing.T) {
	eachUnit(t, func(name string, r *Recipe) {
		img, f := built(t, r)
		again, err := Describe(f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(layerIDs(r), layerIDs(again)); diff != "" || !bytes.Equal(again.Payload, r.Payload) || len(again.Raw)+len(again.Edits) > 0 || again.CRC.Mode == CRCAuto != (r.CRC.Mode == CRCAuto) {
			t.Errorf("%s: %+v\n%s", name, again, diff)
		}
		if back, _ := built(t, again); !bytes.Equal(back.Data, img.Data) {
			t.Errorf("%s: built\n%x\nwas\n%x", name, back.Data, img.Data)
		}
	})
}

func TestWhatIsNotOneUnitStaysPayload(t *testing.T) {
	whole := func(r *Recipe) []byte { _, f := built(t, r); return f.PayloadBytes() }
	send := whole(iwarpRecipe(t, "iwarp", "send"))
	for name, payload := range map[string][]byte{
		"two units":  append(bytes.Clone(send), send...),
		"half":       send[:len(send)/2],
		"more":       append(bytes.Clone(send), 1),
		"text":       []byte("GET / HTTP/1.1\r\n\r\n"),
		"wrong CRC":  append([]byte{send[0], send[1], send[2] | 8}, send[3:]...),
		"no version": append([]byte{send[0], send[1], 0x40}, send[3:]...),
	} {
		r := stack(wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrTCP})
		r.Payload = payload
		img, f := built(t, &r)
		again, err := Describe(f)
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(layerIDs(&r), layerIDs(again)) || !bytes.Equal(again.Payload, payload) {
			t.Errorf("%s: %v", name, layerIDs(again))
		}
		if back, _ := built(t, again); !bytes.Equal(back.Data, img.Data) {
			t.Errorf("%s: %x", name, back.Data)
		}
	}
}

func TestACutUnitIsBuiltAgain(t *testing.T) {
	eachUnit(t, func(name string, r *Recipe) {
		img, f := built(t, r)
		for n := 1; n < len(img.Data); n++ {
			f.Parse(r.Link, img.Data[:n], img.WireLen)
			again, err := Describe(f)
			if err != nil {
				t.Fatal(err)
			}
			if back, _, err := build(again); err != nil || !bytes.Equal(back.Data, img.Data[:n]) || back.WireLen != img.WireLen {
				t.Fatalf("%s, %d bytes: %v, %x", name, n, err, back.Data)
			}
		}
	})
}

func TestAProgramOfIWARPMakesWhatBuildMakes(t *testing.T) {
	for _, op := range iwarpOps {
		r := iwarpRecipe(t, "iwarp", op.name)
		var counters []Counter
		for _, name := range []string{"tcp.seq_raw", "iwarp_ddp.msn", "iwarp_ddp.stag", "iwarp_rdma.inval_stag"} {
			if i, f := r.Find(name); f != nil && (f.Bit+f.Bits)/8 <= wire.SpecOf(r.Layers[i].ID).Len {
				counters = append(counters, Counter{Layer: i, Field: f, Start: 3, Step: 1000})
			}
		}
		p, err := Compile(r, counters)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, p.Size())
		for n := range uint64(3) {
			if err := p.Next(got); err != nil {
				t.Fatal(err)
			}
			r.Count(counters, n)
			if img, _ := built(t, r); !bytes.Equal(img.Data, got) {
				t.Errorf("%s, packet %d:\n%x, not\n%x", op.name, n, got, img.Data)
			}
		}
	}
}

func TestOpcodesOfIWARPCannotCount(t *testing.T) {
	for name, want := range map[string]bool{"tcp.seq_raw": true, "iwarp_rdma.opcode": false, "iwarp_rdma.atomic.opcode": false, "iwarp_ddp.rsvdulp": false} {
		if _, f := iwarpRecipe(t, "iwarp", "swap").Find(name); CanCount(f) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// The ICRC, or the CRC of an FPDU, covers what checksums are in the payload.
func TestChecksumsInThePayloadComeBeforeTheCRC(t *testing.T) {
	r := recipe(t, "rocev2", "ud send-only")
	r.Layers = append(r.Layers, Layer{ID: wire.HdrIPoIB}, Layer{ID: wire.HdrIPv4}, Layer{ID: wire.HdrUDP})
	r.Payload = []byte("data")
	_, f := built(t, r)
	if v := verdict(f); v != icrc.Good {
		t.Errorf("the ICRC is %v", v)
	}
}
