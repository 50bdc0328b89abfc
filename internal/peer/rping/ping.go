package rping

import (
	"bytes"
	"fmt"
)

// The sizes of a ping that the original takes. The least has room for the
// longest beginning.
const (
	MinSize     = 23
	MaxSize     = 65535
	DefaultSize = 64
)

// The letters behind a ping's beginning go round from A to z, and each ping
// begins with the letter after that of the ping before.
const (
	firstLetter = 'A'
	letters     = 'z' - 'A' + 1
)

// fill makes the n-th ping, from 0: text that ends with a zero byte.
func fill(b []byte, n int) {
	begin := copy(b, fmt.Sprintf("rdma-ping-%d: ", n))
	for i := begin; i < len(b); i++ {
		b[i] = firstLetter + byte((n+i-begin)%letters)
	}
	b[len(b)-1] = 0
}

// text is a ping as it is shown: all before the zero byte.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}
