package mr

import "slices"

// Region is a memory region.
type Region struct {
	span
	key     uint32
	pd      PD
	access  Access
	windows int // bound to it
	// most is how many bytes a region for fast registration may have; such a
	// region is valid from a FastRegister to the next invalidation.
	most  int
	fast  bool
	valid bool
}

// LKey is the key for the owner's own use.
func (r *Region) LKey() uint32 { return r.key }

// RKey is the key for peers: the same, as with Linux rxe. What a peer may do
// with it is in the access rights alone.
func (r *Region) RKey() uint32 { return r.key }

// VA is the address of the first byte, 0 if the region is zero-based.
func (r *Region) VA() uint64 { return r.start }

// Len is the length in bytes.
func (r *Region) Len() int { return len(r.mem) }

// PD is the region's protection domain.
func (r *Region) PD() PD { return r.pd }

// Access is what the region grants.
func (r *Region) Access() Access { return r.access }

// Register makes a region of mem, whose first byte gets the address va, or 0 if
// access has ZeroBased. The memory stays the caller's.
func (t *Table) Register(pd PD, mem []byte, va uint64, access Access) (*Region, error) {
	r := &Region{pd: pd}
	if err := r.set(mem, va, access); err != nil {
		return nil, err
	}
	return t.addRegion(r)
}

// AllocFast makes a region of up to most bytes for fast registration
// (ib_alloc_mr with IB_MR_TYPE_MEM_REG): it has keys and grants nothing before
// FastRegister.
func (t *Table) AllocFast(pd PD, most int) (*Region, error) {
	return t.addRegion(&Region{pd: pd, fast: true, most: most})
}

func (t *Table) addRegion(r *Region) (*Region, error) {
	if err := t.HoldPD(r.pd); err != nil {
		return nil, err
	}
	key, ok := t.regions.add(r)
	if !ok {
		t.ReleasePD(r.pd)
		return nil, &Fault{Kind: Full}
	}
	r.key = key
	return r, nil
}

// set gives the region its memory and rights.
func (r *Region) set(mem []byte, va uint64, access Access) error {
	n := uint64(len(mem))
	if access&ZeroBased != 0 {
		va = 0
	}
	switch {
	case va+n < va:
		return &Fault{Kind: BadRange, Key: r.key, VA: va, Len: n}
	case access&^regionRights != 0, !access.grantable(access):
		return &Fault{Kind: BadAccess, Key: r.key, VA: va, Len: n, Need: access, Have: access & regionRights}
	}
	r.span = span{slices.Clip(mem), va}
	r.access, r.valid = access, true
	return nil
}

// FastRegister is the work request of that name, posted to a QP in pd: it gives
// memory, rights and the low byte of newKey to a region from AllocFast that is
// not valid.
func (t *Table) FastRegister(pd PD, r *Region, newKey uint32, mem []byte, va uint64, access Access) error {
	fault := Fault{Key: r.key, VA: va, Len: uint64(len(mem)), Need: access, Have: r.access}
	switch {
	case !t.regions.holds(r.key, r):
		fault.Kind = NoKey
	case r.pd != pd:
		fault.Kind = WrongPD
	case !r.fast:
		fault.Kind = BadAccess
	case r.valid:
		fault.Kind = AlreadyValid
	case len(mem) > r.most:
		fault.Kind = BadRange
	default:
		if err := r.set(mem, va, access); err != nil {
			return err
		}
		r.key = t.regions.change(r.key, newKey)
		return nil
	}
	return &fault
}

// Deregister ends a region (C11-17) to which no window is bound. Some NICs end
// the windows with it; Linux rxe refuses, as here.
func (t *Table) Deregister(r *Region) error {
	switch {
	case !t.regions.holds(r.key, r):
		return &Fault{Kind: NoKey, Key: r.key}
	case r.windows > 0:
		return &Fault{Kind: Busy, Key: r.key}
	}
	t.regions.remove(r.key)
	t.ReleasePD(r.pd)
	r.span, r.valid = span{}, false
	return nil
}
