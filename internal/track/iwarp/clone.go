package iwarp

import (
	"bytes"
	"slices"
)

// Clone returns a copy that stays valid when the tracker goes on.
func (p *PDU) Clone() *PDU {
	c := *p
	c.Stack.Data = bytes.Clone(p.Stack.Data)
	c.Markers = slices.Clone(p.Markers)
	c.Issues = slices.Clone(p.Issues)
	return &c
}
