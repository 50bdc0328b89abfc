package wire

import "testing"

func TestCRCFieldsAsTshark(t *testing.T) {
	checkFields(t, &icrcSpec, "11223344", map[string]uint64{"infiniband.invariant.crc": 0x11223344})
	checkFields(t, &vcrcSpec, "5566", map[string]uint64{"infiniband.variant.crc": 0x5566})
	checkAccessors(t, &icrcSpec, ICRCLen, nil, nil, "infiniband.invariant.crc")
	checkAccessors(t, &vcrcSpec, VCRCLen, nil, nil, "infiniband.variant.crc")
}
