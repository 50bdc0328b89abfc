package mr

// InvalidateLocal is the work request of that name, posted to a QP in domain
// pd. A window of type 2 or a region from AllocFast loses its memory; one that
// is not valid stays so. Others cannot be invalidated (o10-37.2.26 for type 1),
// nor can a region under a window.
func (t *Table) InvalidateLocal(pd PD, key uint32) error {
	if key&windowBit != 0 {
		w, kind := t.windows.find(key)
		switch {
		case kind != 0:
		case w.pd != pd:
			kind = WrongPD
		case w.typ != Type2:
			kind = CannotInvalidate
		default:
			t.unbind(w, invalidated)
			return nil
		}
		return &Fault{Kind: kind, Key: key}
	}
	r, kind := t.regions.find(key)
	if kind == 0 {
		kind = r.invalidate(pd)
	}
	if kind != 0 {
		return &Fault{Kind: kind, Key: key}
	}
	return nil
}

// InvalidateRemote is what a SEND WITH INVALIDATE asks for that came in on QP
// qpn in domain pd: the key has to be that of a window of type 2 which this QP
// bound (o10-37.2.43), or of a region from AllocFast (o10-37.2.13), and valid.
func (t *Table) InvalidateRemote(pd PD, qpn, key uint32) error {
	if key&windowBit == 0 {
		if r, _ := t.regions.find(key); r != nil && r.pd == pd && r.fast && !r.valid {
			return &Fault{Kind: Invalidated, Key: key}
		}
		return t.InvalidateLocal(pd, key)
	}
	_, _, kind := t.window(pd, qpn, key)
	if kind != 0 {
		return &Fault{Kind: kind, Key: key}
	}
	return t.InvalidateLocal(pd, key)
}

func (r *Region) invalidate(pd PD) Kind {
	switch {
	case r.pd != pd:
		return WrongPD
	case !r.fast:
		return CannotInvalidate
	case r.windows > 0:
		return Busy
	}
	r.span, r.valid = span{}, false
	return 0
}

// ReleaseQP invalidates the windows of type 2 that QP qpn has bound, for its
// destruction or its error state. Windows of type 1 stay (o10-2.2.5).
func (t *Table) ReleaseQP(qpn uint32) {
	for w := range t.bound[qpn] {
		t.unbind(w, invalidated)
	}
}
