package wire

// BTHLen is the length of a Base Transport Header.
const BTHLen = 12

// BTH is a Base Transport Header (IBTA vol. 1, 9.2; FECN and BECN: A10.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+-+-+---+-------+-------------------------------+
//	|    OpCode     |S|M|Pad| TVer  |             P_Key             |
//	+-+-+-----------+-+-+---+-------+-------------------------------+
//	|F|B|   rsv     |                    DestQP                     |
//	+-+-+-----------+-----------------------------------------------+
//	|A|     rsv     |                      PSN                      |
//	+-+-------------+-----------------------------------------------+
type BTH []byte

const (
	bthFlags    = 1
	bthPKey     = 2
	bthReserved = 4
	bthDestQP   = 5
	bthAckReq   = 8
	bthPSN      = 9
)

// Opcode says which operation the packet is part of.
func (h BTH) Opcode() Opcode { return Opcode(h[0]) }

// SetOpcode sets the opcode.
func (h BTH) SetOpcode(op Opcode) { h[0] = byte(op) }

// Solicited is the solicited event bit SE.
func (h BTH) Solicited() bool { return bit(h[bthFlags], 0x80) }

// SetSolicited sets the solicited event bit.
func (h BTH) SetSolicited(on bool) { putBit(&h[bthFlags], 0x80, on) }

// MigReq is the migration state bit M.
func (h BTH) MigReq() bool { return bit(h[bthFlags], 0x40) }

// SetMigReq sets the migration state bit.
func (h BTH) SetMigReq(on bool) { putBit(&h[bthFlags], 0x40, on) }

// PadCount is the number of pad bytes behind the payload, 0 to 3.
func (h BTH) PadCount() int { return int(h[bthFlags]>>4) & 3 }

// SetPadCount sets the number of pad bytes.
func (h BTH) SetPadCount(n int) { putBits(&h[bthFlags], 0x30, byte(n)<<4) }

// TVer is the transport header version, 0.
func (h BTH) TVer() uint8 { return h[bthFlags] & 0x0F }

// SetTVer sets the transport header version.
func (h BTH) SetTVer(v uint8) { putBits(&h[bthFlags], 0x0F, v) }

// PKey is the partition key.
func (h BTH) PKey() uint16 { return be.Uint16(h[bthPKey:]) }

// SetPKey sets the partition key.
func (h BTH) SetPKey(v uint16) { be.PutUint16(h[bthPKey:], v) }

// FECN is the forward explicit congestion notification bit.
func (h BTH) FECN() bool { return bit(h[bthReserved], 0x80) }

// SetFECN sets the forward congestion bit.
func (h BTH) SetFECN(on bool) { putBit(&h[bthReserved], 0x80, on) }

// BECN is the backward explicit congestion notification bit.
func (h BTH) BECN() bool { return bit(h[bthReserved], 0x40) }

// SetBECN sets the backward congestion bit.
func (h BTH) SetBECN(on bool) { putBit(&h[bthReserved], 0x40, on) }

// DestQP is the 24-bit number of the destination queue pair.
func (h BTH) DestQP() uint32 { return uint24(h[bthDestQP:]) }

// SetDestQP sets the destination queue pair.
func (h BTH) SetDestQP(qpn uint32) { putUint24(h[bthDestQP:], qpn) }

// AckReq asks the responder for an acknowledgement.
func (h BTH) AckReq() bool { return bit(h[bthAckReq], 0x80) }

// SetAckReq sets the acknowledge request bit.
func (h BTH) SetAckReq(on bool) { putBit(&h[bthAckReq], 0x80, on) }

// PSN is the packet sequence number.
func (h BTH) PSN() PSN { return PSN(uint24(h[bthPSN:])) }

// SetPSN sets the packet sequence number.
func (h BTH) SetPSN(p PSN) { putUint24(h[bthPSN:], uint32(p)) }

// ReservedSet reports whether a reserved bit is set.
func (h BTH) ReservedSet() bool { return h[bthReserved]&0x3F != 0 || h[bthAckReq]&0x7F != 0 }

func opcodeName(v uint64) string { return Opcode(v).String() }

var bthSpec = Spec{ID: HdrBTH, Name: "infiniband.bth", Title: "Base Transport Header", Len: BTHLen, Fields: []Field{
	{Name: "infiniband.bth.opcode", Title: "Opcode", Bit: 0, Bits: 8, Names: opcodeName},
	{Name: "infiniband.bth.se", Title: "Solicited Event", Kind: Bool, Bit: 8, Bits: 1},
	{Name: "infiniband.bth.m", Title: "MigReq", Kind: Bool, Bit: 9, Bits: 1},
	{Name: "infiniband.bth.padcnt", Title: "Pad Count", Bit: 10, Bits: 2},
	{Name: "infiniband.bth.tver", Title: "Header Version", Bit: 12, Bits: 4},
	{Name: "infiniband.bth.p_key", Title: "Partition Key", Bit: 16, Bits: 16},
	{Name: "infiniband.bth.fecn", Title: "Forward Congestion Notification", Kind: Bool, Bit: 32, Bits: 1},
	{Name: "infiniband.bth.becn", Title: "Backward Congestion Notification", Kind: Bool, Bit: 33, Bits: 1},
	{Name: "infiniband.bth.reserved6", Title: "Reserved (6 bits)", Bit: 34, Bits: 6},
	{Name: "infiniband.bth.destqp", Title: "Destination QP", Base: Hex, Bit: 40, Bits: 24},
	{Name: "infiniband.bth.a", Title: "Acknowledge Request", Kind: Bool, Bit: 64, Bits: 1},
	{Name: "infiniband.bth.reserved7", Title: "Reserved (7 bits)", Bit: 65, Bits: 7},
	{Name: "infiniband.bth.psn", Title: "Packet Sequence Number", Bit: 72, Bits: 24},
}}
