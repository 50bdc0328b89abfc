package script

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
	"github.com/rocecap/rocecap/internal/yamlnode"
)

// Parse reads a script. read gives the contents of a payload's file; it is nil
// where files are not allowed.
func Parse(text []byte, read func(name string) ([]byte, error)) (Script, error) {
	root, err := yamlnode.Root(text)
	if root == nil {
		return nil, err
	}
	p := &parser{read: read, seen: make(map[*yaml.Node]bool)}
	return p.script(root)
}

type parser struct {
	read func(name string) ([]byte, error)
	seen map[*yaml.Node]bool // lists of packets
}

// wrap gives an error of a value its place, unless it has one.
func wrap(n *yaml.Node, err error) error {
	var placed *Error
	if err == nil || errors.As(err, &placed) {
		return err
	}
	return yamlnode.At(n, "%v", err)
}

func (p *parser) script(n *yaml.Node) (Script, error) {
	if n.Kind == yaml.MappingNode { // a single packet
		item, err := p.item(n)
		return Script{item}, err
	}
	if n.Kind != yaml.SequenceNode {
		return nil, yamlnode.At(n, "want a list of packets")
	}
	if p.seen[n] { // it would be in itself, or grow with every alias
		return nil, yamlnode.At(n, "an alias cannot stand for a list of packets")
	}
	p.seen[n] = true
	var s Script
	for _, c := range n.Content {
		item, err := p.item(c)
		if err != nil {
			return nil, err
		}
		s = append(s, item)
	}
	return s, nil
}

// item reads a packet or a sequence. What the packet is made of comes first,
// because settings need the headers to be there.
func (p *parser) item(n *yaml.Node) (*Item, error) {
	n = yamlnode.Resolve(n)
	if n.Kind != yaml.MappingNode {
		return nil, yamlnode.At(n, "want a packet: layers, or base and op, or a sequence")
	}
	item := &Item{Repeat: 1, at: placeOf(n), keys: make(map[string]place)}
	if err := alone(n); err != nil {
		return nil, err
	}
	var err error
	switch layers, op, sequence := yamlnode.Find(n, "layers"), yamlnode.Find(n, "op"), yamlnode.Find(n, "sequence"); {
	case sequence != nil:
		item.Sequence, err = p.script(sequence)
	case layers != nil:
		err = p.layers(item, layers)
	case op != nil:
		err = p.short(item, op, yamlnode.Find(n, "base"))
	default:
		err = yamlnode.At(n, "want layers, or base and op, or a sequence")
	}
	if err != nil {
		return nil, err
	}
	return item, yamlnode.Pairs(n, func(key string, k, v *yaml.Node) error {
		item.keys[key] = placeOf(v)
		return p.part(item, key, k, v)
	})
}

// alone refuses a packet that is said in two ways, of which one would be lost.
func alone(n *yaml.Node) error {
	said := ""
	return yamlnode.Pairs(n, func(key string, k, _ *yaml.Node) error {
		way := key
		switch key {
		case "base":
			way = "op"
		case "layers", "op", "sequence":
		default:
			return nil
		}
		if said != "" && said != way {
			return yamlnode.At(k, "%s and %s exclude each other", said, key)
		}
		said = way
		return nil
	})
}

func placeOf(n *yaml.Node) place { return place{n.Line, n.Column} }

func (p *parser) short(item *Item, op, base *yaml.Node) error {
	operation, err := craft.ParseOperation(op.Value)
	if err != nil {
		return wrap(op, err)
	}
	name := ""
	if base != nil {
		name = base.Value
	} else {
		base = op
	}
	item.Recipe, err = operation.In(name)
	return wrap(base, err)
}

func (p *parser) part(item *Item, key string, k, v *yaml.Node) error {
	switch key {
	case "layers", "op", "base", "sequence":
		return nil // read before
	case "repeat":
		n, err := strconv.ParseUint(v.Value, 0, 32)
		if err != nil {
			return yamlnode.At(v, "repeat: want a number")
		}
		item.Repeat = int(n)
		return nil
	}
	r := item.Recipe
	if r == nil {
		return yamlnode.At(k, "a sequence has no %s", key)
	}
	var err error
	switch key {
	case "set":
		return yamlnode.Pairs(v, func(name string, k, v *yaml.Node) error { return p.set(item, name, k, v) })
	case "payload":
		r.Payload, err = p.bytes(v)
	case "trailer":
		r.Trailer, err = p.bytes(v)
	case "crc":
		r.CRC, err = crc(v)
	case "icrc":
		r.ICRC, err = crc(v)
	case "vcrc":
		r.VCRC, err = crc(v)
	case "pad":
		r.Pad, err = number(v)
	case "snap":
		r.Snap, err = number(v)
	case "link":
		r.Link, err = linkType(v)
	case "raw":
		r.Raw, err = p.edits(v)
	case "edits":
		r.Edits, err = p.edits(v)
	default:
		return yamlnode.At(k, "unknown key %q", key)
	}
	if err != nil && !errors.As(err, new(*Error)) {
		err = yamlnode.At(v, "%s: %v", key, err)
	}
	return err
}

func crc(v *yaml.Node) (craft.CRC, error) {
	if v.Kind != yaml.ScalarNode {
		return craft.CRC{}, errors.New("want a value")
	}
	return craft.ParseCRC(v.Value)
}

// set sets a field of the innermost layer that has it.
func (p *parser) set(item *Item, name string, k, v *yaml.Node) error {
	i, f := item.Recipe.Find(name)
	if f == nil {
		return yamlnode.At(k, "no header of the packet has a field %s", name)
	}
	return p.field(item, i, f, v)
}

func (p *parser) layers(item *Item, n *yaml.Node) error {
	item.Recipe = &craft.Recipe{Link: wire.LinkEthernet, Pad: craft.AutoPad}
	if n.Kind != yaml.SequenceNode {
		return yamlnode.At(n, "layers: want a list of headers")
	}
	for _, c := range n.Content {
		switch c = yamlnode.Resolve(c); {
		case c.Kind == yaml.ScalarNode:
			if err := p.layer(item, c.Value, c, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}); err != nil {
				return err
			}
		case c.Kind == yaml.MappingNode && len(c.Content) == 2:
			if err := p.layer(item, c.Content[0].Value, c.Content[0], c.Content[1]); err != nil {
				return err
			}
		default:
			return yamlnode.At(c, "want one header with its fields")
		}
	}
	return nil
}

func (p *parser) layer(item *Item, name string, k, v *yaml.Node) error {
	id, ok := craft.LayerByName(name)
	if !ok {
		return yamlnode.At(k, "no header is called %q", name)
	}
	r := item.Recipe
	r.Layers = append(r.Layers, craft.Layer{ID: id})
	i := len(r.Layers) - 1
	return yamlnode.Pairs(v, func(key string, k, v *yaml.Node) error {
		switch key {
		case "tail":
			tail, err := p.bytes(v)
			r.Layers[i].Tail = tail
			return err
		case "header_size":
			n, err := number(v)
			if least := wire.SpecOf(id).Len; err == nil && n < least {
				return yamlnode.At(v, "header_size: the fields of %s alone take %d bytes", name, least)
			}
			r.Layers[i].Len = n
			return wrap(v, err)
		}
		f := craft.FieldOf(id, key)
		if f == nil {
			return yamlnode.At(k, "%s has no field %q", name, key)
		}
		return p.field(item, i, f, v)
	})
}

// field reads a value or a counter.
func (p *parser) field(item *Item, layer int, f *wire.Field, v *yaml.Node) error {
	if v.Kind == yaml.MappingNode {
		return counter(item, layer, f, v)
	}
	if v.Kind != yaml.ScalarNode {
		return yamlnode.At(v, "%s: want a value", f.Name)
	}
	s, err := craft.ParseSetting(f, v.Value)
	if err != nil {
		return wrap(v, err)
	}
	item.Recipe.Layers[layer].Put(s)
	return nil
}

func counter(item *Item, layer int, f *wire.Field, v *yaml.Node) error {
	if !craft.CanCount(f) {
		return yamlnode.At(v, "%s cannot count", f.Name)
	}
	c := craft.Counter{Layer: layer, Field: f, Step: 1}
	err := yamlnode.Pairs(v, func(key string, k, v *yaml.Node) error {
		n, err := strconv.ParseInt(v.Value, 0, 64)
		u, uerr := strconv.ParseUint(v.Value, 0, 64)
		if err != nil && uerr != nil {
			return yamlnode.At(v, "%s: want a number", key)
		}
		if uerr != nil {
			u = uint64(n) // a step may go down
		}
		switch key {
		case "start":
			if c.Start = u; c.At(0) != u {
				return yamlnode.At(v, "%s does not fit the %d bits of %s", v.Value, f.Bits, f.Name)
			}
		case "step":
			c.Step = u
		default:
			return yamlnode.At(k, "a counter has start and step, not %q", key)
		}
		return nil
	})
	item.Counters = append(item.Counters, c)
	return err
}

// bytes reads a run of bytes: hexadecimal digits, or how to make them.
func (p *parser) bytes(v *yaml.Node) ([]byte, error) {
	if v.Kind == yaml.ScalarNode {
		b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "").Replace(v.Value))
		if err != nil {
			return nil, yamlnode.At(v, "want bytes in hexadecimal")
		}
		return b, nil
	}
	var out []byte
	fill, err := fillByte(v)
	if err != nil {
		return nil, err
	}
	err = yamlnode.Pairs(v, func(key string, k, v *yaml.Node) error {
		var err error
		switch key {
		case "text":
			out = append(out, v.Value...)
		case "hex":
			var b []byte
			b, err = p.bytes(v)
			out = append(out, b...)
		case "size":
			var n int
			if n, err = number(v); err == nil {
				out = append(out, bytes.Repeat([]byte{fill}, n)...)
			}
		case "fill": // read before
		case "file":
			if p.read == nil {
				return yamlnode.At(v, "files are not read here")
			}
			var b []byte
			b, err = p.read(v.Value)
			out = append(out, b...)
		default:
			return yamlnode.At(k, "bytes are given as text, hex, size, fill or file, not %q", key)
		}
		return wrap(v, err)
	})
	return out, err
}

// fillByte is what the bytes that are given by their number are.
func fillByte(n *yaml.Node) (byte, error) {
	v := yamlnode.Find(n, "fill")
	if v == nil {
		return 0, nil
	}
	b, err := strconv.ParseUint(v.Value, 0, 8)
	if err != nil {
		return 0, yamlnode.At(v, "fill: want a byte")
	}
	return byte(b), nil
}

func (p *parser) edits(v *yaml.Node) (edits []craft.Edit, err error) {
	if v.Kind != yaml.SequenceNode {
		return nil, yamlnode.At(v, "want a list of edits")
	}
	for _, c := range v.Content {
		var e craft.Edit
		err := yamlnode.Pairs(c, func(key string, k, v *yaml.Node) (err error) {
			switch key {
			case "at":
				e.Off, err = number(v)
			case "bytes":
				e.Bytes, err = p.bytes(v)
			default:
				return yamlnode.At(k, "an edit has at and bytes, not %q", key)
			}
			return err
		})
		if err == nil && (yamlnode.Find(c, "at") == nil || len(e.Bytes) == 0) {
			err = yamlnode.At(c, "an edit has at and bytes")
		}
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// maxSize bounds sizes, so that a slip of the pen does not fill the memory.
const maxSize = 1 << 20

func number(v *yaml.Node) (int, error) {
	n, err := strconv.ParseUint(v.Value, 0, 32)
	if err != nil || n > maxSize {
		return 0, yamlnode.At(v, "want a number up to %d", maxSize)
	}
	return int(n), nil
}

// links are the link types by name.
var links = [...]struct {
	name string
	link wire.LinkType
}{
	{"ethernet", wire.LinkEthernet},
	{"ip", wire.LinkRawIP},
	{"sll", wire.LinkSLL},
	{"sll2", wire.LinkSLL2},
	{"erf", wire.LinkERF},
	{"ipv4", wire.LinkIPv4},
	{"ipv6", wire.LinkIPv6},
	{"ipoib", wire.LinkIPoIB},
	{"infiniband", wire.LinkIB},
}

func linkType(v *yaml.Node) (wire.LinkType, error) {
	for _, l := range links {
		if l.name == v.Value {
			return l.link, nil
		}
	}
	n, err := strconv.ParseUint(v.Value, 0, 16)
	if err != nil {
		names := make([]string, len(links))
		for i, l := range links {
			names[i] = l.name
		}
		err = fmt.Errorf("want one of %s, or a number", strings.Join(names, ", "))
	}
	return wire.LinkType(n), err
}
