package wire

import "testing"

// tshark shows the header's bytes, de:ad:be:ef, and no field.
func TestImmDtAccessors(t *testing.T) {
	checkAccessors(t, &immDtSpec, ImmDtLen, nil, []accessor{
		accNum("infiniband.immdt.data", ImmDt.Data, ImmDt.SetData),
	})
	checkFields(t, &immDtSpec, "deadbeef", map[string]uint64{"infiniband.immdt.data": 0xdeadbeef})
}
