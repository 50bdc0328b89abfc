package layers

import (
	"errors"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// stack is a DecodingLayerParser for everything RoCE travels in.
type stack struct {
	eth    layers.Ethernet
	vlan   layers.Dot1Q
	ip4    layers.IPv4
	ip6    layers.IPv6
	ip6ext layers.IPv6ExtensionSkipper
	udp    layers.UDP
	grh    GRH
	lrh    LRH
	erf    ERF
	mad    MAD
	roce   RoCE
	data   gopacket.Payload

	parser *gopacket.DecodingLayerParser
	found  []gopacket.LayerType
}

func newStack(first gopacket.LayerType) *stack {
	s := new(stack)
	s.parser = gopacket.NewDecodingLayerParser(first)
	s.parser.SetDecodingLayerContainer(gopacket.DecodingLayerSparse(nil))
	for _, d := range []gopacket.DecodingLayer{
		&s.eth, &s.vlan, &s.ip4, &s.ip6, &s.ip6ext, &s.udp, &s.grh, &s.lrh, &s.erf, &s.mad, &s.roce, &s.data,
	} {
		s.parser.AddDecodingLayer(d)
	}
	s.parser.IgnoreUnsupported = true
	return s
}

func (s *stack) decode(frame []byte) error { return s.parser.DecodeLayers(frame, &s.found) }

// write builds a RoCEv2 frame over IPv4 around the given layers.
func write(t testing.TB, dstPort layers.UDPPort, inner ...gopacket.SerializableLayer) []byte {
	t.Helper()
	eth := &layers.Ethernet{
		SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4,
	}
	ip := &layers.IPv4{
		Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{192, 0, 2, 1}, DstIP: []byte{192, 0, 2, 2},
	}
	udp := &layers.UDP{SrcPort: UDPPortRoCE, DstPort: dstPort}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	all := append([]gopacket.SerializableLayer{eth, ip, udp}, inner...)
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestRoCEFindsTheSameLayersAsNewPacket(t *testing.T) {
	first := map[string]gopacket.LayerType{"Ethernet": layers.LayerTypeEthernet, "InfiniBand": LayerTypeLRH, "ERF": LayerTypeERF}
	stacks := map[string]*stack{}
	for name, typ := range first {
		stacks[name] = newStack(typ)
	}
	compared := 0
	for _, f := range captured(t) {
		w := f.parse()
		link, ok := f.decoder().(layers.LinkType)
		if !ok || w.BTH < 0 || beyond(w) {
			continue
		}
		packet := gopacket.NewPacket(f.data, f.decoder(), gopacket.Default)
		bth, ok := packet.Layer(LayerTypeBTH).(*BTH)
		if !ok || packet.Layer(layers.LayerTypeVXLAN) != nil || packet.Layer(layers.LayerTypeMPLS) != nil {
			continue // the parser of this test has no such tunnels
		}
		s := stacks[link.String()]
		if err := s.decode(f.data); err != nil {
			if wellFormed(w) {
				t.Errorf("%s %d: %v", f.file, f.number, err)
			}
			continue
		}
		compared++
		if s.roce.BTH.PSN != bth.PSN || s.roce.BTH.DestQP != bth.DestQP {
			t.Errorf("%s %d: PSN %d and QP %d, want %d and %d", f.file, f.number, s.roce.BTH.PSN, s.roce.BTH.DestQP, bth.PSN, bth.DestQP)
		}
		for _, typ := range []gopacket.LayerType{
			LayerTypeBTH, LayerTypeRDETH, LayerTypeDETH, LayerTypeXRCETH, LayerTypeRETH, LayerTypeAtomicETH, LayerTypeAETH,
			LayerTypeAtomicAckETH, LayerTypeImmDt, LayerTypeIETH, LayerTypeFETH, LayerTypeCNP, LayerTypePad, LayerTypeICRC,
		} {
			if got, want := s.roce.Has(typ), packet.Layer(typ) != nil; got != want {
				t.Errorf("%s %d: Has(%v) = %t, want %t", f.file, f.number, typ, got, want)
			}
		}
	}
	if t.Log(compared, "frames compared"); compared == 0 {
		t.Error("no frame was compared")
	}
}

func TestRoCEAllocatesNothing(t *testing.T) {
	s := newStack(layers.LayerTypeEthernet)
	frame := write(t, UDPPortRoCE,
		&BTH{Opcode: RCWriteOnlyImmediate, PKey: 0xFFFF, DestQP: 0x12, PSN: 7},
		&RETH{VA: 0x1000, RKey: 0x55, DMALen: 5}, &ImmDt{Data: 9}, gopacket.Payload("hello"), &ICRC{})
	if err := s.decode(frame); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = s.decode(frame) }); n != 0 {
		t.Errorf("%v allocations a frame, want 0", n)
	}
	if !s.roce.Has(LayerTypeImmDt) || s.roce.ImmDt.Data != 9 || string(s.roce.Payload) != "hello" || len(s.roce.Pad.Contents) != 3 {
		t.Errorf("decoded %+v", s.roce)
	}
}

func TestNoCapturedFrameMakesTheParserAllocate(t *testing.T) {
	s := newStack(layers.LayerTypeEthernet)
	var frames []frame
	for _, f := range captured(t) {
		w := f.parse()
		if wellFormed(w) && w.BTH >= 0 && f.link == wire.LinkEthernet && s.decode(f.data) == nil {
			frames = append(frames, f)
		}
	}
	if len(frames) < 1000 {
		t.Fatalf("only %d frames", len(frames))
	}
	n := testing.AllocsPerRun(1, func() {
		for _, f := range frames {
			_ = s.decode(f.data)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations in %d frames, want 0", n, len(frames))
	}
}

func TestRoCEForgetsThePacketBefore(t *testing.T) {
	s := newStack(layers.LayerTypeEthernet)
	if err := s.decode(write(t, UDPPortRoCE, &BTH{Opcode: RCWriteOnly}, &RETH{DMALen: 3}, gopacket.Payload("abc"), &ICRC{})); err != nil {
		t.Fatal(err)
	}
	ack := write(t, UDPPortRoCE, &BTH{Opcode: RCAcknowledge}, &AETH{}, &ICRC{})
	if err := s.decode(ack); err != nil {
		t.Fatal(err)
	}
	if s.roce.Has(LayerTypeRETH) || s.roce.Has(LayerTypePad) || len(s.roce.Payload) != 0 || !s.roce.Has(LayerTypeAETH) {
		t.Errorf("after an ACK: %+v", s.roce)
	}
	if err := s.decode(ack[:len(ack)-2]); err != nil {
		t.Fatal(err)
	}
	if s.roce.Has(LayerTypeICRC) || !s.parser.Truncated {
		t.Errorf("after a cut ACK: ICRC %t, truncated %t", s.roce.Has(LayerTypeICRC), s.parser.Truncated)
	}
}

func TestWhatPort4791SendsElsewhereStaysPayload(t *testing.T) {
	frame := write(t, 40000, gopacket.Payload("this is 24 bytes of text"))
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	if packet.Layer(LayerTypeBTH) != nil || packet.ApplicationLayer() == nil || packet.ErrorLayer() != nil {
		t.Errorf("decoded as\n%v", packet)
	}
	if err := newStack(layers.LayerTypeEthernet).decode(frame); !errors.Is(err, ErrNotRoCE) {
		t.Errorf("RoCE returned %v, want %v", err, ErrNotRoCE)
	}
	reply := write(t, 40000, &BTH{Opcode: RCAcknowledge}, &AETH{}, &ICRC{})
	if packet := gopacket.NewPacket(reply, layers.LayerTypeEthernet, gopacket.Default); packet.Layer(LayerTypeAETH) == nil {
		t.Errorf("an ACK from port 4791 decoded as\n%v", packet)
	}
}

func TestAWrongVersionToPort4791IsStillShown(t *testing.T) {
	frame := write(t, UDPPortRoCE, &BTH{Opcode: RCSendOnly, TransportVersion: 3}, &ICRC{})
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	if bth, ok := packet.Layer(LayerTypeBTH).(*BTH); !ok || bth.TransportVersion != 3 {
		t.Errorf("decoded as\n%v", packet)
	}
}

func TestLazyDecodingGivesTheSameLayers(t *testing.T) {
	frame := write(t, UDPPortRoCE, &BTH{Opcode: RCWriteOnly}, &RETH{DMALen: 3}, gopacket.Payload("abc"), &ICRC{})
	lazy := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Lazy)
	if lazy.Layer(LayerTypeICRC) == nil || string(lazy.ApplicationLayer().Payload()) != "abc" {
		t.Errorf("decoded as\n%v", lazy)
	}
}

func TestFixLengthsPadsAndFixICRCMakesAGoodPacket(t *testing.T) {
	stale := &Pad{BaseLayer{Contents: []byte{9, 9}}} // of a payload of another length
	for n := range 9 {
		frame := write(t, UDPPortRoCE, &BTH{Opcode: RCSendOnly, DestQP: 0x11}, gopacket.Payload(make([]byte, n)), stale, &ICRC{Value: 0xDEADBEEF})
		packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
		bth, tail := packet.Layer(LayerTypeBTH).(*BTH), packet.Layer(LayerTypeICRC).(*ICRC)
		if int(bth.PadCount) != -n&3 || tail.Value != 0xDEADBEEF {
			t.Errorf("%d bytes: pad count %d, ICRC 0x%x", n, bth.PadCount, tail.Value)
		}
		if pad, ok := packet.Layer(LayerTypePad).(*Pad); ok && (len(pad.Contents) != -n&3 || string(pad.Contents) != "\x00\x00\x00"[:-n&3]) {
			t.Errorf("%d bytes: pad % x", n, pad.Contents)
		}
		if err := FixICRC(frame); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if v, _, _ := icrc.Verify(frame); v != icrc.Good {
			t.Errorf("%d bytes: ICRC is %v after FixICRC", n, v)
		}
	}
}

func TestFixLengthsOfNativeInfiniBand(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	lrh, grh := &LRH{LNH: LNHGlobal, DLID: 1, SLID: 2, VCRC: make([]byte, 2)}, &GRH{IPVersion: 6, NextHeader: NextHeaderBTH}
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		lrh, grh, &BTH{Opcode: RCSendOnly}, gopacket.Payload("hello"), &ICRC{})
	if err != nil {
		t.Fatal(err)
	}
	if grh.PayloadLen != 24 || lrh.PacketLen != 18 {
		t.Errorf("PayloadLen %d and PacketLen %d, want 24 and 18", grh.PayloadLen, lrh.PacketLen)
	}
	packet := buf.Bytes()
	if err := icrc.PatchIB(packet); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := icrc.VerifyIB(packet); v != icrc.Good {
		t.Errorf("ICRC is %v", v)
	}
	decoded := gopacket.NewPacket(packet, LinkTypeInfiniBand, gopacket.Default)
	if got := decoded.Layer(LayerTypeLRH).(*LRH).VCRC; len(got) != 2 {
		t.Errorf("VCRC % x", got)
	}
	if got := decoded.LinkLayer().LinkFlow().String(); got != "2->1" {
		t.Errorf("link flow %s, want 2->1", got)
	}
}

func TestRawInfiniBandPacketsGoOnWithTheirProtocol(t *testing.T) {
	ip4 := &layers.IPv4{Version: 4, Protocol: layers.IPProtocolUDP, SrcIP: []byte{192, 0, 2, 1}, DstIP: []byte{192, 0, 2, 2}}
	ip6 := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolUDP, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
	udp := &layers.UDP{SrcPort: 1, DstPort: 2}
	opts := gopacket.SerializeOptions{FixLengths: true}
	for _, c := range []struct {
		data []byte
		want gopacket.LayerType
	}{
		{writeAlone(t, opts, &LRH{LNH: LNHRaw}, &RWH{EthernetType: layers.EthernetTypeIPv4}, ip4, udp), layers.LayerTypeIPv4},
		{writeAlone(t, opts, &LRH{LNH: LNHIPv6}, ip6, udp), layers.LayerTypeIPv6},
	} {
		packet, again := again(t, c.data, LinkTypeInfiniBand)
		if packet.Layer(c.want) == nil || packet.Layer(layers.LayerTypeUDP) == nil {
			t.Errorf("no %v or UDP in\n%v", c.want, packet)
		}
		if string(again) != string(c.data) {
			t.Errorf("read  %x\nwrote %x", c.data, again)
		}
	}
}

func TestAnEthernetPadBehindRoCEv1IsNoPayload(t *testing.T) {
	eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: EthernetTypeRoCE}
	grh := &GRH{IPVersion: 6, NextHeader: NextHeaderBTH}
	frame := append(writeAlone(t, gopacket.SerializeOptions{FixLengths: true},
		eth, grh, &BTH{Opcode: RCSendOnly}, gopacket.Payload("abcd"), &ICRC{Value: 7}), 1, 2, 3, 4, 5, 6)
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	tail, ok := packet.Layer(LayerTypeICRC).(*ICRC)
	if !ok || tail.Value != 7 || string(packet.ApplicationLayer().Payload()) != "abcd" {
		t.Errorf("decoded as\n%v", packet)
	}
	if _, ok := packet.NetworkLayer().(*GRH); !ok {
		t.Errorf("the network layer is %v", packet.NetworkLayer())
	}
}

func TestNoRoomForAnExtendedHeaderIsAFailureBehindTheBTH(t *testing.T) {
	frame := write(t, UDPPortRoCE, &BTH{Opcode: RCWriteOnlyImmediate}, &RETH{}, &ICRC{})
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	if packet.Layer(LayerTypeRETH) == nil || packet.Layer(LayerTypeImmDt) != nil || packet.Layer(LayerTypeICRC) != nil {
		t.Errorf("decoded as\n%v", packet)
	}
	if fail := packet.ErrorLayer(); fail == nil || !errors.Is(fail.Error(), ErrShort) {
		t.Errorf("error layer %v, want %v", fail, ErrShort)
	}
}

func TestALRHForgetsTheVCRCOfThePacketBefore(t *testing.T) {
	var h LRH
	with := writeAlone(t, gopacket.SerializeOptions{FixLengths: true}, &LRH{VCRC: []byte{1, 2}})
	if err := h.DecodeFromBytes(with, gopacket.NilDecodeFeedback); err != nil || string(h.VCRC) != "\x01\x02" {
		t.Fatalf("VCRC % x, %v", h.VCRC, err)
	}
	if err := h.DecodeFromBytes(with[:8], gopacket.NilDecodeFeedback); err != nil || h.VCRC != nil {
		t.Errorf("VCRC % x, %v", h.VCRC, err)
	}
}

func TestAnERFRecordEndsWhereItsWireLengthSays(t *testing.T) {
	record := writeAlone(t, gopacket.SerializeOptions{FixLengths: true},
		&ERF{Type: ERFTypeInfiniBand, Extensions: []ERFExtension{{Type: 3}, {Type: 5}}},
		&LRH{LNH: LNHLocal}, &BTH{Opcode: RCSendOnly}, &ICRC{})
	packet := gopacket.NewPacket(append(record, 0, 0, 0, 0), LinkTypeERF, gopacket.Default)
	if h, ok := packet.Layer(LayerTypeERF).(*ERF); !ok || len(h.Extensions) != 2 || h.Extensions[1].Type != 5 || h.WireLen != 24 {
		t.Errorf("decoded as\n%v", packet)
	}
	if h, ok := packet.Layer(LayerTypeLRH).(*LRH); !ok || h.VCRC != nil {
		t.Errorf("the fill of the record is the VCRC in\n%v", packet)
	}
}

func FuzzNewPacket(f *testing.F) {
	f.Add(uint8(0), write(f, UDPPortRoCE, &BTH{Opcode: RCWriteOnlyImmediate}, &RETH{}, &ImmDt{}, gopacket.Payload("x"), &ICRC{}))
	f.Add(uint8(0), datagram(f, &MAD{BaseVersion: 1, Class: ClassCM, AttributeID: CMAttrReq}, &CMReq{}))
	f.Add(uint8(3), writeAlone(f, gopacket.SerializeOptions{FixLengths: true}, &FPDU{}, &DDPUntagged{DDPControl: DDPControl{Opcode: RDMAPReadRequest}}, &ReadRequest{}))
	f.Add(uint8(8), writeAlone(f, gopacket.SerializeOptions{FixLengths: true}, &ERF{Type: ERFTypeInfiniBand}, &LRH{LNH: LNHLocal}, &BTH{Opcode: RCAcknowledge}, &AETH{}, &ICRC{}))
	f.Add(uint8(1), []byte("MPA ID Req Frame\x40\x01\x00\x04abcd"))
	first := []gopacket.Decoder{
		layers.LayerTypeEthernet, LayerTypeMPARequest, LayerTypeMPAReply, LayerTypeFPDU, LayerTypeLRH, LayerTypeGRH,
		LayerTypeBTH, LayerTypeMAD, LayerTypeERF, LayerTypeMACControl, LayerTypeRWH,
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		packet := gopacket.NewPacket(data, first[int(which)%len(first)], gopacket.NoCopy)
		if stack := panicked(packet); stack != "" {
			t.Fatal(stack)
		}
		for _, l := range packet.Layers() {
			if mad, ok := l.(*MAD); ok {
				_ = mad.Summary()
				for _, a := range mad.Attributes() {
					_ = a.Fields()
				}
			}
		}
		if onlyOurs(packet) {
			_ = gopacket.SerializePacket(gopacket.NewSerializeBuffer(), gopacket.SerializeOptions{}, packet)
			_ = gopacket.SerializePacket(gopacket.NewSerializeBuffer(), gopacket.SerializeOptions{FixLengths: true}, packet)
		}
	})
}

// onlyOurs reports whether writing a packet runs no code of gopacket's layers,
// which this fuzz target is not to test.
func onlyOurs(p gopacket.Packet) bool {
	for _, l := range p.Layers() {
		t := l.LayerType()
		if t != gopacket.LayerTypePayload && (t < FirstLayerType || t > LastLayerType) {
			return false
		}
	}
	return true
}

func BenchmarkRoCE(b *testing.B) {
	for _, size := range []int{0, 1024} {
		frame := write(b, UDPPortRoCE, &BTH{Opcode: RCWriteOnly}, &RETH{}, gopacket.Payload(make([]byte, size)), &ICRC{})
		name := map[int]string{0: "empty", 1024: "1KiB"}[size]
		b.Run("parser/"+name, func(b *testing.B) {
			s := newStack(layers.LayerTypeEthernet)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("packet/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.NoCopy).ErrorLayer() != nil {
					b.Fatal("does not decode")
				}
			}
		})
	}
}
