package filter

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// The packets that the tables of this package filter.
const (
	sendOnly = 1 + iota // 10.0.0.1 -> 10.0.0.2, opcode 4, PSN 0x10, payload "Hello RDMA", ECN CE
	ack                 // 10.0.0.2 -> 10.0.0.1, opcode 17, PSN 0x10, AETH, ack request bit clear
	v6Send              // fd00::1 -> fd00::2, opcode 4, PSN 0x800000
	tunnel              // VXLAN: outer 192.168.0.1 -> 192.168.0.2, inner 10.0.0.1 -> 10.0.0.2, opcode 4
	dns                 // 10.0.0.1 -> 10.0.0.9, UDP 5353 -> 53: not RDMA
)

const epoch = 1767322245_000000000 // 2026-01-02 02:50:45 UTC

// packets returns the packets above, at 0, 0.25, 0.5, ... seconds.
func packets() []*packet.Packet {
	inner := ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", udp(49152, 4791, bth(4, 0x800000, 0x20, []byte("abcd")))))
	frames := [][]byte{
		sendOnly: ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", udp(49152, 4791, bth(4, 0x80000000|0x10, 0x10, []byte("Hello RDMA\x00\x00"))))),
		ack:      ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", udp(50000, 4791, bth(17, 0x10, 0x11, []byte{0x1f, 0, 0, 7})))),
		v6Send:   ethernet(0x86dd, ipv6("fd00::1", "fd00::2", udp(49152, 4791, bth(4, 0x800000, 0x20, []byte("wxyz"))))),
		tunnel:   ethernet(0x0800, ipv4("192.168.0.1", "192.168.0.2", udp(1111, 4789, append([]byte{8, 0, 0, 0, 0, 0, 42, 0}, inner...)))),
		dns:      ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.9", udp(5353, 53, []byte("query")))),
	}
	frames[sendOnly][15] |= 3 // ECN: congestion experienced
	var list []*packet.Packet
	for i, data := range frames[1:] {
		p := newPacket(wire.LinkEthernet, data, len(data))
		p.Number, p.HasTime, p.First = i+1, true, epoch
		p.Time = epoch + int64(i)*250_000_000
		p.Previous = max(p.Time-250_000_000, epoch)
		list = append(list, p)
	}
	return list
}

func newPacket(link wire.LinkType, data []byte, wireLen int) *packet.Packet {
	p := &packet.Packet{Interface: -1}
	p.Parse(link, data, wireLen)
	return p
}

func ethernet(etherType uint16, payload []byte) []byte {
	h := []byte{0x02, 0, 0, 0, 0, 2, 0x0c, 0x42, 0xa1, 0, 0, 1}
	return append(binary.BigEndian.AppendUint16(h, etherType), payload...)
}

func ipv4(src, dst string, payload []byte) []byte {
	h := []byte{0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 17, 0, 0}
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(payload)))
	h = append(h, netip.MustParseAddr(src).AsSlice()...)
	h = append(h, netip.MustParseAddr(dst).AsSlice()...)
	return append(h, payload...)
}

func ipv6(src, dst string, payload []byte) []byte {
	h := []byte{0x60, 0, 0, 0, 0, 0, 17, 64}
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	h = append(h, netip.MustParseAddr(src).AsSlice()...)
	h = append(h, netip.MustParseAddr(dst).AsSlice()...)
	return append(h, payload...)
}

func udp(src, dst uint16, payload []byte) []byte {
	h := binary.BigEndian.AppendUint16(nil, src)
	h = binary.BigEndian.AppendUint16(h, dst)
	h = binary.BigEndian.AppendUint16(h, uint16(8+len(payload)))
	return append(append(h, 0, 0), payload...)
}

// bth is a BTH, what follows it and a zero ICRC; psn holds the bits of the
// header's last word.
func bth(opcode byte, psn, qp uint32, rest []byte) []byte {
	h := []byte{opcode, 0x40, 0xff, 0xff}
	h = binary.BigEndian.AppendUint32(h, qp)
	h = binary.BigEndian.AppendUint32(h, psn)
	return append(append(h, rest...), 0, 0, 0, 0)
}

// matching returns the numbers of the packets that pass.
func matching(t testing.TB, src string, list []*packet.Packet) []int {
	t.Helper()
	f, err := Compile(src)
	if err != nil {
		t.Fatalf("Compile(%q): %v", src, err)
	}
	var scratch Scratch
	passed := []int{}
	for _, p := range list {
		if f.Match(p, &scratch) {
			passed = append(passed, p.Number)
		}
	}
	return passed
}
