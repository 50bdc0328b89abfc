package prefilter

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/wire"
)

// machine runs a program outside the kernel.
func machine(t testing.TB, program []bpf.RawInstruction, err error) *bpf.VM {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	code, ok := bpf.Disassemble(program)
	if !ok {
		t.Fatal("the program has instructions that nobody knows")
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

func rdma(t testing.TB, traffic Traffic) *bpf.VM {
	t.Helper()
	program, err := RDMA(traffic)
	return machine(t, program, err)
}

func passes(t testing.TB, vm *bpf.VM, frame []byte) bool {
	t.Helper()
	n, err := vm.Run(frame)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// isRDMA is what the parser has to say.
func isRDMA(f *wire.Frame) bool {
	switch f.Proto {
	case wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoPause, wire.ProtoPFC:
		return true
	}
	return false
}

// shape tells what of a frame matters to the programs.
func shape(f *wire.Frame) (tags, extensions int, tunnel, otherFragment bool) {
	for _, h := range f.Headers() {
		switch h.ID {
		case wire.HdrVLAN, wire.HdrServiceVLAN:
			tags++
		case wire.HdrIPv6HopOpts, wire.HdrIPv6Routing, wire.HdrIPv6DestOpts, wire.HdrIPv6Fragment:
			extensions++
		case wire.HdrMPLS, wire.HdrVXLAN, wire.HdrGeneve, wire.HdrGRE:
			tunnel = true
		case wire.HdrIPv4, wire.HdrIPv6:
			tunnel = tunnel || f.Net != int(h.Off)
		}
	}
	return tags, extensions, tunnel, f.Problems&wire.ProblemFragment != 0
}

// TestNoCapturedRDMAIsLost runs the programs over every frame at hand.
func TestNoCapturedRDMAIsLost(t *testing.T) {
	plain, all := rdma(t, Traffic{}), rdma(t, Traffic{Encapsulated: true})
	var frame wire.Frame
	found, tunnelled, others := 0, 0, 0
	captest.Each(t, func(file string, number int, rec *capfile.Record) {
		frame.Parse(rec.Link, rec.Data, rec.WireLen)
		if rec.Link != wire.LinkEthernet || frame.Cut() {
			return
		}
		_, _, tunnel, fragment := shape(&frame)
		switch {
		case isRDMA(&frame) && !tunnel:
			found++
			if !passes(t, plain, rec.Data) {
				t.Errorf("%s, frame %d: lost\n%s", file, number, hex.Dump(rec.Data))
			}
		case isRDMA(&frame):
			tunnelled++
			if !passes(t, all, rec.Data) {
				t.Errorf("%s, frame %d: lost in its tunnel\n%s", file, number, hex.Dump(rec.Data))
			}
		case !fragment:
			others++
			if passes(t, plain, rec.Data) {
				t.Errorf("%s, frame %d: passed, and is no RDMA\n%s", file, number, hex.Dump(rec.Data))
			}
		}
	})
	t.Logf("%d RDMA frames, %d in tunnels, %d others", found, tunnelled, others)
	if found == 0 || others == 0 {
		t.Errorf("%d RDMA frames and %d others prove nothing", found, others)
	}
}

// TestIWARPByPorts compares with the ports that the parser finds.
func TestIWARPByPorts(t *testing.T) {
	var frame wire.Frame
	ports := []uint16{}
	captest.Each(t, func(file string, _ int, rec *capfile.Record) {
		frame.Parse(rec.Link, rec.Data, rec.WireLen)
		if strings.HasPrefix(file, "iw_") && frame.Proto == wire.ProtoTCP && len(ports) < 3 {
			if p := wire.TCP(rec.Data[frame.L4:]).DstPort(); !slices.Contains(ports, p) {
				ports = append(ports, p)
			}
		}
	})
	some, every, none := rdma(t, Traffic{TCPPorts: ports}), rdma(t, Traffic{TCP: true}), rdma(t, Traffic{})
	counts := map[bool]int{}
	captest.Each(t, func(file string, number int, rec *capfile.Record) {
		frame.Parse(rec.Link, rec.Data, rec.WireLen)
		_, _, tunnel, _ := shape(&frame)
		if rec.Link != wire.LinkEthernet || frame.Proto != wire.ProtoTCP || frame.Cut() || tunnel {
			return
		}
		tcp := wire.TCP(rec.Data[frame.L4:])
		want := slices.Contains(ports, tcp.SrcPort()) || slices.Contains(ports, tcp.DstPort())
		counts[want]++
		if passes(t, some, rec.Data) != want || !passes(t, every, rec.Data) || passes(t, none, rec.Data) {
			t.Errorf("%s, frame %d: ports %d and %d", file, number, tcp.SrcPort(), tcp.DstPort())
		}
	})
	if counts[true] == 0 || counts[false] == 0 {
		t.Errorf("segments by whether they are of %d: %v", ports, counts)
	}
}

// ethernet puts tags and a type before a packet.
func ethernet(packet []byte, types ...uint16) []byte {
	f := make([]byte, 12)
	for i, kind := range types {
		f = binary.BigEndian.AppendUint16(f, kind)
		if i < len(types)-1 {
			f = append(f, 0x20, 0x05)
		}
	}
	return append(f, packet...)
}

func ipv4(protocol byte, fragment uint16, options int, payload ...byte) []byte {
	h := make([]byte, 20+options)
	h[0], h[9] = 0x45+byte(options/4), protocol
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(payload)))
	binary.BigEndian.PutUint16(h[6:], fragment)
	return append(h, payload...)
}

func ipv6(next byte, payload ...byte) []byte {
	h := make([]byte, 40)
	h[0], h[6] = 0x60, next
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	return append(h, payload...)
}

// datagram is a UDP or the beginning of a TCP header.
func datagram(from, to uint16) []byte {
	d := make([]byte, 40)
	binary.BigEndian.PutUint16(d, from)
	binary.BigEndian.PutUint16(d[2:], to)
	binary.BigEndian.PutUint16(d[4:], uint16(len(d)))
	return d
}

func TestWhatPasses(t *testing.T) {
	const vlan, service, old = wire.EtherTypeVLAN, wire.EtherTypeQinQ, wire.EtherTypeQinQOld
	roce, other := datagram(0xC123, 4791), datagram(4791, 53)
	v4 := ipv4(17, 0, 0, roce...)
	ask := Traffic{UDPPorts: []uint16{4792, 9000}, TCPPorts: []uint16{3260, 4420}}
	carry := Traffic{Encapsulated: true}
	for _, c := range []struct {
		name    string
		traffic Traffic
		frame   []byte
		want    bool
	}{
		{"RoCEv1", Traffic{}, ethernet(make([]byte, 52), wire.EtherTypeRoCE), true},
		{"RoCEv1 under two tags", Traffic{}, ethernet(make([]byte, 52), service, vlan, wire.EtherTypeRoCE), true},
		{"PFC", Traffic{}, ethernet(make([]byte, 46), wire.EtherTypeMACControl), true},
		{"PFC under a tag", Traffic{}, ethernet(make([]byte, 46), vlan, wire.EtherTypeMACControl), true},
		{"RoCEv2", Traffic{}, ethernet(v4, wire.EtherTypeIPv4), true},
		{"RoCEv2 under a tag", Traffic{}, ethernet(v4, vlan, wire.EtherTypeIPv4), true},
		{"RoCEv2 under an old tag", Traffic{}, ethernet(v4, old, wire.EtherTypeIPv4), true},
		{"RoCEv2 under two tags", Traffic{}, ethernet(v4, service, vlan, wire.EtherTypeIPv4), true},
		{"RoCEv2 behind IPv4 options", Traffic{}, ethernet(ipv4(17, 0, 40, roce...), wire.EtherTypeIPv4), true},
		{"first fragment", Traffic{}, ethernet(ipv4(17, 0x2000, 0, roce...), wire.EtherTypeIPv4), true},
		{"later fragment", Traffic{}, ethernet(ipv4(17, 0x00B9, 0, other...), wire.EtherTypeIPv4), true},
		{"later fragment of TCP", Traffic{}, ethernet(ipv4(6, 0x00B9, 0, other...), wire.EtherTypeIPv4), false},
		{"RoCEv2 over IPv6", Traffic{}, ethernet(ipv6(17, roce...), wire.EtherTypeIPv6), true},
		{"under two tags", Traffic{}, ethernet(ipv6(17, roce...), service, vlan, wire.EtherTypeIPv6), true},
		{"hop-by-hop options", Traffic{}, ethernet(ipv6(0, append([]byte{17, 1, 15: 0}, roce...)...), wire.EtherTypeIPv6), true},
		{"options, routing, options, fragment", Traffic{}, ethernet(ipv6(0, append([]byte{
			43, 0, 0, 0, 0, 0, 0, 0,
			60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			44, 0, 0, 0, 0, 0, 0, 0,
			17, 0, 0, 1, 0, 0, 0, 0,
		}, roce...)...), wire.EtherTypeIPv6), true},
		{"later fragment over IPv6", Traffic{}, ethernet(ipv6(44, append([]byte{17, 0, 0, 9, 0, 0, 0, 0}, other...)...), wire.EtherTypeIPv6), true},
		{"other UDP", Traffic{}, ethernet(ipv4(17, 0, 0, other...), wire.EtherTypeIPv4), false},
		{"other UDP over IPv6", Traffic{}, ethernet(ipv6(17, other...), wire.EtherTypeIPv6), false},
		{"ARP", Traffic{}, ethernet(make([]byte, 28), 0x0806), false},
		{"ICMP", Traffic{}, ethernet(ipv4(1, 0, 0, roce...), wire.EtherTypeIPv4), false},
		{"no whole header", Traffic{}, ethernet(v4[:22], wire.EtherTypeIPv4), false},
		{"nothing", Traffic{}, nil, false},
		{"a port asked for", ask, ethernet(ipv4(17, 0, 0, datagram(1, 9000)...), wire.EtherTypeIPv4), true},
		{"TCP from a port asked for", ask, ethernet(ipv4(6, 0, 0, datagram(4420, 1)...), vlan, wire.EtherTypeIPv4), true},
		{"TCP to a port asked for", ask, ethernet(ipv6(6, datagram(1, 3260)...), wire.EtherTypeIPv6), true},
		{"other TCP", ask, ethernet(ipv4(6, 0, 0, datagram(9000, 9000)...), wire.EtherTypeIPv4), false},
		{"later fragment of TCP asked for", ask, ethernet(ipv4(6, 1, 0, other...), wire.EtherTypeIPv4), true},
		{"VXLAN", carry, ethernet(ipv4(17, 0, 0, datagram(1, 4789)...), wire.EtherTypeIPv4), true},
		{"VXLAN not asked for", Traffic{}, ethernet(ipv4(17, 0, 0, datagram(1, 4789)...), wire.EtherTypeIPv4), false},
		{"Geneve", carry, ethernet(ipv6(17, datagram(1, 6081)...), wire.EtherTypeIPv6), true},
		{"GRE", carry, ethernet(ipv4(47, 0, 0, 0, 0, 0x88, 0xBE), vlan, wire.EtherTypeIPv4), true},
		{"later fragment of GRE", carry, ethernet(ipv4(47, 1, 0, 0, 0, 0x88, 0xBE), wire.EtherTypeIPv4), true},
		{"MPLS", carry, ethernet(make([]byte, 40), wire.EtherTypeMPLS), true},
		{"MPLS not asked for", Traffic{}, ethernet(make([]byte, 40), wire.EtherTypeMPLS), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := passes(t, rdma(t, c.traffic), c.frame); got != c.want {
				t.Errorf("passes: %v, want %v", got, c.want)
			}
		})
	}
}

// FuzzRDMA holds the programs against the parser.
func FuzzRDMA(f *testing.F) {
	f.Add(ethernet(ipv4(17, 0, 4, datagram(1, 4791)...), wire.EtherTypeVLAN, wire.EtherTypeIPv4))
	f.Add(ethernet(ipv6(44, append([]byte{17, 0, 0, 0, 0, 0, 0, 0}, datagram(1, 4791)...)...), wire.EtherTypeIPv6))
	f.Add(ethernet(make([]byte, 52), wire.EtherTypeRoCE))
	plain, all := rdma(f, Traffic{}), rdma(f, Traffic{Encapsulated: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame wire.Frame
		frame.Parse(wire.LinkEthernet, data, 0)
		tags, extensions, tunnel, fragment := shape(&frame)
		if tags > maxTags || extensions > maxExtensions {
			return
		}
		byPlain, byAll := passes(t, plain, data), passes(t, all, data)
		switch {
		case byPlain && !byAll:
			t.Error("asking for more passes less")
		case isRDMA(&frame) && !byAll:
			t.Error("lost")
		case isRDMA(&frame) && !tunnel && !byPlain:
			t.Error("lost outside of tunnels")
		case byPlain && !isRDMA(&frame) && !fragment && !tunnel && frame.Problems&^wire.ProblemOptions == 0 && frame.Proto != wire.ProtoOther:
			t.Errorf("passed, and is protocol %d", frame.Proto)
		}
	})
}
