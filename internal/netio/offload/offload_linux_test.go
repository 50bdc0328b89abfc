package offload_test

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/offload"
)

// TestMerging asks about interfaces whose offloads are known from their birth:
// the loopback has GRO and no LRO, a veth interface neither.
func TestMerging(t *testing.T) {
	left, _ := nettest.Pair(t)
	left.Do(t, func() {
		if on, err := offload.Merging("lo"); err != nil || !slices.Equal(on, []string{"gro"}) {
			t.Errorf("lo: %v, %v", on, err)
		}
		if on, err := offload.Merging(nettest.LeftInterface); err != nil || len(on) > 0 {
			t.Errorf("%s: %v, %v", nettest.LeftInterface, on, err)
		}
		if on, err := offload.Merging("none0"); !errors.Is(err, unix.ENODEV) {
			t.Errorf("an interface that does not exist: %v, %v", on, err)
		}
	})
}
