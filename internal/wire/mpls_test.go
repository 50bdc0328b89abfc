package wire

import "testing"

func TestMPLSAccessors(t *testing.T) {
	checkAccessors(t, &mplsSpec, MPLSLen, nil, []accessor{
		accNum("mpls.label", MPLS.Label, MPLS.SetLabel),
		accNum("mpls.exp", MPLS.EXP, MPLS.SetEXP),
		accFlag("mpls.bottom", MPLS.Bottom, MPLS.SetBottom),
		accNum("mpls.ttl", MPLS.TTL, MPLS.SetTTL),
	})
}

func TestMPLSFieldsAsTshark(t *testing.T) {
	checkFields(t, &mplsSpec, "12345f40", map[string]uint64{
		"mpls.label": 74565, "mpls.exp": 7, "mpls.bottom": 1, "mpls.ttl": 64,
	})
	checkFields(t, &mplsSpec, "00010140", map[string]uint64{
		"mpls.label": 16, "mpls.exp": 0, "mpls.bottom": 1, "mpls.ttl": 64,
	})
}
