package field

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// vxlanSend is a RoCEv2 SEND inside VXLAN: two of each outer header.
func vxlanSend() *packet.Packet {
	f := []byte{
		2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 8, 0, // eth
		0x45, 0, 0, 98, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, // ip, 192.0.2.1 to .2
		0x15, 0xb3, 0x12, 0xb5, 0, 78, 0, 0, // udp 4789
		8, 0, 0, 0, 0, 0, 7, 0, // vxlan
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
		0x45, 2, 0, 48, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0xc0, 0, 0x12, 0xb7, 0, 28, 0, 0, // udp 4791
		4, 0x40, 0xff, 0xff, 0xc0, 0, 0, 0x11, 0x80, 0, 0, 1, // bth: FECN, BECN, QP 0x11, A, PSN 1
		'A', 'B', 'C', 'D', 1, 2, 3, 4,
	}
	p := &packet.Packet{Number: 7, Interface: -1, HasTime: true, Time: 1_500_000_001, First: 500_000_000, Previous: 1_500_000_000}
	p.Parse(wire.LinkEthernet, f, 0)
	return p
}

func TestFieldsPrintAsTsharkPrintsThem(t *testing.T) {
	p := vxlanSend()
	for name, want := range map[string][]string{
		"eth.src":                   {"02:00:00:00:00:0a", "02:00:00:00:00:01"},
		"ip.src":                    {"192.0.2.1", "10.0.0.1"},
		"ip.addr":                   {"192.0.2.1", "192.0.2.2", "10.0.0.1", "10.0.0.2"},
		"udp.port":                  {"5555", "4789", "49152", "4791"},
		"ip.hdr_len":                {"20", "20"},
		"ip.id":                     {"0x0001", "0x0001"},
		"vxlan.vni":                 {"7"},
		"infiniband.bth.opcode":     {"4"},
		"infiniband.bth.destqp":     {"0x000011"},
		"infiniband.bth.fecn":       {"1"},
		"infiniband.bth.se":         {"0"},
		"infiniband.bth.psn":        {"1"},
		"infiniband.bth":            {"0440ffffc000001180000001"},
		"infiniband.invariant.crc":  {"0x01020304"},
		"infiniband.icrc.status":    {"bad"},
		"infiniband.payload.len":    {"4"},
		"infiniband.aeth.syndrome":  nil,
		"frame.number":              {"7"},
		"frame.time_relative":       {"1.000000001"},
		"frame.time_delta":          {"0.000000001"},
		"frame.time_epoch":          {"1.500000001"},
		"frame.interface_id":        nil,
		"infiniband.aeth.rnr_timer": nil,
	} {
		ref := Lookup(name)
		if ref == nil {
			t.Errorf("%s: no such field", name)
			continue
		}
		var got []string
		for _, v := range ref.Append(nil, p) {
			got = append(got, string(ref.AppendText(nil, v)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNamedValuesSayNameAndNumber(t *testing.T) {
	ref := Lookup("infiniband.bth.opcode")
	if got := string(ref.AppendNamed(nil, Value{Num: 4})); got != "RC SEND Only (4)" {
		t.Errorf("opcode 4: %q", got)
	}
}

func TestAbsentHeaderGivesNoValue(t *testing.T) {
	p := &packet.Packet{}
	p.Parse(wire.LinkEthernet, []byte{1, 2, 3}, 0)
	for _, ref := range All() {
		for _, v := range ref.Append(nil, p) {
			ref.AppendText(nil, v) // must not panic on what a cut frame has
		}
	}
}

func TestNearestFindsTheFieldThatATypoMeant(t *testing.T) {
	for typo, want := range map[string]string{
		"infiniband.bth.pns":    "infiniband.bth.psn",
		"infiniband.bth.destq":  "infiniband.bth.destqp",
		"Infiniband.aeth.msn":   "infiniband.aeth.msn",
		"ip.scr":                "ip.src",
		"utterly.unlike.them..": "",
	} {
		if got := Nearest(typo); got != want {
			t.Errorf("%s: %q, want %q", typo, got, want)
		}
	}
}

func TestEveryFieldHasANameATitleAndAType(t *testing.T) {
	name := regexp.MustCompile(`^[a-z_][a-z0-9_.-]*[A-Za-z0-9]$`)
	for _, ref := range All() {
		if !name.MatchString(ref.Name) || ref.Title == "" || ref.TypeName() == "" {
			t.Errorf("%+v", ref)
		}
		if Lookup(ref.Name) != ref {
			t.Errorf("%s: looking it up gives another field", ref.Name)
		}
	}
}

func TestReadingAndPrintingAFieldDoesNotAllocate(t *testing.T) {
	p := vxlanSend()
	p.CRC()
	refs := []*Ref{Lookup("infiniband.bth.psn"), Lookup("ip.src"), Lookup("eth.src"), Lookup("infiniband.icrc.status"), Lookup("frame.time_epoch")}
	values := make([]Value, 0, 8)
	text := make([]byte, 0, 256)
	n := testing.AllocsPerRun(100, func() {
		text = text[:0]
		for _, ref := range refs {
			values = ref.Append(values[:0], p)
			for _, v := range values {
				text = ref.AppendText(text, v)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSecondsAreExact(t *testing.T) {
	for _, tc := range []struct {
		ns       int64
		decimals int
		want     string
	}{
		{0, 9, "0.000000000"},
		{1, 9, "0.000000001"},
		{1_500_000_001, 9, "1.500000001"},
		{-250_000_000, 9, "-0.250000000"},
		{-1 << 63, 9, "-9223372036.854775808"},
		{1_280_000, 2, "0.00"},
		{7_990_000_000, 0, "7"},
	} {
		if got := string(AppendSeconds(nil, tc.ns, tc.decimals)); got != tc.want {
			t.Errorf("%d: %q, want %q", tc.ns, got, tc.want)
		}
	}
}

func TestHexHasTheDigitsOfItsTypeOrMore(t *testing.T) {
	for _, tc := range []struct {
		v      uint64
		digits int
		want   string
	}{{0, 1, "0x0"}, {0x1f, 1, "0x1f"}, {0x11, 6, "0x000011"}, {1<<64 - 1, 16, "0xffffffffffffffff"}, {1 << 60, 1, "0x1000000000000000"}} {
		if got := string(wire.AppendHex(nil, tc.v, tc.digits)); got != tc.want {
			t.Errorf("%#x with %d digits: %q, want %q", tc.v, tc.digits, got, tc.want)
		}
	}
}

func TestTextFromThePacketCannotSteerATerminal(t *testing.T) {
	if got := string(appendPrintable(nil, []byte("ok\x1b[31m\x00rest"))); got != "ok.[31m" {
		t.Errorf("%q", got)
	}
}
