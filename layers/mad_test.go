package layers

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// datagram builds a RoCEv2 frame to QP 1 around a management datagram.
func datagram(t testing.TB, inner ...gopacket.SerializableLayer) []byte {
	t.Helper()
	all := []gopacket.SerializableLayer{
		&BTH{Opcode: UDSendOnly, PKey: 0xFFFF, DestQP: 1}, &DETH{QKey: QKeyQP1, SrcQP: 1},
	}
	return write(t, UDPPortRoCE, append(append(all, inner...), &ICRC{})...)
}

func TestEveryClassLeadsToItsLayer(t *testing.T) {
	rest := func(n int) []byte { return make([]byte, n) }
	for _, c := range []struct {
		class uint8
		attr  uint16
		inner []gopacket.SerializableLayer
	}{
		{ClassSMPLID, 0x11, []gopacket.SerializableLayer{&SMP{MKey: 1, Data: rest(192)}}},
		{ClassSMPDirected, 0x11, []gopacket.SerializableLayer{&SMP{DrSLID: 0xFFFF, Data: rest(192)}}},
		{ClassSA, 0x35, []gopacket.SerializableLayer{&RMPP{}, &SA{ComponentMask: 3, Data: rest(200)}}},
		{ClassSA, 0x35, []gopacket.SerializableLayer{&RMPP{Version: 1, Type: RMPPAbort, Flags: RMPPActive}, &MADData{Data: rest(220)}}},
		{ClassPerf, 0x12, []gopacket.SerializableLayer{&PerfMgt{Data: rest(232)}}},
		{ClassCC, 0x11, []gopacket.SerializableLayer{&CC{CCKey: 5, Data: rest(224)}}},
		{ClassCM, CMAttrReq, []gopacket.SerializableLayer{&CMReq{LocalQPN: 1}}},
		{ClassCM, CMAttrMra, []gopacket.SerializableLayer{&CMMra{}}},
		{ClassCM, CMAttrRej, []gopacket.SerializableLayer{&CMRej{Info: []byte{1, 2}}}},
		{ClassCM, CMAttrRep, []gopacket.SerializableLayer{&CMRep{}}},
		{ClassCM, CMAttrRtu, []gopacket.SerializableLayer{&CMRtu{}}},
		{ClassCM, CMAttrDreq, []gopacket.SerializableLayer{&CMDreq{}}},
		{ClassCM, CMAttrDrep, []gopacket.SerializableLayer{&CMDrep{}}},
		{ClassCM, CMAttrSidrReq, []gopacket.SerializableLayer{&CMSidrReq{}}},
		{ClassCM, CMAttrSidrRep, []gopacket.SerializableLayer{&CMSidrRep{}}},
		{ClassCM, CMAttrLap, []gopacket.SerializableLayer{&CMLap{}}},
		{ClassCM, CMAttrApr, []gopacket.SerializableLayer{&CMApr{}}},
		{ClassCM, 0x01, []gopacket.SerializableLayer{&MADData{Data: rest(232)}}},
		{0x50, 0x01, []gopacket.SerializableLayer{&MADData{Data: rest(232)}}},
	} {
		mad := &MAD{BaseVersion: 1, Class: c.class, AttributeID: c.attr}
		frame := datagram(t, append([]gopacket.SerializableLayer{mad}, c.inner...)...)
		packet, again := again(t, frame, layers.LayerTypeEthernet)
		if string(again) != string(frame) {
			t.Errorf("class 0x%02x attribute 0x%02x:\nread  %x\nwrote %x", c.class, c.attr, frame, again)
		}
		for _, l := range append(c.inner, &ICRC{}) {
			if packet.Layer(l.LayerType()) == nil {
				t.Errorf("class 0x%02x attribute 0x%02x: no %v in\n%v", c.class, c.attr, l.LayerType(), packet)
			}
		}
		if got := packet.Layer(LayerTypeMAD).(*MAD); len(got.Contents)+len(got.Payload) != MADLen {
			t.Errorf("class 0x%02x attribute 0x%02x: datagram of %d bytes", c.class, c.attr, len(got.Contents)+len(got.Payload))
		}
	}
}

func TestAttributesAreReadByName(t *testing.T) {
	data := make([]byte, 192)
	data[1], data[3] = 1, 2 // class version, number of ports
	frame := datagram(t, &MAD{BaseVersion: 1, Class: ClassSMPLID, ClassVersion: 1, Method: 1, AttributeID: 0x11}, &SMP{MKey: 0x1234, Data: data})
	mad := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default).Layer(LayerTypeMAD).(*MAD)
	if got := mad.Summary(); got != "SubnGet(NodeInfo)" {
		t.Errorf("summary %q", got)
	}
	parts := mad.Attributes()
	if len(parts) < 2 || parts[0].Name() != "infiniband.smplid" {
		t.Fatalf("parts %+v", parts)
	}
	if f, ok := parts[0].Field("infiniband.smplid.mkey"); !ok || f.Value != 0x1234 {
		t.Errorf("M_Key %+v, %t", f, ok)
	}
	if f, ok := parts[1].Field("infiniband.nodeinfo.numports"); !ok || f.Value != 2 {
		t.Errorf("NumPorts %+v, %t of %s with %v", f, ok, parts[1].Name(), parts[1].Fields())
	}
	if _, ok := parts[1].Field("infiniband.no.such"); ok {
		t.Error("a field that does not exist was found")
	}
}

func TestAttributesAreThoseThatTheFrameParserFinds(t *testing.T) {
	compared := 0
	for _, f := range captured(t) {
		w := f.parse()
		if !wellFormed(w) || f.decoder() == nil {
			continue
		}
		mad, ok := gopacket.NewPacket(f.data, f.decoder(), gopacket.Default).Layer(LayerTypeMAD).(*MAD)
		if !ok {
			continue
		}
		var want []wire.Header
		for _, h := range w.Headers() {
			if h.ID > wire.HdrMAD {
				want = append(want, h)
			}
		}
		got := mad.Attributes()
		compared++
		if len(got) != len(want) {
			t.Errorf("%s %d: %d parts, want %d", f.file, f.number, len(got), len(want))
			continue
		}
		for i, h := range want {
			if got[i].Name() != wire.SpecOf(h.ID).Name || string(got[i].Bytes()) != string(w.Bytes(h)) {
				t.Errorf("%s %d: part %s with % x, want %s with % x", f.file, f.number, got[i].Name(), got[i].Bytes(), wire.SpecOf(h.ID).Name, w.Bytes(h))
			}
		}
	}
	if t.Log(compared, "datagrams compared"); compared == 0 {
		t.Error("no datagram was compared")
	}
}

func TestTooMuchPrivateDataIsRefused(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, &CMRtu{PrivateData: make([]byte, 224)}); err != nil {
		t.Errorf("224 bytes: %v", err)
	}
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, &CMRtu{PrivateData: make([]byte, 225)}); err == nil {
		t.Error("225 bytes were accepted")
	}
}
