package craft

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Image is a built packet and where its parts are.
type Image struct {
	Data    []byte // as a capture keeps it
	WireLen int
	Layers  []Place // of the recipe's layers
	Payload Place
	ICRC    int // offset, -1 when there is none
	VCRC    int
	End     int // one past the last byte that lengths count
}

// Place is where a part lies.
type Place struct{ Off, Len int }

// builder holds what Build works with.
type builder struct {
	r    *Recipe
	data []byte
	img  Image
}

// Build makes the packet.
func Build(r *Recipe) (*Image, error) {
	b := &builder{r: r}
	b.img.ICRC, b.img.VCRC = -1, -1
	b.lay()
	for i := range r.Layers {
		b.fill(i)
	}
	b.lengths()
	for i := range r.Layers {
		if err := b.apply(i); err != nil {
			return nil, err
		}
	}
	b.checksums()
	if err := b.seal(); err != nil {
		return nil, err
	}
	if err := b.edit(); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// lay gives every part its place, all bytes zero but payload and tails.
func (b *builder) lay() {
	for i := range b.r.Layers {
		l := &b.r.Layers[i]
		off, n := len(b.data), b.lengthOf(i)
		b.data = append(b.data, make([]byte, n)...)
		copy(b.data[min(off+wire.SpecOf(l.ID).Len, off+n):off+n], l.Tail)
		b.img.Layers = append(b.img.Layers, Place{off, n})
	}
	b.img.Payload = Place{len(b.data), len(b.r.Payload)}
	b.data = append(b.data, b.r.Payload...)
	b.data = append(b.data, make([]byte, b.pad())...)
	if b.has(wire.HdrBTH) && b.r.ICRC.Mode != CRCNone {
		b.img.ICRC = len(b.data)
		b.data = append(b.data, make([]byte, icrc.Len)...)
	}
	b.img.End = len(b.data)
	if b.has(wire.HdrLRH) && b.r.VCRC.Mode != CRCNone {
		b.img.VCRC = len(b.data)
		b.data = append(b.data, make([]byte, icrc.VCRCLen)...)
	}
	b.data = append(b.data, b.r.Trailer...)
}

// lengthOf is the length of a layer: what it was given, grown for a field that
// reaches to its end.
func (b *builder) lengthOf(i int) int {
	l := &b.r.Layers[i]
	n := max(l.Len, wire.SpecOf(l.ID).Len+len(l.Tail), b.defaultLen(i))
	for _, s := range l.Set {
		if s.Field.Bits == 0 {
			n = max(n, s.Field.Bit/8+len(s.Raw))
		}
	}
	return n
}

func (b *builder) pad() int {
	switch {
	case b.r.Pad != AutoPad:
		return b.r.Pad
	case b.has(wire.HdrBTH):
		return -len(b.r.Payload) & 3
	}
	return 0
}

func (b *builder) has(id wire.HeaderID) bool { return b.last(id) >= 0 }

// last is the place in the recipe of the innermost layer with the id, -1 when
// there is none.
func (b *builder) last(id wire.HeaderID) int {
	for i := len(b.r.Layers) - 1; i >= 0; i-- {
		if b.r.Layers[i].ID == id {
			return i
		}
	}
	return -1
}

// bytes returns a layer's bytes.
func (b *builder) bytes(i int) []byte {
	p := b.img.Layers[i]
	return b.data[p.Off : p.Off+p.Len]
}

// next is the id of the layer inside layer i.
func (b *builder) next(i int) wire.HeaderID {
	if i+1 < len(b.r.Layers) {
		return b.r.Layers[i+1].ID
	}
	return wire.HdrNone
}

// apply sets a layer's fields.
func (b *builder) apply(i int) error {
	l := &b.r.Layers[i]
	h := b.bytes(i)
	for j := range l.Set {
		s := &l.Set[j]
		if s.Auto {
			continue
		}
		if err := set(h, s); err != "" {
			return &FieldError{wire.SpecOf(l.ID).Name, s.Field.Name, err}
		}
	}
	return nil
}

// set writes one field; the text says why it cannot.
func set(h []byte, s *Setting) string {
	f := s.Field
	if (f.Bit+f.Bits+7)/8 > len(h) {
		return "the header is too short for it"
	}
	switch {
	case f.Kind == wire.Uint || f.Kind == wire.Bool:
		if !f.SetValue(h, s.Num) {
			return "the value does not fit its bits"
		}
	case f.Bits == 0:
		n := copy(h[f.Bit/8:], s.Raw)
		clear(h[f.Bit/8+n:])
	case len(s.Raw) != f.Bits/8:
		return "the value has the wrong number of bytes"
	default:
		copy(h[f.Bit/8:], s.Raw)
	}
	return ""
}

// isSet reports whether the recipe gives the field of layer i a value.
func (b *builder) isSet(i int, name string) bool {
	for _, s := range b.r.Layers[i].Set {
		if s.Field.Name == name && !s.Auto {
			return true
		}
	}
	return false
}

// isAuto reports whether the recipe asks for the field to be computed.
func (b *builder) isAuto(i int, name string) bool {
	for _, s := range b.r.Layers[i].Set {
		if s.Field.Name == name && s.Auto {
			return true
		}
	}
	return false
}

func (b *builder) edit() error {
	for _, e := range b.r.Edits {
		if e.Off < 0 || e.Off+len(e.Bytes) > len(b.data) {
			return &FieldError{Layer: "edits", Reason: "an edit lies outside the packet"}
		}
		copy(b.data[e.Off:], e.Bytes)
	}
	return nil
}

func (b *builder) finish() *Image {
	b.img.WireLen = len(b.data)
	b.img.Data = b.data
	if n := b.r.Snap; n > 0 && n < len(b.data) {
		b.img.Data = b.data[:n]
	}
	return &b.img
}
