package craft

import (
	"fmt"
	"math"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Image is a built packet and where its parts are.
type Image struct {
	Data    []byte // as a capture keeps it
	WireLen int
	Layers  []Place // of the recipe's layers
	Payload Place
	CRC     int // of the FPDU: offset, -1 when there is none
	ICRC    int
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
	pad  int
	long *FieldError // a length that its field cannot say

	hasher icrc.Hasher
}

// Build makes the packet. It refuses one that is longer than its length fields
// can say, unless the recipe sets those.
func Build(r *Recipe) (*Image, error) {
	img, long, err := build(r)
	if err == nil && long != nil {
		err = long
	}
	return img, err
}

// build is Build; lengths that do not fit their fields are cut to them.
func build(r *Recipe) (img *Image, long *FieldError, err error) {
	b := &builder{r: r}
	if err := b.layOut(); err != nil {
		return nil, nil, err
	}
	if err := b.seal(); err != nil {
		return nil, nil, err
	}
	if err := b.edit("edits", r.Edits); err != nil {
		return nil, nil, err
	}
	return b.finish(), b.long, nil
}

// maxPad bounds the pad: no packet is longer.
const maxPad = math.MaxUint16

// layOut makes the packet up to what is computed over its bytes.
func (b *builder) layOut() error {
	if b.r.Pad < AutoPad || b.r.Pad > maxPad {
		return &FieldError{Layer: "pad", Reason: fmt.Sprintf("%d: want up to %d bytes", b.r.Pad, maxPad)}
	}
	if err := b.r.foreignCRC(); err != nil {
		return err
	}
	for i := range b.r.Layers {
		if l := &b.r.Layers[i]; b.inDDP(i) && (l.Len > 0 || len(l.Tail) > 0) {
			return &FieldError{Layer: LayerName(l.ID), Reason: "it lies in the DDP header, which says how long it is"}
		}
	}
	b.lay()
	for i := range b.r.Layers {
		b.fill(i)
	}
	b.lengths()
	for i := range b.r.Layers {
		if err := b.apply(i); err != nil {
			return err
		}
	}
	return b.edit("raw", b.r.Raw)
}

// lay gives every part its place, all bytes zero but payload and tails.
func (b *builder) lay() {
	b.img.CRC, b.img.ICRC, b.img.VCRC = -1, -1, -1
	for i := range b.r.Layers {
		if b.inDDP(i) {
			b.layInDDP(i)
			continue
		}
		l := &b.r.Layers[i]
		off, n := len(b.data), b.lengthOf(i)
		b.data = append(b.data, make([]byte, n)...)
		copy(b.data[min(off+wire.SpecOf(l.ID).Len, off+n):off+n], l.Tail)
		b.img.Layers = append(b.img.Layers, Place{off, n})
	}
	b.img.Payload = Place{len(b.data), len(b.r.Payload)}
	b.data = append(b.data, b.r.Payload...)
	b.pad = b.padLen()
	b.data = append(b.data, make([]byte, b.pad)...)
	if b.r.has(wire.HdrFPDU) && b.r.CRC.Mode != CRCNone {
		b.img.CRC = len(b.data)
		b.data = append(b.data, make([]byte, wire.FPDUCRCLen)...)
	}
	if b.r.has(wire.HdrBTH) && b.r.ICRC.Mode != CRCNone {
		b.img.ICRC = len(b.data)
		b.data = append(b.data, make([]byte, icrc.Len)...)
	}
	b.img.End = len(b.data)
	if b.r.has(wire.HdrLRH) && b.r.VCRC.Mode != CRCNone {
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

// padLen is what fills up what the BTH's packet, or the FPDU, has to four bytes.
func (b *builder) padLen() int {
	switch framed := b.r.framed(); {
	case b.r.Pad != AutoPad:
		return b.r.Pad
	case framed >= 0:
		return -(len(b.data) - b.img.Layers[framed].Off) & 3
	}
	return 0
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
	_, ok := b.value(i, name)
	return ok
}

// value is the number that the recipe gives the field of layer i.
func (b *builder) value(i int, name string) (v uint64, ok bool) {
	for _, s := range b.r.Layers[i].Set {
		if s.Field.Name == name && !s.Auto {
			return s.Num, true
		}
	}
	return 0, false
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

func (b *builder) edit(what string, edits []Edit) error {
	for _, e := range edits {
		if e.Off < 0 || e.Off > len(b.data) || len(e.Bytes) > len(b.data)-e.Off {
			return &FieldError{Layer: what, Reason: fmt.Sprintf("bytes %d to %d lie outside the packet", e.Off, e.Off+len(e.Bytes))}
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
