// Package yamlnode walks YAML documents that people write, and says where in
// them a mistake is.
package yamlnode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Error says where in a document something is wrong.
type Error struct {
	Line, Column int
	Reason       string
}

var _ error = (*Error)(nil)

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// At returns an error with the place of a node.
func At(n *yaml.Node, format string, args ...any) error {
	return &Error{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// Root is what a text of one document holds, nil if that is nothing. A second
// document is refused, because nobody would read it.
func Root(text []byte) (*yaml.Node, error) {
	var doc, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	switch err := d.Decode(&second); {
	case err == nil && len(second.Content) > 0 && !isNull(second.Content[0]):
		return nil, At(second.Content[0], "a second document; want one")
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// Resolve returns what an alias stands for.
func Resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// Pairs calls do with each key and value of a mapping. Nothing at all is an
// empty one.
func Pairs(n *yaml.Node, do func(key string, k, v *yaml.Node) error) error {
	n = Resolve(n)
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return At(n, "want names with values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], Resolve(n.Content[i+1])
		if seen[k.Value] {
			return At(k, "%q is here twice", k.Value)
		}
		seen[k.Value] = true
		if err := do(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the value of a key, nil when the mapping does not have it.
func Find(n *yaml.Node, key string) *yaml.Node {
	n = Resolve(n)
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return Resolve(n.Content[i+1])
		}
	}
	return nil
}

// Items returns what a list has in it. Nothing at all is an empty one.
func Items(n *yaml.Node) ([]*yaml.Node, error) {
	n = Resolve(n)
	switch {
	case isNull(n):
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, At(n, "want a list")
	}
	items := make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		items[i] = Resolve(c)
	}
	return items, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
