// Package script is the text form of recipes: YAML with sequences, repeats and
// counters. It is only data; there is no logic in it.
//
//	# four packets, header by header
//	- layers:
//	    - eth: {dst: "52:54:00:77:00:03"}
//	    - ip: {src: 10.77.0.2, dst: 10.77.0.3}
//	    - udp
//	    - infiniband.bth: {opcode: RC SEND Only, psn: {start: 0xfffffe, step: 1}}
//	  payload: {text: hello}
//	  repeat: 4
//	# one, in short
//	- base: rocev2
//	  op: rc write-only
//	  set: {infiniband.reth.r_key: 0x1234, ip.dst: 10.77.0.3}
//	  payload: "00112233"
//	  icrc: flip:0
//	# packets that repeat together
//	- sequence: [...]
//	  repeat: 10
package script

import (
	"errors"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/yamlnode"
)

// Script is a list of items, made in order.
type Script []*Item

// Item is a packet or a sequence of items, made Repeat times.
type Item struct {
	Recipe   *craft.Recipe // nil for a sequence
	Counters []craft.Counter
	Sequence Script
	Repeat   int

	made uint64           // packets of the recipe so far
	at   place            // in the text
	keys map[string]place // of the parts of a packet
}

// place is a line and a column of the text; the zero place is none.
type place struct{ line, column int }

// Error says where in a script something is wrong.
type Error = yamlnode.Error

// Each calls do with the recipe of each packet in turn, until it returns an
// error. The recipe is reused for the item's next packet. A recipe that cannot
// be built is told with its place in the text.
func (s Script) Each(do func(*craft.Recipe) error) error {
	for _, item := range s {
		for range item.Repeat {
			if err := item.once(do); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reset makes every counter begin again.
func (s Script) Reset() {
	for _, item := range s {
		item.made = 0
		item.Sequence.Reset()
	}
}

// Recipes calls do with each recipe once, however often it is repeated.
func (s Script) Recipes(do func(*craft.Recipe) error) error {
	for _, item := range s {
		if item.Recipe == nil {
			if err := item.Sequence.Recipes(do); err != nil {
				return err
			}
			continue
		}
		if err := do(item.Recipe); err != nil {
			return err
		}
	}
	return nil
}

func (i *Item) once(do func(*craft.Recipe) error) error {
	if i.Recipe == nil {
		return i.Sequence.Each(do)
	}
	i.Recipe.Count(i.Counters, i.made)
	i.made++
	return i.place(do(i.Recipe))
}

// place gives the error of a recipe that cannot be built the place of the part
// that is to blame, or the item's.
func (i *Item) place(err error) error {
	var impossible *craft.FieldError
	if i.at == (place{}) || !errors.As(err, &impossible) {
		return err
	}
	at, ok := i.keys[impossible.Layer]
	if !ok {
		at = i.at
	}
	return &Error{Line: at.line, Column: at.column, Reason: impossible.Error()}
}
