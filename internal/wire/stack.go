package wire

// MaxHeaders bounds how many headers one Stack can hold. The deepest real
// stack (ERSPAN III over VLAN and IPv6 around a QinQ XRC packet with all its
// trailing parts) needs 20.
const MaxHeaders = 32

// Header is one header found in a run of bytes.
type Header struct {
	ID  HeaderID
	Off int32 // from the start of the bytes
	Len int32 // on the wire; the capture may have cut it short
}

// Stack is the headers found in one run of bytes, outermost first. The zero
// value is empty and ready; Reset reuses it without allocation.
type Stack struct {
	Data []byte // the captured bytes that Off counts in
	hdrs [MaxHeaders]Header
	n    int
}

// Reset empties the stack and points it at data.
func (s *Stack) Reset(data []byte) {
	s.Data = data
	s.n = 0
}

// Push adds a header and reports whether there was room.
func (s *Stack) Push(id HeaderID, off, length int) bool {
	if s.n == MaxHeaders {
		return false
	}
	s.hdrs[s.n] = Header{ID: id, Off: int32(off), Len: int32(length)}
	s.n++
	return true
}

// Headers returns the headers found, outermost first. The slice is valid until
// the next Reset.
func (s *Stack) Headers() []Header { return s.hdrs[:s.n] }

// Bytes returns the captured bytes of a header, fewer than h.Len when the
// capture was cut.
func (s *Stack) Bytes(h Header) []byte {
	lo, hi := int(h.Off), int(h.Off)+int(h.Len)
	if hi > len(s.Data) {
		hi = len(s.Data)
	}
	if lo >= hi {
		return nil
	}
	return s.Data[lo:hi]
}

// Whole returns the bytes of a header, nil when some are missing: the capture
// was cut, or the lengths around the header leave no room for all of it.
func (s *Stack) Whole(h Header) []byte {
	b := s.Bytes(h)
	if len(b) < int(h.Len) || len(b) < SpecOf(h.ID).Len {
		return nil
	}
	return b
}

// Last returns the innermost header with the given id.
func (s *Stack) Last(id HeaderID) (Header, bool) {
	for i := s.n - 1; i >= 0; i-- {
		if s.hdrs[i].ID == id {
			return s.hdrs[i], true
		}
	}
	return Header{}, false
}

// View returns the captured bytes of the innermost header with the given id,
// nil when there is none.
func (s *Stack) View(id HeaderID) []byte {
	h, ok := s.Last(id)
	if !ok {
		return nil
	}
	return s.Bytes(h)
}
