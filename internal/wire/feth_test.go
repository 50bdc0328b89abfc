package wire

import "testing"

func TestFETHAccessors(t *testing.T) {
	checkAccessors(t, &fethSpec, FETHLen, nil, []accessor{
		accNum("infiniband.feth.sel", FETH.Selectivity, FETH.SetSelectivity),
		accNum("infiniband.feth.plt", FETH.Placement, FETH.SetPlacement),
	}, "infiniband.feth.reserved26")
}

// Linux rxe sends 0x01 to flush a range and 0x11 to flush a region.
func TestFETHOfRxe(t *testing.T) {
	for _, tc := range []struct {
		header   string
		sel, plt uint8
		reserved uint64
	}{
		{"00000001", FlushRange, FlushGlobal, 0},
		{"00000011", FlushRegion, FlushGlobal, 0},
		{"00000002", FlushRange, FlushPersistent, 0},
		{"00000013", FlushRegion, FlushGlobal | FlushPersistent, 0},
		{"0000007f", 3, 15, 1},
		{"ffffff80", 0, 0, 0x3FFFFFE},
	} {
		h := FETH(unhex(t, tc.header))
		if h.Selectivity() != tc.sel || h.Placement() != tc.plt {
			t.Errorf("%s: selectivity %d, placement %d, want %d and %d", tc.header, h.Selectivity(), h.Placement(), tc.sel, tc.plt)
		}
		checkFields(t, &fethSpec, tc.header, map[string]uint64{"infiniband.feth.reserved26": tc.reserved})
	}
}

func TestFlushNames(t *testing.T) {
	for v, want := range []string{"Memory Region Range", "Memory Region", "", ""} {
		if got := selName(uint64(v)); got != want {
			t.Errorf("selectivity %d is called %q, want %q", v, got, want)
		}
	}
	for v, want := range []string{"", "Global Visibility", "Persistence", "Global Visibility and Persistence", "", "", "", ""} {
		if got := pltName(uint64(v)); got != want {
			t.Errorf("placement %d is called %q, want %q", v, got, want)
		}
	}
}
