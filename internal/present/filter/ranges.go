package filter

import (
	"strconv"
	"strings"
)

// byteRange is one part of a slice, or a range of layers: both ends belong to
// it. A negative offset counts from the end: -1 is the last byte.
type byteRange struct{ first, last int }

// resolve returns the range as offsets into n bytes; ok is false when it does
// not lie inside them.
func (r byteRange) resolve(n int) (first, end int, ok bool) {
	first, last := r.first, r.last
	if first < 0 {
		first += n
	}
	if last < 0 {
		last += n
	}
	return first, last + 1, first >= 0 && first <= last && last < n
}

// parseRanges reads the comma list between the brackets of a slice.
func parseRanges(t token) ([]byteRange, *fault) {
	var ranges []byteRange
	pos := t.pos + 1
	for part := range strings.SplitSeq(t.text, ",") {
		at := region{pos, pos + len(part)}
		r, fault := parseRange(strings.TrimSpace(part), at)
		if fault != nil {
			return nil, fault
		}
		ranges = append(ranges, r)
		pos = at.end + 1
	}
	return ranges, nil
}

// parseRange reads i:j, i-j, i, :j or i: (wireshark-filter(4), "The slice
// operator").
func parseRange(s string, at region) (byteRange, *fault) {
	wrong := func() (byteRange, *fault) { return byteRange{}, at.fault("%q is not a valid range", s) }
	first, rest := leadingInt(s)
	i, err := strconv.ParseInt(first, 10, 32)
	switch {
	case first == "" && strings.HasPrefix(rest, ":") && len(rest) > 1:
		i = 0
	case err != nil:
		return wrong()
	case rest == "":
		return byteRange{int(i), int(i)}, nil
	case rest == ":":
		return byteRange{int(i), -1}, nil
	}
	number := strings.TrimSpace(rest[1:])
	j, err := strconv.ParseInt(number, 10, 32)
	switch {
	case err != nil:
		return wrong()
	case rest[0] == '-':
		if (i < 0) == (j < 0) && i > j {
			return byteRange{}, at.fault("range %s is not valid: %d is greater than %d", s, i, j)
		}
		return byteRange{int(i), int(j)}, nil
	case rest[0] != ':':
		return wrong()
	case j <= 0:
		return byteRange{}, at.fault("range %s is not valid: length %d is not positive", s, j)
	case i < 0 && j > -i:
		return byteRange{}, at.fault("range %s is not valid: it passes the end", s)
	}
	return byteRange{int(i), int(i + j - 1)}, nil
}

// leadingInt cuts a signed number off the front of s.
func leadingInt(s string) (number, rest string) {
	n := 0
	if strings.HasPrefix(s, "-") {
		n = 1
	}
	n += digits(s[n:])
	return s[:n], strings.TrimSpace(s[n:])
}
