package host

import (
	"encoding/binary"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Question asks an Ethernet for the MAC address of an IP address: an ARP
// request for IPv4 (RFC 826), a neighbour solicitation for IPv6 (RFC 4861).
type Question struct {
	MAC MAC // who asks, and gets the answer
	// IP is the address of who asks. Without one of the target's family the
	// question is a probe (RFC 5227, 2.1.1; RFC 4861, 7.2.2), which is answered
	// too but does not make the asker known.
	IP     netip.Addr
	Target netip.Addr
}

const (
	// minFrame is the shortest Ethernet frame without its check sequence.
	minFrame    = 60
	arpEthernet = 1

	icmpSolicitation  = 135
	icmpAdvertisement = 136
	icmpChecksum      = 2
	icmpTarget        = 8
	icmpOptions       = 24 // of both messages
	optionSourceMAC   = 1
	optionTargetMAC   = 2
	optionLen         = 8 // of either, with a MAC address
	ndHopLimit        = 255
)

// Append appends the frame that asks.
func (q Question) Append(frame []byte) []byte {
	start := len(frame)
	if q.Target.Unmap().Is4() {
		frame = q.appendARP(frame)
	} else {
		frame = q.appendSolicitation(frame)
	}
	return append(frame, make([]byte, max(0, minFrame-(len(frame)-start)))...)
}

func (q Question) appendARP(frame []byte) []byte {
	f := make([]byte, wire.EthernetLen+wire.ARPLen)
	ethernet(f, broadcast(), q.MAC, wire.EtherTypeARP)
	a := f[wire.EthernetLen:]
	binary.BigEndian.PutUint16(a, arpEthernet)
	binary.BigEndian.PutUint16(a[2:], wire.EtherTypeIPv4)
	a[4], a[5] = 6, 4 // lengths of the addresses
	arp := wire.ARP(a)
	arp.SetOperation(wire.ARPRequest)
	arp.SetSenderMAC(q.MAC)
	if ip := q.IP.Unmap(); ip.Is4() {
		arp.SetSenderIP(ip.As4())
	}
	arp.SetTargetIP(q.Target.Unmap().As4())
	return append(frame, f...)
}

func (q Question) appendSolicitation(frame []byte) []byte {
	from := netip.IPv6Unspecified()
	options := []byte(nil) // a probe has none (RFC 4861, 4.3)
	if q.IP.Is6() && !q.IP.Is4In6() && !q.IP.IsUnspecified() {
		from = q.IP
		options = append([]byte{optionSourceMAC, optionLen / 8}, q.MAC[:]...)
	}
	target := q.Target.As16()
	group := solicitedNode(target)
	f := make([]byte, wire.EthernetLen+wire.IPv6Len+icmpOptions, wire.EthernetLen+wire.IPv6Len+icmpOptions+optionLen)
	f = append(f, options...)
	ethernet(f, MulticastMAC(netip.AddrFrom16(group)), q.MAC, wire.EtherTypeIPv6)
	ip := wire.IPv6Header(f[wire.EthernetLen : wire.EthernetLen+wire.IPv6Len])
	icmp := f[wire.EthernetLen+wire.IPv6Len:]
	ip.SetVersion(6)
	ip.SetPayloadLen(len(icmp))
	ip.SetNextHeader(wire.IPProtoICMPv6)
	ip.SetHopLimit(ndHopLimit)
	ip.SetSrc(from.As16())
	ip.SetDst(group)
	icmp[0] = icmpSolicitation
	copy(icmp[icmpTarget:], target[:])
	binary.BigEndian.PutUint16(icmp[icmpChecksum:], ^icmpSum(ip, icmp))
	return append(frame, f...)
}

// broadcast is the MAC address of everybody.
func broadcast() MAC { return MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

func ethernet(frame []byte, to, from MAC, kind uint16) {
	e := wire.Ethernet(frame)
	e.SetDst(to)
	e.SetSrc(from)
	e.SetType(kind)
}

// solicitedNode is the group in which an address's owner hears solicitations
// (RFC 4291, 2.7.1).
func solicitedNode(ip [16]byte) [16]byte {
	return [16]byte{0: 0xff, 1: 0x02, 11: 0x01, 12: 0xff, 13: ip[13], 14: ip[14], 15: ip[15]}
}

// MulticastMAC is the MAC address of a multicast group (RFC 1112, 6.4; RFC
// 2464, 7).
func MulticastMAC(group netip.Addr) MAC {
	if group = group.Unmap(); group.Is4() {
		ip := group.As4()
		return MAC{0x01, 0x00, 0x5e, ip[1] & 0x7f, ip[2], ip[3]}
	}
	ip := group.As16()
	return MAC{0x33, 0x33, ip[12], ip[13], ip[14], ip[15]}
}

// Answer reports whether a frame answers the question, and the answer. Nothing
// in the frame is trusted but what it says.
func (q Question) Answer(frame []byte) (MAC, bool) {
	if len(frame) < wire.EthernetLen {
		return MAC{}, false
	}
	e, body := wire.Ethernet(frame), frame[wire.EthernetLen:]
	switch {
	case e.Type() == wire.EtherTypeARP && q.Target.Unmap().Is4():
		return q.arpAnswer(body)
	case e.Type() == wire.EtherTypeIPv6 && !q.Target.Unmap().Is4():
		return q.advertisement(e.Src(), body)
	}
	return MAC{}, false
}

func (q Question) arpAnswer(body []byte) (MAC, bool) {
	if len(body) < wire.ARPLen {
		return MAC{}, false
	}
	arp := wire.ARP(body[:wire.ARPLen])
	if !arp.IsEthernetIPv4() || arp.Operation() != wire.ARPReply || arp.SenderIP() != q.Target.Unmap() {
		return MAC{}, false
	}
	return arp.SenderMAC(), true
}

// advertisement reads a neighbour advertisement, with the checks of RFC 4861,
// 7.1.2. Without the option that has it, the MAC address is the sender's.
func (q Question) advertisement(sender MAC, body []byte) (MAC, bool) {
	if len(body) < wire.IPv6Len+icmpOptions {
		return MAC{}, false
	}
	ip := wire.IPv6Header(body[:wire.IPv6Len])
	length := ip.PayloadLen()
	if ip.NextHeader() != wire.IPProtoICMPv6 || ip.HopLimit() != ndHopLimit ||
		length < icmpOptions || length > len(body)-wire.IPv6Len {
		return MAC{}, false
	}
	icmp := body[wire.IPv6Len : wire.IPv6Len+length]
	if icmp[0] != icmpAdvertisement || icmp[1] != 0 || icmpSum(ip, icmp) != 0xffff ||
		[16]byte(icmp[icmpTarget:icmpOptions]) != q.Target.As16() {
		return MAC{}, false
	}
	for options := icmp[icmpOptions:]; len(options) >= 2; {
		size := int(options[1]) * 8
		if size == 0 || size > len(options) {
			return MAC{}, false
		}
		if options[0] == optionTargetMAC {
			return MAC(options[2:optionLen]), true
		}
		options = options[size:]
	}
	return sender, true
}

// icmpSum is the one's complement sum over an ICMPv6 message and its
// pseudo-header (RFC 8200, 8.1), 0xffff when the checksum in it is right.
func icmpSum(ip wire.IPv6Header, icmp []byte) uint16 {
	sum := uint32(len(icmp)) + wire.IPProtoICMPv6
	for _, part := range [][]byte{ip.Addresses(), icmp} {
		for ; len(part) >= 2; part = part[2:] {
			sum += uint32(binary.BigEndian.Uint16(part))
		}
		if len(part) == 1 {
			sum += uint32(part[0]) << 8
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
