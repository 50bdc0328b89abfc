// Package impair reads the rules by which a bridge impairs traffic, and makes
// the packets that rules send in answer.
//
// A rules file is YAML:
//
//	seed: 1
//	rules:
//	  - name: lose one
//	    match: {qp: 0x11, op: write, message: 3, psn: +5}
//	    times: 1
//	    drop: true
package impair

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
	"github.com/rocecap/rocecap/internal/yamlnode"
)

// Compile turns a display filter into a condition.
type Compile func(filter string) (func(*wire.Frame) bool, error)

// Error is a fault in a rules file.
type Error = yamlnode.Error

// Parse reads a rules file. An empty one has no rules.
func Parse(text []byte, compile Compile) (fault.Config, error) {
	config := fault.Config{Craft: Craft}
	root, err := yamlnode.Root(text)
	if root == nil {
		return config, err
	}
	p := parser{compile: compile}
	err = pairs(root, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "seed":
			config.Seed, err = number(v, 1<<64-1)
		case "rules":
			config.Rules, err = p.rules(v)
		default:
			err = at(k, "unknown key %q: a rules file has seed and rules", key)
		}
		return err
	})
	return config, err
}

type parser struct {
	compile Compile
}

func (p *parser) rules(n *yaml.Node) (rules []fault.Rule, err error) {
	list, err := items(n)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		r, err := p.rule(c)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

const ruleKeys = "name, match, nth, every, probability, times, drop, duplicate, delay, reorder, corrupt, mark, set, answer"

func (p *parser) rule(n *yaml.Node) (r fault.Rule, err error) {
	acts := false
	err = pairs(n, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "name":
			r.Name, err = name(v)
		case "match":
			r.Match, err = p.match(v)
		case "nth":
			r.Nth, err = positive(v)
		case "every":
			r.Every, err = positive(v)
		case "probability":
			r.Probability, err = probability(v)
		case "times":
			r.Times, err = positive(v)
		default:
			var known bool
			if known, err = action(&r.Do, key, v); !known {
				return at(k, "unknown key %q: a rule has %s", key, ruleKeys)
			}
			acts = true
		}
		return err
	})
	if err == nil && !acts {
		err = at(n, "the rule does nothing: it has none of drop, duplicate, delay, reorder, corrupt, mark, set, answer")
	}
	return r, err
}

func (p *parser) match(n *yaml.Node) (m fault.Match, err error) {
	err = pairs(n, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "direction":
			m.Direction, err = direction(v)
		case "qp":
			m.QP, err = queuePair(v)
		case "op":
			m.Opcodes, err = opcodes(v)
		case "psn":
			err = psn(&m, v)
		case "message":
			var n int
			n, err = positive(v)
			m.Message = fault.Just(uint32(n))
		case "retransmission":
			var again bool
			again, err = boolean(v)
			m.Again = fault.Just(again)
		case "filter":
			if m.Filter, err = p.compile(v.Value); err != nil {
				err = at(v, "filter: %v", err)
			}
		default:
			err = at(k, "unknown key %q: a match has direction, qp, op, psn, message, retransmission, filter", key)
		}
		return err
	})
	m.Kind = fault.KindNone
	if m.Message.Given {
		m.Kind = m.Opcodes.Kind()
	}
	return m, err
}

func direction(v *yaml.Node) (d fault.Maybe[fault.Direction], err error) {
	switch v.Value {
	case "forward":
		return fault.Just(fault.Forward), nil
	case "backward":
		return fault.Just(fault.Backward), nil
	}
	return d, at(v, "direction: want forward (from the first interface to the second) or backward, not %q", v.Value)
}

const max24 = 1<<24 - 1

func queuePair(v *yaml.Node) (qp fault.Maybe[uint32], err error) {
	n, err := number(v, max24)
	return fault.Just(uint32(n)), err
}

// psn reads a PSN, or with a sign how far it is behind the first.
func psn(m *fault.Match, v *yaml.Node) error {
	if digits, relative := strings.CutPrefix(v.Value, "+"); relative {
		n, err := number(&yaml.Node{Kind: v.Kind, Value: digits, Line: v.Line, Column: v.Column}, max24/2)
		m.Offset = fault.Just(int(n))
		return err
	}
	n, err := number(v, max24)
	m.PSN = fault.Just(wire.PSN(n))
	return err
}

// opcodes reads the names of opcodes and classes, one or a list.
func opcodes(v *yaml.Node) (set fault.Opcodes, err error) {
	list := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		list = v.Content
	}
	for _, c := range list {
		c = resolve(c)
		if set.AddClass(c.Value) {
			continue
		}
		op, err := craft.ParseOpcode(c.Value)
		if err != nil {
			return set, at(c, "op: %q is neither an opcode (`rocecap opcodes` lists them) nor one of %s",
				c.Value, strings.Join(fault.ClassNames(), ", "))
		}
		set.Add(op)
	}
	if len(list) == 0 {
		err = at(v, "op: want one opcode at least")
	}
	return set, err
}
