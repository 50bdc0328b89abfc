package mr

// Local returns n bytes at va for a work request of a QP in domain pd. need is
// LocalWrite, or 0 to read. No bytes are n = 0: key, domain and rights are
// checked all the same, and va has to be within the region or at its end.
func (t *Table) Local(pd PD, lkey uint32, va uint64, n int, need Access) ([]byte, error) {
	if lkey&windowBit != 0 { // windows are for peers
		return nil, &Fault{Kind: NoKey, Key: lkey, VA: va, Len: uint64(n), Need: need}
	}
	s, have, kind := t.region(pd, lkey)
	return grant(s, have, kind, lkey, va, uint64(n), need)
}

// Remote returns n bytes at va for a request that came in on QP qpn in domain
// pd. need is RemoteWrite, RemoteRead, RemoteAtomic or the flush rights. The key
// is a region's or a window's. n = 0 is as in Local, which is the check that
// FLUSH wants (oA19-13); READ and WRITE of nothing have no key checked (C9-88)
// and are no case for this function.
func (t *Table) Remote(pd PD, qpn, rkey uint32, va uint64, n int, need Access) ([]byte, error) {
	s, have, kind := t.remote(pd, qpn, rkey)
	return grant(s, have, kind, rkey, va, uint64(n), need)
}

// RemoteWhole returns all of a region or window: a FLUSH of a whole region
// gives a key, and its address and length do not count (oA19-13).
func (t *Table) RemoteWhole(pd PD, qpn, rkey uint32, need Access) ([]byte, error) {
	s, have, kind := t.remote(pd, qpn, rkey)
	if s == nil {
		return grant(s, have, kind, rkey, 0, 0, need)
	}
	return grant(s, have, kind, rkey, s.start, uint64(len(s.mem)), need)
}

func (t *Table) remote(pd PD, qpn, rkey uint32) (*span, Access, Kind) {
	if rkey&windowBit != 0 {
		return t.window(pd, qpn, rkey)
	}
	return t.region(pd, rkey)
}

func (t *Table) region(pd PD, key uint32) (*span, Access, Kind) {
	r, kind := t.regions.find(key)
	switch {
	case kind != 0:
		return nil, 0, kind
	case r.pd != pd: // C10-56
		return nil, 0, WrongPD
	case !r.valid:
		return nil, 0, Invalidated
	}
	return &r.span, r.access, 0
}

func (t *Table) window(pd PD, qpn, key uint32) (*span, Access, Kind) {
	w, kind := t.windows.find(key)
	switch {
	case kind != 0:
		return nil, 0, kind
	case w.pd != pd: // C10-76.2.1; a QP in another domain cannot have bound type 2
		return nil, 0, WrongPD
	case w.state == invalidated:
		return nil, 0, Invalidated
	case w.state != bound:
		return nil, 0, NotBound
	case w.typ == Type2 && w.qpn != qpn: // o10-37.2.43
		return nil, 0, WrongQP
	}
	return &w.span, w.access, 0
}

// grant checks rights (C10-57, C10-77), then bounds.
func grant(s *span, have Access, kind Kind, key uint32, va, n uint64, need Access) ([]byte, error) {
	switch {
	case kind != 0:
	case !have.has(need):
		kind = NoRight
	case !s.covers(va, n): // a negative length is now larger than any slice
		kind = Bounds
	default:
		return s.cut(va, n), nil
	}
	fault := &Fault{Kind: kind, Key: key, VA: va, Len: n, Need: need, Have: have}
	if s != nil {
		fault.Start, fault.Size = s.start, uint64(len(s.mem))
	}
	return nil, fault
}
