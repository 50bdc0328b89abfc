package filter

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// sameAsTshark are filters of which tshark must let the same frames pass.
var sameAsTshark = []string{
	"infiniband", "ip", "ipv6", "udp", "eth", "vlan", "arp", "tcp",
	"infiniband.aeth", "infiniband.reth", "infiniband.deth", "infiniband.immdt", "infiniband.atomiceth", "not infiniband.aeth",
	"infiniband.bth.opcode == 17", "infiniband.bth.opcode == 0x11", "infiniband.bth.opcode == 021", "infiniband.bth.opcode == 0b10001",
	"infiniband.bth.opcode != 17", "infiniband.bth.opcode > 10", "infiniband.bth.opcode >= 17", "infiniband.bth.opcode lt 4",
	"infiniband.bth.opcode in {4, 17}", "infiniband.bth.opcode in {0..2, 10..13}", "infiniband.bth.opcode not in {4, 17}",
	"all infiniband.bth.opcode in {4, 17}", "infiniband.bth.opcode in {9..1}",
	"infiniband.bth.a == 1", "infiniband.bth.a == True", "infiniband.bth.a == FALSE", "infiniband.bth.se != 1", "infiniband.bth.a == 7",
	`infiniband.bth.a == "True"`, "infiniband.bth.a > 0",
	"infiniband.bth.psn & 1", "infiniband.bth.psn & 0x3 == 2", "infiniband.bth.psn & 0x3 != 2", "infiniband.bth.psn bitwise_and 0xf == 1",
	"infiniband.bth.psn % 5 == 3", "infiniband.bth.psn + 1 == 1", "infiniband.bth.psn / 0 == 1",
	"infiniband.bth.destqp == 0x11", "infiniband.bth.destqp <= 1", "infiniband.bth.p_key == 0xffff", "infiniband.bth.padcnt > 0",
	"infiniband.aeth.msn > 2", "infiniband.aeth.syndrome & 0x60", "infiniband.reth.dmalen > 1000", "infiniband.reth.va != 0",
	"ip.src == 10.77.0.2", "ip.src != 10.77.0.2", "ip.addr == 10.77.0.2", "ip.addr != 10.77.0.2", "ip.addr === 10.77.0.2",
	"ip.addr !== 10.77.0.2", "ip.addr ~= 10.77.0.2", "any ip.addr != 10.77.0.2", "all ip.addr > 10.77.0.2", "ip.addr any_ne 10.77.0.2",
	"ip.src == 10.77.0.0/31", "ip.src > 10.77.0.0/31", "ip.src >= 10.77.0.0/31", "ip.src <= 10.77.0.0/31", "ip.src in {10.77.0.3 .. 10.77.0.9}",
	"ip.src < ip.dst", "ip.src == ip.dst", "ip.src != ip.dst", "ip.ttl == 64", "ip.ttl == '@'", "ip.dsfield.ecn == 2", "ip.id == 0", "ip.len > 100",
	"ipv6.src == fe80::/10", "ipv6.dst > fe80::", "ipv6.src == ipv6.dst", "ipv6.addr == fd00::/8", "ipv6.src != ::1",
	"udp.dstport == 4791", "udp.port == 4791", "udp.port != 4791", "udp.srcport > udp.dstport", "udp.port in {1 .. 5000}", "udp.port == udp.dstport == 4791",
	"udp.port in {udp.srcport}", "tcp.port not in {1}", "tcp.port != 1", "tcp.port !== 1", "all tcp.port == 1", "count(tcp.port) == 0",
	"eth.src[0:3] == eth.dst[0:3]", "eth.src[0] & 0x02", "eth.src[0] > 10", "eth.dst[5] == 0x02", "eth.src[-1] == 02", "eth.src[0,2,4-5] > 02:00",
	"eth.src contains 00:02", "eth.src < eth.dst", `eth.src matches "\x02"`, "eth.type == 0x86dd",
	"frame[12:2] == 08:00", "frame[12-13] == 86dd", `frame contains "a"`, `frame matches "a"`, "frame contains 'a'", "frame contains 61", `frame contains ""`,
	`frame contains "\x00\x01"`, "frame[100:] contains 00", "frame[0:2000]", "frame[200:2] > fe", "frame[0:1] < 00:00", `frame[0:2] > "\xff"`, "frame[14:1] < 46:00",
	"frame.len > 100", "frame.number in {1,3..5} and not infiniband.aeth", "len(frame) == frame.len", "len(ip.src) == 4", "len(udp.port) == 2",
	"frame.time_relative > 0.05", "frame.time_relative in {0.01 .. 0.05}", "frame.time_delta < 0.001", "frame.time_relative > -0.1", "frame.time_relative + 1 > 1.01",
	`frame.time > "2020-01-01"`, `frame.time < "2020-01-01T00:00:00Z"`, "frame.time_epoch > 1600000000.5",
	"count(ip.addr) == 2", "max(udp.srcport, udp.dstport) > 60000", "min(udp.port) < 4791", "max(tcp.port, udp.port) > 0",
	`string(ip.src) == "10.77.0.2"`, `string(eth.src) matches "^02:.*2$"`, `string(infiniband.bth.psn) matches "^1"`, `string(frame.number) matches "[13579]$"`,
	"ip.src#1 == 10.77.0.2", "ip.src#2", "ip.addr#[1-2] == 10.77.0.2", "ip.addr#[-1] == 10.77.0.2", "infiniband.bth.psn#0",
	"frame.number == 1 or frame.number == 2 and udp.port == 1", "not ip and udp or arp", "!frame.number==1", "!!udp", "udp && !(infiniband.bth.opcode == 17) || arp",
}

// perCapture bounds what is taken of each capture, so that every feature is
// there and tshark is still quick.
const perCapture = 80

func TestSameFramesPassAsInTshark(t *testing.T) {
	tshark := testneed.Tool(t, "tshark")
	folder := testneed.Pcaps(t)
	file, list := merged(t, folder, []string{
		"rc_pingpong.pcap", "rc_ipv6_pingpong.pcap", "rc_vlan.pcap", "py_mixed.pcap", "py_imm.pcap", "atomic_cas.pcap",
		"ud_pingpong.pcap", "uc_pingpong.pcap", "udaddy.pcap", "py_badrkey.pcap", "write_bw.pcap",
	})
	want := runTshark(t, tshark, file, sameAsTshark)
	some := 0
	for i, src := range sameAsTshark {
		if got := matching(t, src, list); !cmp.Equal(got, want[i]) {
			t.Errorf("%s: passed %d frames, tshark %d:\n%s", src, len(got), len(want[i]), cmp.Diff(want[i], got))
		}
		if len(want[i]) > 0 && len(want[i]) < len(list) {
			some++
		}
	}
	if some < len(sameAsTshark)/2 {
		t.Errorf("only %d of %d filters tell frames apart", some, len(sameAsTshark))
	}
}

// runTshark returns the numbers of the frames that each filter lets pass. A Lua
// script has tshark run all of them over the file at once: starting tshark for
// every filter takes a minute.
func runTshark(t *testing.T, tshark, file string, filters []string) [][]int {
	t.Helper()
	var script strings.Builder
	for i, src := range filters {
		fmt.Fprintf(&script, "do local tap = Listener.new('frame', [==[%s]==])\n", src)
		fmt.Fprintf(&script, "function tap.packet(pinfo) print('%d ' .. pinfo.number) end end\n", i)
	}
	script.WriteString("print('ready')\n")
	name := filepath.Join(t.TempDir(), "filters.lua")
	if err := os.WriteFile(name, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tshark, "-n", "-q", "-X", "lua_script:"+name, "-r", file).CombinedOutput()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, out)
	}
	_, lines, ready := strings.Cut(string(out), "ready\n")
	if !ready {
		testneed.Missing(t, "tshark", "this tshark does not run the Lua script:\n"+string(out))
	}
	passed := make([][]int, len(filters))
	for i := range passed {
		passed[i] = []int{}
	}
	for line := range strings.Lines(lines) {
		var i, number int
		if _, err := fmt.Sscan(line, &i, &number); err != nil {
			t.Fatalf("tshark printed %q: %v", line, err)
		}
		passed[i] = append(passed[i], number)
	}
	return passed
}

// merged writes the first frames of the captures to one file and returns them
// decoded.
func merged(t *testing.T, folder string, names []string) (string, []*packet.Packet) {
	t.Helper()
	data := []byte{0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0}
	var list []*packet.Packet
	for _, name := range names {
		for _, r := range firstRecords(t, filepath.Join(folder, name)) {
			data = binary.LittleEndian.AppendUint32(data, uint32(r.Time/1e9))
			data = binary.LittleEndian.AppendUint32(data, uint32(r.Time%1e9))
			data = binary.LittleEndian.AppendUint32(data, uint32(len(r.Data)))
			data = binary.LittleEndian.AppendUint32(data, uint32(r.WireLen))
			data = append(data, r.Data...)

			p := newPacket(wire.LinkEthernet, r.Data, r.WireLen)
			p.Number, p.HasTime, p.Time, p.First, p.Previous = len(list)+1, true, r.Time, r.Time, r.Time
			if len(list) > 0 {
				p.First, p.Previous = list[0].Time, list[len(list)-1].Time
			}
			list = append(list, p)
		}
	}
	file := filepath.Join(t.TempDir(), "merged.pcap")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file, list
}

func firstRecords(t *testing.T, name string) []capfile.Record {
	t.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var records []capfile.Record
	for {
		batch, err := r.Next() // never released: the records stay valid
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range batch.Records {
			if record.Link != wire.LinkEthernet {
				t.Fatalf("%s: link type %d, want Ethernet", name, record.Link)
			}
			if records = append(records, record); len(records) == perCapture {
				return records
			}
		}
	}
}
