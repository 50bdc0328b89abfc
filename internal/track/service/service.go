// Package service learns from CM exchanges what the payload of each queue pair
// is. It is pure: frames in, a table out.
package service

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Endpoint is one queue pair: packets for it carry its address and number.
type Endpoint struct {
	Addr netip.Addr // as wire.Frame.Addresses gives it
	QPN  uint32
}

// entry says what an endpoint carries from a packet on; a queue pair number
// that is used again for another service gets a further entry.
type entry struct {
	from  int
	upper wire.Upper
}

// Table says what each queue pair carries. The zero Table knows nothing.
type Table struct {
	entries map[Endpoint][]entry
}

// Empty reports whether no queue pair is known.
func (t *Table) Empty() bool { return len(t.entries) == 0 }

// Lookup says what the queue pair carries in the given packet.
func (t *Table) Lookup(e Endpoint, number int) wire.Upper {
	list := t.entries[e]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].from <= number {
			return list[i].upper
		}
	}
	return wire.UpperUnknown
}

// with returns a table with one more entry; the receiver stays as it is, so
// that others may go on reading it.
func (t *Table) with(e Endpoint, n entry) *Table {
	more := &Table{entries: make(map[Endpoint][]entry, len(t.entries)+1)}
	for k, v := range t.entries {
		more.entries[k] = v
	}
	list := more.entries[e]
	more.entries[e] = append(list[:len(list):len(list)], n)
	return more
}

// request is a CM REQ that waits for its REP.
type request struct {
	from   netip.Addr
	commID uint32
}

// maxPending bounds how many unanswered requests are remembered.
const maxPending = 4096

// Tracker builds a Table from the CM messages of a capture.
type Tracker struct {
	table   *Table
	pending map[request]wire.Upper
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker() *Tracker {
	return &Tracker{table: &Table{}, pending: make(map[request]wire.Upper)}
}

// Table returns what is known so far. It does not change any more.
func (t *Tracker) Table() *Table { return t.table }

// IsCM reports whether Observe can learn from the frame.
func IsCM(f *wire.Frame) bool {
	for _, h := range f.Headers() {
		if h.ID == wire.HdrCMReq || h.ID == wire.HdrCMRep {
			return true
		}
	}
	return false
}

// Observe learns from a CM message. A REQ names the service and the active
// side's queue pair, the REP the passive side's (IBTA vol. 1, 12.6).
func (t *Tracker) Observe(f *wire.Frame, number int) {
	src, dst := f.Addresses()
	if h, ok := f.Last(wire.HdrCMReq); ok && f.Whole(h) != nil {
		req := wire.CMReq(f.Whole(h))
		upper := wire.UpperOfService(req.ServiceID(), wire.CMIPPrivate(f.View(wire.HdrCMIPPrivate)).PrivateData())
		if upper == wire.UpperUnknown && !t.known(Endpoint{src, req.LocalQPN()}) {
			return
		}
		t.add(Endpoint{src, req.LocalQPN()}, number, upper)
		if len(t.pending) >= maxPending {
			clear(t.pending)
		}
		t.pending[request{src, req.LocalCommID()}] = upper
	}
	if h, ok := f.Last(wire.HdrCMRep); ok && f.Whole(h) != nil {
		rep := wire.CMRep(f.Whole(h))
		key := request{dst, rep.RemoteCommID()}
		upper, asked := t.pending[key]
		end := Endpoint{src, rep.LocalQPN()}
		if asked || t.known(end) {
			delete(t.pending, key)
			t.add(end, number, upper)
		}
	}
}

// known reports whether the queue pair already carries something, which a new
// connection for another service ends.
func (t *Tracker) known(e Endpoint) bool { return t.table.entries[e] != nil }

func (t *Tracker) add(e Endpoint, number int, upper wire.Upper) {
	if t.table.Lookup(e, number) != upper {
		t.table = t.table.with(e, entry{from: number, upper: upper})
	}
}
