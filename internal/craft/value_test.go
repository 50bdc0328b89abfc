package craft

import (
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestParseOpcode(t *testing.T) {
	for text, want := range map[string]wire.Opcode{
		"0x0a": 0x0a, "10": 0x0a, "0b100": 4, "0xfe": 0xfe,
		"RC RDMA WRITE Only": 0x0a, "rc write-only": 0x0a, "RC write_only": 0x0a, "rc rdma-write-only": 0x0a,
		"rc send-only-with-immediate": 0x05, "ud send only imm": 0x65, "UD SEND Only Immediate": 0x65,
		"rc send-last-invalidate": 0x16, "rc send last with inv": 0x16,
		"rc ack": 0x11, "rc acknowledge": 0x11, "rc atomic-ack": 0x12, "rc compare-swap": 0x13,
		"rc read-request": 0x0c, "xrc send-only": 0xa4, "rd resync": 0x55, "cnp": 0x81, "CNP (InfiniBand)": 0x80,
	} {
		if got, err := ParseOpcode(text); err != nil || got != want {
			t.Errorf("%q: %#x, %v, want %#x", text, uint8(got), err, uint8(want))
		}
	}
	for _, text := range []string{"", "auto", "rc", "send-only", "0x100", "-1", "uc read-request", "ud"} {
		if got, err := ParseOpcode(text); err == nil {
			t.Errorf("%q is %#x", text, uint8(got))
		}
	}
}

func TestEveryDefinedOpcodeIsFoundByItsName(t *testing.T) {
	for code := range 256 {
		op := wire.Opcode(code)
		if !op.Info().Defined() {
			continue
		}
		for _, name := range []string{op.String(), strings.ToLower(op.String()), strings.ReplaceAll(op.String(), " ", "-")} {
			if got, err := ParseOpcode(name); err != nil || got != op {
				t.Errorf("%q: %v, %v", name, got, err)
			}
		}
	}
}

func TestValuesAreReadAndWritten(t *testing.T) {
	for _, c := range []struct {
		layer             wire.HeaderID
		field, text, want string // want is the bytes of the value, written again
	}{
		{wire.HdrBTH, "psn", "0x10", "16"},
		{wire.HdrBTH, "destqp", "17", "0x11"},
		{wire.HdrBTH, "becn", "true", "1"},
		{wire.HdrBTH, "becn", "FALSE", "0"},
		{wire.HdrBTH, "opcode", "rc send only", "RC SEND Only"},
		{wire.HdrBTH, "opcode", "0xff", "255"},
		{wire.HdrIPv4, "hdr_len", "24", "24"},
		{wire.HdrIPv4, "proto", "UDP", "UDP"},
		{wire.HdrIPv4, "checksum", "auto", "auto"},
		{wire.HdrEthernet, "dst", "52-54-00-00-00-01", "52:54:00:00:00:01"},
		{wire.HdrIPv4, "src", "10.0.0.1", "10.0.0.1"},
		{wire.HdrGRH, "sgid", "10.0.0.1", "::ffff:10.0.0.1"},
		{wire.HdrGRH, "sgid", "fe80::1", "fe80::1"},
		{wire.HdrCNP, "reserved", "00010203 04050607:08090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f"},
	} {
		f := FieldOf(c.layer, c.field)
		s, err := ParseSetting(f, c.text)
		if err != nil || s.Text() != c.want {
			t.Errorf("%s %q: %q, %v, want %q", f.Name, c.text, s.Text(), err, c.want)
		}
	}
	for _, c := range []struct {
		layer       wire.HeaderID
		field, text string
	}{
		{wire.HdrBTH, "psn", "0x1000000"},
		{wire.HdrBTH, "psn", "-1"},
		{wire.HdrBTH, "psn", "one"},
		{wire.HdrBTH, "becn", "2"},
		{wire.HdrIPv4, "hdr_len", "21"},
		{wire.HdrIPv4, "hdr_len", "64"},
		{wire.HdrEthernet, "dst", "1.2.3"},
		{wire.HdrEthernet, "dst", "00:00:00:00:00:00:00:01"},
		{wire.HdrIPv4, "src", "fe80::1"},
		{wire.HdrGRH, "sgid", "host"},
		{wire.HdrCNP, "reserved", "00"},
		{wire.HdrCNP, "reserved", "zz"},
	} {
		if _, err := ParseSetting(FieldOf(c.layer, c.field), c.text); err == nil {
			t.Errorf("%s %q is accepted", c.field, c.text)
		}
	}
}

func TestEveryFieldIsFoundByItsNames(t *testing.T) {
	fields := 0
	for _, spec := range wire.Specs() {
		for i := range spec.Fields {
			f := &spec.Fields[i]
			fields++
			if got := FieldOf(spec.ID, NameOf(spec.ID, f)); got != f {
				t.Errorf("%s of %s is called %s, which is not it", f.Name, spec.Name, NameOf(spec.ID, f))
			}
			first := FieldOf(spec.ID, f.Name)
			if first == nil || first.Name != f.Name || FullField(spec.ID, f.Name) != first {
				t.Errorf("%s of %s is not found by its whole name", f.Name, spec.Name)
			}
		}
	}
	t.Logf("%d fields", fields)
}

func TestNamesThatAreNoFieldAreNotFound(t *testing.T) {
	for _, name := range []string{"", "psn#2", "psn#0", "sn", "infiniband.bth", "infiniband", "#1"} {
		if f := FieldOf(wire.HdrBTH, name); f != nil {
			t.Errorf("%q is %s", name, f.Name)
		}
	}
	if f := FullField(wire.HdrBTH, "psn"); f != nil {
		t.Errorf("psn is no whole name, yet gives %s", f.Name)
	}
}

func TestEveryHeaderIsFoundByItsName(t *testing.T) {
	names := make(map[string]bool)
	for _, spec := range wire.Specs() {
		if isPart(spec.ID) {
			continue
		}
		name := LayerName(spec.ID)
		if id, ok := LayerByName(name); !ok || id != spec.ID || names[name] {
			t.Errorf("%s is called %q, which is %v", spec.Title, name, id)
		}
		names[name] = true
	}
	if id, ok := LayerByName("nonsense"); ok {
		t.Errorf("nonsense is %v", id)
	}
}

// Every value that Text writes for a field is read as the same value.
func TestEveryNamedValueIsReadAgain(t *testing.T) {
	for _, spec := range wire.Specs() {
		for i := range spec.Fields {
			f := &spec.Fields[i]
			if f.Kind != wire.Uint || f.Bits > maxNamed {
				continue
			}
			for v := range uint64(1) << f.Bits {
				s := Setting{Field: f, Num: v * max(f.Scale, 1)}
				if again, err := ParseSetting(f, s.Text()); err != nil || again.Num != s.Num {
					t.Fatalf("%s %d is written %q and read %d, %v", f.Name, s.Num, s.Text(), again.Num, err)
				}
			}
		}
	}
}

func TestPutTakesTheInnermostHeader(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.Wrap(0, Layer{ID: wire.HdrEthernet}, Layer{ID: wire.HdrIPv4}, Layer{ID: wire.HdrUDP}, Layer{ID: wire.HdrVXLAN})
	put(t, r, "ip.ttl=3", "udp.srcport=4", "ip.ttl=5")
	if len(r.Layers[1].Set) != 0 || len(r.Layers[5].Set) != 1 || r.Layers[5].Set[0].Num != 5 || len(r.Layers[2].Set) != 0 {
		t.Errorf("settings %v, %v", r.Layers[1].Set, r.Layers[5].Set)
	}
	if err := r.Put("ttl", "1"); err == nil {
		t.Error("a short name is accepted for a whole packet")
	}
	if err := r.Put("infiniband.reth.va", "1"); err == nil {
		t.Error("a field of a header that is not there is accepted")
	}
}
