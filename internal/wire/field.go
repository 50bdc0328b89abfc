package wire

// Kind says what sort of value a field holds.
type Kind uint8

// The kinds of value a header field can hold.
const (
	Uint  Kind = iota // unsigned integer of up to 64 bits
	Bool              // one bit
	Bytes             // a run of whole bytes
	MAC               // 6-byte Ethernet address
	IPv4              // 4-byte address
	IPv6              // 16-byte address or GID
	EUI64             // 8-byte GUID
	Text              // NUL-padded character data
)

// Base says how an integer is printed.
type Base uint8

// The number bases of display.
const (
	Dec Base = iota
	Hex
)

// Field describes one field of a header: where its bits are and how it is
// called and shown. Names are Wireshark's display-filter names where it has
// one. Bit 0 is the most significant bit of the header's first byte, as the
// IBTA specification and the RFCs count.
type Field struct {
	Name  string // display-filter name, "infiniband.bth.psn"
	Title string // what a person reads, "Packet Sequence Number"
	Kind  Kind
	Base  Base
	Bit   int // offset from the start of the header
	Bits  int // width; 0 means "to the end of the header" (Bytes and Text only)
	// Width is the size in bits of the type that the value is shown in; it
	// decides how many hexadecimal digits are printed. 0 means Bits rounded up
	// to 8, 16, 24, 32 or 64.
	Width int
	// Scale is what one unit of the bits counts: the shown value is the bits
	// times Scale. 0 means 1.
	Scale uint64
	// Little marks a field of whole bytes in little-endian order.
	Little bool
	// Names gives an enumerated value's name, "" for an unknown one.
	Names func(v uint64) string
	// When says whether the header h has the field at all; nil means always.
	When func(h []byte) bool
}

// Present reports whether the field exists in the header and all of its bits
// are in h, the captured bytes of the header.
func (f *Field) Present(h []byte) bool {
	if (f.Bit+f.Bits+7)/8 > len(h) || (f.Bits == 0 && f.Bit/8 > len(h)) {
		return false
	}
	return f.When == nil || f.When(h)
}

// Uint reads the field as an unsigned integer of up to 64 bits. The caller has
// checked Present.
func (f *Field) Uint(h []byte) uint64 {
	first := f.Bit / 8
	last := (f.Bit + f.Bits + 7) / 8 // one past
	if last-first > 8 {              // 64 bits that straddle nine bytes
		return f.uintWide(h)
	}
	if f.Little {
		return littleEndian(h[first:last])
	}
	var v uint64
	for _, b := range h[first:last] {
		v = v<<8 | uint64(b)
	}
	v >>= uint(last*8 - f.Bit - f.Bits)
	if f.Bits < 64 {
		v &= 1<<uint(f.Bits) - 1
	}
	return v
}

func littleEndian(b []byte) uint64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func (f *Field) uintWide(h []byte) uint64 {
	var v uint64
	for i := f.Bit; i < f.Bit+f.Bits; i++ {
		v = v<<1 | uint64(h[i/8]>>(7-uint(i%8))&1)
	}
	return v
}

// SetUint writes the low Bits bits of v into the header, leaving its
// neighbours alone. The caller has checked Present.
func (f *Field) SetUint(h []byte, v uint64) {
	if f.Little {
		for i := range f.Raw(h) {
			h[f.Bit/8+i] = byte(v >> (8 * uint(i)))
		}
		return
	}
	for i := f.Bit + f.Bits - 1; i >= f.Bit; i-- {
		mask := byte(1) << (7 - uint(i%8))
		if v&1 != 0 {
			h[i/8] |= mask
		} else {
			h[i/8] &^= mask
		}
		v >>= 1
	}
}

// Value reads the field as it is shown: the bits times Scale, and 1 for a Bool
// of which any bit is set. The caller has checked Present.
func (f *Field) Value(h []byte) uint64 {
	v := f.Uint(h)
	switch {
	case f.Kind == Bool && v != 0:
		return 1
	case f.Scale != 0:
		return v * f.Scale
	}
	return v
}

// SetValue writes a value in the unit that Value reads. It reports false, and
// leaves the header alone, when the field's bits cannot say v. The caller has
// checked Present.
func (f *Field) SetValue(h []byte, v uint64) bool {
	if f.Scale != 0 {
		if v%f.Scale != 0 {
			return false
		}
		v /= f.Scale
	}
	if f.Bits < 64 && v>>uint(f.Bits) != 0 {
		return false
	}
	f.SetUint(h, v)
	return true
}

// Raw returns the whole bytes that the field touches. The caller has checked
// Present.
func (f *Field) Raw(h []byte) []byte {
	if f.Bits == 0 {
		return h[f.Bit/8:]
	}
	return h[f.Bit/8 : (f.Bit+f.Bits+7)/8]
}

// Digits is the number of hexadecimal digits the value is printed with.
func (f *Field) Digits() int {
	w := f.Width
	if w == 0 {
		w = f.Bits
	}
	switch {
	case w <= 8:
		return 2
	case w <= 16:
		return 4
	case w <= 24:
		return 6
	case w <= 32:
		return 8
	default:
		return 16
	}
}
