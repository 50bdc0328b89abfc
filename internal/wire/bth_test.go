package wire

import "testing"

func TestBTHAccessors(t *testing.T) {
	checkAccessors(t, &bthSpec, BTHLen, nil, []accessor{
		accNum("infiniband.bth.opcode", BTH.Opcode, BTH.SetOpcode),
		accFlag("infiniband.bth.se", BTH.Solicited, BTH.SetSolicited),
		accFlag("infiniband.bth.m", BTH.MigReq, BTH.SetMigReq),
		accNum("infiniband.bth.padcnt", BTH.PadCount, BTH.SetPadCount),
		accNum("infiniband.bth.tver", BTH.TVer, BTH.SetTVer),
		accNum("infiniband.bth.p_key", BTH.PKey, BTH.SetPKey),
		accFlag("infiniband.bth.fecn", BTH.FECN, BTH.SetFECN),
		accFlag("infiniband.bth.becn", BTH.BECN, BTH.SetBECN),
		accNum("infiniband.bth.destqp", BTH.DestQP, BTH.SetDestQP),
		accFlag("infiniband.bth.a", BTH.AckReq, BTH.SetAckReq),
		accNum("infiniband.bth.psn", BTH.PSN, BTH.SetPSN),
	}, "infiniband.bth.reserved6", "infiniband.bth.reserved7")
}

// tshark shows FECN, BECN and the six reserved bits as one byte, c1.
func TestBTHFieldsAsTshark(t *testing.T) {
	checkFields(t, &bthSpec, "13 f5 8001 c1 870408 d5 fedcba", map[string]uint64{
		"infiniband.bth.opcode": 19, "infiniband.bth.se": 1, "infiniband.bth.m": 1, "infiniband.bth.padcnt": 3,
		"infiniband.bth.tver": 5, "infiniband.bth.p_key": 32769, "infiniband.bth.fecn": 1, "infiniband.bth.becn": 1,
		"infiniband.bth.reserved6": 1, "infiniband.bth.destqp": 0x870408, "infiniband.bth.a": 1,
		"infiniband.bth.reserved7": 85, "infiniband.bth.psn": 16702650,
	})
}

func TestEveryReservedBitOfABTHIsSeen(t *testing.T) {
	for i := range BTHLen * 8 {
		h := make(BTH, BTHLen)
		h[i/8] = 0x80 >> (i % 8)
		reserved := i >= 34 && i < 40 || i >= 65 && i < 72
		if h.ReservedSet() != reserved {
			t.Errorf("bit %d: reserved %v, want %v", i, h.ReservedSet(), reserved)
		}
	}
}
