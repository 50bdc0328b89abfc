package mr

// WindowType is the type of a memory window.
type WindowType uint8

// The types. A window of type 1 opens memory to its protection domain, one of
// type 2 to the QP that bound it.
const (
	Type1 WindowType = iota + 1
	Type2
)

// windowState is where a window is between its allocation and its end.
type windowState uint8

const (
	unbound windowState = iota
	bound
	invalidated
)

// Window is a memory window: a key to a part of a region.
type Window struct {
	span
	key    uint32
	pd     PD
	typ    WindowType
	state  windowState
	access Access
	qpn    uint32
	region *Region // while bound
}

// RKey is the present key, which each binding changes.
func (w *Window) RKey() uint32 { return w.key }

// PD is the window's protection domain.
func (w *Window) PD() PD { return w.pd }

// Type is the window's type.
func (w *Window) Type() WindowType { return w.typ }

// Bound reports whether the window opens memory now.
func (w *Window) Bound() bool { return w.state == bound }

// AllocWindow makes a window that is bound to nothing.
func (t *Table) AllocWindow(pd PD, typ WindowType) (*Window, error) {
	if typ != Type1 && typ != Type2 {
		return nil, &Fault{Kind: BadAccess}
	}
	if err := t.HoldPD(pd); err != nil {
		return nil, err
	}
	w := &Window{pd: pd, typ: typ}
	key, ok := t.windows.add(w)
	if !ok {
		t.ReleasePD(pd)
		return nil, &Fault{Kind: Full}
	}
	w.key = key
	return w, nil
}

// FreeWindow ends a window, bound or not.
func (t *Table) FreeWindow(w *Window) error {
	if !t.windows.holds(w.key, w) {
		return &Fault{Kind: NoKey, Key: w.key}
	}
	t.unbind(w, unbound)
	t.windows.remove(w.key)
	t.ReleasePD(w.pd)
	return nil
}

// Bind binds the window to n bytes of the region at va, for a request on QP qpn
// in domain pd. The rules are C10-72 to C10-75, o10-36.2.2 and o10-37.2.30; the
// kernel's rxe_check_bind_mw goes by the same.
//
// Type 1 (ibv_bind_mw): the key's low byte goes up by one, whatever newRKey
// says. A window may be bound again at any time, and n = 0 unbinds it.
//
// Type 2 (a work request): the low byte is that of newRKey. A window that is
// bound has to be invalidated first. That newRKey differs from the key before is
// left to the consumer: IBTA leaves the same one undefined.
func (t *Table) Bind(pd PD, qpn uint32, w *Window, newRKey uint32, region *Region, va, n uint64, access Access) error {
	if kind, have := t.checkWindow(pd, w, region, n, access); kind != 0 {
		return &Fault{Kind: kind, Key: w.key, VA: va, Len: n, Need: access, Have: have}
	}
	if n > 0 {
		if fault := t.checkUnder(pd, region, va, n, access); fault != nil {
			return fault
		}
	}
	if w.typ == Type1 {
		newRKey = w.key + 1
	}
	t.unbind(w, unbound)
	w.key = t.windows.change(w.key, newRKey)
	if n > 0 {
		t.bind(w, qpn, region, va, n, access)
	}
	return nil
}

// checkWindow checks what concerns the window alone.
func (t *Table) checkWindow(pd PD, w *Window, region *Region, n uint64, access Access) (kind Kind, have Access) {
	switch {
	case !t.windows.holds(w.key, w):
		return NoKey, 0
	case w.pd != pd: // C10-72
		return WrongPD, 0
	case w.typ == Type1 && access&ZeroBased != 0: // o10-36.2.2
		return BadAccess, windowRights &^ ZeroBased
	case w.typ == Type2 && w.state == bound: // o10-37.2.30
		return AlreadyValid, 0
	case n > 0 && region == nil, w.typ == Type2 && n == 0: // o10-37.2.40
		return BadRange, 0
	case access&^windowRights != 0:
		return BadAccess, windowRights
	}
	return 0, 0
}

// checkUnder checks what concerns the region that is to lie under a window.
func (t *Table) checkUnder(pd PD, region *Region, va, n uint64, access Access) *Fault {
	fault := Fault{
		Key: region.key, VA: va, Len: n, Need: access, Have: region.access,
		Start: region.start, Size: uint64(len(region.mem)),
	}
	switch {
	case !t.regions.holds(region.key, region):
		fault.Kind = NoKey
	case region.pd != pd: // C10-72
		fault.Kind = WrongPD
	case !region.valid:
		fault.Kind = Invalidated
	case !region.access.has(BindWindow): // C10-73
		fault.Kind, fault.Need = NoRight, BindWindow
	case region.access.has(ZeroBased): // rxe_check_bind_mw
		fault.Kind = BadAccess
	case !access.grantable(region.access): // C10-74
		fault.Kind = BadAccess
	case !region.access.has(access & flushRights):
		// No clause known; but whether a flush can be kept is the memory's
		// nature, which a window cannot change.
		fault.Kind = BadAccess
	case !region.covers(va, n): // C10-75
		fault.Kind = Bounds
	default:
		return nil
	}
	return &fault
}

func (t *Table) bind(w *Window, qpn uint32, region *Region, va, n uint64, access Access) {
	w.span = span{region.cut(va, n), va}
	if access.has(ZeroBased) {
		w.start = 0
	}
	w.state, w.access, w.region = bound, access, region
	region.windows++
	if w.typ == Type2 {
		w.qpn = qpn
		if t.bound[qpn] == nil {
			t.bound[qpn] = map[*Window]struct{}{}
		}
		t.bound[qpn][w] = struct{}{}
	}
}

// unbind leaves the window in the state that is given, if it was bound.
func (t *Table) unbind(w *Window, state windowState) {
	if w.state != bound {
		return
	}
	w.region.windows--
	if w.typ == Type2 {
		delete(t.bound[w.qpn], w)
		if len(t.bound[w.qpn]) == 0 {
			delete(t.bound, w.qpn)
		}
	}
	w.span, w.state, w.access, w.qpn, w.region = span{}, state, 0, 0, nil
}
