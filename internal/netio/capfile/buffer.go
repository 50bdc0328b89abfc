package capfile

import (
	"io"
	"sort"
)

// buffer hands on whole blocks only, so that a file ends with one, whenever its
// program is killed. When a disk is full in the middle of one, that is cut off.
type buffer struct {
	to     io.Writer
	cut    func(size int64) error // cuts the file, nil when that cannot be done
	bytes  []byte
	ends   []int // where the blocks in bytes end
	handed int64 // bytes handed on
	err    error // the first of writing
}

func newBuffer(to io.Writer) *buffer {
	return &buffer{to: to, bytes: make([]byte, 0, blockSize+blockSize/4)}
}

// Write adds a part of a block.
func (b *buffer) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

// place makes room for n bytes of a block, which the caller fills; nil after an
// error.
func (b *buffer) place(n int) []byte {
	if b.err != nil {
		return nil
	}
	at := len(b.bytes)
	if at+n > cap(b.bytes) {
		b.bytes = append(b.bytes, make([]byte, n)...)
	}
	b.bytes = b.bytes[:at+n]
	return b.bytes[at:]
}

// end completes a block.
func (b *buffer) end() error {
	b.ends = append(b.ends, len(b.bytes))
	if len(b.bytes) < blockSize {
		return b.err
	}
	return b.Flush()
}

// Flush hands on what there is.
func (b *buffer) Flush() error {
	if b.err != nil || len(b.bytes) == 0 {
		return b.err
	}
	n, err := b.to.Write(b.bytes)
	if err == nil && n < len(b.bytes) {
		err = io.ErrShortWrite
	}
	if err != nil {
		b.err = err
		n = b.whole(n)
		if b.cut != nil {
			_ = b.cut(b.handed + int64(n)) // the error of writing says enough
		}
	}
	b.handed += int64(n)
	b.bytes, b.ends = b.bytes[:0], b.ends[:0]
	return b.err
}

// whole is how many of n bytes are whole blocks.
func (b *buffer) whole(n int) int {
	i := sort.SearchInts(b.ends, n+1)
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// size is how many bytes were written in all.
func (b *buffer) size() int64 { return b.handed + int64(len(b.bytes)) }
