package craft

import "github.com/rocecap/rocecap/internal/wire"

// Counter makes a field count from packet to packet: it begins at Start and
// moves by Step, wrapping at the field's width.
type Counter struct {
	Layer       int // of the recipe
	Field       *wire.Field
	Start, Step uint64
}

// CanCount reports whether a field can count. An iWARP opcode cannot: what follows
// from it is laid out once.
func CanCount(f *wire.Field) bool {
	return f.Kind == wire.Uint && f.Scale == 0 && f.Name != "iwarp_rdma.opcode" && f.Name != "iwarp_rdma.atomic.opcode"
}

// At is the counter's value in packet n, from 0.
func (c *Counter) At(n uint64) uint64 {
	v := c.Start + n*c.Step
	if c.Field.Bits < 64 {
		v &= 1<<uint(c.Field.Bits) - 1
	}
	return v
}

// Count sets the fields that count to what they are in packet n.
func (r *Recipe) Count(counters []Counter, n uint64) {
	for i := range counters {
		c := &counters[i]
		r.Layers[c.Layer].Put(Setting{Field: c.Field, Num: c.At(n)})
	}
}
