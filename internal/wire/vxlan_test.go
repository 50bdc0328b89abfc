package wire

import "testing"

func TestVXLANAccessors(t *testing.T) {
	checkAccessors(t, &vxlanSpec, VXLANLen, nil, []accessor{
		accNum("vxlan.flags", VXLAN.Flags, VXLAN.SetFlags),
		accFlag("vxlan.flag_i", VXLAN.HasVNI, VXLAN.SetHasVNI),
		accNum("vxlan.gbp", VXLAN.Policy, VXLAN.SetPolicy),
		accNum("vxlan.vni", VXLAN.VNI, VXLAN.SetVNI),
	}, "vxlan.flag_g", "vxlan.flag_d", "vxlan.flag_a", "vxlan.reserved8")
}

func TestVXLANFieldsAsTshark(t *testing.T) {
	checkFields(t, &vxlanSpec, "8848 1234 abcdef 05", map[string]uint64{
		"vxlan.flags": 0x8848, "vxlan.flag_g": 1, "vxlan.flag_i": 1, "vxlan.flag_d": 1, "vxlan.flag_a": 1,
		"vxlan.gbp": 4660, "vxlan.vni": 11259375, "vxlan.reserved8": 5,
	})
	checkFields(t, &vxlanSpec, "0800 0000 000007 00", map[string]uint64{
		"vxlan.flag_g": 0, "vxlan.flag_i": 1, "vxlan.flag_d": 0, "vxlan.flag_a": 0, "vxlan.vni": 7,
	})
}
