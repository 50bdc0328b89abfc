package layers_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/icrc"
	rdma "github.com/rocecap/rocecap/layers"
)

// outer gives the headers that carry RoCEv2 from 192.0.2.1 to 192.0.2.2.
func outer() []gopacket.SerializableLayer {
	ip := &layers.IPv4{
		Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, Flags: layers.IPv4DontFragment,
		SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2},
	}
	udp := &layers.UDP{SrcPort: 49152, DstPort: rdma.UDPPortRoCE}
	_ = udp.SetNetworkLayerForChecksum(ip) // an IPv4 layer always fits
	return []gopacket.SerializableLayer{
		&layers.Ethernet{
			SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2},
			EthernetType: layers.EthernetTypeIPv4,
		},
		ip, udp,
	}
}

// build writes a frame, its ICRC included.
func build(inner ...gopacket.SerializableLayer) ([]byte, error) {
	buf := gopacket.NewSerializeBuffer()
	all := append(append(outer(), inner...), &rdma.ICRC{})
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, all...); err != nil {
		return nil, err
	}
	frame := buf.Bytes()
	return frame, rdma.FixICRC(frame)
}

// NewPacket needs nothing but the import.
func Example_newPacket() {
	frame, err := hex.DecodeString("02000000000a02000000000b0800" + // Ethernet
		"45c2003c123440004011a39cc0000214c000020a" + "000012b700280000" + // IPv4, UDP
		"8100ffff4000011800000000" + "00000000000000000000000000000000" + "4a876f6d") // BTH, CNP, ICRC
	if err != nil {
		fmt.Println(err)
		return
	}
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	for _, layer := range packet.Layers() {
		fmt.Println(layer.LayerType())
	}
	if bth, ok := packet.Layer(rdma.LayerTypeBTH).(*rdma.BTH); ok {
		fmt.Printf("%v to QP 0x%06x, BECN %t\n", bth.Opcode, bth.DestQP, bth.BECN)
	}
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// BTH
	// CNP
	// ICRC
	// CNP to QP 0x000118, BECN true
}

// A DecodingLayerParser with RoCE allocates nothing per packet.
func Example_decodingLayerParser() {
	var (
		eth    layers.Ethernet
		vlan   layers.Dot1Q
		ip4    layers.IPv4
		ip6    layers.IPv6
		ip6ext layers.IPv6ExtensionSkipper
		udp    layers.UDP
		grh    rdma.GRH
		roce   rdma.RoCE
		data   gopacket.Payload
	)
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet,
		&eth, &vlan, &ip4, &ip6, &ip6ext, &udp, &grh, &roce, &data)
	parser.IgnoreUnsupported = true
	found := make([]gopacket.LayerType, 0, 10)

	frame, err := build(
		&rdma.BTH{Opcode: rdma.RCWriteOnlyImmediate, PKey: 0xFFFF, DestQP: 0x11, PSN: 100, AckRequest: true},
		&rdma.RETH{VA: 0x7F0000001000, RKey: 0x1234, DMALen: 5}, &rdma.ImmDt{Data: 42}, gopacket.Payload("hello"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := parser.DecodeLayers(frame, &found); err != nil {
		fmt.Println(err)
		return
	}
	for _, typ := range found {
		if typ != rdma.LayerTypeBTH {
			continue
		}
		fmt.Printf("%v PSN %d\n", roce.BTH.Opcode, roce.BTH.PSN)
		if roce.Has(rdma.LayerTypeRETH) {
			fmt.Printf("%d bytes to 0x%x\n", roce.RETH.DMALen, roce.RETH.VA)
		}
		if roce.Has(rdma.LayerTypeImmDt) {
			fmt.Printf("immediate %d\n", roce.ImmDt.Data)
		}
		fmt.Printf("%q and %d pad bytes\n", roce.Payload, len(roce.Pad.Contents))
	}
	// Output:
	// RC RDMA WRITE Only Immediate PSN 100
	// 5 bytes to 0x7f0000001000
	// immediate 42
	// "hello" and 3 pad bytes
}

// The ICRC covers the outer headers, which gopacket writes last: FixICRC puts
// it in when the frame is finished.
func ExampleFixICRC() {
	buf := gopacket.NewSerializeBuffer()
	all := append(outer(),
		&rdma.BTH{Opcode: rdma.RCWriteOnly, PKey: 0xFFFF, DestQP: 0x11, PSN: 1},
		&rdma.RETH{VA: 0x1000, RKey: 0x1234, DMALen: 3},
		gopacket.Payload("abc"),
		&rdma.ICRC{})
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, all...); err != nil {
		fmt.Println(err)
		return
	}
	frame := buf.Bytes()
	verdict, _, _ := icrc.Verify(frame)
	fmt.Println("before:", verdict)
	if err := rdma.FixICRC(frame); err != nil {
		fmt.Println(err)
		return
	}
	verdict, _, _ = icrc.Verify(frame)
	fmt.Println("after:", verdict)
	// Output:
	// before: bad
	// after: good
}

// A connection request of rdma_cm, as rping and others send it.
func ExampleCMReq() {
	frame, err := build(
		&rdma.BTH{Opcode: rdma.UDSendOnly, PKey: 0xFFFF, DestQP: 1},
		&rdma.DETH{QKey: rdma.QKeyQP1, SrcQP: 1},
		&rdma.MAD{BaseVersion: 1, Class: rdma.ClassCM, ClassVersion: 2, Method: 3, AttributeID: rdma.CMAttrReq},
		&rdma.CMReq{
			LocalCommID: 0x1001, ServiceID: rdma.CMIPServiceID(6, 7174), LocalQPN: 0x12, StartingPSN: 77,
			PrivateData: rdma.CMIP{
				IPVersion: 4, SrcPort: 40000,
				Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"),
			}.Bytes(),
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	packet := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
	if req, ok := packet.Layer(rdma.LayerTypeCMReq).(*rdma.CMReq); ok {
		ip, _ := req.IP()
		_, port, _ := rdma.ParseCMIPServiceID(req.ServiceID)
		fmt.Printf("%v port %d to %v port %d, QP 0x%06x, PSN %d\n", ip.Src, ip.SrcPort, ip.Dst, port, req.LocalQPN, req.StartingPSN)
	}
	if mad, ok := packet.Layer(rdma.LayerTypeMAD).(*rdma.MAD); ok {
		fmt.Println(mad.Summary())
		timeout, _ := mad.Attributes()[0].Field("infiniband.cm.req.localresptout")
		fmt.Println(timeout.Title, timeout.Value)
	}
	// Output:
	// 192.0.2.1 port 40000 to 192.0.2.2 port 7174, QP 0x000012, PSN 77
	// CM ConnectRequest service 0x0000000001061c06 QP 0x000012 PSN 77
	// Local CM Response Timeout 0
}
