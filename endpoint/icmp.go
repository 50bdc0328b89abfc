package endpoint

import (
	"encoding/binary"
	"net/netip"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/wire"
)

// Messages of ICMP (RFC 792), of ICMPv6 (RFC 4443) and of neighbour discovery
// (RFC 4861, 4).
const (
	icmpEchoReply   = 0
	icmpEchoRequest = 8

	icmpv6EchoRequest   = 128
	icmpv6EchoReply     = 129
	icmpv6Solicitation  = 135
	icmpv6Advertisement = 136

	icmpChecksum = 2
	icmpEchoLen  = 8
	ndTarget     = 8
	ndOptions    = 24
	ndHopLimit   = 255

	ndOptionTargetMAC = 2
	ndOptionLen       = 8

	ndSolicited = 0x40
	ndOverride  = 0x20
)

// icmp answers an echo request.
func (d *Device) icmp(from host.MAC, body []byte) {
	if len(body) < wire.IPv4MinLen {
		d.stats.Malformed++
		return
	}
	ip := wire.IPv4Header(body[:wire.IPv4MinLen])
	total := ip.TotalLen()
	if ip.HeaderLen() != wire.IPv4MinLen || total > len(body) || total < wire.IPv4MinLen+icmpEchoLen || ip.IsFragment() {
		d.stats.Malformed++
		return
	}
	message := body[wire.IPv4MinLen:total]
	if d.options.NoICMP || ip.Protocol() != wire.IPProtoICMP || message[0] != icmpEchoRequest ||
		!d.owns(ip.Dst()) || onesSum(0, message) != 0xFFFF {
		d.stats.NotOurs++
		return
	}
	frame := d.answerTo(from, wire.EtherTypeIPv4, body[:total])
	ip = wire.IPv4Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
	src, dst := ip.Src(), ip.Dst()
	ip.SetSrc(dst.As4())
	ip.SetDst(src.As4())
	ip.SetTTL(defaultHopLimit)
	ip.SetChecksum(wire.IPv4Checksum(ip))
	message = frame[wire.EthernetLen+wire.IPv4MinLen:]
	message[0] = icmpEchoReply
	setChecksum(message, 0)
	d.stats.EchoAnswers++
	d.send(frame)
}

// answerTo is a frame to a neighbour with a copy of what it has sent.
func (d *Device) answerTo(to host.MAC, kind uint16, body []byte) []byte {
	frame := append(make([]byte, wire.EthernetLen, wire.EthernetLen+len(body)), body...)
	eth := wire.Ethernet(frame)
	eth.SetDst(to)
	eth.SetType(kind)
	return frame
}

// icmpv6 answers echo requests and neighbour solicitations, and reads
// advertisements.
func (d *Device) icmpv6(from host.MAC, body []byte) {
	if len(body) < wire.IPv6Len {
		d.stats.Malformed++
		return
	}
	ip := wire.IPv6Header(body[:wire.IPv6Len])
	end := wire.IPv6Len + ip.PayloadLen()
	switch {
	case ip.NextHeader() != wire.IPProtoICMPv6: // of multicast membership, with an option before
		d.stats.NotOurs++
		return
	case end > len(body), ip.PayloadLen() < icmpEchoLen:
		d.stats.Malformed++
		return
	}
	message := body[wire.IPv6Len:end]
	if onesSum(pseudoHeader(ip, message), message) != 0xFFFF {
		d.stats.Malformed++
		return
	}
	switch message[0] {
	case icmpv6EchoRequest:
		if !d.options.NoICMP && d.owns(ip.Dst()) {
			d.echoV6(from, body[:end])
		}
	case icmpv6Solicitation:
		d.solicitation(from, ip, message)
	case icmpv6Advertisement:
		d.advertisement(from, ip, message)
	}
}

func (d *Device) echoV6(from host.MAC, body []byte) {
	frame := d.answerTo(from, wire.EtherTypeIPv6, body)
	ip := wire.IPv6Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv6Len])
	src, dst := ip.Src(), ip.Dst()
	ip.SetSrc(dst.As16())
	ip.SetDst(src.As16())
	ip.SetHopLimit(defaultHopLimit)
	message := frame[wire.EthernetLen+wire.IPv6Len:]
	message[0] = icmpv6EchoReply
	setChecksum(message, pseudoHeader(ip, message))
	d.stats.EchoAnswers++
	d.send(frame)
}

// advertisement reads the answer to a question of the device's, or that a
// neighbour has moved. One without the flag "override" tells only what was not
// known (RFC 4861, 7.2.5).
func (d *Device) advertisement(from host.MAC, ip wire.IPv6Header, message []byte) {
	if len(message) < ndOptions {
		d.stats.Malformed++
		return
	}
	target := netip.AddrFrom16([16]byte(message[ndTarget:ndOptions]))
	n := d.neighbours[target]
	if n == nil || n.told && message[4]&ndOverride == 0 {
		return
	}
	frame := d.answerTo(from, wire.EtherTypeIPv6, append(ip[:len(ip):len(ip)], message...))
	wire.Ethernet(frame).SetSrc(from)
	if mac, ok := (host.Question{Target: target}).Answer(frame); ok {
		d.learn(target, mac)
	}
}

// solicitation answers one for an address of the device's (RFC 4861, 7.1.1 and
// 7.2.4). A node that looks for duplicates has no address yet: all nodes get
// the answer.
func (d *Device) solicitation(from host.MAC, ip wire.IPv6Header, message []byte) {
	if len(message) < ndOptions || ip.HopLimit() != ndHopLimit || message[1] != 0 {
		d.stats.Malformed++
		return
	}
	target := netip.AddrFrom16([16]byte(message[ndTarget:ndOptions]))
	if !d.owns(target) {
		d.stats.NotOurs++
		return
	}
	to, toMAC, flags := ip.Src(), from, byte(ndSolicited|ndOverride)
	if to.IsUnspecified() {
		to, flags = netip.IPv6LinkLocalAllNodes(), ndOverride
		toMAC = host.MulticastMAC(to)
	} else {
		d.learn(to, from)
	}
	frame := make([]byte, wire.EthernetLen+wire.IPv6Len+ndOptions+ndOptionLen)
	eth := wire.Ethernet(frame)
	eth.SetDst(toMAC)
	eth.SetType(wire.EtherTypeIPv6)
	reply := wire.IPv6Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv6Len])
	reply.SetVersion(6)
	reply.SetPayloadLen(ndOptions + ndOptionLen)
	reply.SetNextHeader(wire.IPProtoICMPv6)
	reply.SetHopLimit(ndHopLimit)
	reply.SetSrc(target.As16())
	reply.SetDst(to.As16())
	answer := frame[wire.EthernetLen+wire.IPv6Len:]
	answer[0], answer[4] = icmpv6Advertisement, flags
	copy(answer[ndTarget:], message[ndTarget:ndOptions])
	answer[ndOptions], answer[ndOptions+1] = ndOptionTargetMAC, ndOptionLen/8
	copy(answer[ndOptions+2:], d.mac[:])
	setChecksum(answer, pseudoHeader(reply, answer))
	d.stats.NeighbourAnswers++
	d.send(frame)
}

// setChecksum completes an ICMP message. sum is that of its pseudo-header.
func setChecksum(message []byte, sum uint32) {
	binary.BigEndian.PutUint16(message[icmpChecksum:], 0)
	binary.BigEndian.PutUint16(message[icmpChecksum:], ^onesSum(sum, message))
}

// pseudoHeader is the sum of an ICMPv6 message's (RFC 8200, 8.1).
func pseudoHeader(ip wire.IPv6Header, message []byte) uint32 {
	return uint32(onesSum(uint32(len(message))+wire.IPProtoICMPv6, ip.Addresses()))
}

// onesSum adds the words of b to a one's complement sum (RFC 1071, 1).
func onesSum(sum uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return uint16(sum)
}
