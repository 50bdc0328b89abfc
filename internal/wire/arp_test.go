package wire

import "testing"

const arpRequest = "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"

func TestARPAccessors(t *testing.T) {
	checkAccessors(t, &arpSpec, ARPLen,
		func(h []byte) { copy(h, unhex(t, "0001 0800 06 04")) },
		[]accessor{
			accNum("arp.opcode", ARP.Operation, ARP.SetOperation),
			accMAC("arp.src.hw_mac", ARP.SenderMAC, ARP.SetSenderMAC),
			accIPv4("arp.src.proto_ipv4", ARP.SenderIP, ARP.SetSenderIP),
			accMAC("arp.dst.hw_mac", ARP.TargetMAC, ARP.SetTargetMAC),
			accIPv4("arp.dst.proto_ipv4", ARP.TargetIP, ARP.SetTargetIP),
		}, "arp.hw.type", "arp.proto.type", "arp.hw.size", "arp.proto.size")
}

func TestARPFieldsAsTshark(t *testing.T) {
	checkFields(t, &arpSpec, arpRequest, map[string]uint64{
		"arp.hw.type": 1, "arp.proto.type": 0x0800, "arp.hw.size": 6, "arp.proto.size": 4, "arp.opcode": ARPRequest,
		"arp.src.hw_mac": 0x020000000001, "arp.src.proto_ipv4": 0x0A000001, "arp.dst.hw_mac": 0, "arp.dst.proto_ipv4": 0x0A000002,
	})
}

func TestARPOverIPoIBHasItsAddressesElsewhere(t *testing.T) {
	h := make(ARP, 56)
	copy(h, unhex(t, "0020 0800 14 04 0002"))
	if h.IsEthernetIPv4() {
		t.Error("20-byte addresses taken for Ethernet's")
	}
	if n := h.HeaderLen(); n != 56 {
		t.Errorf("length %d, want 56", n)
	}
	if presentField(&arpSpec, h, "arp.src.proto_ipv4") != nil {
		t.Error("the sender's address is read from the wrong place")
	}
}

func TestARPLengthIsWhatTheSizesClaim(t *testing.T) {
	if n := ARP(unhex(t, arpRequest)).HeaderLen(); n != ARPLen {
		t.Errorf("length %d, want %d", n, ARPLen)
	}
	h := ARP(unhex(t, "0001 0800 ff ff 0001"))
	if n := h.HeaderLen(); n != 8+4*255 {
		t.Errorf("length of the longest %d, want %d", n, 8+4*255)
	}
}
