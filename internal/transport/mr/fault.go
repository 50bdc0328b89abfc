package mr

import "fmt"

// Kind says what is wrong with an access or a change of the table.
type Kind uint8

// The kinds.
const (
	_                Kind = iota
	NoKey                 // nothing has the key
	StaleKey              // its index is in use, under another low byte
	WrongPD               // of another protection domain, or no such domain
	WrongQP               // a type 2 window that is bound to another QP
	NoRight               // the region or window does not grant it
	Bounds                // outside the region or window
	NotBound              // a window that is bound to nothing
	Invalidated           // invalidated and not registered or bound again
	CannotInvalidate      // a key of a kind that cannot be invalidated
	AlreadyValid          // to be invalidated before it is registered or bound again
	BadAccess             // rights that cannot be had, or not together
	BadRange              // a range that wraps, is empty where it must not be, or too long
	Busy                  // in use
	Full                  // no key left
)

var kindTexts = [...]string{
	NoKey:            "no such key",
	StaleKey:         "the key's low byte is not the present one",
	WrongPD:          "in another protection domain",
	WrongQP:          "bound to another QP",
	NoRight:          "right not granted",
	Bounds:           "out of bounds",
	NotBound:         "window is not bound",
	Invalidated:      "key is invalidated",
	CannotInvalidate: "a key of this kind cannot be invalidated",
	AlreadyValid:     "still valid: invalidate it first",
	BadAccess:        "impossible access rights",
	BadRange:         "impossible range",
	Busy:             "in use",
	Full:             "no key left",
}

// String says what is wrong.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindTexts) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindTexts[k]
}

// Fault is the error of every refusal in this package.
type Fault struct {
	Kind Kind
	Key  uint32
	// VA and Len are what was asked for.
	VA  uint64
	Len uint64
	// Need is what the access needs, Have what the key grants; for BadAccess,
	// what was asked for and what the memory underneath permits.
	Need, Have Access
	// Start and Size are what the key covers, for Bounds.
	Start, Size uint64
}

var _ error = (*Fault)(nil)

func (f *Fault) Error() string {
	s := fmt.Sprintf("key 0x%08x: %v", f.Key, f.Kind)
	switch f.Kind {
	case Bounds:
		s += fmt.Sprintf(": %d bytes at 0x%x, of %d at 0x%x", f.Len, f.VA, f.Size, f.Start)
	case BadRange:
		s += fmt.Sprintf(": %d bytes at 0x%x", f.Len, f.VA)
	case NoRight, BadAccess:
		s += fmt.Sprintf(": %v needed, %v given", f.Need, f.Have)
	}
	return s
}
