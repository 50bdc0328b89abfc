package conversation

import (
	"slices"

	"github.com/rocecap/rocecap/internal/wire"
)

// maxCorrupt bounds how many corrupt requests are remembered; there are hardly
// more in a window.
const maxCorrupt = 32

// spoilt remembers a corrupt request, which its receiver drops. Its PSN may be
// the part of it that is wrong: it counts only where that PSN is missing.
func (d *Direction) spoilt(psn wire.PSN, at int64) {
	d.spoiltAt = at
	d.mistaken(psn)
}

// mistaken remembers a request with a wrong ICRC, also one that is explained: if its
// receiver asks for it, that is why.
func (d *Direction) mistaken(psn wire.PSN) {
	if len(d.corrupt) == maxCorrupt {
		d.corrupt = slices.Delete(d.corrupt, 0, 1)
	}
	d.corrupt = append(d.corrupt, psn)
}

// spoiltBack reports whether the last corrupt request came since the requester was
// seen sending again, and had the PSN that it goes back to after the timer.
func (d *Direction) spoiltBack() bool {
	n := len(d.corrupt)
	return n > 0 && d.spoiltAt > d.run.last && d.corrupt[n-1] == d.acked && d.acked.Less(d.cursor)
}
