package wire

import (
	"fmt"
	"testing"
)

func TestMACControlAccessors(t *testing.T) {
	checkAccessors(t, &macControlSpec, MACControlLen,
		func(h []byte) { MACControl(h).SetOpcode(MACControlPause) },
		[]accessor{
			accNum("macc.opcode", MACControl.Opcode, MACControl.SetOpcode),
			accNum("macc.pause_time", MACControl.PauseTime, MACControl.SetPauseTime),
		})
}

func TestPFCAccessors(t *testing.T) {
	list := []accessor{
		accNum("macc.opcode", PFC.Opcode, PFC.SetOpcode),
		accNum("macc.cbfc.enbv", PFC.Enabled, PFC.SetEnabled),
	}
	var plain []string
	for class := range PFCClasses {
		list = append(list, accNum(fmt.Sprintf("macc.cbfc.pause_time.c%d", class),
			func(h PFC) uint16 { return h.PauseTime(class) },
			func(h PFC, v uint16) { h.SetPauseTime(class, v) }))
		plain = append(plain, fmt.Sprintf("macc.cbfc.enbv.c%d", class))
	}
	checkAccessors(t, &pfcSpec, PFCLen, nil, list, plain...)
}

func TestPauseFieldsAsTshark(t *testing.T) {
	checkFields(t, &macControlSpec, "0001 ffff", map[string]uint64{"macc.opcode": 1, "macc.pause_time": 65535})
	checkFields(t, &macControlSpec, "0002 ffff", map[string]uint64{"macc.opcode": 2}, "macc.pause_time")
}

func TestPFCFieldsAsTshark(t *testing.T) {
	checkFields(t, &pfcSpec, "0101 00a5 0001 0002 0003 0004 0005 0006 0007 ffff", map[string]uint64{
		"macc.opcode": MACControlPFC, "macc.cbfc.enbv": 0xA5,
		"macc.cbfc.enbv.c0": 1, "macc.cbfc.enbv.c1": 0, "macc.cbfc.enbv.c2": 1, "macc.cbfc.enbv.c3": 0,
		"macc.cbfc.enbv.c4": 0, "macc.cbfc.enbv.c5": 1, "macc.cbfc.enbv.c6": 0, "macc.cbfc.enbv.c7": 1,
		"macc.cbfc.pause_time.c0": 1, "macc.cbfc.pause_time.c3": 4, "macc.cbfc.pause_time.c7": 65535,
	})
}

func TestPFCEnableBitsCountFromTheLeast(t *testing.T) {
	for class := range PFCClasses {
		h := PFC(make([]byte, PFCLen))
		h.SetEnabled(1 << class)
		for c := range PFCClasses {
			name := fmt.Sprintf("macc.cbfc.enbv.c%d", c)
			if on := presentField(&pfcSpec, h, name).Value(h) == 1; on != (c == class) {
				t.Errorf("vector %#x: %s is set: %v", h.Enabled(), name, on)
			}
		}
	}
}
