// Package mr holds the memory of a device that peers may reach: protection
// domains, memory regions, memory windows of type 1 and 2, and the checks that
// stand between a key with an address and bytes.
//
// A region is a byte slice that its owner registers. Every slice that the
// package hands out lies within one registered slice and cannot be extended
// beyond what was asked for. What is refused is a *Fault that says why; an
// access that succeeds allocates nothing.
//
// Not here: on-demand paging, registration of physical pages, and changing a
// registered region (ibv_rereg_mr).
package mr

import "math/rand/v2"

// PD is a protection domain. 0 is none.
type PD uint32

// Table holds the domains and all keys of one device.
type Table struct {
	domains map[PD]int // how many objects are in each
	last    PD
	regions keys[Region]
	windows keys[Window]
	// bound are the windows of type 2 by the QP that they are bound to.
	bound map[uint32]map[*Window]struct{}
}

// NewTable returns an empty table. The seed decides which keys it will give out.
func NewTable(seed uint64) *Table {
	rng := rand.New(rand.NewPCG(seed, 0))
	return &Table{
		domains: map[PD]int{},
		regions: newKeys[Region](0, rng),
		windows: newKeys[Window](windowBit, rng),
		bound:   map[uint32]map[*Window]struct{}{},
	}
}

// AllocPD makes a protection domain. None is ever used again.
func (t *Table) AllocPD() PD {
	t.last++
	t.domains[t.last] = 0
	return t.last
}

// DeallocPD ends a domain that nothing uses.
func (t *Table) DeallocPD(pd PD) error {
	switch used, ok := t.domains[pd]; {
	case !ok:
		return &Fault{Kind: WrongPD}
	case used > 0:
		return &Fault{Kind: Busy}
	}
	delete(t.domains, pd)
	return nil
}

// HoldPD counts another user of the domain that the table does not know: a
// queue pair, a shared receive queue, an address handle.
func (t *Table) HoldPD(pd PD) error {
	if _, ok := t.domains[pd]; !ok {
		return &Fault{Kind: WrongPD}
	}
	t.domains[pd]++
	return nil
}

// ReleasePD undoes one HoldPD.
func (t *Table) ReleasePD(pd PD) {
	if t.domains[pd] > 0 {
		t.domains[pd]--
	}
}
