package wire

// FlowControlLen is the length of a flow-control packet with its link CRC.
const FlowControlLen = 6

// FlowControl is an InfiniBand link-level flow-control packet (IBTA vol. 1,
// 7.9.4).
//
//	+-------+-----------------------+-------+-----------------------+
//	|  Op   |         FCTBS         |  VL   |         FCCL          |
//	+-------+-----------------------+-------+-----------------------+
//	|             LPCRC             |
//	+-------------------------------+
type FlowControl []byte

// Op is 0 for a normal packet, 1 for an initialising one.
func (h FlowControl) Op() uint8 { return h[0] >> 4 }

// SetOp sets the operand.
func (h FlowControl) SetOp(v uint8) { putBits(&h[0], 0xF0, v<<4) }

// FCTBS is the total of blocks sent, modulo 4096.
func (h FlowControl) FCTBS() uint16 { return be.Uint16(h) & 0x0FFF }

// SetFCTBS sets the total of blocks sent.
func (h FlowControl) SetFCTBS(v uint16) { be.PutUint16(h, merge(be.Uint16(h), v, 0x0FFF)) }

// VL is the virtual lane.
func (h FlowControl) VL() uint8 { return h[2] >> 4 }

// SetVL sets the virtual lane.
func (h FlowControl) SetVL(v uint8) { putBits(&h[2], 0xF0, v<<4) }

// FCCL is the credit limit in blocks, modulo 4096.
func (h FlowControl) FCCL() uint16 { return be.Uint16(h[2:]) & 0x0FFF }

// SetFCCL sets the credit limit.
func (h FlowControl) SetFCCL(v uint16) { be.PutUint16(h[2:], merge(be.Uint16(h[2:]), v, 0x0FFF)) }

// LPCRC is the link packet CRC.
func (h FlowControl) LPCRC() uint16 { return be.Uint16(h[4:]) }

// SetLPCRC sets the link packet CRC.
func (h FlowControl) SetLPCRC(v uint16) { be.PutUint16(h[4:], v) }

func flowControlOpName(v uint64) string {
	switch v {
	case 0:
		return "Normal Flow Control"
	case 1:
		return "Flow Control Init"
	}
	return ""
}

var flowControlSpec = Spec{ID: HdrFlowControl, Name: "infiniband_link", Title: "InfiniBand Link", Len: FlowControlLen, Fields: []Field{
	{Name: "infiniband_link.op", Title: "Operand", Bit: 0, Bits: 4, Width: 16, Names: flowControlOpName},
	{Name: "infiniband_link.fctbs", Title: "Flow Control Total Blocks Sent", Bit: 4, Bits: 12},
	{Name: "infiniband_link.vl", Title: "Virtual Lane", Bit: 16, Bits: 4, Width: 16},
	{Name: "infiniband_link.fccl", Title: "Flow Control Credit Limit", Bit: 20, Bits: 12},
	{Name: "infiniband_link.lpcrc", Title: "Link Packet CRC", Base: Hex, Bit: 32, Bits: 16},
}}
