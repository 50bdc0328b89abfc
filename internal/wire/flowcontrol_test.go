package wire

import "testing"

func TestFlowControlAccessors(t *testing.T) {
	checkAccessors(t, &flowControlSpec, FlowControlLen, nil, []accessor{
		accNum("infiniband_link.op", FlowControl.Op, FlowControl.SetOp),
		accNum("infiniband_link.fctbs", FlowControl.FCTBS, FlowControl.SetFCTBS),
		accNum("infiniband_link.vl", FlowControl.VL, FlowControl.SetVL),
		accNum("infiniband_link.fccl", FlowControl.FCCL, FlowControl.SetFCCL),
		accNum("infiniband_link.lpcrc", FlowControl.LPCRC, FlowControl.SetLPCRC),
	})
}

// tshark gives up on a packet of six bytes; the values are the packet's
// generator's.
func TestFlowControlFields(t *testing.T) {
	checkFields(t, &flowControlSpec, "0123 1456 abcd", map[string]uint64{
		"infiniband_link.op": 0, "infiniband_link.fctbs": 0x123, "infiniband_link.vl": 1,
		"infiniband_link.fccl": 0x456, "infiniband_link.lpcrc": 0xABCD,
	})
	for v, want := range map[uint64]string{0: "Normal Flow Control", 1: "Flow Control Init", 2: ""} {
		if got := flowControlOpName(v); got != want {
			t.Errorf("operand %d is called %q, want %q", v, got, want)
		}
	}
}
