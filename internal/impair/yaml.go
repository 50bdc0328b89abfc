package impair

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/transport/fault"
)

func at(n *yaml.Node, format string, args ...any) error {
	return &Error{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// resolve returns what an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// pairs calls do with each key and value of a mapping. Nothing at all is an
// empty one.
func pairs(n *yaml.Node, do func(key string, k, v *yaml.Node) error) error {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return at(n, "want names with values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], resolve(n.Content[i+1])
		if seen[k.Value] {
			return at(k, "%q is here twice", k.Value)
		}
		seen[k.Value] = true
		if err := do(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

func items(n *yaml.Node) ([]*yaml.Node, error) {
	n = resolve(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, at(n, "want a list")
	}
	return n.Content, nil
}

func name(v *yaml.Node) (string, error) {
	if v.Kind != yaml.ScalarNode {
		return "", at(v, "want a name")
	}
	return v.Value, nil
}

func number(v *yaml.Node, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(v.Value, 0, 64)
	if err != nil || v.Kind != yaml.ScalarNode || n > most {
		return 0, at(v, "want a number from 0 to %d, not %q", most, v.Value)
	}
	return n, nil
}

func count(v *yaml.Node, most uint64) (int, error) {
	n, err := number(v, most)
	if err != nil || n == 0 {
		return 0, at(v, "want a number from 1 to %d, not %q", most, v.Value)
	}
	return int(n), nil
}

func positive(v *yaml.Node) (int, error) { return count(v, 1<<31-1) }

func boolean(v *yaml.Node) (bool, error) {
	switch v.Value {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, at(v, "want true or false, not %q", v.Value)
}

// yes reads an action that can only be asked for.
func yes(v *yaml.Node) (bool, error) {
	on, err := boolean(v)
	if err == nil && !on {
		err = at(v, "want true; leave it out otherwise")
	}
	return on, err
}

func probability(v *yaml.Node) (p fault.Maybe[float64], err error) {
	n, err := strconv.ParseFloat(v.Value, 64)
	if err != nil || !(n >= 0 && n <= 1) {
		return p, at(v, "want a probability from 0 to 1, not %q", v.Value)
	}
	return fault.Just(n), nil
}
