package wire

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// An accessor pairs a getter and a setter with the field that a Spec lists for
// the same bits. Exactly one of the two pairs of functions is set.
type accessor struct {
	field  string
	get    func(h []byte) uint64
	set    func(h []byte, v uint64)
	getRaw func(h []byte) []byte
	setRaw func(h, v []byte)
}

func accNum[H ~[]byte, V ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64](field string, get func(H) V, set func(H, V)) accessor {
	return accessor{
		field: field,
		get:   func(h []byte) uint64 { return uint64(get(H(h))) },
		set:   func(h []byte, v uint64) { set(H(h), V(v)) },
	}
}

func accFlag[H ~[]byte](field string, get func(H) bool, set func(H, bool)) accessor {
	return accessor{
		field: field,
		get: func(h []byte) uint64 {
			if get(H(h)) {
				return 1
			}
			return 0
		},
		set: func(h []byte, v uint64) { set(H(h), v&1 != 0) },
	}
}

func accMAC[H ~[]byte](field string, get func(H) [6]byte, set func(H, [6]byte)) accessor {
	return accessor{
		field:  field,
		getRaw: func(h []byte) []byte { a := get(H(h)); return a[:] },
		setRaw: func(h, v []byte) { set(H(h), [6]byte(v)) },
	}
}

func accIPv4[H ~[]byte](field string, get func(H) netip.Addr, set func(H, [4]byte)) accessor {
	return accessor{
		field:  field,
		getRaw: func(h []byte) []byte { return get(H(h)).AsSlice() },
		setRaw: func(h, v []byte) { set(H(h), [4]byte(v)) },
	}
}

func accIPv6[H ~[]byte](field string, get func(H) netip.Addr, set func(H, [16]byte)) accessor {
	return accessor{
		field:  field,
		getRaw: func(h []byte) []byte { return get(H(h)).AsSlice() },
		setRaw: func(h, v []byte) { set(H(h), [16]byte(v)) },
	}
}

// checkAccessors shows on random headers that every getter reads its field,
// that every setter writes it and no other bit, and that no field is left
// without an accessor but the ones named in plain. prepare makes a random
// header one that has all the fields.
func checkAccessors(t *testing.T, spec *Spec, length int, prepare func(h []byte), list []accessor, plain ...string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(spec.ID)))
	for range 100 {
		h := randomHeader(rng, length)
		if prepare != nil {
			prepare(h)
		}
		for _, a := range list {
			checkAccessor(t, rng, spec, h, a)
		}
	}
	for _, f := range spec.Fields {
		has := slices.ContainsFunc(list, func(a accessor) bool { return a.field == f.Name })
		if has == slices.Contains(plain, f.Name) {
			t.Errorf("%s: has an accessor: %v, is listed as having none: %v", f.Name, has, !has)
		}
	}
}

func checkAccessor(t *testing.T, rng *rand.Rand, spec *Spec, h []byte, a accessor) {
	t.Helper()
	f := presentField(spec, h, a.field)
	if f == nil {
		t.Fatalf("%s is not a field of %x", a.field, h)
	}
	got, want := slices.Clone(h), slices.Clone(h)
	if a.get == nil {
		if raw := a.getRaw(h); !bytes.Equal(raw, f.Raw(h)) {
			t.Errorf("%s of %x: getter %x, field %x", a.field, h, raw, f.Raw(h))
		}
		v := randomHeader(rng, f.Bits/8)
		a.setRaw(got, v)
		copy(f.Raw(want), v)
	} else {
		if v := a.get(h); v != f.Value(h) {
			t.Errorf("%s of %x: getter %d, field %d", a.field, h, v, f.Value(h))
		}
		v := rng.Uint64()
		if f.Scale != 0 {
			v = v & (1<<f.Bits - 1) * f.Scale
		}
		a.set(got, v)
		f.SetUint(want, v/max(f.Scale, 1))
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: setter on %x wrote %x, field says %x", a.field, h, got, want)
	}
}

func randomHeader(rng *rand.Rand, n int) []byte {
	h := make([]byte, n)
	for i := range h {
		h[i] = byte(rng.Uint32())
	}
	return h
}

func presentField(spec *Spec, h []byte, name string) *Field {
	for i := range spec.Fields {
		if f := &spec.Fields[i]; f.Name == name && f.Present(h) {
			return f
		}
	}
	return nil
}

// checkFields compares the fields of a header with what tshark 4.0.17 shows of
// the same bytes. absent names fields that the header must not have.
func checkFields(t *testing.T, spec *Spec, header string, want map[string]uint64, absent ...string) {
	t.Helper()
	h := unhex(t, header)
	for name, v := range want {
		f := presentField(spec, h, name)
		if f == nil {
			t.Errorf("%s: not present in %x", name, h)
		} else if got := f.Value(h); got != v {
			t.Errorf("%s of %x = %#x, tshark shows %#x", name, h, got, v)
		}
	}
	for _, name := range absent {
		if presentField(spec, h, name) != nil {
			t.Errorf("%s: present in %x, tshark does not show it", name, h)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// linkSpecs returns the descriptions of the link, network and tunnel headers.
func linkSpecs(t *testing.T) []*Spec {
	t.Helper()
	var all []*Spec
	for id := HdrEthernet; id <= HdrGeneve; id++ {
		s := SpecOf(id)
		if s == nil || s.ID != id {
			t.Fatalf("header %d is described by %+v", id, s)
		}
		all = append(all, s)
	}
	return all
}

func TestLinkFieldsLieInTheFixedHeaderOrAreOptional(t *testing.T) {
	for _, s := range linkSpecs(t) {
		for _, f := range s.Fields {
			if end := f.Bit + f.Bits; (end > s.Len*8 || f.Bits == 0) && f.When == nil {
				t.Errorf("%s ends at bit %d of a header of %d bytes, and nothing says when it is there", f.Name, end, s.Len)
			}
			if width := map[Kind]int{MAC: 48, IPv4: 32, IPv6: 128, EUI64: 64}[f.Kind]; width != 0 && (f.Bits != width || f.Bit%8 != 0) {
				t.Errorf("%s: %d bits at %d for an address of %d", f.Name, f.Bits, f.Bit, width)
			}
			if (f.Kind == Uint || f.Kind == Bool) && (f.Bits < 1 || f.Bits > 64 || f.Width != 0 && f.Width < f.Bits) {
				t.Errorf("%s: %d bits in a type of %d", f.Name, f.Bits, f.Width)
			}
		}
	}
}

func TestOneFieldNameHasOneMeaning(t *testing.T) {
	first := map[string]Field{}
	for _, s := range linkSpecs(t) {
		for _, f := range s.Fields {
			o, seen := first[f.Name]
			if seen && (o.Title != f.Title || o.Kind != f.Kind || o.Base != f.Base || o.Scale != f.Scale) {
				t.Errorf("%s means %q (kind %d, base %d, scale %d) and %q (kind %d, base %d, scale %d)",
					f.Name, o.Title, o.Kind, o.Base, o.Scale, f.Title, f.Kind, f.Base, f.Scale)
			}
			first[f.Name] = f
		}
	}
}

func TestOneHeaderHasAFieldOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, s := range linkSpecs(t) {
		for range 500 {
			h := randomHeader(rng, 64)
			seen := map[string]bool{}
			for i := range s.Fields {
				if f := &s.Fields[i]; f.Present(h) {
					if seen[f.Name] {
						t.Fatalf("%s is twice in %x", f.Name, h)
					}
					seen[f.Name] = true
				}
			}
		}
	}
}

// Some fields depend on a byte of the header that a cut capture may not have.
func TestFieldsOfEveryPrefixAreReadInsideIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range linkSpecs(t) {
		for range 50 {
			whole := randomHeader(rng, 64)
			for n := range len(whole) + 1 {
				h := slices.Clip(whole[:n])
				for i := range s.Fields {
					f := &s.Fields[i]
					if !f.Present(h) {
						continue
					}
					if f.Kind == Uint || f.Kind == Bool {
						f.Value(h)
					}
					f.Raw(h)
				}
			}
		}
	}
}

func TestNamesKnowTheirConstants(t *testing.T) {
	for _, tc := range []struct {
		names func(uint64) string
		value uint64
		want  string
	}{
		{EtherTypeName, EtherTypeRoCE, "RoCEv1"},
		{EtherTypeName, 0x1234, ""},
		{ipProtoName, IPProtoUDP, "UDP"},
		{ipProtoName, IPProtoGRH, "IBA transport"},
		{ipProtoName, 255, ""},
		{dscpName, 0, "CS0"},
		{dscpName, 26, "AF31"},
		{dscpName, 46, "EF"},
		{dscpName, 56, "CS7"},
		{dscpName, 63, ""},
		{ecnName, ECNNotECT, "Not-ECT"},
		{ecnName, ECNECT1, "ECT(1)"},
		{ecnName, ECNECT0, "ECT(0)"},
		{ecnName, ECNCE, "CE"},
		{maccOpcodeName, MACControlPause, "Pause"},
		{maccOpcodeName, MACControlPFC, "Priority-based Flow Control"},
		{maccOpcodeName, 2, ""},
		{erfTypeName, ERFTypeInfiniBand, "InfiniBand"},
		{erfTypeName, ERFTypeInfiniBandLink, "InfiniBand link"},
		{erfTypeName, 1, ""},
		{erfExtTypeName, erfExtIntercept, "Intercept ID"},
		{sllPacketTypeName, SLLOutgoing, "Sent by us"},
		{sllPacketTypeName, 9, ""},
		{arphrdName, 32, "InfiniBand"},
		{arpOperationName, ARPReply, "reply"},
		{udpPortName, PortRoCEv2, "RoCEv2"},
		{erspanVersionName, ERSPANVersion3, "Type III"},
		{erspanDirectionName, 1, "Egress"},
	} {
		if got := tc.names(tc.value); got != tc.want {
			t.Errorf("name of %d = %q, want %q", tc.value, got, tc.want)
		}
	}
}

func TestAccessorsDoNotAllocate(t *testing.T) {
	h := make([]byte, 60)
	src := []byte{10, 0, 0, 1}
	var sink int
	if n := testing.AllocsPerRun(100, func() {
		sink += int(Ethernet(h).Dst()[0]) + IPv4Header(h).Src().BitLen() + IPv6Header(h).Dst().BitLen()
		sink += GRE(h).HeaderLen() + int(IPv4Checksum(h[:20])) + int(UDPChecksum(src, src, h))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sink == 0 {
		t.Error("nothing was read")
	}
}
