package wire

import "testing"

func TestIPv6Accessors(t *testing.T) {
	checkAccessors(t, &ipv6Spec, IPv6Len, nil, []accessor{
		accNum("ipv6.version", IPv6Header.Version, IPv6Header.SetVersion),
		accNum("ipv6.tclass", IPv6Header.TrafficClass, IPv6Header.SetTrafficClass),
		accNum("ipv6.tclass.dscp", IPv6Header.DSCP, IPv6Header.SetDSCP),
		accNum("ipv6.tclass.ecn", IPv6Header.ECN, IPv6Header.SetECN),
		accNum("ipv6.flow", IPv6Header.FlowLabel, IPv6Header.SetFlowLabel),
		accNum("ipv6.plen", IPv6Header.PayloadLen, IPv6Header.SetPayloadLen),
		accNum("ipv6.nxt", IPv6Header.NextHeader, IPv6Header.SetNextHeader),
		accNum("ipv6.hlim", IPv6Header.HopLimit, IPv6Header.SetHopLimit),
		accIPv6("ipv6.src", IPv6Header.Src, IPv6Header.SetSrc),
		accIPv6("ipv6.dst", IPv6Header.Dst, IPv6Header.SetDst),
	})
}

func TestIPv6FieldsAsTshark(t *testing.T) {
	const addresses = "fe800000000000000000000000000001 fe800000000000000000000000000002"
	checkFields(t, &ipv6Spec, "62e12345 0038 00 40"+addresses, map[string]uint64{
		"ipv6.version": 6, "ipv6.tclass": 0x2E, "ipv6.tclass.dscp": 11, "ipv6.tclass.ecn": 2, "ipv6.flow": 0x12345,
		"ipv6.plen": 56, "ipv6.nxt": 0, "ipv6.hlim": 64,
	})
	for name, want := range map[string]int{"ipv6.tclass": 8, "ipv6.flow": 6} { // 0x0000002e, 0x012345
		for i := range ipv6Spec.Fields {
			if f := &ipv6Spec.Fields[i]; f.Name == name && f.Digits() != want {
				t.Errorf("%s has %d digits, tshark shows %d", name, f.Digits(), want)
			}
		}
	}
}
