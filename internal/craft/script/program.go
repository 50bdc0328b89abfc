package script

import "github.com/rocecap/rocecap/internal/craft"

// Program makes the packets of a script one after another, as Each does, with
// everything prepared.
type Program struct {
	root  []node
	stack []turn // where it is, the outermost list first
}

// node is an item, prepared: a packet, or a list.
type node struct {
	packet *craft.Program
	list   []node
	repeat int
}

// turn is the place in a list.
type turn struct {
	list []node
	at   int
	done int // how often list[at] was made
}

// Compile prepares a script. Items that make no packet are left out.
func Compile(s Script) (*Program, error) {
	root, depth, err := compile(s)
	if err != nil {
		return nil, err
	}
	p := &Program{root: root, stack: make([]turn, 0, depth)}
	p.Rewind()
	return p, nil
}

func compile(s Script) (list []node, depth int, err error) {
	depth = 1
	for _, item := range s {
		n := node{repeat: item.Repeat}
		if item.Recipe == nil {
			var inside int
			if n.list, inside, err = compile(item.Sequence); err != nil {
				return nil, 0, err
			}
			depth = max(depth, 1+inside)
		} else if n.packet, err = craft.Compile(item.Recipe, item.Counters); err != nil {
			return nil, 0, item.place(err)
		}
		if n.repeat > 0 && (n.packet != nil || len(n.list) > 0) {
			list = append(list, n)
		}
	}
	return list, depth, nil
}

// Next returns the packet whose turn it is, to be made with its Next. It is nil
// at the end of the script.
func (p *Program) Next() *craft.Program {
	for len(p.stack) > 0 {
		t := &p.stack[len(p.stack)-1]
		if t.at == len(t.list) {
			p.stack = p.stack[:len(p.stack)-1]
			continue
		}
		n := &t.list[t.at]
		if t.done++; t.done == n.repeat {
			t.at++
			t.done = 0
		}
		if n.packet != nil {
			return n.packet
		}
		p.stack = append(p.stack, turn{list: n.list})
	}
	return nil
}

// Rewind goes back to the script's beginning. Counters go on, as they do when a
// sequence is repeated.
func (p *Program) Rewind() { p.stack = append(p.stack[:0], turn{list: p.root}) }
