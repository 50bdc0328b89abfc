package wire

import "testing"

// tshark shows the header's bytes, ca:fe:f0:0d, and no field.
func TestIETHAccessors(t *testing.T) {
	checkAccessors(t, &iethSpec, IETHLen, nil, []accessor{
		accNum("infiniband.ieth.r_key", IETH.RKey, IETH.SetRKey),
	})
	checkFields(t, &iethSpec, "cafef00d", map[string]uint64{"infiniband.ieth.r_key": 0xcafef00d})
}
