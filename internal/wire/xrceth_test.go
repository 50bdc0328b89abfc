package wire

import "testing"

// tshark 4.0.17 does not know the header.
func TestXRCETHAccessors(t *testing.T) {
	checkAccessors(t, &xrcethSpec, XRCETHLen, nil, []accessor{
		accNum("infiniband.xrceth.srqn", XRCETH.SRQN, XRCETH.SetSRQN),
	}, "infiniband.xrceth.reserved8")
	if n := XRCETH(unhex(t, "a1 870409")).SRQN(); n != 0x870409 {
		t.Errorf("SRQ number %#x", n)
	}
}
