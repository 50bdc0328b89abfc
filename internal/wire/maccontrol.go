package wire

// MAC Control opcodes (IEEE 802.3 annex 31A).
const (
	MACControlPause = 0x0001
	MACControlPFC   = 0x0101
)

// MACControlLen is the length of opcode and pause time.
const MACControlLen = 4

const (
	maccOpcode = 0
	maccPause  = 2
)

// MACControl is a MAC Control frame behind EtherType 0x8808, with the operand
// of a PAUSE (IEEE 802.3 annex 31B).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|            opcode             |          pause time           |
//	+-------------------------------+-------------------------------+
type MACControl []byte

// Opcode is the MAC Control opcode.
func (h MACControl) Opcode() uint16 { return be.Uint16(h[maccOpcode:]) }

// SetOpcode sets the MAC Control opcode.
func (h MACControl) SetOpcode(v uint16) { be.PutUint16(h[maccOpcode:], v) }

// PauseTime is how long to pause, in quanta of 512 bit times; 0 ends a pause.
func (h MACControl) PauseTime() uint16 { return be.Uint16(h[maccPause:]) }

// SetPauseTime sets how long to pause, in quanta of 512 bit times.
func (h MACControl) SetPauseTime(v uint16) { be.PutUint16(h[maccPause:], v) }

// PFCClasses is the number of priorities that PFC can pause.
const PFCClasses = 8

// PFCLen is the length of a PFC frame without its padding.
const PFCLen = pfcTimes + 2*PFCClasses

const (
	pfcEnable = 2
	pfcTimes  = 4
)

// PFC is a priority-based flow control frame (IEEE 802.1Q, 36; formerly
// 802.1Qbb): a MAC Control frame with one pause time per priority.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+---------------+---------------+
//	|            opcode             |   reserved    |7 6 5 4 3 2 1 0|
//	+-------------------------------+---------------+---------------+
//	|      pause time, class 0      |      pause time, class 1      |
//	+-------------------------------+-------------------------------+
//	|                        classes 2 to 7                         |
//	+---------------------------------------------------------------+
type PFC []byte

// Opcode is the MAC Control opcode.
func (h PFC) Opcode() uint16 { return be.Uint16(h[maccOpcode:]) }

// SetOpcode sets the MAC Control opcode.
func (h PFC) SetOpcode(v uint16) { be.PutUint16(h[maccOpcode:], v) }

// Enabled is the class enable vector: bit n says that the pause time of class n
// counts.
func (h PFC) Enabled() uint16 { return be.Uint16(h[pfcEnable:]) }

// SetEnabled sets the class enable vector.
func (h PFC) SetEnabled(v uint16) { be.PutUint16(h[pfcEnable:], v) }

// PauseTime is how long to pause class 0 to 7, in quanta of 512 bit times; 0
// ends a pause.
func (h PFC) PauseTime(class int) uint16 { return be.Uint16(h[pfcTimes+2*class:]) }

// SetPauseTime sets how long to pause class 0 to 7.
func (h PFC) SetPauseTime(class int, v uint16) {
	be.PutUint16(h[pfcTimes+2*class:], v)
}

var macControlSpec = Spec{
	ID: HdrMACControl, Name: "macc", Title: "MAC Control", Len: MACControlLen,
	Fields: []Field{
		{Name: "macc.opcode", Title: "Opcode", Base: Hex, Bit: maccOpcode * 8, Bits: 16, Names: maccOpcodeName},
		{Name: "macc.pause_time", Title: "Pause time", Bit: maccPause * 8, Bits: 16, When: maccIsPause},
	},
}

var pfcSpec = Spec{
	ID: HdrPFC, Name: "macc", Title: "Priority-based Flow Control", Len: PFCLen,
	Fields: []Field{
		{Name: "macc.opcode", Title: "Opcode", Base: Hex, Bit: maccOpcode * 8, Bits: 16, Names: maccOpcodeName},
		{Name: "macc.cbfc.enbv", Title: "Class Enable Vector", Base: Hex, Bit: pfcEnable * 8, Bits: 16},
		{Name: "macc.cbfc.enbv.c0", Title: "Class 0", Kind: Bool, Bit: pfcTimes*8 - 1, Bits: 1},
		{Name: "macc.cbfc.enbv.c1", Title: "Class 1", Kind: Bool, Bit: pfcTimes*8 - 2, Bits: 1},
		{Name: "macc.cbfc.enbv.c2", Title: "Class 2", Kind: Bool, Bit: pfcTimes*8 - 3, Bits: 1},
		{Name: "macc.cbfc.enbv.c3", Title: "Class 3", Kind: Bool, Bit: pfcTimes*8 - 4, Bits: 1},
		{Name: "macc.cbfc.enbv.c4", Title: "Class 4", Kind: Bool, Bit: pfcTimes*8 - 5, Bits: 1},
		{Name: "macc.cbfc.enbv.c5", Title: "Class 5", Kind: Bool, Bit: pfcTimes*8 - 6, Bits: 1},
		{Name: "macc.cbfc.enbv.c6", Title: "Class 6", Kind: Bool, Bit: pfcTimes*8 - 7, Bits: 1},
		{Name: "macc.cbfc.enbv.c7", Title: "Class 7", Kind: Bool, Bit: pfcTimes*8 - 8, Bits: 1},
		{Name: "macc.cbfc.pause_time.c0", Title: "Pause time, class 0", Bit: (pfcTimes + 0) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c1", Title: "Pause time, class 1", Bit: (pfcTimes + 2) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c2", Title: "Pause time, class 2", Bit: (pfcTimes + 4) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c3", Title: "Pause time, class 3", Bit: (pfcTimes + 6) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c4", Title: "Pause time, class 4", Bit: (pfcTimes + 8) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c5", Title: "Pause time, class 5", Bit: (pfcTimes + 10) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c6", Title: "Pause time, class 6", Bit: (pfcTimes + 12) * 8, Bits: 16},
		{Name: "macc.cbfc.pause_time.c7", Title: "Pause time, class 7", Bit: (pfcTimes + 14) * 8, Bits: 16},
	},
}

func maccIsPause(h []byte) bool { return MACControl(h).Opcode() == MACControlPause }

func maccOpcodeName(v uint64) string {
	switch v {
	case MACControlPause:
		return "Pause"
	case MACControlPFC:
		return "Priority-based Flow Control"
	}
	return ""
}
