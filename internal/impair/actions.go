package impair

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
	"github.com/rocecap/rocecap/internal/yamlnode"
)

const (
	maxCopies  = 1000
	maxReorder = 1000
	maxDelay   = time.Minute
	maxPayload = 1 << 16
)

// action reads one action; known is false when there is none of that name.
func action(do *fault.Actions, key string, v *yaml.Node) (known bool, err error) {
	switch key {
	case "drop":
		do.Drop, err = yes(v)
	case "duplicate":
		do.Duplicate, err = count(v, maxCopies)
	case "delay":
		do.Delay, err = delay(v)
	case "reorder":
		do.Reorder, err = count(v, maxReorder)
	case "corrupt":
		do.Corrupt, err = corrupt(v)
	case "mark":
		err = mark(do, v)
	case "set":
		do.Set, err = edits(v)
	case "answer":
		do.Answer, err = answer(v)
	default:
		return false, nil
	}
	return true, err
}

func delay(v *yaml.Node) (time.Duration, error) {
	d, err := time.ParseDuration(v.Value)
	if err != nil || d <= 0 || d > maxDelay {
		return 0, at(v, "want a time such as 3ms, up to %v", maxDelay)
	}
	return d, nil
}

// corrupt reads what to damage. As it stands for damage on the way, the ICRC
// stays what it was unless asked.
func corrupt(v *yaml.Node) (fault.Maybe[fault.Corrupt], error) {
	if bit := yamlnode.Find(v, "bit"); bit != nil && yamlnode.Find(v, "xor") != nil {
		return fault.Maybe[fault.Corrupt]{}, at(bit, "bit and xor exclude each other")
	}
	c := fault.Corrupt{XOR: 1}
	err := pairs(v, func(key string, k, v *yaml.Node) (err error) {
		var n uint64
		switch key {
		case "byte":
			n, err = number(v, maxPayload)
			c.Byte = int(n)
		case "bit":
			n, err = number(v, 7)
			c.XOR = 1 << n
		case "xor":
			if n, err = number(v, 0xFF); err == nil && n == 0 {
				err = at(v, "xor: 0 changes nothing")
			}
			c.XOR = byte(n)
		case "icrc":
			switch v.Value {
			case "right":
				c.Seal = true
			case "wrong":
				c.Seal = false
			default:
				err = at(v, "icrc: want right or wrong, not %q", v.Value)
			}
		default:
			err = at(k, "unknown key %q: corrupt has byte, bit or xor, and icrc", key)
		}
		return err
	})
	return fault.Just(c), err
}

func mark(do *fault.Actions, v *yaml.Node) error {
	list := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		list = v.Content
	}
	for _, c := range list {
		switch resolve(c).Value {
		case "ce":
			do.CE = true
		case "fecn":
			do.FECN = true
		case "becn":
			do.BECN = true
		default:
			return at(c, "mark: want ce, fecn or becn, not %q", c.Value)
		}
	}
	if len(list) == 0 {
		return at(v, "mark: want ce, fecn or becn")
	}
	return nil
}

func edits(v *yaml.Node) (list []fault.Edit, err error) {
	err = pairs(v, func(key string, k, v *yaml.Node) error {
		e := fault.Edit{Name: key}
		for _, spec := range wire.Specs() {
			if f := craft.FullField(spec.ID, key); f != nil && f.Bits > 0 {
				e.In = append(e.In, fault.Place{Header: spec.ID, Field: f})
			}
		}
		if len(e.In) == 0 {
			return at(k, "set: no header has a field %q of fixed length (`rocecap fields` lists them)", key)
		}
		if err := value(&e, v); err != nil {
			return err
		}
		list = append(list, e)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = at(v, "set: want a field at least")
	}
	return list, err
}

// value reads what to set a field to. Headers that share a name of a field give
// it the same kind and width; the first is asked.
func value(e *fault.Edit, v *yaml.Node) error {
	f := e.In[0].Field
	if v.Kind != yaml.ScalarNode {
		return at(v, "%s: want a value", e.Name)
	}
	s, err := craft.ParseSetting(f, v.Value)
	if err != nil {
		return at(v, "%s: %v", e.Name, err)
	}
	switch {
	case s.Auto:
		return at(v, "%s: what can be computed is, after every change", e.Name)
	case s.Raw != nil && len(s.Raw) != f.Bits/8:
		return at(v, "%s: want %d bytes", e.Name, f.Bits/8)
	}
	e.Num, e.Raw = s.Num, s.Raw
	return nil
}

// answer reads "cnp", "ack", or a mapping that says more.
func answer(v *yaml.Node) (fault.Maybe[fault.Answer], error) {
	var a fault.Answer
	if v.Kind == yaml.ScalarNode {
		err := answerKind(&a, v.Value, v, v)
		return fault.Just(a), err
	}
	chosen := 0
	err := pairs(v, func(key string, k, v *yaml.Node) (err error) {
		if key == "qp" {
			a.QP, err = queuePair(v)
			return err
		}
		chosen++
		return answerKind(&a, key, k, v)
	})
	if err == nil && chosen != 1 {
		err = at(v, "answer: want one of cnp, ack, nak and rnr")
	}
	return fault.Just(a), err
}

const (
	noCreditLimit   = wire.CreditsInvalid
	defaultRNRTimer = 12 // 0.64 ms, what ibv_rc_pingpong sets; IBTA table 46
)

func answerKind(a *fault.Answer, kind string, k, v *yaml.Node) (err error) {
	given := v != k && v.Tag != "!!null"
	switch kind {
	case "cnp":
		a.CNP = true
	case "ack":
		a.Syndrome = wire.NewSyndrome(wire.Ack, noCreditLimit)
	case "nak":
		code := uint8(wire.NakPSNSequence)
		if given {
			code, err = nakCode(v)
		}
		a.Syndrome = wire.NewSyndrome(wire.Nak, code)
	case "rnr":
		timer := uint64(defaultRNRTimer)
		if given {
			timer, err = number(v, 31)
		}
		a.Syndrome = wire.NewSyndrome(wire.RNRNak, uint8(timer))
	default:
		err = at(k, "answer: want cnp, ack, nak or rnr, not %q", kind)
	}
	return err
}

// nakNames are the words for the NAK codes.
var nakNames = [...]string{
	wire.NakPSNSequence:      "sequence",
	wire.NakInvalidRequest:   "invalid-request",
	wire.NakRemoteAccess:     "remote-access",
	wire.NakRemoteOperation:  "remote-operation",
	wire.NakInvalidRDRequest: "invalid-rd-request",
}

func nakCode(v *yaml.Node) (uint8, error) {
	for code, name := range nakNames {
		if v.Value == name {
			return uint8(code), nil
		}
	}
	n, err := number(v, 31)
	if err != nil {
		return 0, at(v, "nak: want a code from 0 to 31, or one of %v", nakNames)
	}
	return uint8(n), nil
}
