package filter

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestFiltersPassThePacketsTheyDescribe(t *testing.T) {
	list := packets()
	all := []int{sendOnly, ack, v6Send, tunnel, dns}
	infiniband := []int{sendOnly, ack, v6Send, tunnel}
	for _, c := range []struct {
		src  string
		want []int
	}{
		{"", all},
		{"  ", all},
		// existence
		{"infiniband", infiniband},
		{"infiniband.aeth", []int{ack}},
		{"infiniband.bth.psn", infiniband},
		{"infiniband.bth.a", infiniband},
		{".infiniband.aeth", []int{ack}},
		{"ipv6", []int{v6Send}},
		{"frame", all},
		// integers in every notation
		{"infiniband.bth.psn == 16", []int{sendOnly, ack}},
		{"infiniband.bth.psn == 0x10", []int{sendOnly, ack}},
		{"infiniband.bth.psn == 020", []int{sendOnly, ack}},
		{"infiniband.bth.psn == 0b10000", []int{sendOnly, ack}},
		{"infiniband.bth.psn == '\\x10'", []int{sendOnly, ack}},
		{"infiniband.bth.psn == +16", []int{sendOnly, ack}},
		{"infiniband.bth.psn != 16", []int{v6Send, tunnel}},
		{"infiniband.bth.psn ne 16", []int{v6Send, tunnel}},
		{"infiniband.bth.psn > 16", []int{v6Send, tunnel}},
		{"infiniband.bth.psn >= 16", infiniband},
		{"infiniband.bth.psn < 16", []int{}},
		{"infiniband.bth.psn le 16", []int{sendOnly, ack}},
		{"infiniband.bth.psn < 0", []int{}},
		{"infiniband.bth.psn >= 0", infiniband},
		// any and all of several values
		{"ip.src == 10.0.0.1", []int{sendOnly, tunnel, dns}},
		{"ip.src != 10.0.0.1", []int{ack}},
		{"ip.src === 10.0.0.1", []int{sendOnly, dns}},
		{"ip.src all_eq 10.0.0.1", []int{sendOnly, dns}},
		{"ip.src !== 10.0.0.1", []int{ack, tunnel}},
		{"ip.src ~= 10.0.0.1", []int{ack, tunnel}},
		{"ip.src any_ne 10.0.0.1", []int{ack, tunnel}},
		{"any ip.src != 10.0.0.1", []int{ack, tunnel}},
		{"all ip.src == 10.0.0.1", []int{sendOnly, dns}},
		{"all ip.src > 10.0.0.1", []int{ack}},
		{"ip.addr != 10.0.0.9", []int{sendOnly, ack, tunnel}},
		{"!(ip.addr == 10.0.0.9)", []int{sendOnly, ack, v6Send, tunnel}},
		{"all ip.addr in {10.0.0.0/8}", []int{sendOnly, ack, dns}},
		// addresses
		{"ip.src == 10.0.0.0/24", []int{sendOnly, ack, tunnel, dns}},
		{"ip.src > 10.0.0.0/24", []int{tunnel}},
		{"ip.src <= 10.0.0.0/31", []int{sendOnly, tunnel, dns}},
		{"ip.src < 10.0.0.0/31", []int{}},
		{"ip.dst in {10.0.0.2, 192.168.0.0/16}", []int{sendOnly, tunnel}},
		{"ip.dst in {10.0.0.3 .. 10.0.0.200}", []int{dns}},
		{"ipv6.src == fd00::1", []int{v6Send}},
		{"ipv6.src == fd00::/8", []int{v6Send}},
		{"ipv6.dst > fd00::1", []int{v6Send}},
		{"ipv6.dst >= fd00::3", []int{}},
		{"ipv6.dst != fd00::/120", []int{}},
		{"eth.src == 0c:42:a1:00:00:01", all},
		{"eth.src == 0C-42-A1-00-00-01", all},
		{"eth.src == 0c42.a100.0001", all},
		{"eth.src > 0c:42:a1:00:00:01", []int{}},
		{"eth.dst < eth.src", all},
		{"ip.src == ip.dst", []int{}},
		{"ip.src < ip.dst", []int{sendOnly, tunnel, dns}},
		// sets
		{"infiniband.bth.opcode in {17, 20..30}", []int{ack}},
		{"infiniband.bth.opcode in {1..10}", []int{sendOnly, v6Send, tunnel}},
		{"infiniband.bth.opcode not in {4}", []int{ack, dns}},
		{"not infiniband.bth.opcode in {4}", []int{ack, dns}},
		{"infiniband.bth.opcode in {10..1}", []int{}},
		{"udp.srcport in {udp.dstport, 5353}", []int{dns}},
		{"udp.dstport in {1 .. udp.srcport}", []int{sendOnly, ack, v6Send, tunnel, dns}},
		{"eth.src[0:1] in {0b, 0c}", all},
		// names
		{`infiniband.bth.opcode == "RC Acknowledge"`, []int{ack}},
		{`infiniband.bth.opcode == "rc acknowledge"`, []int{ack}},
		{`infiniband.bth.opcode != "RC Acknowledge"`, []int{sendOnly, v6Send, tunnel}},
		{"ip.proto == UDP", []int{sendOnly, ack, tunnel, dns}},
		// booleans
		{"infiniband.bth.a == True", []int{sendOnly}},
		{"infiniband.bth.a == true", []int{sendOnly}},
		{`infiniband.bth.a == "True"`, []int{sendOnly}},
		{"infiniband.bth.a == 2", []int{sendOnly}},
		{"infiniband.bth.a == 0", []int{ack, v6Send, tunnel}},
		{"infiniband.bth.a == FALSE", []int{ack, v6Send, tunnel}},
		{"infiniband.bth.a != 0", []int{sendOnly}},
		// bits and arithmetic
		{"infiniband.bth.psn & 0x800000", []int{v6Send, tunnel}},
		{"infiniband.bth.psn & 0x18 == 0x10", []int{sendOnly, ack}},
		{"infiniband.bth.psn bitwise_and 0x18 == 0x10", []int{sendOnly, ack}},
		{"infiniband.bth.opcode & 0x0f + 1", []int{ack}},
		{"udp.dstport == {udp.srcport - 5300}", []int{dns}},
		{"udp.dstport + 5300 == udp.srcport", []int{dns}},
		{"udp.dstport == 50 + 3", []int{dns}},
		{"udp.dstport - 60000 >= 0", []int{}},
		{"udp.dstport % 10 == 3", []int{dns}},
		{"udp.dstport / 0 == 0", []int{}},
		{"eth.src[0:2] & 0f:40 == 0c:40", all},
		{"eth.dst[0] & 0x02", all},
		// bytes
		{"frame[0:2] == 02:00", all},
		{"frame[0-1] == 0200", all},
		{"frame[:2] == 02.00", all},
		{"frame[-2:2] == 72:79", []int{dns}},
		{"frame[-2:] == \"ry\"", []int{dns}},
		{"frame[-5--4] == \"qu\"", []int{dns}},
		{"eth.src[0,2,4-5] == 0c:a1:00:01", all},
		{"eth.src[6] == 00", []int{}},
		{"eth.src[0:7]", []int{}},
		{"eth.src[0]", all},
		{"eth.src[0:3] == eth.dst[0:3]", []int{}},
		{"eth.src[3:2] == eth.dst[3:2]", all},
		{"ip.src[0] == 0a", []int{sendOnly, ack, tunnel, dns}},
		{"ip.src[0] == 0xc0", []int{tunnel}},
		{"eth.src[0] > 0b", all},
		{"eth.src[0] < 0b:00", all}, // the shorter byte string comes first
		{`frame contains "RDMA"`, []int{sendOnly}},
		{`frame contains "rdma"`, []int{}},
		{"frame contains 52:44:4d:41", []int{sendOnly}},
		{"frame contains 'q'", []int{dns}},
		{`frame contains ""`, []int{}},
		{"eth.src contains 42:a1", all},
		{`frame matches "rdma"`, []int{sendOnly}},
		{`frame matches "(?-i)rdma"`, []int{}},
		{`frame ~ r"que\w+"`, []int{dns}},
		{`frame[0:14] matches "rdma"`, []int{}},
		// layers
		{"ip.src#1 == 192.168.0.1", []int{tunnel}},
		{"ip.src#2 == 10.0.0.1", []int{tunnel}},
		{"ip.src#2", []int{tunnel}},
		{"ip.src#[1-2] == 10.0.0.1", []int{sendOnly, tunnel, dns}},
		{"ip.src#[-1] == 10.0.0.1", []int{sendOnly, tunnel, dns}},
		{"ip.addr#2 == 192.168.0.2", []int{}},
		{"ip.addr#1 == 192.168.0.2", []int{tunnel}},
		{"ip.src#2[3] == 01", []int{tunnel}},
		// times
		{"frame.time_relative > 0.5", []int{tunnel, dns}},
		{"frame.time_relative in {0.2..0.6}", []int{ack, v6Send}},
		{"frame.time_relative > -1", all},
		{"frame.time_relative - 1 < -0.4", []int{sendOnly, ack, v6Send}},
		{"frame.time_delta == 0.25", []int{ack, v6Send, tunnel, dns}},
		{"frame.time_epoch >= 1767322245.75", []int{tunnel, dns}},
		{`frame.time > "2026-01-02 02:50:45.5Z"`, []int{tunnel, dns}},
		{`frame.time > "2026-01-02T03:50:45.5+01:00"`, []int{tunnel, dns}},
		{`frame.time > "Jan  2, 2026 02:50:45.5 UTC"`, []int{tunnel, dns}},
		{`frame.time < "2020-01-01"`, []int{}},
		// functions
		{"len(eth.src) == 6", all},
		{"len(ip.src) == 4", []int{sendOnly, ack, tunnel, dns}},
		{"len(udp.srcport) == 2", all},
		{"len(frame) == frame.len", all},
		{"count(ip.src) == 2", []int{tunnel}},
		{"count(ip.src) == 0", []int{}},
		{"max(udp.srcport, udp.dstport) == 50000", []int{ack}},
		{"min(udp.srcport, 100) < 100", []int{}},
		{"max(infiniband.bth.opcode, udp.dstport) == 53", []int{dns}},
		{`string(udp.dstport) == "53"`, []int{dns}},
		{`string(ip.dst) matches "\\.9$"`, []int{dns}},
		{`string(eth.src) contains "a1:00"`, all},
		{"abs(frame.time_relative - 0.5) < 0.3", []int{ack, v6Send, tunnel}},
		// logic and its precedence
		{"frame.number == 1 or frame.number == 2 and ipv6", []int{1}},
		{"(frame.number == 1 or frame.number == 2) and ip", []int{1, 2}},
		{"not ip and ipv6", []int{v6Send}},
		{"!ip.src == 10.0.0.1", []int{ack, v6Send}},
		{"!!ipv6", []int{v6Send}},
		{"infiniband xor ip", []int{v6Send, dns}},
		{"infiniband ^^ ip ^^ ipv6", []int{dns}},
		{"frame.number==1||frame.number==2&&!ip", []int{1}},
		{"udp.dstport == udp.port == 53", []int{dns}},
	} {
		if got := matching(t, c.src, list); !cmp.Equal(got, c.want) {
			t.Errorf("%s: passed %v, want %v", c.src, got, c.want)
		}
	}
}

func TestTimeWithoutZoneIsLocal(t *testing.T) {
	local := time.Unix(0, epoch).Add(400 * time.Millisecond).Format("2006-01-02 15:04:05.000")
	if got, want := matching(t, `frame.time > "`+local+`"`, packets()), []int{3, 4, 5}; !cmp.Equal(got, want) {
		t.Errorf("passed %v, want %v", got, want)
	}
}

// everyKind is a filter that uses every kind of test and operand that matching
// should run without garbage.
const everyKind = `(infiniband.bth.psn == 0x10 && ip.src == 10.0.0.0/24 && !(infiniband.aeth)
	or ipv6.src == fd00::/8 xor eth.src[0,2,4] == 00:11:22 or ip.src > ip.dst or udp.srcport in {udp.dstport, 7}
	or frame matches "zzz+" or frame contains "zzz" or string(ip.dst) == "x" or len(frame) == 1 or count(ip.src) == 9
	or udp.dstport & 0x8000 or udp.srcport + 1 == 2 or max(udp.srcport, udp.dstport) == 1 or ip.src#2 == 1.2.3.4
	or eth.src[0:2] & ff:ff == 00:01) and frame.number < 0`

func TestMatchDoesNotAllocate(t *testing.T) {
	f, err := Compile(everyKind)
	if err != nil {
		t.Fatal(err)
	}
	list := packets()
	var scratch Scratch
	run := func() {
		for _, p := range list {
			f.Match(p, &scratch)
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations per %d packets, want 0", n, len(list))
	}
}

func TestOneFilterServesSeveralGoroutines(t *testing.T) {
	f, err := Compile(`string(ip.src) == "10.0.0.1" and eth.src[0,1] == 0c:42`)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			var scratch Scratch
			list := packets()
			for range 1000 {
				for _, p := range list {
					if got, want := f.Match(p, &scratch), p.Number != ack && p.Number != v6Send; got != want {
						t.Errorf("packet %d: %v, want %v", p.Number, got, want)
						return
					}
				}
			}
		})
	}
	wait.Wait()
}

func FuzzCompile(f *testing.F) {
	for _, src := range []string{
		everyKind, `infiniband.bth.opcode == "RC Acknowledge"`, "eth.src[0:3,-1] == 00:11", "ip.src#[1-2] in {10.0.0.1..10.0.0.9}",
		`frame ~ r"\x00"`, "abs(frame.time_delta - 1) > -0.5", `frame.time > "2026-01-02 03:04:05Z"`, "all udp.port ~= 'a'",
		"udp.port == {1 + 2 * 3}", "a.b.c == \"\\u00e9\\101\"", "((((", "- - 1", "[", "any", "ip.src == 1/33", "frame[1-", "not in",
	} {
		f.Add(src, uint64(1))
	}
	known := packets()
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		compiled, err := Compile(src)
		if err != nil {
			fault, ok := err.(*Error)
			if !ok || fault.Pos < 0 || fault.Pos > fault.End || fault.End > len(src) || fault.Error() == "" {
				t.Fatalf("bad error for %q: %#v", src, err)
			}
			return
		}
		var scratch Scratch
		for _, p := range known {
			compiled.Match(p, &scratch)
		}
		compiled.Match(randomPacket(seed), &scratch)
	})
}

// randomPacket damages and cuts one of the known packets.
func randomPacket(seed uint64) *packet.Packet {
	random := rand.New(rand.NewPCG(seed, 0))
	list := packets()
	data := list[random.IntN(len(list))].Frame.Data
	for range random.IntN(8) {
		data[random.IntN(len(data))] = byte(random.Uint32())
	}
	return newPacket(wire.LinkEthernet, data[:random.IntN(len(data)+1)], len(data))
}

func BenchmarkMatch(b *testing.B) {
	list := packets()
	for _, c := range []struct{ name, src string }{
		{"typical", "infiniband.bth.psn == 0x10 && ip.src == 10.0.0.0/24 && !(infiniband.aeth)"},
		{"everyKind", everyKind},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := Compile(c.src)
			if err != nil {
				b.Fatal(err)
			}
			var scratch Scratch
			for b.Loop() {
				f.Match(list[sendOnly-1], &scratch)
			}
		})
	}
}
