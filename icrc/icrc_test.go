package icrc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// forms lists, for each form, the offsets and bits that are replaced by ones,
// and how many bytes of ones come first: the rule, written down a second time.
var forms = []struct {
	form   icrc.Form
	bth    int
	prefix int
	masks  map[int]byte
}{
	{icrc.RoCEv1, 40, 8, map[int]byte{0: 0x0F, 1: 0xFF, 2: 0xFF, 3: 0xFF, 7: 0xFF, 44: 0xFF}},
	{icrc.RoCEv2IPv4, 28, 8, map[int]byte{1: 0xFF, 8: 0xFF, 10: 0xFF, 11: 0xFF, 26: 0xFF, 27: 0xFF, 32: 0xFF}},
	{icrc.RoCEv2IPv6, 48, 8, map[int]byte{0: 0x0F, 1: 0xFF, 2: 0xFF, 3: 0xFF, 7: 0xFF, 46: 0xFF, 47: 0xFF, 52: 0xFF}},
	{icrc.IBLocal, 8, 0, map[int]byte{0: 0xF0, 12: 0xFF}},
	{icrc.IBGlobal, 48, 0, map[int]byte{
		0: 0xFF, 1: 0xFF, 2: 0xFF, 3: 0xFF, 4: 0xFF, 5: 0xFF, 6: 0xFF, 7: 0xFF,
		8: 0x0F, 9: 0xFF, 10: 0xFF, 11: 0xFF, 15: 0xFF, 52: 0xFF,
	}},
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

func TestSumEqualsTheRuleForEveryLength(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h icrc.Hasher
	for _, f := range forms {
		for n := f.bth + wire.BTHLen; n < 400; n++ {
			packet := randomBytes(rnd, n)
			before := bytes.Clone(packet)
			fed := bytes.Repeat([]byte{0xFF}, f.prefix)
			fed = append(fed, packet...)
			for off, m := range f.masks {
				fed[f.prefix+off] |= m
			}
			if got, want := h.Sum(f.form, packet), crc32.ChecksumIEEE(fed); got != want {
				t.Fatalf("%v, %d bytes: %08x, want %08x", f.form, n, got, want)
			}
			if !bytes.Equal(packet, before) {
				t.Fatalf("%v, %d bytes: Sum changed the packet", f.form, n)
			}
			if got := icrc.Compute(f.form, packet); got != h.Sum(f.form, packet) {
				t.Fatalf("%v: Compute gives %08x", f.form, got)
			}
		}
	}
}

func TestSumOfAPacketWithoutRoomForABTHIsZero(t *testing.T) {
	for _, f := range forms {
		for n := range f.bth + wire.BTHLen {
			packet := make([]byte, n)
			if got := icrc.Compute(f.form, packet); got != 0 {
				t.Errorf("%v, %d bytes: %08x", f.form, n, got)
			}
			icrc.Put(f.form, packet)
			if !bytes.Equal(packet, make([]byte, n)) {
				t.Errorf("%v, %d bytes: Put wrote into it", f.form, n)
			}
		}
	}
	if got := icrc.Compute(icrc.Form(99), make([]byte, 100)); got != 0 {
		t.Errorf("unknown form: %08x", got)
	}
}

func TestPutStoresLittleEndian(t *testing.T) {
	packet := unhex(t, ackFrame)[14:]
	want := bytes.Clone(packet)
	copy(packet[len(packet)-icrc.Len:], "....")
	icrc.Put(icrc.RoCEv2IPv4, packet)
	if !bytes.Equal(packet, want) {
		t.Errorf("%x, want %x", packet, want)
	}
	if got := icrc.Load(packet[len(packet)-icrc.Len:]); got != 0xEF69AA22 {
		t.Errorf("Load gives %08x", got)
	}
}

// The check values of the algorithms: "123456789", and RFC 3720 B.4.
func TestCRC32C(t *testing.T) {
	for _, c := range []struct {
		in   string
		want uint32
	}{
		{"123456789", 0xE3069283},
		{string(make([]byte, 32)), 0x8A9136AA},
		{"", 0},
	} {
		if got := icrc.CRC32C([]byte(c.in)); got != c.want {
			t.Errorf("CRC32C(%q) = %08x, want %08x", c.in, got, c.want)
		}
	}
}

func TestVCRCEqualsTheBitwiseRule(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := range 100 {
		b := randomBytes(rnd, n)
		crc := uint16(0xFFFF)
		for _, v := range b {
			for i := range 8 {
				in := uint16(v>>i) & 1
				crc = crc>>1 ^ 0xD008*((crc^in)&1)
			}
		}
		if got := icrc.VCRC(b); got != ^crc {
			t.Fatalf("%d bytes: %04x, want %04x", n, got, ^crc)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		got  fmt.Stringer
		want string
	}{
		{icrc.NotApplicable, ""},
		{icrc.Good, "good"},
		{icrc.NotCheckable, "not checkable"},
		{icrc.Verdict(99), "invalid"},
		{icrc.RoCEv1, "RoCEv1"},
		{icrc.IBGlobal, "IB global"},
		{icrc.Form(99), "invalid"},
		{icrc.CauseNone, "none"},
		{icrc.CauseBitFlip, "bit flipped"},
		{icrc.Cause(99), "invalid"},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%#v: %q, want %q", c.got, got, c.want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{44, 60, 128, 300, 1024 + 44, 4096 + 60} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var h icrc.Hasher
			packet := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				h.Sum(icrc.RoCEv2IPv4, packet)
			}
		})
	}
}

func BenchmarkVCRC(b *testing.B) {
	packet := make([]byte, 1024)
	b.SetBytes(int64(len(packet)))
	for b.Loop() {
		icrc.VCRC(packet)
	}
}

func BenchmarkExplainUnknown(b *testing.B) {
	f := parse(wire.LinkEthernet, longFrame(1024))
	binary.LittleEndian.PutUint32(f.Data[f.ICRC:], 0x12345678)
	var h icrc.Hasher
	for b.Loop() {
		h.Explain(f)
	}
}
