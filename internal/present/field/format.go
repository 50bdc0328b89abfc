package field

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rocecap/rocecap/internal/wire"
)

// AppendText adds the value to dst as `tshark -T fields` prints it.
func (r *Ref) AppendText(dst []byte, v Value) []byte {
	switch r.Kind {
	case Uint:
		if r.Base != 0 {
			return wire.AppendHex(dst, v.Num, r.digits)
		}
		return strconv.AppendUint(dst, v.Num, 10)
	case Bool:
		return append(dst, '0'+byte(v.Num&1))
	case Bytes:
		return hex.AppendEncode(dst, v.Raw)
	case MAC, EUI64:
		return AppendColons(dst, v.Raw)
	case IPv4, IPv6:
		if a, ok := netip.AddrFromSlice(v.Raw); ok {
			return a.AppendTo(dst)
		}
		return dst
	case Text:
		if v.Raw != nil {
			return appendPrintable(dst, v.Raw)
		}
		return AppendOneLine(dst, v.Text)
	case Time:
		return time.Unix(0, int64(v.Num)).AppendFormat(dst, "Jan _2, 2006 15:04:05.000000000 MST")
	case Span:
		return AppendSeconds(dst, int64(v.Num), 9)
	}
	return dst
}

// AppendNamed adds the value as a person reads it: an enumerated value's name
// in front of the number.
func (r *Ref) AppendNamed(dst []byte, v Value) []byte {
	if r.Kind == Uint && r.Names != nil {
		if name := r.Names(v.Num); name != "" {
			dst = append(dst, name...)
			dst = append(dst, " ("...)
			dst = r.AppendText(dst, v)
			return append(dst, ')')
		}
	}
	return r.AppendText(dst, v)
}

// AppendColons adds bytes in hexadecimal with colons between them.
func AppendColons(dst, b []byte) []byte {
	for i := range b {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = hex.AppendEncode(dst, b[i:i+1])
	}
	return dst
}

// appendPrintable adds NUL-padded text; bytes that a terminal could take for
// commands become dots.
func appendPrintable(dst, b []byte) []byte {
	for _, c := range b {
		if c == 0 {
			break
		}
		if c < 0x20 || c > 0x7E {
			c = '.'
		}
		dst = append(dst, c)
	}
	return dst
}

// AppendOneLine adds text that somebody else chose. As tshark does, it shows line
// ends and tabs by their escapes, so that a packet stays one line; what else a
// terminal could take for commands becomes dots.
func AppendOneLine(dst []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsControl(r):
			dst = append(dst, '.')
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// AppendSeconds adds a number of nanoseconds as seconds with the given number
// of decimals, 0 to 9.
func AppendSeconds(dst []byte, ns int64, decimals int) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst = append(dst, '-')
		u = -u
	}
	dst = strconv.AppendUint(dst, u/1e9, 10)
	if decimals == 0 {
		return dst
	}
	return AppendFraction(dst, uint32(u%1e9), decimals)
}

// AppendFraction adds the point and the given number of decimals, up to 9, of a
// number of nanoseconds.
func AppendFraction(dst []byte, frac uint32, decimals int) []byte {
	const all = 9
	var digits [1 + all]byte
	digits[0] = '.'
	for i := all; i > 0; i-- {
		digits[i] = '0' + byte(frac%10)
		frac /= 10
	}
	return append(dst, digits[:1+decimals]...)
}

// AppendPlain adds the value of a header's field as `tshark -T fields` prints
// it. The caller has checked that the field is present in h.
func AppendPlain(dst []byte, f *wire.Field, h []byte) []byte {
	ref := refOf(f)
	return ref.AppendText(dst, read(f, h))
}

// AppendWire adds the value of a header's field as a person reads it.
func AppendWire(dst []byte, f *wire.Field, h []byte) []byte {
	ref := refOf(f)
	return ref.AppendNamed(dst, read(f, h))
}

func refOf(f *wire.Field) Ref {
	return Ref{Name: f.Name, Title: f.Title, Kind: Kind(f.Kind), Base: f.Base, Names: f.Names, digits: f.Digits(), bits: f.Bits}
}
