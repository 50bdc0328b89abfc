package wire

import "encoding/binary"

// be is the byte order of every header but NVMe's and the ERF record's timestamp.
var be = binary.BigEndian

// uint24 reads the first three bytes of b, big-endian.
func uint24(b []byte) uint32 {
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

// putUint24 writes the low 24 bits of v into the first three bytes of b.
func putUint24(b []byte, v uint32) {
	b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v)
}

// bit reports whether any of the bits of mask is set in b.
func bit(b, mask byte) bool { return b&mask != 0 }

// putBit sets or clears the bits of mask in *b.
func putBit(b *byte, mask byte, on bool) {
	if on {
		*b |= mask
	} else {
		*b &^= mask
	}
}

// putBits writes the bits of mask in *b from v, which is already in their
// place.
func putBits(b *byte, mask, v byte) { *b = *b&^mask | v&mask }

// merge returns old with the bits of mask taken from v.
func merge[T uint16 | uint32](old, v, mask T) T { return old&^mask | v&mask }

// AppendHex adds v with 0x and at least the given number of digits.
func AppendHex(dst []byte, v uint64, digits int) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '0', 'x')
	for v>>(4*uint(digits)) != 0 && digits < 16 {
		digits++
	}
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, hexDigits[v>>(4*uint(i))&15])
	}
	return dst
}
