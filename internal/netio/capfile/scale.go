package capfile

import (
	"math"
	"math/bits"
)

const nanosPerSecond = 1_000_000_000

// scale turns the 64-bit times of one pcapng interface into nanoseconds:
// time * mul / div >> shift, and offset seconds more. The product has 128 bits,
// so no resolution loses anything before the one rounding, downward, at the
// end.
type scale struct {
	mul    uint64
	div    uint64 // 0 when the divisor is so large that every time is below one nanosecond
	shift  uint
	offset int64
}

// newScale takes if_tsresol and if_tsoffset. The top bit of if_tsresol says
// whether the other seven are a negative power of 2 or of 10
// (draft-ietf-opsawg-pcapng, Interface Description Block).
func newScale(tsresol uint8, offset int64) scale {
	n := uint(tsresol & 0x7f)
	s := scale{mul: 1, div: 1, offset: offset}
	switch {
	case tsresol&0x80 != 0:
		s.mul, s.shift = nanosPerSecond, n
	case n <= 9:
		s.mul = pow10(9 - n)
	case n-9 <= 19:
		s.div = pow10(n - 9)
	default: // 10^20 does not fit into 64 bits, and no time reaches it
		s.div = 0
	}
	return s
}

// pow10 is 10^n for n up to 19.
func pow10(n uint) uint64 {
	p := uint64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// nanos converts one time; what int64 cannot hold saturates.
func (s *scale) nanos(ticks uint64) int64 {
	hi, lo := bits.Mul64(ticks, s.mul)
	switch {
	case s.div == 0:
		hi, lo = 0, 0
	case s.div > 1: // mul is 1 then, and hi 0
		lo /= s.div
	case s.shift >= 64:
		hi, lo = 0, hi>>(s.shift-64)
	case s.shift > 0:
		hi, lo = hi>>s.shift, hi<<(64-s.shift)|lo>>s.shift
	}
	if s.offset != 0 {
		hi, lo = addSeconds(hi, lo, s.offset)
	}
	return saturate(hi, lo)
}

// addSeconds adds seconds to a signed 128-bit number of nanoseconds.
func addSeconds(hi, lo uint64, seconds int64) (uint64, uint64) {
	magnitude := uint64(seconds)
	if seconds < 0 {
		magnitude = -magnitude
	}
	h, l := bits.Mul64(magnitude, nanosPerSecond)
	var carry uint64
	if seconds < 0 {
		lo, carry = bits.Sub64(lo, l, 0)
		hi, _ = bits.Sub64(hi, h, carry)
	} else {
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	return hi, lo
}

// saturate cuts a signed 128-bit number down to 64 bits.
func saturate(hi, lo uint64) int64 {
	switch {
	case hi == 0 && lo <= math.MaxInt64, hi == math.MaxUint64 && lo > math.MaxInt64:
		return int64(lo)
	case hi>>63 != 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// erfNanos converts an ERF time, seconds in 32.32 fixed point, to the nearest
// nanosecond.
func erfNanos(t uint64) int64 {
	fraction := (t&math.MaxUint32*nanosPerSecond + 1<<31) >> 32
	return int64(t>>32)*nanosPerSecond + int64(fraction)
}
