package wire

import "testing"

func TestVLANAccessors(t *testing.T) {
	checkAccessors(t, &vlanSpec, VLANLen, nil, []accessor{
		accNum("vlan.priority", VLAN.Priority, VLAN.SetPriority),
		accFlag("vlan.dei", VLAN.DEI, VLAN.SetDEI),
		accNum("vlan.id", VLAN.ID, VLAN.SetID),
		accNum("vlan.etype", VLAN.EtherType, VLAN.SetEtherType),
	})
}

func TestVLANFieldsAsTshark(t *testing.T) {
	checkFields(t, &vlanSpec, "f123 86dd", map[string]uint64{
		"vlan.priority": 7, "vlan.dei": 1, "vlan.id": 291, "vlan.etype": 0x86DD,
	})
	checkFields(t, &vlanSpec, "0006 0800", map[string]uint64{ // inner tag of a QinQ frame
		"vlan.priority": 0, "vlan.dei": 0, "vlan.id": 6, "vlan.etype": 0x0800,
	})
}
