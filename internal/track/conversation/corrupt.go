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
func (d *Direction) spoilt(psn wire.PSN) {
	if len(d.corrupt) == maxCorrupt {
		d.corrupt = slices.Delete(d.corrupt, 0, 1)
	}
	d.corrupt = append(d.corrupt, psn)
}
