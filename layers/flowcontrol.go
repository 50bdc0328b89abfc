package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// FlowControl is a native InfiniBand link packet that grants credits (IBTA
// vol. 1, 7.9.4). Captures in ERF have them.
type FlowControl struct {
	BaseLayer
	Op    uint8  // 0 normal, 1 initialising
	FCTBS uint16 // total of 64-byte blocks sent, modulo 4096
	VL    uint8  // virtual lane, 4 bits
	FCCL  uint16 // credit limit in 64-byte blocks, modulo 4096
	LPCRC uint16 // link packet CRC
}

// LayerType returns LayerTypeFlowControl.
func (*FlowControl) LayerType() gopacket.LayerType { return LayerTypeFlowControl }

// CanDecode returns LayerTypeFlowControl.
func (*FlowControl) CanDecode() gopacket.LayerClass { return LayerTypeFlowControl }

// NextLayerType is none: a capture may fill its record up.
func (*FlowControl) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the packet that begins data.
func (h *FlowControl) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, err = split(LayerTypeFlowControl, data, wire.FlowControlLen, df); err != nil {
		return err
	}
	v := wire.FlowControl(data)
	h.Op, h.FCTBS, h.VL, h.FCCL, h.LPCRC = v.Op(), v.FCTBS(), v.VL(), v.FCCL(), v.LPCRC()
	return nil
}

// SerializeTo writes the packet before what b holds.
func (h *FlowControl) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prepend(b, wire.FlowControlLen)
	if err != nil {
		return err
	}
	v := wire.FlowControl(room)
	v.SetOp(h.Op)
	v.SetFCTBS(h.FCTBS)
	v.SetVL(h.VL)
	v.SetFCCL(h.FCCL)
	v.SetLPCRC(h.LPCRC)
	return nil
}
