// Package script is the text form of recipes: YAML with sequences, repeats and
// counters. It is only data; there is no logic in it.
//
//   - layers:
//   - eth: {dst: "52:54:00:77:00:03"}
//   - ip: {src: 10.77.0.2, dst: 10.77.0.3}
//   - udp:
//   - infiniband.bth: {opcode: RC SEND Only, destqp: 0x11, psn: {start: 0xfffffe, step: 1}}
//     payload: {text: hello}
//     repeat: 4
//   - base: rocev2            # the same in short
//     op: rc write-only
//     set: {infiniband.reth.r_key: 0x1234, ip.dst: 10.77.0.3}
//     payload: "00112233"
//     icrc: flip:0
//   - sequence: [...]         # items that repeat together
//     repeat: 10
package script

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

// Script is a list of items, made in order.
type Script []*Item

// Item is a packet or a sequence of items, made Repeat times.
type Item struct {
	Recipe   *craft.Recipe // nil for a sequence
	Counters []Counter
	Sequence Script
	Repeat   int
}

// Counter makes a field count: it begins at Start and moves by Step with each
// packet made of its item, wrapping at the field's width.
type Counter struct {
	Layer       int // of the recipe
	Field       *wire.Field
	Start, Step uint64

	made uint64
}

// Error says where in a script something is wrong.
type Error struct {
	Line, Column int
	Reason       string
}

var _ error = (*Error)(nil)

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Each calls do with the recipe of each packet in turn, until it returns an
// error. The recipe is reused for the item's next packet.
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
		for i := range item.Counters {
			item.Counters[i].made = 0
		}
		item.Sequence.Reset()
	}
}

func (i *Item) once(do func(*craft.Recipe) error) error {
	if i.Recipe == nil {
		return i.Sequence.Each(do)
	}
	for n := range i.Counters {
		c := &i.Counters[n]
		i.Recipe.Layers[c.Layer].Put(craft.Setting{Field: c.Field, Num: c.next()})
	}
	return do(i.Recipe)
}

// next is the counter's value for the packet that is made now.
func (c *Counter) next() uint64 {
	v := c.Start + c.made*c.Step
	c.made++
	if c.Field.Bits < 64 {
		v &= 1<<uint(c.Field.Bits) - 1
	}
	return v
}
