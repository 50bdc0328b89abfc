package icrc

import "hash/crc32"

// Tail is the end that many packets have in common: with one, the ICRC of each
// costs what the bytes before it cost, however long the end is. It is never
// changed, and so can be used by everybody at once.
//
// A CRC is linear: that of a head and a tail is that of the head, moved on by as
// many zero bytes as the tail has, plus that of the tail. Moving on by a fixed
// length is a matrix of 32 bits by 32, kept here as the sums of its columns for
// each value of each of the four bytes.
type Tail struct {
	sum   uint32
	moved [4][256]uint32
}

// NewTail makes one of the last bytes of a packet before its ICRC. It must not
// hold any of the fields that are masked, which all lie before the last seven
// bytes of the BTH.
func NewTail(tail []byte) *Tail {
	t := &Tail{sum: crc32.ChecksumIEEE(tail)}
	columns := identity()
	for byteStep, n := zeroByte(), len(tail); n > 0; n >>= 1 { // by squaring
		if n&1 != 0 {
			columns = byteStep.after(&columns)
		}
		byteStep = byteStep.after(&byteStep)
	}
	for i := range t.moved {
		for v := range t.moved[i] {
			t.moved[i][v] = columns.apply(uint32(v) << (8 * i))
		}
	}
	return t
}

// After is the ICRC of a packet that has this tail, given the sum of what lies
// before that, which Hasher.Sum computes as if it were the whole packet.
func (t *Tail) After(head uint32) uint32 {
	m := &t.moved
	return t.sum ^ m[0][head&0xFF] ^ m[1][head>>8&0xFF] ^ m[2][head>>16&0xFF] ^ m[3][head>>24]
}

// operator is a linear map of CRC registers: what becomes of each bit.
type operator [32]uint32

func identity() (o operator) {
	for bit := range o {
		o[bit] = 1 << bit
	}
	return o
}

// zeroByte is what feeding one byte of zeros does to a register.
func zeroByte() (o operator) {
	for bit := range o {
		register := uint32(1) << bit
		o[bit] = crc32.IEEETable[register&0xFF] ^ register>>8
	}
	return o
}

func (o *operator) apply(register uint32) (out uint32) {
	for bit := range o {
		if register>>bit&1 != 0 {
			out ^= o[bit]
		}
	}
	return out
}

// after is the map that does what first does, and then what o does.
func (o *operator) after(first *operator) (both operator) {
	for bit := range both {
		both[bit] = o.apply(first[bit])
	}
	return both
}
