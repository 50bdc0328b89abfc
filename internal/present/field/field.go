// Package field is the list of every field that a packet can have, under its
// display-filter name, with the code that reads it from a packet and prints it
// as tshark does.
package field

import (
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// Value is one occurrence of a field in a packet.
type Value struct {
	Num  uint64 // Uint and Bool; nanoseconds for a time
	Raw  []byte // Bytes, MAC, IPv4, IPv6, EUI64, Text: points into the packet
	Text string // Text of a derived field
}

// Ref is one field by name.
type Ref struct {
	Name  string // "infiniband.bth.psn"
	Title string
	Kind  Kind
	Base  wire.Base
	Names func(uint64) string // enumerated values, or nil

	digits  int                                         // hexadecimal digits
	bits    int                                         // width on the wire, 0 when open-ended
	sources []source                                    // where header fields are found
	derive  func(dst []Value, p *packet.Packet) []Value // instead of sources
}

// Kind is a wire.Kind, or one of the kinds that only derived fields have.
type Kind uint8

// The kinds of value. Those up to Text have wire.Kind's values.
const (
	Uint  = Kind(wire.Uint)
	Bool  = Kind(wire.Bool)
	Bytes = Kind(wire.Bytes)
	MAC   = Kind(wire.MAC)
	IPv4  = Kind(wire.IPv4)
	IPv6  = Kind(wire.IPv6)
	EUI64 = Kind(wire.EUI64)
	Text  = Kind(wire.Text)
	Time  = Kind(wire.Text + 1) // absolute time, nanoseconds since the epoch
	Span  = Kind(wire.Text + 2) // duration in nanoseconds, signed
	None  = Kind(wire.Text + 3) // has no value: the field exists or does not
)

// Size is the size in bytes of the type that a number is shown in. A derived
// number is a counter of up to 64 bits.
func (r *Ref) Size() int {
	if r.Kind == Bool {
		return 1
	}
	size := 0
	for _, src := range r.sources {
		if src.field != nil {
			size = max(size, src.field.Digits()/2)
		}
	}
	if size == 0 {
		return 8
	}
	return size
}

// source is one place where a field can stand.
type source struct {
	header wire.HeaderID
	field  *wire.Field // nil: the whole header
}

// Append adds every occurrence of the field in p to dst, outermost first.
func (r *Ref) Append(dst []Value, p *packet.Packet) []Value {
	if r.derive != nil {
		return r.derive(dst, p)
	}
	dst = r.appendStack(dst, &p.Frame.Stack)
	for _, pdu := range p.PDUs {
		dst = r.appendStack(dst, &pdu.Stack)
	}
	return dst
}

func (r *Ref) appendStack(dst []Value, s *wire.Stack) []Value {
	hdrs := s.Headers()
	for i := range hdrs {
		h := &hdrs[i]
		for j := range r.sources {
			if src := &r.sources[j]; src.header == h.ID {
				dst = src.append(dst, s.Bytes(*h))
			}
		}
	}
	return dst
}

func (src *source) append(dst []Value, h []byte) []Value {
	switch {
	case src.field == nil:
		return append(dst, Value{Raw: h})
	case src.field.Present(h):
		return append(dst, read(src.field, h))
	}
	return dst
}

func read(f *wire.Field, h []byte) Value {
	if f.Kind <= wire.Bool {
		return Value{Num: f.Value(h)}
	}
	return Value{Raw: f.Raw(h)}
}
