package impair

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/yamlnode"
)

func at(n *yaml.Node, format string, args ...any) error {
	return yamlnode.At(n, format, args...)
}

func pairs(n *yaml.Node, do func(key string, k, v *yaml.Node) error) error {
	return yamlnode.Pairs(n, do)
}

func resolve(n *yaml.Node) *yaml.Node { return yamlnode.Resolve(n) }

func items(n *yaml.Node) ([]*yaml.Node, error) { return yamlnode.Items(n) }

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
