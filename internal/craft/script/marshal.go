package script

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

// Append adds a recipe to dst, as one item of a script.
func Append(dst []byte, r *craft.Recipe) ([]byte, error) {
	item := &yaml.Node{Kind: yaml.MappingNode}
	if r.Link != wire.LinkEthernet {
		add(item, "link", scalar(linkName(r.Link)))
	}
	layers := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range r.Layers {
		layers.Content = append(layers.Content, layerNode(&r.Layers[i]))
	}
	if len(layers.Content) == 0 {
		layers.Style = yaml.FlowStyle
	}
	add(item, "layers", layers)
	addBytes(item, "payload", r.Payload)
	if r.Pad != craft.AutoPad && (r.Pad != 0 || isTransport(r) || hasLayer(r, wire.HdrFPDU)) {
		add(item, "pad", scalar(strconv.Itoa(r.Pad)))
	}
	if r.CRC.Mode != craft.CRCAuto && hasLayer(r, wire.HdrFPDU) {
		add(item, "crc", scalar(r.CRC.Text()))
	}
	if r.ICRC.Mode != craft.CRCAuto && isTransport(r) {
		add(item, "icrc", scalar(r.ICRC.Text()))
	}
	if r.VCRC.Mode != craft.CRCAuto && hasLayer(r, wire.HdrLRH) {
		add(item, "vcrc", scalar(r.VCRC.Text()))
	}
	addBytes(item, "trailer", r.Trailer)
	addEdits(item, "raw", r.Raw)
	addEdits(item, "edits", r.Edits)
	if r.Snap > 0 {
		add(item, "snap", scalar(strconv.Itoa(r.Snap)))
	}
	out := bytes.NewBuffer(dst)
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	err := enc.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}})
	return out.Bytes(), err
}

func isTransport(r *craft.Recipe) bool { return hasLayer(r, wire.HdrBTH) }

func hasLayer(r *craft.Recipe, id wire.HeaderID) bool {
	for _, l := range r.Layers {
		if l.ID == id {
			return true
		}
	}
	return false
}

func layerNode(l *craft.Layer) *yaml.Node {
	fields := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := range l.Set {
		s := &l.Set[i]
		add(fields, craft.NameOf(l.ID, s.Field), scalar(s.Text()))
	}
	addBytes(fields, "tail", l.Tail)
	if l.Len > 0 {
		add(fields, "header_size", scalar(strconv.Itoa(l.Len)))
	}
	name := craft.LayerName(l.ID)
	if len(fields.Content) == 0 {
		return scalar(name)
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	add(n, name, fields)
	return n
}

func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, scalar(key), value)
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// quoted keeps digits from being read as a number.
func quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: yaml.DoubleQuotedStyle}
}

// addEdits adds a list of places with their bytes.
func addEdits(n *yaml.Node, key string, edits []craft.Edit) {
	if len(edits) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range edits {
		item := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		add(item, "at", scalar(strconv.Itoa(e.Off)))
		addBytes(item, "bytes", e.Bytes)
		list.Content = append(list.Content, item)
	}
	add(n, key, list)
}

// addBytes adds a run of bytes, a long run of one value at its end by its
// length.
func addBytes(n *yaml.Node, key string, b []byte) {
	const few = 8
	if len(b) == 0 {
		return
	}
	fill, size := b[len(b)-1], run(b)
	if size <= few {
		add(n, key, quoted(hex.EncodeToString(b)))
		return
	}
	parts := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	if rest := b[:len(b)-size]; len(rest) > 0 {
		add(parts, "hex", quoted(hex.EncodeToString(rest)))
	}
	add(parts, "size", scalar(strconv.Itoa(size)))
	if fill != 0 {
		add(parts, "fill", scalar(fmt.Sprintf("0x%02x", fill)))
	}
	add(n, key, parts)
}

// run is how many bytes at the end of b are the same.
func run(b []byte) int {
	n := 1
	for n < len(b) && b[len(b)-1-n] == b[len(b)-1] {
		n++
	}
	return n
}

func linkName(link wire.LinkType) string {
	for _, l := range links {
		if l.link == link {
			return l.name
		}
	}
	return strconv.Itoa(int(link))
}
