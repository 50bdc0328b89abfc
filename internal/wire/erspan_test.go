package wire

import "testing"

func TestERSPAN2Accessors(t *testing.T) {
	checkAccessors(t, &erspan2Spec, ERSPAN2Len, nil, []accessor{
		accNum("erspan.version", ERSPAN2.Version, ERSPAN2.SetVersion),
		accNum("erspan.vlan", ERSPAN2.VLAN, ERSPAN2.SetVLAN),
		accNum("erspan.cos", ERSPAN2.COS, ERSPAN2.SetCOS),
		accNum("erspan.encap", ERSPAN2.Encap, ERSPAN2.SetEncap),
		accFlag("erspan.truncated", ERSPAN2.Truncated, ERSPAN2.SetTruncated),
		accNum("erspan.spanid", ERSPAN2.Session, ERSPAN2.SetSession),
		accNum("erspan.index", ERSPAN2.Index, ERSPAN2.SetIndex),
	}, "erspan.reserved")
}

func TestERSPAN3Accessors(t *testing.T) {
	var plain []string
	for _, f := range erspan3Spec.Fields {
		if f.Bit >= ERSPAN3MinLen*8 {
			plain = append(plain, f.Name)
		}
	}
	checkAccessors(t, &erspan3Spec, ERSPAN3MinLen, nil, []accessor{
		accNum("erspan.version", ERSPAN3.Version, ERSPAN3.SetVersion),
		accNum("erspan.vlan", ERSPAN3.VLAN, ERSPAN3.SetVLAN),
		accNum("erspan.cos", ERSPAN3.COS, ERSPAN3.SetCOS),
		accNum("erspan.bso", ERSPAN3.BSO, ERSPAN3.SetBSO),
		accFlag("erspan.truncated", ERSPAN3.Truncated, ERSPAN3.SetTruncated),
		accNum("erspan.spanid", ERSPAN3.Session, ERSPAN3.SetSession),
		accNum("erspan.timestamp", ERSPAN3.Timestamp, ERSPAN3.SetTimestamp),
		accNum("erspan.sgt", ERSPAN3.SGT, ERSPAN3.SetSGT),
		accNum("erspan.ft", ERSPAN3.FrameType, ERSPAN3.SetFrameType),
		accFlag("erspan.direction", ERSPAN3.Egress, ERSPAN3.SetEgress),
		accNum("erspan.gra", ERSPAN3.Granularity, ERSPAN3.SetGranularity),
		accFlag("erspan.o", ERSPAN3.HasSubheader, ERSPAN3.SetHasSubheader),
	}, append(plain, "erspan.p", "erspan.hw")...)
}

func TestERSPAN2FieldsAsTshark(t *testing.T) {
	checkFields(t, &erspan2Spec, "1123 ffff 00112233", map[string]uint64{
		"erspan.version": ERSPANVersion2, "erspan.vlan": 0x123, "erspan.cos": 7, "erspan.encap": 3,
		"erspan.truncated": 1, "erspan.spanid": 1023, "erspan.reserved": 1, "erspan.index": 74291,
	})
}

func TestERSPAN3FieldsAsTshark(t *testing.T) {
	checkFields(t, &erspan3Spec, "2fff bfff 01020304 0506 fffb 0c003fff 55667788", map[string]uint64{
		"erspan.version": ERSPANVersion3, "erspan.vlan": 4095, "erspan.cos": 5, "erspan.bso": 3, "erspan.truncated": 1,
		"erspan.spanid": 1023, "erspan.timestamp": 0x01020304, "erspan.sgt": 1286, "erspan.p": 1, "erspan.ft": 31,
		"erspan.hw": 63, "erspan.direction": 1, "erspan.gra": 1, "erspan.o": 1, "erspan.platid": 3,
		"erspan.pid3.rsvd1": 0, "erspan.pid3.port_index": 16383, "erspan.pid3.timestamp": 1432778632,
	}, "erspan.pid1.vsmid", "erspan.pid5.switchid", "erspan.pid7.source_index")
	checkFields(t, &erspan3Spec, "2000 0001 00000000 0000 0000", map[string]uint64{
		"erspan.version": ERSPANVersion3, "erspan.spanid": 1, "erspan.o": 0,
	}, "erspan.platid", "erspan.pid7.rsvd1")
}

func TestERSPAN3SubheaderFieldsFollowThePlatform(t *testing.T) {
	const fixed = "2fff bfff 01020304 0506 fff1"
	for _, tc := range []struct {
		sub  string
		want map[string]uint64
	}{
		{"000fffff 55667788", map[string]uint64{"erspan.platid": 0, "erspan.pid7.source_index": 1048575}},
		{"04000007 55667788", map[string]uint64{"erspan.platid": 1, "erspan.pid1.vsmid": 7, "erspan.pid1.port_index": 1432778632}},
		{"10000000 55667788", map[string]uint64{"erspan.platid": 4, "erspan.pid4.rsvd3": 1432778632}},
		{"14051234 55667788", map[string]uint64{"erspan.platid": 5, "erspan.pid5.switchid": 5, "erspan.pid5.port_index": 4660}},
		{"1812ffff 55667788", map[string]uint64{"erspan.platid": 6, "erspan.pid5.switchid": 18, "erspan.pid5.port_index": 65535}},
		{"1c012345 55667788", map[string]uint64{"erspan.platid": 7, "erspan.pid7.source_index": 74565, "erspan.pid7.timestamp": 1432778632}},
	} {
		checkFields(t, &erspan3Spec, fixed+tc.sub, tc.want)
	}
}

func TestERSPAN3LengthFollowsTheOBit(t *testing.T) {
	h := ERSPAN3(make([]byte, ERSPAN3MinLen))
	if n := h.HeaderLen(); n != 12 {
		t.Errorf("length %d without O, want 12", n)
	}
	h.SetHasSubheader(true)
	if n := h.HeaderLen(); n != 20 {
		t.Errorf("length %d with O, want 20", n)
	}
}
