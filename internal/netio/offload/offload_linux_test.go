package offload_test

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/offload"
)

// TestOn asks about interfaces whose offloads are known from their birth.
func TestOn(t *testing.T) {
	left, _ := nettest.Pair(t)
	left.Do(t, func() {
		want := map[string][]offload.Offload{
			"lo":                  {offload.GRO, offload.TSO, offload.GSO, offload.RxChecksum, offload.TxChecksum},
			nettest.LeftInterface: {offload.TSO, offload.GSO, offload.RxChecksum, offload.TxChecksum},
		}
		for name, offloads := range want {
			if on, err := offload.On(name); err != nil || !slices.Equal(on, offloads) {
				t.Errorf("%s: %v, %v, want %v", name, on, err, offloads)
			}
		}
		if on, err := offload.On("none0"); !errors.Is(err, unix.ENODEV) {
			t.Errorf("an interface that does not exist: %v, %v", on, err)
		}
	})
}

func TestOnlySomeOffloadsMerge(t *testing.T) {
	for o, want := range map[offload.Offload]bool{offload.GRO: true, offload.LRO: true, offload.TSO: false, offload.TxChecksum: false} {
		if o.Merges() != want {
			t.Errorf("%s merges: %v", o, !want)
		}
	}
}
