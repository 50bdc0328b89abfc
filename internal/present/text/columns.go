package text

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
)

// Columns prints chosen fields, a packet a line, as `tshark -T fields` does.
// A Columns is not for concurrent use; Clone makes one for another worker.
type Columns struct {
	refs       []*field.Ref
	Header     bool
	Separator  string // between fields
	Aggregator string // between the occurrences of one field
	Quote      string
	Occurrence byte // 'a' all, 'f' first, 'l' last

	values []field.Value
}

// NewColumns returns a printer of the named fields.
func NewColumns(names []string) (*Columns, error) {
	c := &Columns{Separator: "\t", Aggregator: ",", Occurrence: 'a'}
	for _, name := range names {
		ref := field.Lookup(name)
		if ref == nil {
			return nil, errors.New(field.NoSuch(name))
		}
		c.refs = append(c.refs, ref)
	}
	return c, nil
}

// Option sets one of tshark's -E options, "separator=,".
func (c *Columns) Option(option string) error {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "header":
		c.Header = value == "y"
		return oneOf(option, value, "y", "n")
	case "separator":
		c.Separator = unescape(value)
	case "aggregator":
		c.Aggregator = unescape(value)
	case "occurrence":
		if err := oneOf(option, value, "a", "f", "l"); err != nil {
			return err
		}
		c.Occurrence = value[0]
	case "quote":
		c.Quote = map[string]string{"d": `"`, "s": "'"}[value]
		return oneOf(option, value, "d", "s", "n")
	default:
		return fmt.Errorf("-E %s: no such option; there are header, separator, aggregator, occurrence and quote", option)
	}
	return nil
}

func oneOf(option, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return fmt.Errorf("-E %s: the value must be one of %s", option, strings.Join(allowed, ", "))
}

func unescape(s string) string {
	switch s {
	case "/t", `\t`:
		return "\t"
	case "/s":
		return " "
	}
	return s
}

// Clone returns a copy for another goroutine.
func (c *Columns) Clone() *Columns {
	other := *c
	other.values = nil
	return &other
}

// AppendHeader adds the line of field names when it was asked for.
func (c *Columns) AppendHeader(dst []byte) []byte {
	if !c.Header {
		return dst
	}
	for i, ref := range c.refs {
		if i > 0 {
			dst = append(dst, c.Separator...)
		}
		dst = append(dst, ref.Name...)
	}
	return append(dst, '\n')
}

// Append adds the packet's line to dst.
func (c *Columns) Append(dst []byte, p *packet.Packet) []byte {
	for i, ref := range c.refs {
		if i > 0 {
			dst = append(dst, c.Separator...)
		}
		c.values = ref.Append(c.values[:0], p)
		dst = c.appendValues(dst, ref, c.chosen())
	}
	return append(dst, '\n')
}

func (c *Columns) chosen() []field.Value {
	switch {
	case len(c.values) == 0 || c.Occurrence == 'a':
		return c.values
	case c.Occurrence == 'f':
		return c.values[:1]
	default:
		return c.values[len(c.values)-1:]
	}
}

func (c *Columns) appendValues(dst []byte, ref *field.Ref, values []field.Value) []byte {
	if len(values) == 0 {
		return dst
	}
	dst = append(dst, c.Quote...)
	for j, v := range values {
		if j > 0 {
			dst = append(dst, c.Aggregator...)
		}
		if ref.Kind == field.None {
			dst = append(dst, ref.Name...)
			continue
		}
		dst = ref.AppendText(dst, v)
	}
	return append(dst, c.Quote...)
}
