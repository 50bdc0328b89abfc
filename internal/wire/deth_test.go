package wire

import "testing"

func TestDETHAccessors(t *testing.T) {
	checkAccessors(t, &dethSpec, DETHLen, nil, []accessor{
		accNum("infiniband.deth.q_key", DETH.QKey, DETH.SetQKey),
		accNum("infiniband.deth.srcqp", DETH.SrcQP, DETH.SetSrcQP),
	}, "infiniband.deth.reserved8")
}

func TestDETHFieldsAsTshark(t *testing.T) {
	checkFields(t, &dethSpec, "80010000 a1 870409", map[string]uint64{
		"infiniband.deth.q_key": QKeyQP1, "infiniband.deth.reserved8": 0xA1, "infiniband.deth.srcqp": 0x870409,
	})
}
