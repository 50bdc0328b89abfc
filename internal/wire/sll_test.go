package wire

import (
	"math/rand/v2"
	"testing"
)

func accSLLAddr[H ~[]byte](field string, get func(H) [8]byte, set func(H, [8]byte)) accessor {
	return accessor{
		field:  field,
		getRaw: func(h []byte) []byte { a := get(H(h)); return a[:] },
		setRaw: func(h, v []byte) { set(H(h), [8]byte(v)) },
	}
}

func TestSLLAccessors(t *testing.T) {
	checkAccessors(t, &sllSpec, SLLLen,
		func(h []byte) {
			SLL(h).SetHardwareType(1)
			SLL(h).SetAddrLen(8)
			SLL(h).SetProtocol(EtherTypeIPv4)
		},
		[]accessor{
			accNum("sll.pkttype", SLL.PacketType, SLL.SetPacketType),
			accNum("sll.hatype", SLL.HardwareType, SLL.SetHardwareType),
			accNum("sll.halen", SLL.AddrLen, SLL.SetAddrLen),
			accSLLAddr("sll.src.other", SLL.Addr, SLL.SetAddr),
			accNum("sll.etype", SLL.Protocol, SLL.SetProtocol),
		}, "sll.src.eth", "sll.src.ipv4", "sll.unused", "sll.ltype", "sll.gretype")
}

func TestSLL2Accessors(t *testing.T) {
	checkAccessors(t, &sll2Spec, SLL2Len,
		func(h []byte) {
			SLL2(h).SetHardwareType(1)
			SLL2(h).SetAddrLen(8)
			SLL2(h).SetProtocol(EtherTypeIPv4)
		},
		[]accessor{
			accNum("sll.etype", SLL2.Protocol, SLL2.SetProtocol),
			accNum("sll.ifindex", SLL2.Interface, SLL2.SetInterface),
			accNum("sll.hatype", SLL2.HardwareType, SLL2.SetHardwareType),
			accNum("sll.pkttype", SLL2.PacketType, SLL2.SetPacketType),
			accNum("sll.halen", SLL2.AddrLen, SLL2.SetAddrLen),
			accSLLAddr("sll.src.other", SLL2.Addr, SLL2.SetAddr),
		}, "sll.src.eth", "sll.src.ipv4", "sll.unused", "sll.ltype", "sll.gretype")
}

func TestSLLFieldsAsTshark(t *testing.T) {
	checkFields(t, &sllSpec, "0004 0001 0006 020000000001 0000 0800", map[string]uint64{
		"sll.pkttype": 4, "sll.hatype": 1, "sll.halen": 6, "sll.src.eth": 0x020000000001, "sll.etype": 0x0800, "sll.unused": 0,
	}, "sll.src.other", "sll.src.ipv4", "sll.ltype", "sll.gretype")
	checkFields(t, &sllSpec, "0000 0001 0006 020000000001 0000 0600", map[string]uint64{"sll.ltype": 0x0600}, "sll.etype")
	checkFields(t, &sllSpec, "0000 030a 0004 0200000000010000 0800", map[string]uint64{
		"sll.gretype": 0x0800, "sll.src.ipv4": 0x02000000, "sll.unused": 0x00010000,
	}, "sll.etype", "sll.ltype", "sll.src.eth")
	checkFields(t, &sllSpec, "0000 0020 0014 0102030405060708 0800", map[string]uint64{
		"sll.halen": 20, "sll.src.other": 0x0102030405060708,
	}, "sll.unused", "sll.src.eth")
	checkFields(t, &sllSpec, "0000 0304 0000 0000000000000000 0800", map[string]uint64{"sll.unused": 0},
		"sll.src.eth", "sll.src.ipv4", "sll.src.other")
}

func TestSLL2FieldsAsTshark(t *testing.T) {
	checkFields(t, &sll2Spec, "0800 0000 00000003 0001 04 06 0200000000010000", map[string]uint64{
		"sll.etype": 0x0800, "sll.ifindex": 3, "sll.hatype": 1, "sll.pkttype": 4, "sll.halen": 6, "sll.src.eth": 0x020000000001,
	}, "sll.ltype", "sll.src.other")
	checkFields(t, &sll2Spec, "0800 0000 00000003 0300 00 04 0102030400000000", map[string]uint64{
		"sll.src.ipv4": 0x01020304, "sll.unused": 0,
	}, "sll.src.eth")
}

func TestSLL2ProtocolIsUnknownWithoutItsHardwareType(t *testing.T) {
	h := randomHeader(rand.New(rand.NewPCG(1, 1)), SLL2Len)
	for n := range 10 {
		for _, name := range []string{"sll.etype", "sll.ltype", "sll.gretype"} {
			if presentField(&sll2Spec, h[:n], name) != nil {
				t.Errorf("%s in a header cut after %d bytes", name, n)
			}
		}
	}
}
