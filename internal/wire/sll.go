package wire

// Packet types of a cooked capture (Linux if_packet.h, PACKET_*).
const (
	SLLHost      = 0
	SLLBroadcast = 1
	SLLMulticast = 2
	SLLOtherHost = 3
	SLLOutgoing  = 4
)

// arphrdIPGRE is the one ARPHRD_* type whose protocol field is a GRE protocol.
const arphrdIPGRE = 778

// SLLLen is the length of a cooked header, version 1.
const SLLLen = 16

const (
	sllPacketType = 0
	sllHardware   = 2
	sllAddrLen    = 4
	sllAddr       = 6
	sllProtocol   = 14
	sllMaxAddr    = 8 // bytes of address that the header has room for
)

// SLL is the header of a Linux cooked capture, LINKTYPE_LINUX_SLL.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          packet type          |         ARPHRD_ type          |
//	+-------------------------------+-------------------------------+
//	|        address length         |       sender's address        |
//	+-------------------------------+                               |
//	|                               +-------------------------------+
//	|                               |           protocol            |
//	+-------------------------------+-------------------------------+
type SLL []byte

// PacketType says who sent the packet and to whom, an SLL constant.
func (h SLL) PacketType() uint16 { return be.Uint16(h[sllPacketType:]) }

// SetPacketType sets the packet type.
func (h SLL) SetPacketType(v uint16) { be.PutUint16(h[sllPacketType:], v) }

// HardwareType is the ARPHRD_ type of the device.
func (h SLL) HardwareType() uint16 { return be.Uint16(h[sllHardware:]) }

// SetHardwareType sets the ARPHRD_ type of the device.
func (h SLL) SetHardwareType(v uint16) { be.PutUint16(h[sllHardware:], v) }

// AddrLen is the length of the sender's address, which may be more than the
// eight bytes of it that the header can hold.
func (h SLL) AddrLen() uint16 { return be.Uint16(h[sllAddrLen:]) }

// SetAddrLen sets the length of the sender's address.
func (h SLL) SetAddrLen(v uint16) { be.PutUint16(h[sllAddrLen:], v) }

// Addr is the room for the sender's address, AddrLen bytes of which count.
func (h SLL) Addr() [sllMaxAddr]byte { return [sllMaxAddr]byte(h[sllAddr:sllProtocol]) }

// SetAddr sets all eight bytes of the room for the sender's address.
func (h SLL) SetAddr(a [sllMaxAddr]byte) { copy(h[sllAddr:sllProtocol], a[:]) }

// Protocol is the EtherType of what follows, or one of Linux's own numbers
// below 0x0600.
func (h SLL) Protocol() uint16 { return be.Uint16(h[sllProtocol:]) }

// SetProtocol sets the EtherType of what follows.
func (h SLL) SetProtocol(v uint16) { be.PutUint16(h[sllProtocol:], v) }

// SLL2Len is the length of a cooked header, version 2.
const SLL2Len = 20

const (
	sll2Protocol   = 0
	sll2Interface  = 4
	sll2Hardware   = 8
	sll2PacketType = 10
	sll2AddrLen    = 11
	sll2Addr       = 12
)

// SLL2 is the header of a Linux cooked capture, LINKTYPE_LINUX_SLL2.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|           protocol            |           reserved            |
//	+-------------------------------+-------------------------------+
//	|                        interface index                        |
//	+-------------------------------+---------------+---------------+
//	|         ARPHRD_ type          |  packet type  | address length|
//	+-------------------------------+---------------+---------------+
//	|                       sender's address                        |
//	|                                                               |
//	+---------------------------------------------------------------+
type SLL2 []byte

// Protocol is the EtherType of what follows, or one of Linux's own numbers
// below 0x0600.
func (h SLL2) Protocol() uint16 { return be.Uint16(h[sll2Protocol:]) }

// SetProtocol sets the EtherType of what follows.
func (h SLL2) SetProtocol(v uint16) { be.PutUint16(h[sll2Protocol:], v) }

// Interface is the index of the interface that the packet was seen on.
func (h SLL2) Interface() uint32 { return be.Uint32(h[sll2Interface:]) }

// SetInterface sets the interface index.
func (h SLL2) SetInterface(v uint32) { be.PutUint32(h[sll2Interface:], v) }

// HardwareType is the ARPHRD_ type of the device.
func (h SLL2) HardwareType() uint16 { return be.Uint16(h[sll2Hardware:]) }

// SetHardwareType sets the ARPHRD_ type of the device.
func (h SLL2) SetHardwareType(v uint16) { be.PutUint16(h[sll2Hardware:], v) }

// PacketType says who sent the packet and to whom, an SLL constant.
func (h SLL2) PacketType() uint8 { return h[sll2PacketType] }

// SetPacketType sets the packet type.
func (h SLL2) SetPacketType(v uint8) { h[sll2PacketType] = v }

// AddrLen is the length of the sender's address, which may be more than the
// eight bytes of it that the header can hold.
func (h SLL2) AddrLen() uint8 { return h[sll2AddrLen] }

// SetAddrLen sets the length of the sender's address.
func (h SLL2) SetAddrLen(v uint8) { h[sll2AddrLen] = v }

// Addr is the room for the sender's address, AddrLen bytes of which count.
func (h SLL2) Addr() [sllMaxAddr]byte { return [sllMaxAddr]byte(h[sll2Addr:SLL2Len]) }

// SetAddr sets all eight bytes of the room for the sender's address.
func (h SLL2) SetAddr(a [sllMaxAddr]byte) { copy(h[sll2Addr:SLL2Len], a[:]) }

// The address is named by its length alone: six bytes are Ethernet's, four are
// IPv4's, whatever the hardware type says.
var sllSpec = Spec{
	ID: HdrSLL, Name: "sll", Title: "Linux cooked capture v1", Len: SLLLen,
	Fields: []Field{
		{Name: "sll.pkttype", Title: "Packet type", Bit: sllPacketType * 8, Bits: 16, Names: sllPacketTypeName},
		{Name: "sll.hatype", Title: "Link-layer address type", Bit: sllHardware * 8, Bits: 16, Names: arphrdName},
		{Name: "sll.halen", Title: "Link-layer address length", Bit: sllAddrLen * 8, Bits: 16},
		{Name: "sll.src.eth", Title: "Source", Kind: MAC, Bit: sllAddr * 8, Bits: 48, When: sllAddrIs6},
		{Name: "sll.src.ipv4", Title: "Source", Kind: IPv4, Bit: sllAddr * 8, Bits: 32, When: sllAddrIs4},
		{Name: "sll.src.other", Title: "Source", Kind: Bytes, Bit: sllAddr * 8, Bits: 64, When: sllAddrIsFull},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: sllAddr * 8, Bits: 64, When: sllAddrIs0},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: (sllAddr + 4) * 8, Bits: 32, When: sllAddrIs4},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: (sllAddr + 6) * 8, Bits: 16, When: sllAddrIs6},
		{Name: "sll.etype", Title: "Protocol", Base: Hex, Bit: sllProtocol * 8, Bits: 16, Names: EtherTypeName, When: sllHasEtherType},
		{Name: "sll.ltype", Title: "Protocol", Base: Hex, Bit: sllProtocol * 8, Bits: 16, When: sllHasLinuxType},
		{Name: "sll.gretype", Title: "Protocol", Base: Hex, Bit: sllProtocol * 8, Bits: 16, Names: EtherTypeName, When: sllHasGREType},
	},
}

var sll2Spec = Spec{
	ID: HdrSLL2, Name: "sll", Title: "Linux cooked capture v2", Len: SLL2Len,
	Fields: []Field{
		{Name: "sll.etype", Title: "Protocol", Base: Hex, Bit: sll2Protocol * 8, Bits: 16, Names: EtherTypeName, When: sll2HasEtherType},
		{Name: "sll.ltype", Title: "Protocol", Base: Hex, Bit: sll2Protocol * 8, Bits: 16, When: sll2HasLinuxType},
		{Name: "sll.gretype", Title: "Protocol", Base: Hex, Bit: sll2Protocol * 8, Bits: 16, Names: EtherTypeName, When: sll2HasGREType},
		{Name: "sll.ifindex", Title: "Interface index", Bit: sll2Interface * 8, Bits: 32},
		{Name: "sll.hatype", Title: "Link-layer address type", Bit: sll2Hardware * 8, Bits: 16, Names: arphrdName},
		{Name: "sll.pkttype", Title: "Packet type", Bit: sll2PacketType * 8, Bits: 8, Names: sllPacketTypeName},
		{Name: "sll.halen", Title: "Link-layer address length", Bit: sll2AddrLen * 8, Bits: 8},
		{Name: "sll.src.eth", Title: "Source", Kind: MAC, Bit: sll2Addr * 8, Bits: 48, When: sll2AddrIs6},
		{Name: "sll.src.ipv4", Title: "Source", Kind: IPv4, Bit: sll2Addr * 8, Bits: 32, When: sll2AddrIs4},
		{Name: "sll.src.other", Title: "Source", Kind: Bytes, Bit: sll2Addr * 8, Bits: 64, When: sll2AddrIsFull},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: sll2Addr * 8, Bits: 64, When: sll2AddrIs0},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: (sll2Addr + 4) * 8, Bits: 32, When: sll2AddrIs4},
		{Name: "sll.unused", Title: "Unused", Kind: Bytes, Bit: (sll2Addr + 6) * 8, Bits: 16, When: sll2AddrIs6},
	},
}

func sllAddrIs0(h []byte) bool    { return SLL(h).AddrLen() == 0 }
func sllAddrIs4(h []byte) bool    { return SLL(h).AddrLen() == 4 }
func sllAddrIs6(h []byte) bool    { return SLL(h).AddrLen() == 6 }
func sllAddrIsFull(h []byte) bool { return SLL(h).AddrLen() >= sllMaxAddr }

func sll2AddrIs0(h []byte) bool    { return SLL2(h).AddrLen() == 0 }
func sll2AddrIs4(h []byte) bool    { return SLL2(h).AddrLen() == 4 }
func sll2AddrIs6(h []byte) bool    { return SLL2(h).AddrLen() == 6 }
func sll2AddrIsFull(h []byte) bool { return SLL2(h).AddrLen() >= sllMaxAddr }

func sllHasGREType(h []byte) bool   { return SLL(h).HardwareType() == arphrdIPGRE }
func sllHasEtherType(h []byte) bool { return !sllHasGREType(h) && SLL(h).Protocol() > minEtherType }
func sllHasLinuxType(h []byte) bool { return !sllHasGREType(h) && SLL(h).Protocol() <= minEtherType }

// In SLL2 the protocol lies before the hardware type that names it, so a header
// cut between the two has no known meaning.
func sll2HasGREType(h []byte) bool {
	return len(h) >= sll2PacketType && SLL2(h).HardwareType() == arphrdIPGRE
}

func sll2HasEtherType(h []byte) bool {
	return len(h) >= sll2PacketType && !sll2HasGREType(h) && SLL2(h).Protocol() > minEtherType
}

func sll2HasLinuxType(h []byte) bool {
	return len(h) >= sll2PacketType && !sll2HasGREType(h) && SLL2(h).Protocol() <= minEtherType
}

func sllPacketTypeName(v uint64) string {
	switch v {
	case SLLHost:
		return "Unicast to us"
	case SLLBroadcast:
		return "Broadcast"
	case SLLMulticast:
		return "Multicast"
	case SLLOtherHost:
		return "Unicast to another host"
	case SLLOutgoing:
		return "Sent by us"
	}
	return ""
}

// arphrdName names a hardware type, as ARP and Linux number them.
func arphrdName(v uint64) string {
	switch v {
	case 1:
		return "Ethernet"
	case 32:
		return "InfiniBand"
	case 768:
		return "IPIP tunnel"
	case 772:
		return "Loopback"
	case arphrdIPGRE:
		return "GRE tunnel"
	}
	return ""
}
