package wire

import "testing"

func TestRDETHAccessors(t *testing.T) {
	checkAccessors(t, &rdethSpec, RDETHLen, nil, []accessor{
		accNum("infiniband.rdeth.eecnxt", RDETH.EEContext, RDETH.SetEEContext),
	}, "infiniband.rdeth.reserved8")
}

func TestRDETHFieldsAsTshark(t *testing.T) {
	checkFields(t, &rdethSpec, "a1 870409", map[string]uint64{
		"infiniband.rdeth.reserved8": 0xA1, "infiniband.rdeth.eecnxt": 8848393,
	})
}
