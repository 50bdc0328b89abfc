package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// The opcodes of MAC Control frames.
const (
	MACControlPause = wire.MACControlPause // 802.3x: everything
	MACControlPFC   = wire.MACControlPFC   // 802.1Qbb: single priorities
)

// PFCClasses is the number of priorities that PFC can pause.
const PFCClasses = wire.PFCClasses

// MACControl is an Ethernet flow-control frame behind EtherType 0x8808: PAUSE
// (IEEE 802.3 annex 31B) or priority-based flow control (IEEE 802.1Q, 36).
// Other opcodes are kept as they are in Payload.
type MACControl struct {
	BaseLayer
	Opcode uint16 // MACControlPause or MACControlPFC
	// PauseTime is how long a PAUSE stops the link, in quanta of 512 bit
	// times; 0 ends a pause.
	PauseTime uint16
	// Enabled is the class enable vector of PFC: bit n says that ClassTime n
	// counts.
	Enabled uint16
	// ClassTime is how long PFC stops each priority, in the unit of PauseTime.
	ClassTime [PFCClasses]uint16
}

// LayerType returns LayerTypeMACControl.
func (*MACControl) LayerType() gopacket.LayerType { return LayerTypeMACControl }

// CanDecode returns LayerTypeMACControl.
func (*MACControl) CanDecode() gopacket.LayerClass { return LayerTypeMACControl }

// NextLayerType is none: an Ethernet pad follows.
func (*MACControl) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the frame that begins data.
func (h *MACControl) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	n := wire.MACControlLen
	if len(data) >= n && wire.MACControl(data).Opcode() == MACControlPFC {
		n = wire.PFCLen
	}
	*h = MACControl{}
	if h.BaseLayer, err = split(LayerTypeMACControl, data, n, df); err != nil {
		return err
	}
	h.Opcode = wire.MACControl(data).Opcode()
	if h.Opcode != MACControlPFC {
		h.PauseTime = wire.MACControl(data).PauseTime()
		return nil
	}
	v := wire.PFC(data)
	h.Enabled = v.Enabled()
	for class := range h.ClassTime {
		h.ClassTime[class] = v.PauseTime(class)
	}
	return nil
}

// SerializeTo writes the frame before what b holds.
func (h *MACControl) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	if h.Opcode == MACControlPFC {
		return h.serializePFC(b)
	}
	room, err := prepend(b, wire.MACControlLen)
	if err != nil {
		return err
	}
	v := wire.MACControl(room)
	v.SetOpcode(h.Opcode)
	v.SetPauseTime(h.PauseTime)
	return nil
}

func (h *MACControl) serializePFC(b gopacket.SerializeBuffer) error {
	room, err := prepend(b, wire.PFCLen)
	if err != nil {
		return err
	}
	v := wire.PFC(room)
	v.SetOpcode(h.Opcode)
	v.SetEnabled(h.Enabled)
	for class, quanta := range h.ClassTime {
		v.SetPauseTime(class, quanta)
	}
	return nil
}
