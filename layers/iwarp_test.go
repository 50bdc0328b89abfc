package layers

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// writeAlone serialises layers and returns the bytes.
func writeAlone(t testing.TB, opts gopacket.SerializeOptions, all ...gopacket.SerializableLayer) []byte {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, opts, all...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(buf.Bytes())
}

// again decodes data and serialises what was found.
func again(t testing.TB, data []byte, first gopacket.Decoder) (gopacket.Packet, []byte) {
	t.Helper()
	packet := gopacket.NewPacket(data, first, gopacket.Default)
	if fail := packet.ErrorLayer(); fail != nil {
		t.Fatalf("%x: %v", data, fail.Error())
	}
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializePacket(buf, gopacket.SerializeOptions{}, packet); err != nil {
		t.Fatal(err)
	}
	return packet, bytes.Clone(buf.Bytes())
}

func TestEveryCapturedMPAFrameAndFPDUIsWrittenBackAsItWasRead(t *testing.T) {
	seen := map[gopacket.LayerType]int{}
	for _, f := range captured(t) {
		w := f.parse()
		if w.Proto != wire.ProtoTCP || w.Cut() || w.PayloadLen == 0 || f.file == "mk.pcap" {
			continue
		}
		data := w.Data[w.Payload : w.Payload+w.PayloadLen]
		first := LayerTypeFPDU
		switch {
		case bytes.HasPrefix(data, []byte(wire.MPARequestKey)):
			first = LayerTypeMPARequest
		case bytes.HasPrefix(data, []byte(wire.MPAReplyKey)):
			first = LayerTypeMPAReply
		}
		if first == LayerTypeFPDU {
			data = wholeFPDU(data)
		} else if n := wire.MPAStartLen + wire.MPAStart(data).PrivateLen(); n <= len(data) {
			data = data[:n]
		}
		if len(data) == 0 {
			continue
		}
		packet, got := again(t, data, first)
		if wire.MPAStart(data).Reserved() != 0 && first != LayerTypeFPDU {
			continue
		}
		if !bytes.Equal(got, data) {
			t.Fatalf("%s %d:\nread  %x\nwrote %x", f.file, f.number, data, got)
		}
		for _, l := range packet.Layers() {
			seen[l.LayerType()]++
		}
	}
	t.Log(seen)
	for _, typ := range []gopacket.LayerType{
		LayerTypeMPARequest, LayerTypeMPAReply, LayerTypeFPDU, LayerTypeDDPTagged, LayerTypeDDPUntagged, LayerTypeReadRequest,
	} {
		if seen[typ] == 0 {
			t.Errorf("no capture has a %v", typ)
		}
	}
}

// wholeFPDU returns the FPDU that begins data, nil where a segment of the TCP
// stream begins in the middle of one. A right CRC tells, or versions and a
// length that fit: CRCs may be off.
func wholeFPDU(data []byte) []byte {
	var h FPDU
	if h.DecodeFromBytes(data, gopacket.NilDecodeFeedback) != nil || !h.HasCRC || h.ULPDULen < wire.DDPTaggedLen {
		return nil
	}
	crc, _ := h.CRC32C()
	versions := h.Payload[0]&3 == wire.DDPVersion && h.Payload[1]>>6 == wire.RDMAPVersion
	if crc != h.CRC && !(versions && h.Len() == len(data)) {
		return nil
	}
	return data[:h.Len()]
}

func TestAnFPDUCountsItsLengthAndComputesItsCRC(t *testing.T) {
	for n := range 6 {
		data := writeAlone(t, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
			&FPDU{}, &DDPTagged{DDPControl: DDPControl{Last: true, DDPVersion: 1, RDMAPVersion: 1, Opcode: RDMAPWrite}, STag: 7, Offset: 8},
			gopacket.Payload(make([]byte, n)))
		if len(data)%4 != 0 {
			t.Errorf("%d bytes: FPDU of %d bytes", n, len(data))
		}
		packet, _ := again(t, data, LayerTypeFPDU)
		h := packet.Layer(LayerTypeFPDU).(*FPDU)
		if crc, ok := h.CRC32C(); !ok || crc != h.CRC || int(h.ULPDULen) != wire.DDPTaggedLen+n || h.Len() != len(data) {
			t.Errorf("%d bytes: %+v, CRC computed 0x%08x", n, h, crc)
		}
		if ddp := packet.Layer(LayerTypeDDPTagged).(*DDPTagged); !ddp.Last || ddp.Opcode != RDMAPWrite || ddp.STag != 7 {
			t.Errorf("%d bytes: %+v", n, ddp)
		}
	}
}

func TestACutFPDUHasNoCRC(t *testing.T) {
	data := writeAlone(t, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		&FPDU{}, &DDPTagged{STag: 7}, gopacket.Payload("hello"))
	packet := gopacket.NewPacket(data[:len(data)-1], LayerTypeFPDU, gopacket.Default)
	h := packet.Layer(LayerTypeFPDU).(*FPDU)
	if _, ok := h.CRC32C(); ok || h.HasCRC || !packet.Metadata().Truncated {
		t.Errorf("cut FPDU: %+v, truncated %t", h, packet.Metadata().Truncated)
	}
	for _, n := range []int{len(data), len(data) - 1} { // the same layer again
		if err := h.DecodeFromBytes(data[:n], gopacket.NilDecodeFeedback); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := h.CRC32C(); ok || h.HasCRC {
		t.Errorf("the CRC of the FPDU before is left in %+v", h)
	}
}

func TestAnFPDUMayFollowAReplyAtOnce(t *testing.T) {
	data := writeAlone(t, gopacket.SerializeOptions{},
		&MPAReply{MPAStart{Revision: 1}}, &FPDU{ULPDULen: 14}, &DDPTagged{STag: 7})
	packet, got := again(t, data, LayerTypeMPAReply)
	if ddp, ok := packet.Layer(LayerTypeDDPTagged).(*DDPTagged); !ok || ddp.STag != 7 || !bytes.Equal(got, data) {
		t.Errorf("decoded as\n%v", packet)
	}
}

func TestEveryRDMAPOpcodeLeadsToItsLayer(t *testing.T) {
	for op, want := range map[RDMAPOpcode]gopacket.LayerType{
		RDMAPReadRequest: LayerTypeReadRequest, RDMAPTerminate: LayerTypeTerminate,
		RDMAPImmediate: LayerTypeImmediate, RDMAPImmediateSE: LayerTypeImmediate,
		RDMAPAtomicRequest: LayerTypeAtomicRequest, RDMAPAtomicResponse: LayerTypeAtomicResponse,
		RDMAPSend: gopacket.LayerTypePayload, RDMAPSendInvalidate: gopacket.LayerTypePayload,
	} {
		data := writeAlone(t, gopacket.SerializeOptions{FixLengths: true},
			&FPDU{}, &DDPUntagged{DDPControl: DDPControl{Opcode: op}, QN: op.QN(), MSN: 1}, gopacket.Payload(make([]byte, 64)))
		packet, got := again(t, data, LayerTypeFPDU)
		if packet.Layer(want) == nil {
			t.Errorf("%v: no %v in\n%v", op, want, packet)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%v:\nread  %x\nwrote %x", op, data, got)
		}
	}
}

func TestATerminateTellsTheErrorInWords(t *testing.T) {
	want := &Terminate{Layer: TermLayerLLP, Code: 2, SegmentLenValid: true, SegmentLen: 40}
	packet, _ := again(t, writeAlone(t, gopacket.SerializeOptions{}, want), LayerTypeTerminate)
	got := packet.Layer(LayerTypeTerminate).(*Terminate)
	if got.CodeName() != "MPA CRC Error" || got.SegmentLen != 40 {
		t.Errorf("%+v: %s", got, got.CodeName())
	}
}

func TestEnhancedMPASetUpIsReadAndWritten(t *testing.T) {
	want := &MPARequest{MPAStart{
		CRC: true, Revision: 2, PrivateData: []byte("hi"),
		Enhanced: &MPAEnhanced{PeerToPeer: true, RTRRead: true, IRD: 16, ORD: MPANotNegotiated},
	}}
	data := writeAlone(t, gopacket.SerializeOptions{FixLengths: true}, want)
	packet, _ := again(t, data, LayerTypeMPARequest)
	got := packet.Layer(LayerTypeMPARequest).(*MPARequest)
	if got.PrivateLen != 6 || got.Enhanced == nil || *got.Enhanced != *want.Enhanced || string(got.PrivateData) != "hi" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if gopacket.NewPacket(data, LayerTypeMPAReply, gopacket.Default).ErrorLayer() == nil {
		t.Error("a request decodes as a reply")
	}
}
