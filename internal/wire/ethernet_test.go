package wire

import "testing"

func TestEthernetAccessors(t *testing.T) {
	checkAccessors(t, &ethernetSpec, EthernetLen,
		func(h []byte) { Ethernet(h).SetType(EtherTypeIPv4) },
		[]accessor{
			accMAC("eth.dst", Ethernet.Dst, Ethernet.SetDst),
			accMAC("eth.src", Ethernet.Src, Ethernet.SetSrc),
			accNum("eth.type", Ethernet.Type, Ethernet.SetType),
		}, "eth.len")
}

func TestEthernetTypeBelow0600IsALength(t *testing.T) {
	const addresses = "020000000002 020000000001"
	checkFields(t, &ethernetSpec, addresses+"0800", map[string]uint64{"eth.type": 0x0800}, "eth.len")
	checkFields(t, &ethernetSpec, addresses+"0020", map[string]uint64{"eth.len": 32}, "eth.type")
	checkFields(t, &ethernetSpec, addresses+"0600", map[string]uint64{"eth.type": 0x0600}, "eth.len")
}
