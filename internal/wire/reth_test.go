package wire

import "testing"

func TestRETHAccessors(t *testing.T) {
	checkAccessors(t, &rethSpec, RETHLen, nil, []accessor{
		accNum("infiniband.reth.va", RETH.VA, RETH.SetVA),
		accNum("infiniband.reth.r_key", RETH.RKey, RETH.SetRKey),
		accNum("infiniband.reth.dmalen", RETH.DMALen, RETH.SetDMALen),
	})
}

func TestRETHFieldsAsTshark(t *testing.T) {
	checkFields(t, &rethSpec, "0123456789abcdef f1e2d3c4 80000001", map[string]uint64{
		"infiniband.reth.va": 0x0123456789abcdef, "infiniband.reth.r_key": 0xf1e2d3c4, "infiniband.reth.dmalen": 2147483649,
	})
}
