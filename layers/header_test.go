package layers

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// single is a layer that holds one header.
type single struct {
	layer decodingLayer
	id    wire.HeaderID
	// fix makes random bytes into a header of this kind.
	fix func(h []byte)
}

func singles() []single {
	pfc := func(h []byte) { wire.PFC(h).SetOpcode(MACControlPFC) }
	pause := func(h []byte) { wire.MACControl(h).SetOpcode(MACControlPause) }
	lrh := func(h []byte) { wire.LRH(h).SetPktLen(2) }
	erf := func(h []byte) {
		wire.ERF(h).SetHasExtension(false)
		wire.ERF(h).SetType(ERFTypeInfiniBand)
	}
	request := func(h []byte) {
		v := wire.MPAStart(h)
		v.SetKey(wire.MPARequestKey)
		v.SetRevision(1)
		v.SetPrivateLen(0)
	}
	return []single{
		{new(LRH), wire.HdrLRH, lrh},
		{new(RWH), wire.HdrRWH, nil},
		{new(GRH), wire.HdrGRH, nil},
		{new(BTH), wire.HdrBTH, nil},
		{new(RDETH), wire.HdrRDETH, nil},
		{new(DETH), wire.HdrDETH, nil},
		{new(XRCETH), wire.HdrXRCETH, nil},
		{new(RETH), wire.HdrRETH, nil},
		{new(AtomicETH), wire.HdrAtomicETH, nil},
		{new(AETH), wire.HdrAETH, nil},
		{new(AtomicAckETH), wire.HdrAtomicAckETH, nil},
		{new(ImmDt), wire.HdrImmDt, nil},
		{new(IETH), wire.HdrIETH, nil},
		{new(FETH), wire.HdrFETH, nil},
		{new(CNP), wire.HdrCNP, nil},
		{new(FlowControl), wire.HdrFlowControl, nil},
		{new(ICRC), wire.HdrICRC, nil},
		{new(MAD), wire.HdrMAD, nil},
		{new(RMPP), wire.HdrRMPP, nil},
		{new(SMP), wire.HdrSMPDirected, nil},
		{new(SA), wire.HdrSA, nil},
		{new(CC), wire.HdrCC, nil},
		{new(CMReq), wire.HdrCMReq, nil},
		{new(CMMra), wire.HdrCMMra, nil},
		{new(CMRej), wire.HdrCMRej, func(h []byte) { wire.CMRej(h).SetInfoLength(72) }},
		{new(CMRep), wire.HdrCMRep, nil},
		{new(CMRtu), wire.HdrCMRtu, nil},
		{new(CMDreq), wire.HdrCMDreq, nil},
		{new(CMDrep), wire.HdrCMDrep, nil},
		{new(CMSidrReq), wire.HdrCMSidrReq, nil},
		{new(CMSidrRep), wire.HdrCMSidrRep, nil},
		{new(CMLap), wire.HdrCMLap, nil},
		{new(CMApr), wire.HdrCMApr, nil},
		{new(MPARequest), wire.HdrMPARequest, request},
		{new(DDPTagged), wire.HdrDDPTagged, func(h []byte) { wire.DDP(h).SetTagged(true) }},
		{new(DDPUntagged), wire.HdrDDPUntagged, func(h []byte) { wire.DDP(h).SetTagged(false); wire.RDMAP(h[1:]).SetReserved(0) }},
		{new(ReadRequest), wire.HdrRDMAPReadRequest, nil},
		{new(Immediate), wire.HdrRDMAPImmediate, nil},
		{new(AtomicRequest), wire.HdrRDMAPAtomicRequest, nil},
		{new(AtomicResponse), wire.HdrRDMAPAtomicResponse, nil},
		{new(Terminate), wire.HdrRDMAPTerminate, func(h []byte) {
			wire.RDMAPTerminateHeader(h).SetSegmentLenValid(false)
			wire.RDMAPTerminateHeader(h).SetHasDDP(false)
		}},
		{new(MACControl), wire.HdrPFC, pfc},
		{new(MACControl), wire.HdrMACControl, pause},
		{new(ERF), wire.HdrERF, erf},
	}
}

// reserved holds for fields that a layer need not keep: reserved bits, what has
// them among its bits, and what follows the fixed part.
func reserved(f *wire.Field) bool {
	if f.Name == "erf.flags" {
		return true
	}
	name := strings.ToLower(f.Title)
	for _, word := range []string{"reserved", "private data", "sap supported"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func TestEveryFieldOfEveryHeaderIsReadAndWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	buf := gopacket.NewSerializeBuffer()
	for _, s := range singles() {
		spec := wire.SpecOf(s.id)
		for range 100 {
			h := make([]byte, spec.Len)
			for i := range h {
				h[i] = byte(random.Uint32())
			}
			if s.fix != nil {
				s.fix(h)
			}
			if err := s.layer.DecodeFromBytes(h, gopacket.NilDecodeFeedback); err != nil {
				t.Fatalf("%s: %v", spec.Title, err)
			}
			if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, s.layer); err != nil {
				t.Fatalf("%s: %v", spec.Title, err)
			}
			got := buf.Bytes()
			if len(got) < len(h) {
				t.Fatalf("%s: wrote %d bytes, want %d", spec.Title, len(got), len(h))
			}
			for i := range spec.Fields {
				f := &spec.Fields[i]
				if reserved(f) || !f.Present(h) {
					continue
				}
				same := f.Present(got) && bytes.Equal(f.Raw(h), f.Raw(got[:spec.Len]))
				if f.Kind == wire.Uint || f.Kind == wire.Bool {
					same = f.Present(got) && f.Uint(h) == f.Uint(got)
				}
				if !same {
					t.Fatalf("%s, %s:\nread  %x\nwrote %x", spec.Title, f.Name, h, got)
				}
			}
		}
	}
}

func TestEveryHeaderRefusesEveryPrefix(t *testing.T) {
	for _, s := range singles() {
		spec := wire.SpecOf(s.id)
		h := make([]byte, spec.Len)
		if s.fix != nil {
			s.fix(h)
		}
		for n := range h {
			truncated := new(feedback)
			err := s.layer.DecodeFromBytes(h[:n:n], truncated)
			if err == nil {
				t.Errorf("%s decodes from %d of %d bytes", spec.Title, n, len(h))
			}
			if !truncated.set {
				t.Errorf("%s: %d of %d bytes are not reported as truncated", spec.Title, n, len(h))
			}
		}
	}
}

// feedback notes whether a decoder reported truncation.
type feedback struct{ set bool }

func (f *feedback) SetTruncated() { f.set = true }

func TestEveryHeaderNamesItsOwnType(t *testing.T) {
	for _, s := range singles() {
		if !s.layer.CanDecode().Contains(s.layer.LayerType()) {
			t.Errorf("%T cannot decode %v", s.layer, s.layer.LayerType())
		}
	}
}
