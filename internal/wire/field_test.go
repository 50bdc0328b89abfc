package wire

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// readBits is the reference: one bit at a time, the first the most significant.
func readBits(h []byte, bit, bits int) (v uint64) {
	for i := bit; i < bit+bits; i++ {
		v <<= 1
		if h[i/8]&(0x80>>(i%8)) != 0 {
			v |= 1
		}
	}
	return v
}

func TestUintReadsTheBitsThatTheFieldNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	nineBytes := 0
	for range 20000 {
		f := Field{Bit: rng.IntN(64), Bits: 1 + rng.IntN(64)}
		h := randomHeader(rng, (f.Bit+f.Bits+7)/8)
		if (f.Bit+f.Bits+7)/8-f.Bit/8 == 9 {
			nineBytes++
		}
		if got, want := f.Uint(h), readBits(h, f.Bit, f.Bits); got != want {
			t.Fatalf("%d bits at %d of %x = %#x, want %#x", f.Bits, f.Bit, h, got, want)
		}
	}
	if nineBytes == 0 {
		t.Error("no field straddled nine bytes")
	}
}

func TestSetUintWritesTheFieldAndNothingElse(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 20000 {
		f := Field{Bit: rng.IntN(64), Bits: 1 + rng.IntN(64)}
		old := randomHeader(rng, (f.Bit+f.Bits+7)/8+1)
		h := slices.Clone(old)
		v := rng.Uint64()
		f.SetUint(h, v)
		if got, want := readBits(h, f.Bit, f.Bits), v<<(64-f.Bits)>>(64-f.Bits); got != want {
			t.Fatalf("%d bits at %d: wrote %#x, read %#x", f.Bits, f.Bit, want, got)
		}
		for i := range len(h) * 8 {
			if (i < f.Bit || i >= f.Bit+f.Bits) && readBits(h, i, 1) != readBits(old, i, 1) {
				t.Fatalf("%d bits at %d: bit %d changed, %x to %x", f.Bits, f.Bit, i, old, h)
			}
		}
	}
}

func TestValueScalesAndSetValueDivides(t *testing.T) {
	f := Field{Bit: 4, Bits: 4, Scale: 4}
	h := []byte{0x45}
	if got := f.Value(h); got != 20 {
		t.Errorf("value of IHL 5 = %d, want 20", got)
	}
	if !f.SetValue(h, 60) || h[0] != 0x4F {
		t.Errorf("60 bytes written as %#x, want 0x4f", h[0])
	}
	for _, v := range []uint64{21, 64} { // no multiple of 4; more than 4 bits
		if f.SetValue(h, v) || h[0] != 0x4F {
			t.Errorf("value %d was written, header is %#x", v, h[0])
		}
	}
	wide := Field{Bits: 64}
	h = make([]byte, 8)
	if !wide.SetValue(h, 1<<63) || wide.Value(h) != 1<<63 {
		t.Errorf("64-bit value is %#x", wide.Value(h))
	}
}

func TestValueOfABoolOfSeveralBitsIsZeroOrOne(t *testing.T) {
	f := Field{Kind: Bool, Bit: 4, Bits: 3}
	for h, want := range map[byte]uint64{0xF1: 0, 0x08: 1, 0x0E: 1} {
		if got := f.Value([]byte{h}); got != want {
			t.Errorf("value of %#x = %d, want %d", h, got, want)
		}
	}
}

func TestPresentNeedsEveryByteOfTheField(t *testing.T) {
	h := make([]byte, 8)
	never := func([]byte) bool { return false }
	for _, tc := range []struct {
		name   string
		field  Field
		needed int // bytes of the header; -1 when it is never there
	}{
		{"aligned", Field{Bit: 16, Bits: 16}, 4},
		{"one bit", Field{Bit: 16, Bits: 1}, 3},
		{"straddling", Field{Bit: 15, Bits: 2}, 3},
		{"open-ended", Field{Kind: Bytes, Bit: 40}, 5},
		{"when not", Field{Bit: 0, Bits: 8, When: never}, -1},
	} {
		for n := range len(h) + 1 {
			if got, want := tc.field.Present(h[:n]), tc.needed >= 0 && n >= tc.needed; got != want {
				t.Errorf("%s: present in %d bytes = %v, want %v", tc.name, n, got, want)
			}
		}
	}
}

func TestWhenIsNotAskedAboutAHeaderCutBeforeTheField(t *testing.T) {
	f := Field{Bit: 8, Bits: 8, When: func(h []byte) bool { return h[1] != 0 }}
	if f.Present([]byte{1}) {
		t.Error("present in a header that ends before it")
	}
}

func TestRawIsTheBytesThatTheFieldTouches(t *testing.T) {
	h := []byte{0, 1, 2, 3, 4, 5}
	for _, tc := range []struct {
		field Field
		want  []byte
	}{
		{Field{Bit: 8, Bits: 24}, []byte{1, 2, 3}},
		{Field{Bit: 15, Bits: 2}, []byte{1, 2}},
		{Field{Kind: Bytes, Bit: 32}, []byte{4, 5}},
		{Field{Kind: Bytes, Bit: 48}, nil},
	} {
		if got := tc.field.Raw(h); !bytes.Equal(got, tc.want) {
			t.Errorf("%d bits at %d: %x, want %x", tc.field.Bits, tc.field.Bit, got, tc.want)
		}
	}
}

func TestDigitsFollowTheTypeAndNotTheMask(t *testing.T) {
	for _, tc := range []struct{ bits, width, want int }{
		{3, 0, 2},
		{8, 0, 2},
		{9, 0, 4},
		{16, 0, 4},
		{20, 0, 6},
		{24, 0, 6},
		{25, 0, 8},
		{32, 0, 8},
		{33, 0, 16},
		{64, 0, 16},
		{12, 16, 4},
		{8, 32, 8},
		{20, 24, 6},
		{3, 8, 2},
	} {
		f := Field{Bits: tc.bits, Width: tc.width}
		if got := f.Digits(); got != tc.want {
			t.Errorf("%d bits in a type of %d: %d digits, want %d", tc.bits, tc.width, got, tc.want)
		}
	}
}
