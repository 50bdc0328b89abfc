package wire

import "testing"

func TestLRHAccessors(t *testing.T) {
	checkAccessors(t, &lrhSpec, LRHLen, nil, []accessor{
		accNum("infiniband.lrh.vl", LRH.VL, LRH.SetVL),
		accNum("infiniband.lrh.lver", LRH.Version, LRH.SetVersion),
		accNum("infiniband.lrh.sl", LRH.SL, LRH.SetSL),
		accNum("infiniband.lrh.lnh", LRH.LNH, LRH.SetLNH),
		accNum("infiniband.lrh.dlid", LRH.DLID, LRH.SetDLID),
		accNum("infiniband.lrh.pktlen", LRH.PktLen, LRH.SetPktLen),
		accNum("infiniband.lrh.slid", LRH.SLID, LRH.SetSLID),
	}, "infiniband.lrh.reserved2", "infiniband.lrh.reserved5")
}

func TestLRHFieldsAsTshark(t *testing.T) {
	checkFields(t, &lrhSpec, "a1 b7 1234 f817 5678", map[string]uint64{
		"infiniband.lrh.vl": 0xA, "infiniband.lrh.lver": 1, "infiniband.lrh.sl": 11, "infiniband.lrh.reserved2": 1,
		"infiniband.lrh.lnh": LNHGlobal, "infiniband.lrh.dlid": 4660, "infiniband.lrh.reserved5": 31,
		"infiniband.lrh.pktlen": 23, "infiniband.lrh.slid": 22136,
	})
}

func TestLNHNames(t *testing.T) {
	for v, want := range []string{"Raw", "Raw IPv6", "IBA local", "IBA global"} {
		if got := lnhName(uint64(v)); got != want {
			t.Errorf("LNH %d is called %q, want %q", v, got, want)
		}
	}
}
