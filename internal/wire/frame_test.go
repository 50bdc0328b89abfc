package wire_test

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestRoCEPortIsOneMorePort(t *testing.T) {
	frame := func(port int) []byte { return unhex(t, eth("0800", ip4(17, udp(port, ack)))) }
	for _, tc := range []struct {
		extra uint16
		port  int
		want  wire.Proto
	}{
		{0, 4791, wire.ProtoRoCEv2},
		{0, 18515, wire.ProtoUDP},
		{0, 0, wire.ProtoUDP},
		{18515, 18515, wire.ProtoRoCEv2},
		{18515, 4791, wire.ProtoRoCEv2},
		{18515, 18516, wire.ProtoUDP},
		{wire.PortVXLAN, wire.PortVXLAN, wire.ProtoRoCEv2},
	} {
		f := wire.Frame{RoCEPort: tc.extra}
		f.Parse(wire.LinkEthernet, frame(tc.port), 0)
		if f.Proto != tc.want || f.RoCEPort != tc.extra {
			t.Errorf("port %d with %d added: %s, RoCEPort %d", tc.port, tc.extra, shown(&f), f.RoCEPort)
		}
	}
}

func TestOffsetsOfTheInnermostHeaders(t *testing.T) {
	inner := ip4(17, udp(4791, ack))
	for _, tc := range []struct {
		name, frame string
		link        wire.LinkType
		want        [4]int // Net, L4, BTH, End
	}{
		{"RoCEv2 over IPv4", roce(ack) + "0000", wire.LinkEthernet, [4]int{14, 34, 42, 62}},
		{"RoCEv2 over IPv6", eth("86dd", ip6(17, udp(4791, ack))), wire.LinkEthernet, [4]int{14, 54, 62, 82}},
		{"RoCEv2 behind IPv4 options", eth("0800", ip4With("46", 52, "4000", 17, "01010101"+udp(4791, ack))), wire.LinkEthernet, [4]int{14, 38, 46, 66}},
		{"RoCEv2 in VXLAN", eth("0800", ip4(17, udp(4789, vxlan(eth("0800", inner))))) + "0000", wire.LinkEthernet, [4]int{64, 84, 92, 112}},
		{"RoCEv2 in GRE", eth("0800", ip4(47, "00000800"+inner)), wire.LinkEthernet, [4]int{38, 58, 66, 86}},
		{"RoCEv1", eth("8915", grh(ack)) + "0000", wire.LinkEthernet, [4]int{14, -1, 54, 74}},
		{"IB", ib(2, ack) + "5566", wire.LinkIB, [4]int{0, -1, 8, 28}},
		{"IB with GRH", ib(3, grh(ack)) + "5566", wire.LinkIB, [4]int{0, -1, 48, 68}},
		{"IB in ERF", erf("15", 46, 30, ib(2, ack)+"5566"), wire.LinkERF, [4]int{16, -1, 24, 44}},
		{"raw IPv6 of IB", ib(1, ip6(59, "")) + "5566", wire.LinkIB, [4]int{8, -1, -1, 48}},
		{"raw packet of IB", ib(0, "00001234"+plain) + "5566", wire.LinkIB, [4]int{0, -1, -1, 20}},
		{"no next header, padded", eth("86dd", ip6(59, "")) + "0000", wire.LinkEthernet, [4]int{14, -1, -1, 54}},
		{"later fragment", eth("86dd", ip6(44, "1100000900000007"+plain)) + "0000", wire.LinkEthernet, [4]int{14, -1, -1, 70}},
		{"TCP, padded", eth("0800", ip4(6, "c000 1e61 00000001 00000000 5010 2000 0000 0000")) + "0000", wire.LinkEthernet, [4]int{14, 34, -1, 54}},
		{"UDP", eth("0800", ip4(17, udp(9, plain))), wire.LinkEthernet, [4]int{14, 34, -1, 50}},
		{"no room for a BTH", roce("044000"), wire.LinkEthernet, [4]int{14, 34, -1, 45}},
		{"other EtherType", eth("88cc", plain), wire.LinkEthernet, [4]int{-1, -1, -1, 0}},
	} {
		var f wire.Frame
		f.Parse(tc.link, unhex(t, tc.frame), 0)
		if got := [4]int{f.Net, f.L4, f.BTH, f.End}; got != tc.want {
			t.Errorf("%s: Net, L4, BTH, End are %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestWireLenIsNeverLessThanTheCapture(t *testing.T) {
	data := unhex(t, roce(send))
	for _, tc := range []struct {
		says, want int
		cut        bool
	}{
		{0, 62, false},
		{-1, 62, false},
		{math.MinInt32, 62, false},
		{10, 62, false},
		{62, 62, false},
		{63, 63, true},
		{math.MaxInt32, math.MaxInt32, true},
		{math.MaxUint32, math.MaxInt32, true}, // a pcap record can say so
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, data, tc.says)
		checkFrame(t, &f)
		if f.WireLen != tc.want || f.Cut() != tc.cut || f.End != 62 {
			t.Errorf("%d on the wire: WireLen %d, cut %v, end %d; want %d, %v, 62", tc.says, f.WireLen, f.Cut(), f.End, tc.want, tc.cut)
		}
		if h, ok := f.Last(wire.HdrTrailer); ok != (tc.want > 62) || ok && int(h.Len) != tc.want-62 {
			t.Errorf("%d on the wire: trailer %+v", tc.says, h)
		}
	}
}

// A WRITE of 1024 bytes of which the capture kept 96, or less.
func TestCutCaptureKeepsTheLengthsOfTheWire(t *testing.T) {
	write := packet("0a", reth+"5151515151515151515151515151515151515151")
	data := unhex(t, eth("0800", ip4With("45", 1084, "4000", 17, udpWith(1064, 4791, write))))
	for _, tc := range []struct {
		n    int
		want string
	}{
		{90, "RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 1024; icrc 1094"},
		{70, "RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 1024; icrc 1094"},
		{60, "RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 1024; icrc 1094"},
		{53, "RoCEv2: eth ip udp bth icrc; icrc 1094"},
		{43, "RoCEv2: eth ip udp bth icrc; icrc 1094"},
		{42, "RoCEv2: eth ip udp bth icrc; icrc 1094"},
		{41, "other: eth ip udp"},
		{33, "other: eth ip"},
		{13, "other: eth"},
		{0, "other: eth"},
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, data[:tc.n:tc.n], 1098)
		if got := shown(&f); got != tc.want || !f.Cut() {
			t.Errorf("cut at %d: cut %v, got\n%s\nwant\n%s", tc.n, f.Cut(), got, tc.want)
		}
		op, ok := f.Opcode()
		if ok != (tc.n > 42) || ok && op != 0x0A {
			t.Errorf("cut at %d: opcode %v, %v", tc.n, op, ok)
		}
	}
}

func TestHeaderCutByTheCaptureHasItsLengthOnTheWire(t *testing.T) {
	for _, tc := range []struct {
		name, frame string
		id          wire.HeaderID
		n, length   int
	}{
		{"IPv4 with options", eth("0800", ip4With("4f", 88, "4000", 17, "01010101 01010101 01010101 01010101 01010101 01010101 01010101 01010101 01010101 01010101"+udp(4791, send))), wire.HdrIPv4, 14 + 25, 60},
		{"IPv4 cut before its IHL's options", eth("0800", ip4With("4f", 88, "4000", 17, plain)), wire.HdrIPv4, 14 + 19, 20},
		{"Geneve with options", eth("0800", ip4(17, udp(6081, "0200 6558 00000700 0102030405060708"+plain))), wire.HdrGeneve, 42 + 9, 16},
		{"IPv6 options", eth("86dd", ip6(0, "1101010c0000000000000000"+plain)), wire.HdrIPv6HopOpts, 54 + 8, 16},
		{"RETH", roce(packet("0a", reth)), wire.HdrRETH, 54 + 3, 16},
	} {
		var f wire.Frame
		data := unhex(t, tc.frame)
		f.Parse(wire.LinkEthernet, data[:tc.n:tc.n], len(data))
		h, ok := f.Last(tc.id)
		if got := len(f.Bytes(h)); !ok || int(h.Len) != tc.length || got != tc.n-int(h.Off) || f.Problems&wire.ProblemShort != 0 {
			t.Errorf("%s: found %v, %+v, %d bytes: %s", tc.name, ok, h, got, shown(&f))
		}
	}
}

func TestHeaderOfHostileLengthEndsWithItsRoom(t *testing.T) {
	for _, tc := range []struct {
		name, frame string
		id          wire.HeaderID
		length      int
	}{
		{"IHL of 15 in 28 bytes", eth("0800", ip4With("4f", 28, "4000", 17, plain)), wire.HdrIPv4, 28},
		{"IHL of 0", eth("0800", ip4With("40", 28, "4000", 17, plain)), wire.HdrIPv4, 20},
		{"data offset of 15 in 28 bytes", eth("0800", ip4(6, "c000 1e61 00000001 00000000 f018 2000 0000 0000"+plain)+"0000"), wire.HdrTCP, 28},
		{"data offset of 0", eth("0800", ip4(6, "c000 1e61 00000001 00000000 0018 2000 0000 0000"+plain)), wire.HdrTCP, 20},
		{"options of 2048 bytes", eth("86dd", ip6(0, "11ff010400000000"+plain)), wire.HdrIPv6HopOpts, 16},
		{"Geneve options of 252 bytes", eth("0800", ip4(17, udp(6081, "3f00 6558 00000700"+plain))), wire.HdrGeneve, 16},
		{"RETH in 8 bytes", roce(packet("0a", plain)), wire.HdrRETH, 8},
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, tc.frame), 0)
		if h, ok := f.Last(tc.id); !ok || int(h.Len) != tc.length || f.Problems&wire.ProblemShort == 0 {
			t.Errorf("%s: found %v, %+v, want %d bytes: %s", tc.name, ok, h, tc.length, shown(&f))
		}
	}
}

func TestOpcodeOfAFrameWithoutBTH(t *testing.T) {
	for _, frame := range []string{eth("0800", ip4(17, udp(9, plain))), roce("044000"), eth("0806", ""), ""} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, frame), 0)
		if op, ok := f.Opcode(); ok {
			t.Errorf("%s: opcode %v", shown(&f), op)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, c := range handBuilt() {
		if data := unhex(f, c.frame); len(data) <= 200 {
			f.Add(uint16(c.link), data, uint32(0))
		}
	}
	f.Add(uint16(wire.LinkEthernet), unhex(f, roce(send)), uint32(math.MaxUint32))
	f.Fuzz(func(t *testing.T, link uint16, data []byte, wireLen uint32) {
		data = data[:len(data):len(data)]
		var whole, cut wire.Frame
		whole.Parse(wire.LinkType(link), data, int(wireLen))
		checkFrame(t, &whole)
		n := len(data) / 2
		cut.Parse(wire.LinkType(link), data[:n:n], whole.WireLen)
		checkFrame(t, &cut)
		if wire.LinkType(link) != wire.LinkIPoIB {
			checkCut(t, &whole, &cut, n)
		}
		for _, name := range wire.UpperNames() {
			upper, _ := wire.UpperByName(name)
			cut.Parse(wire.LinkType(link), data, int(wireLen))
			cut.Interpret(upper)
			checkFrame(t, &cut)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, bm := range []struct {
		name string
		link wire.LinkType
		hex  string
	}{
		{"RoCEv2/ack", wire.LinkEthernet, roce(ack)},
		{"RoCEv2/1KiB", wire.LinkEthernet, roce(packet("07", strings.Repeat("00", 1024)))},
		{"RoCEv1/1KiB", wire.LinkEthernet, eth("8915", grh(packet("07", strings.Repeat("00", 1024))))},
		{"VXLAN/1KiB", wire.LinkEthernet, eth("0800", ip4(17, udp(4789, vxlan(roce(packet("07", strings.Repeat("00", 1024)))))))},
		{"IB/ack", wire.LinkIB, ib(3, grh(ack)) + "5566"},
	} {
		data := unhex(b, bm.hex)
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			var f wire.Frame
			for b.Loop() {
				f.Parse(bm.link, data, 0)
			}
			if f.BTH < 0 {
				b.Fatal(shown(&f))
			}
		})
	}
}

// Options are a problem of the ICRC: there is none in a multicast report, and
// one inside a tunnel does not cover the tunnel's headers.
func TestOnlyOptionsThatAnICRCWouldCoverAreAProblem(t *testing.T) {
	packet := udp(4791, send)
	for _, tc := range []struct {
		name, frame string
		want        wire.Problem
	}{
		{"RoCEv2", eth("86dd", ip6(0, "1100010400000000"+packet)), wire.ProblemOptions},
		{"RoCEv2 over IPv4", eth("0800", ip4With("46", 24+8+len(unhex(t, send)), "4000", 17, "01010101"+packet)), wire.ProblemOptions},
		{"multicast report", eth("86dd", ip6(0, "3a00050200000100"+"8f00000000000000")), 0},
		{"tunnelled", eth("86dd", ip6(0, "2900010400000000"+ip6(17, packet))), 0},
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, tc.frame), 0)
		if got := f.Problems & wire.ProblemOptions; got != tc.want {
			t.Errorf("%s: problems %b, want %b: %s", tc.name, got, tc.want, shown(&f))
		}
	}
}

func TestAddressesAreTheInnermost(t *testing.T) {
	var f wire.Frame
	f.Parse(wire.LinkIB, []byte{0, 2, 0, 4, 0, 7, 0, 3, 0x11, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}, 0)
	src, dst := f.Addresses()
	if src != wire.LIDAddr(3) || dst != wire.LIDAddr(4) {
		t.Errorf("%v, %v", src, dst)
	}
	if lid, ok := wire.LID(src); lid != 3 || !ok {
		t.Errorf("LID %d, %v", lid, ok)
	}
	if _, ok := wire.LID(netip.MustParseAddr("::3")); ok {
		t.Error("an IPv6 address is a LID")
	}
}
