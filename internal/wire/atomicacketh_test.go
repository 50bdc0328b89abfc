package wire

import "testing"

func TestAtomicAckETHAccessors(t *testing.T) {
	checkAccessors(t, &atomicAckETHSpec, AtomicAckETHLen, nil, []accessor{
		accNum("infiniband.atomicacketh.origremdt", AtomicAckETH.Original, AtomicAckETH.SetOriginal),
	})
}

func TestAtomicAckETHFieldsAsTshark(t *testing.T) {
	checkFields(t, &atomicAckETHSpec, "8122334455667788", map[string]uint64{
		"infiniband.atomicacketh.origremdt": 9305056148684437384,
	})
}
