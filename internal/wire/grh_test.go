package wire

import "testing"

func TestGRHAccessors(t *testing.T) {
	checkAccessors(t, &grhSpec, GRHLen, nil, []accessor{
		accNum("infiniband.grh.ipver", GRH.Version, GRH.SetVersion),
		accNum("infiniband.grh.tclass", GRH.TClass, GRH.SetTClass),
		accNum("infiniband.grh.flowlabel", GRH.FlowLabel, GRH.SetFlowLabel),
		accNum("infiniband.grh.paylen", GRH.PayLen, GRH.SetPayLen),
		accNum("infiniband.grh.nxthdr", GRH.NextHeader, GRH.SetNextHeader),
		accNum("infiniband.grh.hoplmt", GRH.HopLimit, GRH.SetHopLimit),
		accGID("infiniband.grh.sgid", GRH.SGID, GRH.SetSGID),
		accGID("infiniband.grh.dgid", GRH.DGID, GRH.SetDGID),
	})
}

func TestGRHFieldsAsTshark(t *testing.T) {
	const header = "6ab12345 002c 1b 3f" +
		"fe800000000000000002c90200242ff6" + "fe800000000000000002c90300001895"
	checkFields(t, &grhSpec, header, map[string]uint64{
		"infiniband.grh.ipver": 6, "infiniband.grh.tclass": 171, "infiniband.grh.flowlabel": 74565,
		"infiniband.grh.paylen": 44, "infiniband.grh.nxthdr": NextHeaderBTH, "infiniband.grh.hoplmt": 63,
	})
	h := GRH(unhex(t, header))
	if s, d := h.SGID().String(), h.DGID().String(); s != "fe80::2:c902:24:2ff6" || d != "fe80::2:c903:0:1895" {
		t.Errorf("from %s to %s, tshark shows fe80::2:c902:24:2ff6 and fe80::2:c903:0:1895", s, d)
	}
}

func TestGRHNextHeaderNames(t *testing.T) {
	for v, want := range map[uint64]string{0x1B: "IBA transport", IPProtoUDP: "UDP", 255: ""} {
		if got := grhNextName(v); got != want {
			t.Errorf("next header %d is called %q, want %q", v, got, want)
		}
	}
}
