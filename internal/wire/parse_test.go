package wire_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var protoNames = [...]string{
	wire.ProtoOther: "other", wire.ProtoRoCEv1: "RoCEv1", wire.ProtoRoCEv2: "RoCEv2", wire.ProtoIB: "IB",
	wire.ProtoIBRaw: "raw", wire.ProtoIBLink: "link", wire.ProtoTCP: "TCP", wire.ProtoUDP: "UDP",
	wire.ProtoPause: "PAUSE", wire.ProtoPFC: "PFC", wire.ProtoARP: "ARP", wire.ProtoICMP: "ICMP",
}

var problemNames = [...]string{
	"short", "length", "tver", "pad", "opcode", "reserved", "syndrome", "payload", "fragment", "options", "deep", "version", "mad",
}

// shown writes what Parse found: protocol, headers, queue pair and PSN, payload,
// CRC offsets and problems. Parts that the frame does not have are left out.
func shown(f *wire.Frame) string {
	var b strings.Builder
	b.WriteString(protoNames[f.Proto] + ":")
	for _, h := range f.Headers() {
		b.WriteString(" " + strings.TrimPrefix(wire.SpecOf(h.ID).Name, "infiniband."))
	}
	if bth := wire.BTH(f.View(wire.HdrBTH)); len(bth) == wire.BTHLen {
		fmt.Fprintf(&b, "; qp %#x psn %d", bth.DestQP(), bth.PSN())
	}
	if f.PayloadLen != 0 || f.Pad != 0 {
		fmt.Fprintf(&b, "; payload %d", f.PayloadLen)
	}
	if f.Pad != 0 {
		fmt.Fprintf(&b, " pad %d", f.Pad)
	}
	if f.ICRC >= 0 {
		fmt.Fprintf(&b, "; icrc %d", f.ICRC)
	}
	if f.VCRC >= 0 {
		fmt.Fprintf(&b, " vcrc %d", f.VCRC)
	}
	for i, name := range problemNames {
		if f.Problems&(1<<i) != 0 {
			b.WriteString("; " + name)
		}
	}
	return b.String()
}

// The parts that the frames are built from, in hex.

func be16(n int) string { return fmt.Sprintf("%04x", n) }

func size(body string) int { return len(strings.ReplaceAll(body, " ", "")) / 2 }

func eth(etherType, body string) string { return "020000000002 020000000001" + etherType + body }

// ip4With is an IPv4 header with its version and IHL, its total length, its
// fragment word, and its options in front of the body.
func ip4With(versionIHL string, total int, fragment string, proto byte, body string) string {
	return versionIHL + "02" + be16(total) + "0001" + fragment + "40" + fmt.Sprintf("%02x", proto) + "0000 0a000001 0a000002" + body
}

func ip4(proto byte, body string) string { return ip4With("45", 20+size(body), "4000", proto, body) }

func ip6With(length int, next byte, body string) string {
	return "60200000" + be16(length) + fmt.Sprintf("%02x", next) + "40" +
		"fd000000000000000000000000000001 fd000000000000000000000000000002" + body
}

func ip6(next byte, body string) string { return ip6With(size(body), next, body) }

func udpWith(length, port int, body string) string {
	return "c000" + be16(port) + be16(length) + "0000" + body
}

func udp(port int, body string) string { return udpWith(8+size(body), port, body) }

func grhWith(version, next string, length int, body string) string {
	return version + "0000000" + be16(length) + next + "40" +
		"00000000000000000000000000000001 00000000000000000000000000000002" + body
}

func grh(body string) string { return grhWith("6", "1b", size(body), body) }

// lrh is a Local Route Header; words is what its PktLen says.
func lrh(lnh byte, words int, body string) string {
	return "000" + string('0'+lnh) + "0004" + be16(words) + "0003" + body
}

// ib is a native packet whose PktLen counts all of the body.
func ib(lnh byte, body string) string { return lrh(lnh, (8+size(body))/4, body) }

// erf is the header of an ERF record; wlen is the length that it names.
func erf(kind string, rlen, wlen int, body string) string {
	return "0000000001000000" + kind + "04" + be16(rlen) + "0000" + be16(wlen) + body
}

func vxlan(body string) string { return "0800000000000700" + body }

// bth is a BTH with a byte of flags and a reserved byte, and the rest of the
// packet without its ICRC.
func bth(op, flags, reserved, rest string) string {
	return op + flags + "ffff" + reserved + "000011 00000001" + rest + "aabbccdd"
}

func packet(op, rest string) string { return bth(op, "40", "00", rest) }

func roce(body string) string { return eth("0800", ip4(17, udp(4791, body))) }

var (
	ack   = packet("11", "1f000005")
	send  = packet("04", "41424344")
	cnp   = bth("81", "40", "40", "00000000000000000000000000000000")
	reth  = "0000000000001000 0000abcd 00000004"
	plain = "0102030405060708"
)

type frameCase struct {
	name  string
	link  wire.LinkType
	frame string
	want  string
}

func (c *frameCase) parse(t testing.TB, f *wire.Frame) {
	t.Helper()
	f.Parse(c.link, unhex(t, c.frame), 0)
}

func handBuilt() []frameCase {
	var all []frameCase
	for _, part := range [][]frameCase{rocev2Frames(), rocev1Frames(), tunnelFrames(), ipFrames(), lengthFrames(), ibFrames(), linkFrames(), transportFrames(), deepFrames()} {
		all = append(all, part...)
	}
	return all
}

func rocev2Frames() []frameCase {
	const e = wire.LinkEthernet
	return []frameCase{
		{"IPv4", e, roce(ack), "RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58"},
		{"IPv6", e, eth("86dd", ip6(17, udp(4791, send))), "RoCEv2: eth ipv6 udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 78"},
		{"FCS", e, roce(ack) + "01020304", "RoCEv2: eth ip udp bth aeth icrc eth.trailer; qp 0x11 psn 1; icrc 58"},
		{"VLAN", e, eth("8100 6064", "0800"+ip4(17, udp(4791, ack))), "RoCEv2: eth vlan ip udp bth aeth icrc; qp 0x11 psn 1; icrc 62"},
		{"QinQ", e, eth("88a8 0005 8100 0006", "0800"+ip4(17, udp(4791, cnp))), "RoCEv2: eth ieee8021ad vlan ip udp bth cnp icrc; qp 0x11 psn 1; icrc 78"},
		{"QinQ before 802.1ad", e, eth("9100 0005 8100 0006", "0800"+ip4(17, udp(4791, cnp))), "RoCEv2: eth vlan vlan ip udp bth cnp icrc; qp 0x11 psn 1; icrc 78"},
		{"other UDP port", e, eth("0800", ip4(17, udp(4790, ack))), "UDP: eth ip udp; payload 20"},
		{"from port 4791", e, eth("0800", ip4(17, "12b7 c000 001c 0000"+ack)), "UDP: eth ip udp; payload 20"},
		{"TCP port 4791", e, eth("0800", ip4(6, "c000 12b7 00000001 00000000 5018 2000 0000 0000"+plain)), "TCP: eth ip tcp tcp.payload; payload 8"},
	}
}

func rocev1Frames() []frameCase {
	const e = wire.LinkEthernet
	padded := grh(bth("04", "50", "00", "41424300"))
	return []frameCase{
		{"RoCEv1", e, eth("8915", padded), "RoCEv1: eth grh bth payload pad icrc; qp 0x11 psn 1; payload 3 pad 1; icrc 70"},
		{"RoCEv1 in a VLAN", e, eth("8100 6064", "8915"+padded), "RoCEv1: eth vlan grh bth payload pad icrc; qp 0x11 psn 1; payload 3 pad 1; icrc 74"},
		{"RoCEv1 with FCS", e, eth("8915", padded+"01020304"), "RoCEv1: eth grh bth payload pad icrc eth.trailer; qp 0x11 psn 1; payload 3 pad 1; icrc 70"},
		{"PayLen beyond the frame", e, eth("8915", grhWith("6", "1b", 24, send)), "RoCEv1: eth grh bth payload icrc; qp 0x11 psn 1; payload 8; icrc 74; length"},
		{"PayLen of the largest", e, eth("8915", grhWith("6", "1b", 65535, send)), "RoCEv1: eth grh bth payload icrc; qp 0x11 psn 1; payload 65519; icrc 65585; length"},
		{"PayLen without room for a BTH", e, eth("8915", grhWith("6", "1b", 15, send)), "RoCEv1: eth grh bth eth.trailer; short"},
		{"PayLen of 0", e, eth("8915", grhWith("6", "1b", 0, send)), "RoCEv1: eth grh eth.trailer; short"},
		{"other NxtHdr", e, eth("8915", grhWith("6", "11", 20, send)), "RoCEv1: eth grh payload; payload 20; version"},
		{"GRH version 4", e, eth("8915", grhWith("4", "1b", 20, send)), "RoCEv1: eth grh payload; payload 20; version"},
	}
}

func tunnelFrames() []frameCase {
	const e = wire.LinkEthernet
	inner := eth("0800", ip4(17, udp(4791, cnp)))
	innerIP := ip4(17, udp(4791, cnp))
	tail := " ip udp bth cnp icrc; qp 0x11 psn 1; icrc "
	gre := func(body string) string { return eth("0800", ip4(47, body)) }
	return []frameCase{
		{"MPLS", e, eth("8847", "00010140"+innerIP), "RoCEv2: eth mpls" + tail + "74"},
		{"MPLS, two labels", e, eth("8848", "00010040 00020140"+innerIP), "RoCEv2: eth mpls mpls" + tail + "78"},
		{"MPLS over something else", e, eth("8847", "00010140 00000000"+plain), "other: eth mpls"},
		{"GRE", e, gre("0000 0800" + innerIP), "RoCEv2: eth ip gre" + tail + "94"},
		{"GRE with key and sequence", e, gre("3000 0800 00000007 00000001" + innerIP), "RoCEv2: eth ip gre" + tail + "102"},
		{"GRE with Ethernet", e, gre("0000 6558" + inner), "RoCEv2: eth ip gre eth" + tail + "108"},
		{"GRE version 1", e, gre("0001 0800" + innerIP), "other: eth ip gre; version"},
		{"GRE cut by the IP length", e, gre("b000 0800 0000"), "other: eth ip gre; short"},
		{"ERSPAN I", e, gre("0000 88be" + inner), "RoCEv2: eth ip gre eth" + tail + "108"},
		{"ERSPAN II", e, gre("1000 88be 00000001 1000000100000000" + inner), "RoCEv2: eth ip gre erspan eth" + tail + "120"},
		{"ERSPAN III", e, gre("1000 22eb 00000001 200000010000000000000000" + inner), "RoCEv2: eth ip gre erspan eth" + tail + "124"},
		{"ERSPAN III with subheader", e, gre("1000 22eb 00000001 200000010000000000000001 0000000000000000" + inner), "RoCEv2: eth ip gre erspan eth" + tail + "132"},
		{"ERSPAN III with IP", e, gre("1000 22eb 00000001 200000010000000000000800" + innerIP), "RoCEv2: eth ip gre erspan" + tail + "110"},
		{"VXLAN", e, eth("0800", ip4(17, udp(4789, vxlan(inner)))), "RoCEv2: eth ip udp vxlan eth" + tail + "120"},
		{"VXLAN over IPv6", e, eth("86dd", ip6(17, udp(4789, vxlan(inner)))), "RoCEv2: eth ipv6 udp vxlan eth" + tail + "140"},
		{"RoCEv1 in VXLAN", e, eth("0800", ip4(17, udp(4789, vxlan(eth("8915", grh(ack)))))), "RoCEv1: eth ip udp vxlan eth grh bth aeth icrc; qp 0x11 psn 1; icrc 120"},
		{"Geneve with options", e, eth("0800", ip4(17, udp(6081, "0200 6558 00000700 0102030405060708"+inner))), "RoCEv2: eth ip udp geneve eth" + tail + "128"},
		{"Geneve with IP", e, eth("0800", ip4(17, udp(6081, "0000 0800 00000700"+innerIP))), "RoCEv2: eth ip udp geneve" + tail + "106"},
		{"Geneve version 1", e, eth("0800", ip4(17, udp(6081, "4000 6558 00000700"+inner))), "UDP: eth ip udp geneve; payload 82; version"},
		{"Geneve options beyond the datagram", e, eth("0800", ip4(17, udp(6081, "3f00 6558 00000700"+plain))), "UDP: eth ip udp geneve; payload 16; short"},
		{"IPv4 in IPv4", e, eth("0800", ip4(4, innerIP)), "RoCEv2: eth ip" + tail + "90"},
		{"IPv6 in IPv4", e, eth("0800", ip4(41, ip6(17, udp(4791, ack)))), "RoCEv2: eth ip ipv6 udp bth aeth icrc; qp 0x11 psn 1; icrc 98"},
		{"IPv4 in IPv6", e, eth("86dd", ip6(4, innerIP)), "RoCEv2: eth ipv6" + tail + "110"},
		{"inner packet of a first fragment", e, eth("0800", ip4With("45", 72, "2000", 4, innerIP)), "RoCEv2: eth ip ip udp bth cnp payload; qp 0x11 psn 1; payload 4; fragment"},
	}
}

func ipFrames() []frameCase {
	const e = wire.LinkEthernet
	datagram := udp(4791, send)
	return []frameCase{
		{"IPv4 options", e, eth("0800", ip4With("46", 52, "4000", 17, "01010101"+datagram)), "RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 62; options"},
		{"IPv4 IHL of 4", e, eth("0800", ip4With("44", 48, "4000", 17, datagram)), "other: eth ip; short"},
		{"IPv4 IHL beyond the frame", e, eth("0800", ip4With("4f", 48, "4000", 17, datagram)), "other: eth ip; short"},
		{"IPv4 of version 5", e, eth("0800", ip4With("55", 48, "4000", 17, datagram)), "other: eth payload; payload 48; version"},
		{"IPv6 of version 4", e, eth("86dd", ip4(17, datagram)), "other: eth payload; payload 48; version"},
		{"first fragment", e, eth("0800", ip4With("45", 48, "2000", 17, udpWith(1000, 4791, bth("04", "70", "00", "41424344")))), "RoCEv2: eth ip udp bth payload; qp 0x11 psn 1; payload 8; fragment"},
		{"later fragment", e, eth("0800", ip4With("45", 48, "2001", 17, datagram)), "other: eth ip; fragment"},
		{"last fragment", e, eth("0800", ip4With("45", 48, "0001", 17, datagram)+"0000"), "other: eth ip eth.trailer; fragment"},
		{"hop-by-hop options", e, eth("86dd", ip6(0, "1100010400000000"+datagram)), "RoCEv2: eth ipv6 ipv6.hopopts udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 86; options"},
		{"long destination options", e, eth("86dd", ip6(60, "1101010c000000000000000000000000"+datagram)), "RoCEv2: eth ipv6 ipv6.dstopts udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 94; options"},
		{"routing header", e, eth("86dd", ip6(43, "1102020000000000 fd000000000000000000000000000003"+datagram)), "RoCEv2: eth ipv6 ipv6.routing udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 102; options"},
		{"all extension headers", e, eth("86dd", ip6(0, "3c00010400000000 2b00010400000000 1100000000000000"+datagram)), "RoCEv2: eth ipv6 ipv6.hopopts ipv6.dstopts ipv6.routing udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 102; options"},
		{"extension header beyond the packet", e, eth("86dd", ip6(0, "11ff010400000000"+datagram)), "other: eth ipv6 ipv6.hopopts; short"},
		{"first IPv6 fragment", e, eth("86dd", ip6(44, "1100000100000007"+datagram)), "RoCEv2: eth ipv6 ipv6.fraghdr udp bth payload; qp 0x11 psn 1; payload 8; fragment; options"},
		{"later IPv6 fragment", e, eth("86dd", ip6(44, "1100000900000007"+datagram)), "other: eth ipv6 ipv6.fraghdr; fragment"},
		{"atomic IPv6 fragment", e, eth("86dd", ip6(44, "1100000000000007"+datagram)), "RoCEv2: eth ipv6 ipv6.fraghdr udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 86; options"},
		{"no next header", e, eth("86dd", ip6(59, "")), "other: eth ipv6"},
		{"ICMP", e, eth("0800", ip4(1, plain)), "ICMP: eth ip"},
		{"ICMPv6", e, eth("86dd", ip6(58, plain)), "ICMP: eth ipv6"},
		{"other IP protocol, padded", e, eth("0800", ip4(50, plain)+"0000"), "other: eth ip eth.trailer"},
		{"TCP without payload", e, eth("0800", ip4(6, "c000 1e61 00000001 00000000 5010 2000 0000 0000")), "TCP: eth ip tcp"},
		{"TCP with options", e, eth("0800", ip4(6, "c000 1e61 00000001 00000000 6018 2000 0000 0000 01010101"+plain)), "TCP: eth ip tcp tcp.payload; payload 8"},
		{"TCP data offset beyond the segment", e, eth("0800", ip4(6, "c000 1e61 00000001 00000000 f018 2000 0000 0000"+plain)), "TCP: eth ip tcp; short"},
		{"TCP data offset of 4", e, eth("0800", ip4(6, "c000 1e61 00000001 00000000 4018 2000 0000 0000"+plain)), "TCP: eth ip tcp; short"},
	}
}

func lengthFrames() []frameCase {
	const e = wire.LinkEthernet
	total := func(n int) string { return eth("0800", ip4With("45", n, "4000", 17, udp(4791, send))) }
	udpLen := func(n int) string { return eth("0800", ip4(17, udpWith(n, 4791, send))) }
	whole := "RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 58"
	return []frameCase{
		{"total length of 0", e, total(0), whole + "; length"},
		{"total length of 10", e, total(10), "other: eth ip; length"},
		{"total length of the header", e, total(20), "other: eth ip eth.trailer; short"},
		{"total length beyond the frame", e, total(1000), whole + "; length"},
		{"total length one short", e, total(47), "RoCEv2: eth ip udp bth payload icrc eth.trailer; qp 0x11 psn 1; payload 3; icrc 57; length"},
		{"UDP length shorter", e, udpLen(24), "RoCEv2: eth ip udp bth icrc eth.trailer; qp 0x11 psn 1; icrc 54; length"},
		{"UDP length longer", e, udpLen(40), whole + "; length"},
		{"UDP length of the largest", e, udpLen(65535), whole + "; length"},
		{"UDP length of 0", e, udpLen(0), whole + "; length"},
		{"UDP length of 7", e, udpLen(7), whole + "; length"},
		{"UDP length of 8", e, udpLen(8), "RoCEv2: eth ip udp eth.trailer; short; length"},
		{"both lengths beyond the frame", e, eth("0800", ip4With("45", 1000, "4000", 17, udpWith(980, 4791, send))), "RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 956; icrc 1010; length"},
		{"no room for a BTH", e, roce("0440ffff000000110000"), "RoCEv2: eth ip udp bth; short"},
		{"no room for any of a BTH", e, roce("044000"), "RoCEv2: eth ip udp; short"},
		{"IPv6 length of 0", e, eth("86dd", ip6With(0, 17, udp(4791, send))), "RoCEv2: eth ipv6 udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 78; length"},
		{"IPv6 length beyond the frame", e, eth("86dd", ip6With(1000, 17, udpWith(1000, 4791, send))), "RoCEv2: eth ipv6 udp bth payload icrc; qp 0x11 psn 1; payload 976; icrc 1050; length"},
		{"no room for a RETH", e, roce(packet("0a", "0000000000001000")), "RoCEv2: eth ip udp bth reth icrc; qp 0x11 psn 1; icrc 62; short"},
		{"no room for any of a RETH", e, roce(packet("0a", "")), "RoCEv2: eth ip udp bth icrc; qp 0x11 psn 1; icrc 54; short"},
		{"no room behind a RETH", e, roce(packet("0b", reth)), "RoCEv2: eth ip udp bth reth icrc; qp 0x11 psn 1; icrc 70; short"},
		{"no room for all of a CNP", e, roce(packet("81", "00000000000000")), "RoCEv2: eth ip udp bth cnp icrc; qp 0x11 psn 1; icrc 61; short"},
	}
}

func ibFrames() []frameCase {
	const l = wire.LinkIB
	raw := func(etherType, body string) string { return ib(0, "0000"+etherType+body) }
	return []frameCase{
		{"local", l, ib(2, send) + "5566", "IB: lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 4; icrc 24 vcrc 28"},
		{"local without VCRC", l, ib(2, send), "IB: lrh bth payload icrc; qp 0x11 psn 1; payload 4; icrc 24"},
		{"local, VCRC cut in half", l, ib(2, send) + "55", "IB: lrh bth payload icrc eth.trailer; qp 0x11 psn 1; payload 4; icrc 24"},
		{"bytes behind the VCRC", l, ib(2, send) + "5566 0102", "IB: lrh bth payload icrc vcrc eth.trailer; qp 0x11 psn 1; payload 4; icrc 24 vcrc 28"},
		{"global", l, ib(3, grh(ack)) + "5566", "IB: lrh grh bth aeth icrc vcrc; qp 0x11 psn 1; icrc 64 vcrc 68"},
		{"global without VCRC", l, ib(3, grh(ack)), "IB: lrh grh bth aeth icrc; qp 0x11 psn 1; icrc 64"},
		{"PayLen is not PktLen", l, ib(3, grhWith("6", "1b", 24, ack)) + "5566", "IB: lrh grh bth aeth icrc vcrc; qp 0x11 psn 1; icrc 64 vcrc 68; length"},
		{"global with other NxtHdr", l, ib(3, grhWith("6", "3b", 20, ack)) + "5566", "IB: lrh grh payload vcrc; payload 20 vcrc 68; version"},
		{"PktLen beyond the frame", l, lrh(2, 100, send) + "5566", "IB: lrh bth payload icrc; qp 0x11 psn 1; payload 376; icrc 396; length"},
		{"PktLen of the largest", l, lrh(2, 2047, send) + "5566", "IB: lrh bth payload icrc; qp 0x11 psn 1; payload 8164; icrc 8184; length"},
		{"PktLen without room for a BTH", l, lrh(2, 5, send) + "5566", "IB: lrh bth vcrc eth.trailer vcrc 20; short"},
		{"PktLen of 2", l, lrh(2, 2, send) + "5566", "IB: lrh vcrc eth.trailer vcrc 8; short"},
		{"PktLen of 1", l, lrh(2, 1, send) + "5566", "IB: lrh vcrc 4; short"},
		{"PktLen of 0", l, lrh(2, 0, send) + "5566", "IB: lrh vcrc 0; short"},
		{"raw with IPv6", l, raw("86dd", ip6(59, "")) + "5566", "raw: lrh rwh ipv6 vcrc vcrc 52"},
		{"raw with IPv4 and UDP", l, raw("0800", ip4(17, udp(9, plain))) + "5566", "UDP: lrh rwh ip udp vcrc; payload 8 vcrc 48"},
		{"raw with another type", l, raw("1234", plain) + "5566 0102", "raw: lrh rwh vcrc eth.trailer vcrc 20"},
		{"raw without room for a RWH", l, lrh(0, 2, plain), "raw: lrh vcrc eth.trailer vcrc 8; short"},
		{"raw IPv6", l, ib(1, ip6(59, "")) + "5566", "raw: lrh ipv6 vcrc vcrc 48"},
		{"shorter than a LRH", l, "000200040007", "other: lrh; short"},
	}
}

func linkFrames() []frameCase {
	const fc = "01231456abcd"
	ipoib := "08000000" + ip4(1, plain)
	gid := "00000055 ff12401bffff000000000000ffffffff" // QPN and multicast GID
	zeros := strings.Repeat("00", 20)
	return []frameCase{
		{"SLL", wire.LinkSLL, "0000 0001 0006 0200000000010000 0800" + ip4(17, udp(4791, ack)), "RoCEv2: sll ip udp bth aeth icrc; qp 0x11 psn 1; icrc 60"},
		{"SLL2", wire.LinkSLL2, "86dd 0000 00000002 0001 00 06 0200000000010000" + ip6(17, udp(4791, ack)), "RoCEv2: sll ipv6 udp bth aeth icrc; qp 0x11 psn 1; icrc 84"},
		{"SLL with RoCEv1", wire.LinkSLL, "0000 0001 0006 0200000000010000 8915" + grh(ack), "RoCEv1: sll grh bth aeth icrc; qp 0x11 psn 1; icrc 72"},
		{"ERF InfiniBand", wire.LinkERF, erf("15", 46, 30, ib(2, send)+"5566"), "IB: erf lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 4; icrc 40 vcrc 44"},
		{"ERF InfiniBand, record padded", wire.LinkERF, erf("15", 48, 30, ib(2, send)+"5566 0000"), "IB: erf lrh bth payload icrc vcrc eth.trailer; qp 0x11 psn 1; payload 4; icrc 40 vcrc 44"},
		{"ERF InfiniBand without VCRC", wire.LinkERF, erf("15", 44, 28, ib(2, send)), "IB: erf lrh bth payload icrc; qp 0x11 psn 1; payload 4; icrc 40"},
		{"ERF InfiniBand without VCRC, padded", wire.LinkERF, erf("15", 48, 28, ib(2, send)+"00000000"), "IB: erf lrh bth payload icrc eth.trailer; qp 0x11 psn 1; payload 4; icrc 40"},
		{"ERF with extension headers", wire.LinkERF, erf("95", 62, 30, "8300000000000001 0400000000000002"+ib(2, send)+"5566"), "IB: erf erf.ehdr erf.ehdr lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 4; icrc 56 vcrc 60"},
		{"ERF cut by the card", wire.LinkERF, erf("15", 40, 286, lrh(2, 71, "0440ffff00000011000000014142434445464748")), "IB: erf lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 260; icrc 296 vcrc 300"},
		{"ERF flow control", wire.LinkERF, erf("19", 22, 6, fc), "link: erf infiniband_link"},
		{"ERF flow control, record padded", wire.LinkERF, erf("19", 24, 6, fc+"0000"), "link: erf infiniband_link eth.trailer"},
		{"ERF flow control too short", wire.LinkERF, erf("19", 20, 4, fc[:8]), "link: erf infiniband_link; short"},
		{"ERF Ethernet", wire.LinkERF, erf("02", 80, 62, "0000"+roce(ack)), "RoCEv2: erf eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 76"},
		{"ERF Ethernet whose length counts the pad", wire.LinkERF, erf("02", 80, 64, "0000"+roce(ack)), "RoCEv2: erf eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 76"},
		{"ERF Ethernet with extension header and FCS", wire.LinkERF, erf("82", 92, 66, "0400000000000002 0000"+roce(ack)+"01020304"), "RoCEv2: erf erf.ehdr eth ip udp bth aeth icrc eth.trailer; qp 0x11 psn 1; icrc 84"},
		{"ERF Ethernet cut by the card", wire.LinkERF, erf("02", 80, 1098, "0000"+eth("0800", ip4With("45", 1084, "4000", 17, udpWith(1064, 4791, send)))), "RoCEv2: erf eth ip udp bth payload icrc; qp 0x11 psn 1; payload 1040; icrc 1112"},
		{"ERF of another type", wire.LinkERF, erf("01", 24, 8, plain), "other: erf"},
		{"242 with GRH", wire.LinkIPoIB, grhWith("6", "1b", 32, ipoib), "ICMP: grh ipoib ip"},
		{"242 with zeros and address", wire.LinkIPoIB, zeros + gid + ipoib, "ICMP: ipoib.daddr ipoib ip"},
		{"242 with the address alone", wire.LinkIPoIB, gid + ipoib, "ICMP: ipoib.daddr ipoib ip"},
		{"242 with ARP", wire.LinkIPoIB, gid + "08060000" + "0020 0800 14 04 0001" + gid + "0a000001" + gid + "0a000002", "ARP: ipoib.daddr ipoib arp"},
		{"242 with GRH and an EtherType in its SGID", wire.LinkIPoIB, "60000000 0020 1b40 fe80000000000000 00000000 08000000 00000000000000000000000000000002" + ipoib, "ICMP: grh ipoib ip"},
		{"242 with another type", wire.LinkIPoIB, zeros + gid + "12340000" + plain, "other: ipoib.daddr ipoib"},
		{"raw IP, 4", wire.LinkRawIP, ip4(17, udp(4791, ack)), "RoCEv2: ip udp bth aeth icrc; qp 0x11 psn 1; icrc 44"},
		{"raw IP, 6", wire.LinkRawIP, ip6(17, udp(4791, ack)), "RoCEv2: ipv6 udp bth aeth icrc; qp 0x11 psn 1; icrc 64"},
		{"link type IPv4", wire.LinkIPv4, ip4(17, udp(4791, ack)), "RoCEv2: ip udp bth aeth icrc; qp 0x11 psn 1; icrc 44"},
		{"link type IPv6", wire.LinkIPv6, ip6(17, udp(4791, ack)), "RoCEv2: ipv6 udp bth aeth icrc; qp 0x11 psn 1; icrc 64"},
		{"raw IP of version 5", wire.LinkRawIP, "5500", "other:"},
		{"raw IP of no bytes", wire.LinkRawIP, "", "other:"},
		{"unknown link type", 12345, roce(ack), "other:"},
		{"PAUSE", wire.LinkEthernet, eth("8808", "0001 ffff"), "PAUSE: eth macc"},
		{"PFC", wire.LinkEthernet, eth("8808", "0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000"), "PFC: eth macc"},
		{"PFC without its times", wire.LinkEthernet, eth("8808", "0101 0008 0000"), "PFC: eth macc; short"},
		{"other MAC Control", wire.LinkEthernet, eth("8808", "0002 0000"), "other: eth macc"},
		{"ARP", wire.LinkEthernet, eth("0806", "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"), "ARP: eth arp"},
		{"other EtherType", wire.LinkEthernet, eth("88cc", plain), "other: eth"},
		{"LLC", wire.LinkEthernet, eth("0026", "424203"), "other: eth"},
		{"no bytes", wire.LinkEthernet, "", "other:; short"},
	}
}

func transportFrames() []frameCase {
	const e = wire.LinkEthernet
	found := "RoCEv2: eth ip udp bth"
	at := " icrc; qp 0x11 psn 1"
	return []frameCase{
		{"payload behind an ACK", e, roce(packet("11", "1f000005 41424344")), found + " aeth payload" + at + "; payload 4; icrc 62; payload"},
		{"payload behind a CNP", e, roce(packet("81", "00000000000000000000000000000000 41424344")), found + " cnp payload" + at + "; payload 4; icrc 74; payload"},
		{"PadCnt larger than the payload", e, roce(bth("04", "70", "00", "")), found + at + "; icrc 54; pad"},
		{"PadCnt larger by two", e, roce(bth("04", "70", "00", "00")), found + " pad" + at + "; payload 0 pad 1; icrc 55; pad"},
		{"PadCnt of all there is", e, roce(bth("04", "70", "00", "000000")), found + " pad" + at + "; payload 0 pad 3; icrc 57"},
		{"TVer of 1", e, roce(bth("04", "41", "00", "41424344")), found + " payload" + at + "; payload 4; icrc 58; tver"},
		{"FECN and BECN", e, roce(bth("04", "40", "c0", "41424344")), found + " payload" + at + "; payload 4; icrc 58"},
		{"reserved bits beside FECN", e, roce(bth("04", "40", "01", "41424344")), found + " payload" + at + "; payload 4; icrc 58; reserved"},
		{"reserved bits beside AckReq", e, roce("0440ffff00000011 01000001 41424344 aabbccdd"), found + " payload" + at + "; payload 4; icrc 58; reserved"},
		{"AckReq", e, roce("0440ffff00000011 80000001 41424344 aabbccdd"), found + " payload" + at + "; payload 4; icrc 58"},
		{"reserved byte of a DETH", e, roce(packet("64", "00001234 01000055 41424344")), found + " deth payload" + at + "; payload 4; icrc 66; reserved"},
		{"reserved byte of a RDETH", e, roce(packet("51", "01000055 1f000005")), found + " rdeth aeth" + at + "; icrc 62; reserved"},
		{"reserved byte of a XRCETH", e, roce(packet("a4", "01000077")), found + " xrceth" + at + "; icrc 58; reserved"},
		{"FLUSH of a region", e, roce(packet("1c", "00000011"+reth)), found + " feth reth" + at + "; icrc 74"},
		{"reserved bit of a FETH", e, roce(packet("1c", "00000051"+reth)), found + " feth reth" + at + "; icrc 74; reserved"},
		{"reserved placement of a FETH", e, roce(packet("1c", "00000005"+reth)), found + " feth reth" + at + "; icrc 74; reserved"},
		{"undefined NAK code", e, roce(packet("11", "65000005")), found + " aeth" + at + "; icrc 58; syndrome"},
		{"reserved syndrome", e, roce(packet("11", "40000005")), found + " aeth" + at + "; icrc 58; syndrome"},
		{"syndrome with bit 7", e, roce(packet("11", "80000005")), found + " aeth" + at + "; icrc 58; syndrome"},
		{"RNR NAK", e, roce(packet("11", "2e000005")), found + " aeth" + at + "; icrc 58"},
		// cases/13 of the conformance cases: opcodes without a header stack.
		{"opcode 0xff", e, roce(packet("ff", "")), found + at + "; icrc 54; opcode"},
		{"opcode 0x36, UC with an RC operation", e, roce(packet("36", plain)), found + " payload" + at + "; payload 8; icrc 62; opcode"},
		{"opcode 0xd5, a manufacturer's", e, roce(packet("d5", plain)), found + " payload" + at + "; payload 8; icrc 62; opcode"},
		{"datagram shorter than a MAD", e, roce("6440ffff00000001 00000001 80010000 00000001" + plain + "aabbccdd"), found + " deth mad.payload icrc; qp 0x1 psn 1; payload 8; icrc 70; mad"},
		{"RC SEND to QP 1", e, roce("0440ffff00000001 00000001" + plain + "aabbccdd"), found + " payload icrc; qp 0x1 psn 1; payload 8; icrc 62"},
	}
}

func deepFrames() []frameCase {
	const e = wire.LinkEthernet
	inner := roce(ack)
	for range 9 { // each level has four headers; with the four of the ACK's frame there are more than 32
		inner = eth("0800", ip4(17, udp(4789, vxlan(inner))))
	}
	levels := strings.Repeat(" eth ip udp vxlan", 8)
	return []frameCase{
		{"40 VLAN tags", e, eth("8100"+strings.Repeat("0001 8100", 40), ""), "other: eth" + strings.Repeat(" vlan", 31) + "; deep"},
		{"40 MPLS labels", e, eth("8847", strings.Repeat("00010040", 40)), "other: eth" + strings.Repeat(" mpls", 31) + "; deep"},
		{"9 VXLAN tunnels", e, inner, "UDP:" + levels + "; payload 120; deep"},
		{"no room for the last headers", e, eth("8100"+strings.Repeat("0001 8100", 26), "0001 0800"+ip4(17, udp(4791, send))), "RoCEv2: eth" + strings.Repeat(" vlan", 27) + " ip udp bth payload; qp 0x11 psn 1; payload 4; icrc 166; deep"},
	}
}

func TestParseOfHandBuiltFrames(t *testing.T) {
	var f wire.Frame
	for _, c := range handBuilt() {
		c.parse(t, &f)
		if got := shown(&f); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
