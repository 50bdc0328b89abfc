package wire

import "testing"

func TestRWHAccessors(t *testing.T) {
	checkAccessors(t, &rwhSpec, RWHLen, nil, []accessor{
		accNum("infiniband.rwh.etype", RWH.EtherType, RWH.SetEtherType),
	}, "infiniband.rwh.reserved")
}

func TestRWHFieldsAsTshark(t *testing.T) {
	checkFields(t, &rwhSpec, "5a5a 86dd", map[string]uint64{"infiniband.rwh.etype": EtherTypeIPv6})
}
