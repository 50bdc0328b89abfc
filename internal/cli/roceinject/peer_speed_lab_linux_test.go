package roceinject_test

import (
	"slices"
	"testing"

	"github.com/rocecap/rocecap/lab"
)

// TestLabPeerInAGuestBesideRxe says how much perftest's WRITE carries from our
// endpoint in a guest to another guest's rxe, and how much from rxe in its place,
// in turn. It fails only if something does not get through; how fast is for a
// person to read.
func TestLabPeerInAGuestBesideRxe(t *testing.T) {
	const rounds = 3
	l := lab.Up(t, 2)
	l.Peer(1).Put(t, buildInjector(t), "/tmp/roceinject")
	var ratios []float64
	for range rounds {
		theirs := bandwidth(t, writes(t, l, "500"))
		ours := bandwidth(t, writesBy(t, l, "/tmp/roceinject peer perftest write bw -i eth0 --ip 10.77.0.91", "500"))
		ratios = append(ratios, ours/theirs)
		t.Logf("rxe %.2f MB/s, our endpoint %.2f MB/s, ratio %.2f", theirs, ours, ours/theirs)
	}
	slices.Sort(ratios)
	t.Logf("median ratio %.2f", ratios[rounds/2])
}
