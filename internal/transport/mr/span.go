package mr

// span is memory and the address of its first byte.
type span struct {
	mem   []byte
	start uint64
}

// covers reports whether n bytes at va lie within. Both differences are taken
// only where they cannot wrap.
func (s *span) covers(va, n uint64) bool {
	if va < s.start {
		return false
	}
	size, offset := uint64(len(s.mem)), va-s.start
	return offset <= size && n <= size-offset
}

// cut returns n bytes at va, which are covered, with no room behind them.
func (s *span) cut(va, n uint64) []byte {
	from := va - s.start
	to := from + n
	return s.mem[from:to:to]
}
