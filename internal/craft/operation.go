package craft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// Operation is what a packet is for: its innermost headers, and what they can
// lie in.
type Operation struct {
	layers []Layer
	iwarp  bool
}

// iwarpPrefix begins the names of what lies in a TCP segment.
const iwarpPrefix = "iwarp "

// ParseOperation finds an opcode as ParseOpcode does, or, behind "iwarp", an
// RDMAP opcode ("iwarp read-request"), an atomic operation ("iwarp cmp-swap") or
// a start-up frame ("iwarp mpa-request").
func ParseOperation(text string) (Operation, error) {
	if name, ok := strings.CutPrefix(plainName(text), iwarpPrefix); ok {
		layers, err := iwarpLayers(name, strings.TrimSpace(text))
		return Operation{layers, true}, err
	}
	op, err := ParseOpcode(text)
	return operationOf(op), err
}

func operationOf(op wire.Opcode) Operation {
	layers := []Layer{{ID: wire.HdrBTH, Set: []Setting{{Field: FieldOf(wire.HdrBTH, "opcode"), Num: uint64(op)}}}}
	for _, id := range op.Info().Extended() {
		layers = append(layers, Layer{ID: id})
	}
	return Operation{layers: layers}
}

// Bases returns what the operation can lie in, the usual one first.
func (o Operation) Bases() []Base {
	if o.iwarp {
		return iwarpBases[:]
	}
	return bases[:]
}

// In returns a packet of the operation in a base, with every field at its
// default. No name means the usual base.
func (o Operation) In(base string) (*Recipe, error) {
	var names []string
	for i, b := range o.Bases() {
		if b.Name != base && (base != "" || i > 0) {
			names = append(names, b.Name)
			continue
		}
		r := &Recipe{Link: b.Link, Pad: AutoPad}
		for _, id := range b.Layers {
			r.Layers = append(r.Layers, Layer{ID: id})
		}
		for _, l := range o.layers {
			r.Layers = append(r.Layers, Layer{ID: l.ID, Set: slices.Clone(l.Set)})
		}
		return r, nil
	}
	for _, b := range Bases() {
		if b.Name == base {
			return nil, fmt.Errorf("base %q carries something else; there are %s", base, strings.Join(names, ", "))
		}
	}
	return nil, fmt.Errorf("no base %q; there are %s", base, strings.Join(names, ", "))
}

// iwarpLayers are the headers in the TCP segment. name is what plainName makes
// of the text.
func iwarpLayers(name, text string) ([]Layer, error) {
	switch name {
	case "mpa request":
		return []Layer{{ID: wire.HdrMPARequest}}, nil
	case "mpa reply":
		return []Layer{{ID: wire.HdrMPAReply}}, nil
	}
	for v := range uint64(wire.AtomicCmpSwap + 1) {
		op := Setting{Field: FieldOf(wire.HdrRDMAPAtomicRequest, "atomic.opcode"), Num: v}
		if squeeze(name) == strings.ToLower(op.Text()) {
			layers := fpduLayers(wire.RDMAPAtomicRequest)
			layers[len(layers)-1].Put(op)
			return layers, nil
		}
	}
	field := FieldOf(wire.HdrRDMAP, "opcode")
	if s, err := ParseSetting(field, name); err == nil && !s.Auto {
		return fpduLayers(wire.RDMAPOpcode(s.Num)), nil
	}
	var names []string
	for op := range wire.RDMAPAtomicResponse + 1 {
		if plainName(op.String()) == name {
			return fpduLayers(op), nil
		}
		names = append(names, strings.ReplaceAll(strings.ToLower(op.String()), " ", "-"))
	}
	return nil, fmt.Errorf("no iWARP operation %q; there are %s, fetch-add, swap, cmp-swap, mpa-request, mpa-reply", text, strings.Join(names, ", "))
}

func squeeze(text string) string { return strings.ReplaceAll(text, " ", "") }

// fpduLayers are the headers of an FPDU. An opcode that is not defined is taken
// for an untagged one.
func fpduLayers(op wire.RDMAPOpcode) []Layer {
	ddp := wire.HdrDDPUntagged
	if op.Tagged() {
		ddp = wire.HdrDDPTagged
	}
	layers := []Layer{{ID: wire.HdrFPDU}, {ID: ddp}, {ID: wire.HdrRDMAP, Set: []Setting{{Field: FieldOf(wire.HdrRDMAP, "opcode"), Num: uint64(op)}}}}
	if body := bodyOf(op); body != wire.HdrNone {
		layers = append(layers, Layer{ID: body})
	}
	return layers
}
