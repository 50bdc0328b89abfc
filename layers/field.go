package layers

import "github.com/rocecap/rocecap/internal/wire"

// Field is one field of an Attribute.
type Field struct {
	Name  string // Wireshark's display-filter name where it has one
	Title string // what a person reads
	Value uint64 // of an integer or a bit; 0 for addresses and bytes
	Bytes []byte // the whole bytes that the field touches
	Text  string // the name of an enumerated value, "" if it has none
}

// Attribute is one part of a management datagram behind the common header: the
// header of its class, an attribute of the subnet manager, a record key.
type Attribute struct {
	spec  *wire.Spec
	bytes []byte
}

// Name is the display-filter name of the whole part, "infiniband.nodeinfo" say.
func (a Attribute) Name() string { return a.spec.Name }

// Title is what a person reads, "Node Info" say.
func (a Attribute) Title() string { return a.spec.Title }

// Bytes is the part as captured.
func (a Attribute) Bytes() []byte { return a.bytes }

// Fields lists the fields that the part has and that were captured.
func (a Attribute) Fields() []Field {
	var all []Field
	for i := range a.spec.Fields {
		if f := &a.spec.Fields[i]; f.Present(a.bytes) {
			all = append(all, a.field(f))
		}
	}
	return all
}

// Field returns the first field of the given name; ok is false when the part
// has none, or its bytes were not captured.
func (a Attribute) Field(name string) (f Field, ok bool) {
	if found := a.spec.Field(name, a.bytes); found != nil {
		return a.field(found), true
	}
	return Field{}, false
}

func (a Attribute) field(f *wire.Field) Field {
	out := Field{Name: f.Name, Title: f.Title, Bytes: f.Raw(a.bytes)}
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		out.Value = f.Value(a.bytes)
	}
	if f.Names != nil {
		out.Text = f.Names(out.Value)
	}
	return out
}
