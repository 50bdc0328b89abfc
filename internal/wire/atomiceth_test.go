package wire

import "testing"

func TestAtomicETHAccessors(t *testing.T) {
	checkAccessors(t, &atomicETHSpec, AtomicETHLen, nil, []accessor{
		accNum("infiniband.reth.va", AtomicETH.VA, AtomicETH.SetVA),
		accNum("infiniband.reth.r_key", AtomicETH.RKey, AtomicETH.SetRKey),
		accNum("infiniband.atomiceth.swapdt", AtomicETH.SwapAdd, AtomicETH.SetSwapAdd),
		accNum("infiniband.atomiceth.cmpdt", AtomicETH.Compare, AtomicETH.SetCompare),
	})
}

func TestAtomicETHFieldsAsTshark(t *testing.T) {
	checkFields(t, &atomicETHSpec, "0123456789abcdef f1e2d3c4 8102030405060708 9112131415161718", map[string]uint64{
		"infiniband.reth.va": 0x0123456789abcdef, "infiniband.reth.r_key": 0xf1e2d3c4,
		"infiniband.atomiceth.swapdt": 9295995896645158664, "infiniband.atomiceth.cmpdt": 10453438662054385432,
	})
}
