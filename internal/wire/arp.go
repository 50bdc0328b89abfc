package wire

import "net/netip"

// ARP operations (RFC 826).
const (
	ARPRequest = 1
	ARPReply   = 2
)

// ARPLen is the length of an ARP packet for IPv4 over Ethernet.
const ARPLen = 28

const (
	arpHardware    = 0
	arpProtocol    = 2
	arpHardwareLen = 4
	arpProtocolLen = 5
	arpOperation   = 6
	arpSenderMAC   = 8
	arpSenderIP    = 14
	arpTargetMAC   = 18
	arpTargetIP    = 24
	arpFixedLen    = 8
)

// ARP is an ARP packet for IPv4 over Ethernet (RFC 826). Of other kinds, such
// as ARP over IPoIB with its 20-byte addresses, only the first eight bytes have
// this layout; IsEthernetIPv4 tells.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|         hardware type         |         protocol type         |
//	+---------------+---------------+-------------------------------+
//	| hardware size | protocol size |           operation           |
//	+---------------+---------------+-------------------------------+
//	|                   sender hardware address                     |
//	+-------------------------------+-------------------------------+
//	|            (cont.)            |    sender protocol address    |
//	+-------------------------------+-------------------------------+
//	|            (cont.)            |    target hardware address    |
//	+-------------------------------+-------------------------------+
//	|                            (cont.)                            |
//	+---------------------------------------------------------------+
//	|                   target protocol address                     |
//	+---------------------------------------------------------------+
type ARP []byte

// HeaderLen is the length that the address sizes claim.
func (h ARP) HeaderLen() int {
	return arpFixedLen + 2*(int(h[arpHardwareLen])+int(h[arpProtocolLen]))
}

// IsEthernetIPv4 reports whether the addresses are where this view looks.
func (h ARP) IsEthernetIPv4() bool {
	return be.Uint16(h[arpProtocol:]) == EtherTypeIPv4 &&
		h[arpHardwareLen] == 6 && h[arpProtocolLen] == 4
}

// Operation is the operation code.
func (h ARP) Operation() uint16 { return be.Uint16(h[arpOperation:]) }

// SetOperation sets the operation code.
func (h ARP) SetOperation(v uint16) { be.PutUint16(h[arpOperation:], v) }

// SenderMAC is the sender's Ethernet address.
func (h ARP) SenderMAC() [6]byte { return [6]byte(h[arpSenderMAC:arpSenderIP]) }

// SetSenderMAC sets the sender's Ethernet address.
func (h ARP) SetSenderMAC(a [6]byte) { copy(h[arpSenderMAC:arpSenderIP], a[:]) }

// SenderIP is the sender's IPv4 address.
func (h ARP) SenderIP() netip.Addr { return netip.AddrFrom4([4]byte(h[arpSenderIP:arpTargetMAC])) }

// SetSenderIP sets the sender's IPv4 address.
func (h ARP) SetSenderIP(a [4]byte) { copy(h[arpSenderIP:arpTargetMAC], a[:]) }

// TargetMAC is the target's Ethernet address.
func (h ARP) TargetMAC() [6]byte { return [6]byte(h[arpTargetMAC:arpTargetIP]) }

// SetTargetMAC sets the target's Ethernet address.
func (h ARP) SetTargetMAC(a [6]byte) { copy(h[arpTargetMAC:arpTargetIP], a[:]) }

// TargetIP is the target's IPv4 address.
func (h ARP) TargetIP() netip.Addr { return netip.AddrFrom4([4]byte(h[arpTargetIP:ARPLen])) }

// SetTargetIP sets the target's IPv4 address.
func (h ARP) SetTargetIP(a [4]byte) { copy(h[arpTargetIP:ARPLen], a[:]) }

var arpSpec = Spec{
	ID: HdrARP, Name: "arp", Title: "Address Resolution Protocol", Len: arpFixedLen,
	Fields: []Field{
		{Name: "arp.hw.type", Title: "Hardware type", Bit: arpHardware * 8, Bits: 16, Names: arphrdName},
		{Name: "arp.proto.type", Title: "Protocol type", Base: Hex, Bit: arpProtocol * 8, Bits: 16, Names: EtherTypeName},
		{Name: "arp.hw.size", Title: "Hardware size", Bit: arpHardwareLen * 8, Bits: 8},
		{Name: "arp.proto.size", Title: "Protocol size", Bit: arpProtocolLen * 8, Bits: 8},
		{Name: "arp.opcode", Title: "Opcode", Bit: arpOperation * 8, Bits: 16, Names: arpOperationName},
		{Name: "arp.src.hw_mac", Title: "Sender MAC address", Kind: MAC, Bit: arpSenderMAC * 8, Bits: 48, When: arpIsEthernetIPv4},
		{Name: "arp.src.proto_ipv4", Title: "Sender IP address", Kind: IPv4, Bit: arpSenderIP * 8, Bits: 32, When: arpIsEthernetIPv4},
		{Name: "arp.dst.hw_mac", Title: "Target MAC address", Kind: MAC, Bit: arpTargetMAC * 8, Bits: 48, When: arpIsEthernetIPv4},
		{Name: "arp.dst.proto_ipv4", Title: "Target IP address", Kind: IPv4, Bit: arpTargetIP * 8, Bits: 32, When: arpIsEthernetIPv4},
	},
}

func arpIsEthernetIPv4(h []byte) bool { return ARP(h).IsEthernetIPv4() }

func arpOperationName(v uint64) string {
	switch v {
	case ARPRequest:
		return "request"
	case ARPReply:
		return "reply"
	}
	return ""
}
