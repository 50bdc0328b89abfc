package filter

import (
	"encoding/hex"
	"errors"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/present/field"
)

// literal is a constant of the kind of the field that it is compared with. A
// prefix such as 10.0.0.0/8 is the range of its addresses, and a name may stand
// for several numbers.
type literal struct {
	spans []span // of the kinds that are compared as numbers
	bytes byteSpan
}

func number(v uint64) literal { return literal{spans: []span{{v, v}}} }

func bytesLiteral(b []byte) literal {
	return literal{bytes: byteSpan{lo: b, hi: b, hasLo: true, hasHi: true}}
}

// value is the literal as one value of the given kind.
func (l literal) value(k field.Kind) field.Value {
	switch classOf(k) {
	case classBytes:
		return field.Value{Raw: l.bytes.lo}
	case classSigned:
		return field.Value{Num: l.spans[0].lo ^ signBit}
	case classAddress:
		raw := make([]byte, 8)
		for i := range raw {
			raw[i] = byte(l.spans[0].lo >> (56 - 8*i))
		}
		return field.Value{Raw: raw[8-widths[k]:]}
	}
	return field.Value{Num: l.spans[0].lo}
}

// widths are the lengths of addresses in bytes.
var widths = [...]int{field.MAC: 6, field.IPv4: 4, field.IPv6: 16, field.EUI64: 8}

// toLiteral turns a constant into a value of the kind of what it is compared
// with.
func toLiteral(o *operandTree, like *typed) (literal, *fault) {
	switch o.form {
	case formString:
		return stringLiteral(o, like)
	case formChar:
		return charLiteral(o, like)
	case formMinus:
		return negativeLiteral(o, like)
	}
	l, fault := wordLiteral(o, like)
	if fault != nil && strings.Contains(o.token.text, ".") {
		if near := field.Nearest(o.token.text); near != "" {
			return literal{}, noSuchField(o)
		}
	}
	return l, fault
}

func stringLiteral(o *operandTree, like *typed) (literal, *fault) {
	text := o.token.text
	switch {
	case like.kind == field.Bytes || like.kind == field.Text:
		return bytesLiteral([]byte(text)), nil
	case like.kind == field.Bool || like.names != nil:
		return named(o, like)
	case like.kind == field.Time:
		return absoluteTime(o)
	}
	return literal{}, o.fault("%s cannot be converted from a string (%q)", titles[like.kind], text)
}

func charLiteral(o *operandTree, like *typed) (literal, *fault) {
	switch like.kind {
	case field.Uint:
		return number(uint64(o.token.text[0])), nil
	case field.Bytes, field.Text:
		return bytesLiteral([]byte(o.token.text)), nil
	}
	return literal{}, o.fault("%s cannot be converted from a character", titles[like.kind])
}

func negativeLiteral(o *operandTree, like *typed) (literal, *fault) {
	inner := o.args[0]
	switch like.kind {
	case field.Span:
		l, fault := wordLiteral(inner, like)
		if fault != nil {
			return literal{}, fault
		}
		return number(-(l.spans[0].lo ^ signBit) ^ signBit), nil
	case field.Uint:
		return literal{}, o.fault("\"-%s\" too small for this field, minimum 0", inner.token.text)
	}
	return literal{}, o.fault("%s cannot be negative", titles[like.kind])
}

func wordLiteral(o *operandTree, like *typed) (literal, *fault) {
	text := o.token.text
	switch like.kind {
	case field.Uint:
		return uintLiteral(o, like)
	case field.Bool:
		if v, err := parseUint(text); err == nil {
			return number(min(v, 1)), nil
		}
		return named(o, like)
	case field.IPv4, field.IPv6:
		return addressLiteral(o, like.kind)
	case field.MAC, field.EUI64:
		return hardwareLiteral(o, like.kind)
	case field.Bytes:
		b, ok := parseBytes(text)
		if !ok {
			return literal{}, o.fault("%q is not a valid byte string", text)
		}
		return bytesLiteral(b), nil
	case field.Text:
		return bytesLiteral([]byte(text)), nil
	case field.Span:
		ns, ok := parseSeconds(text)
		if !ok {
			return literal{}, o.fault("%q is not a valid time", text)
		}
		return number(uint64(ns) ^ signBit), nil
	case field.Time:
		return literal{}, o.fault("%q is not a valid absolute time; write it as \"2026-01-02 03:04:05.123456\"", text)
	}
	return literal{}, o.fault("%s has no value to compare", like.name)
}

func uintLiteral(o *operandTree, like *typed) (literal, *fault) {
	text := o.token.text
	v, err := parseUint(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return literal{}, o.fault("%q causes an integer overflow", text)
	case err != nil && like.names != nil:
		return named(o, like)
	case err != nil:
		return literal{}, o.fault("%q is not a valid number", text)
	case v > like.max:
		return literal{}, o.fault("%q too big for this field, maximum %d", text, like.max)
	}
	return number(v), nil
}

// parseUint reads decimal, 0x, 0b and octal numbers. Go's underscores and its
// "0o" are not in the language.
func parseUint(s string) (uint64, error) {
	if strings.ContainsAny(s, "_oO") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(s, 0, 64)
}

// named finds the numbers that have a name, in any case of letters.
func named(o *operandTree, like *typed) (literal, *fault) {
	text := o.token.text
	if like.kind == field.Bool {
		switch strings.ToLower(text) {
		case "true":
			return number(1), nil
		case "false":
			return number(0), nil
		}
	}
	var l literal
	for v := uint64(0); like.names != nil && v <= min(like.max, math.MaxUint16); v++ {
		if strings.EqualFold(like.names(v), text) {
			l.spans = append(l.spans, span{v, v})
		}
	}
	if l.spans == nil || text == "" {
		return literal{}, o.fault("%q cannot be found among the possible values for %s", text, like.name)
	}
	return l, nil
}

func addressLiteral(o *operandTree, k field.Kind) (literal, *fault) {
	text, bits := o.token.text, 8*widths[k]
	host, length, hasLength := strings.Cut(text, "/")
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.BitLen() != bits || addr.Zone() != "" {
		return literal{}, o.fault("%q is not a valid %s", text, titles[k])
	}
	prefix := bits
	if hasLength {
		if prefix, err = strconv.Atoi(length); err != nil || prefix > bits {
			return literal{}, o.fault("prefix length of an %s should be <= %d, not %s", titles[k], bits, length)
		}
	}
	lo := netip.PrefixFrom(addr, prefix).Masked().Addr().AsSlice()
	hi := append([]byte(nil), lo...)
	for i := prefix; i < bits; i++ {
		hi[i/8] |= 0x80 >> (i % 8)
	}
	if k == field.IPv4 {
		return literal{spans: []span{{bigEndian(lo), bigEndian(hi)}}}, nil
	}
	return literal{bytes: byteSpan{lo: lo, hi: hi, hasLo: true, hasHi: true}}, nil
}

// hardwareLiteral reads a MAC address or a GUID; a GUID may be one hexadecimal
// number too, as management tools print it.
func hardwareLiteral(o *operandTree, k field.Kind) (literal, *fault) {
	text := o.token.text
	if k == field.EUI64 && (strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")) {
		v, err := parseUint(text)
		if err != nil {
			return literal{}, o.fault("%q is not a valid %s", text, titles[k])
		}
		return number(v), nil
	}
	b, ok := parseBytes(text)
	switch {
	case !ok:
		return literal{}, o.fault("%q is not a valid %s", text, titles[k])
	case len(b) < widths[k]:
		return literal{}, o.fault("%q contains too few bytes to be a valid %s", text, titles[k])
	case len(b) > widths[k]:
		return literal{}, o.fault("%q contains too many bytes to be a valid %s", text, titles[k])
	}
	return number(bigEndian(b)), nil
}

// parseBytes reads a byte string: pairs of hexadecimal digits that may be
// separated by colons, hyphens or dots, or one byte as 0xff. The digits between
// two separators are bytes of their own, the last of which may be one digit.
func parseBytes(s string) ([]byte, bool) {
	if len(s) <= 4 {
		s = strings.TrimPrefix(s, "0x")
	}
	isSeparator := func(r rune) bool { return r == ':' || r == '-' || r == '.' }
	var out []byte
	for part := range strings.FieldsFuncSeq(s, isSeparator) {
		if n := len(part); n%2 == 1 {
			part = part[:n-1] + "0" + part[n-1:]
		}
		b, err := hex.DecodeString(part)
		if err != nil {
			return nil, false
		}
		out = append(out, b...)
	}
	return out, len(out) > 0
}

// parseSeconds reads seconds with up to nine decimals as nanoseconds; further
// decimals are cut off.
func parseSeconds(s string) (int64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	if digits(whole) != len(whole) || digits(frac) != len(frac) || whole == "" {
		return 0, false
	}
	sec, err := strconv.ParseInt(whole, 10, 64)
	ns, errFrac := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err != nil || errFrac != nil || sec > math.MaxInt64/1_000_000_000-1 {
		return 0, false
	}
	return sec*1_000_000_000 + ns, true
}

// timeLayouts are the ways to write an absolute time. Go reads decimals behind
// the seconds of any of them.
var timeLayouts = [...]string{
	"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04", "2006-01-02 15:04Z07:00", "2006-01-02",
	"Jan _2, 2006 15:04:05", "Jan _2, 2006 15:04:05 MST", "Jan _2, 2006 15:04", "Jan _2, 2006",
}

// absoluteTime reads a time; one without a zone is local, as in tshark.
func absoluteTime(o *operandTree) (literal, *fault) {
	text := strings.TrimSpace(o.token.text)
	iso := text
	if len(text) > 10 && text[10] == 'T' {
		iso = text[:10] + " " + text[11:]
	}
	for _, layout := range timeLayouts {
		t, err := time.ParseInLocation(layout, iso, time.Local)
		if err == nil && t.Year() > 1677 && t.Year() < 2262 { // what nanoseconds in 64 bits reach
			return number(uint64(t.UnixNano()) ^ signBit), nil
		}
	}
	return literal{}, o.fault("%q is not a valid absolute time; write it as \"2026-01-02 03:04:05.123456\"", text)
}
