package wire

import (
	"strconv"
	"strings"
)

// repeated lists fields n times, stride bits apart, as the entries of a table
// are. Titles are numbered from 0; names stay the same, as Wireshark's do.
func repeated(n, stride int, fields ...Field) []Field {
	return numbered(0, n, stride, fields...)
}

// numbered is repeated with the number of the first entry.
func numbered(first, n, stride int, fields ...Field) []Field {
	all := make([]Field, 0, n*len(fields))
	for i := range n {
		for _, f := range fields {
			f.Title += " " + strconv.Itoa(first+i)
			f.Bit += i * stride
			all = append(all, f)
		}
	}
	return all
}

func concat(lists ...[]Field) []Field {
	var all []Field
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// setName names the members of a set of bits, bit 0 first.
func setName(v uint64, members ...string) string {
	var names []string
	for i, m := range members {
		if v&(1<<i) != 0 {
			names = append(names, m)
		}
	}
	return strings.Join(names, ", ")
}
