package wire

import "encoding/binary"

// DDP is a view of the first octet of a DDP segment, which both buffer models
// share (RFC 5041 section 4.1).
//
//	 0 1 2 3 4 5 6 7
//	+-+-+-+-+-+-+-+-+
//	|T|L|  Rsvd |DV |
//	+-+-+-+-+-+-+-+-+
type DDP []byte

// DDPVersion is the version that RFC 5041 defines.
const DDPVersion = 1

const (
	ddpTagged   = 0x80
	ddpLast     = 0x40
	ddpReserved = 0x3c
	ddpVersion  = 0x03
)

// Tagged reports flag T: the segment is for a tagged buffer.
func (d DDP) Tagged() bool { return d[0]&ddpTagged != 0 }

// SetTagged sets flag T.
func (d DDP) SetTagged(on bool) { setIWARPFlag(d, 0, ddpTagged, on) }

// Last reports flag L: the segment is the last one of its message.
func (d DDP) Last() bool { return d[0]&ddpLast != 0 }

// SetLast sets flag L.
func (d DDP) SetLast(on bool) { setIWARPFlag(d, 0, ddpLast, on) }

// Reserved returns the reserved bits.
func (d DDP) Reserved() uint8 { return d[0] & ddpReserved >> 2 }

// SetReserved writes the reserved bits.
func (d DDP) SetReserved(v uint8) { d[0] = d[0]&^ddpReserved | v<<2&ddpReserved }

// Version returns the DDP version.
func (d DDP) Version() uint8 { return d[0] & ddpVersion }

// SetVersion writes the DDP version.
func (d DDP) SetVersion(v uint8) { d[0] = d[0]&^ddpVersion | v&ddpVersion }

// HeaderLen returns the length of the DDP header that the octet begins, the
// RDMAP control octet included.
func (d DDP) HeaderLen() int {
	if d.Tagged() {
		return DDPTaggedLen
	}
	return DDPUntaggedLen
}

// DDPTagged is a view of the header of a tagged DDP segment (RFC 5041 section
// 4.2). The octet "reserved for the ULP" is RDMAP's control octet.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	                                +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	                                |T|L|  Rsvd |DV | RDMAP control |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                             STag                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                         Tagged Offset                         +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type DDPTagged []byte

// DDPTaggedLen is the length of a DDPTagged.
const DDPTaggedLen = 14

const (
	taggedSTag = 2
	taggedTO   = 6
)

// STag returns the steering tag of the data sink.
func (d DDPTagged) STag() uint32 { return binary.BigEndian.Uint32(d[taggedSTag:]) }

// SetSTag writes the steering tag.
func (d DDPTagged) SetSTag(v uint32) { binary.BigEndian.PutUint32(d[taggedSTag:], v) }

// Offset returns the tagged offset of the data sink.
func (d DDPTagged) Offset() uint64 { return binary.BigEndian.Uint64(d[taggedTO:]) }

// SetOffset writes the tagged offset.
func (d DDPTagged) SetOffset(v uint64) { binary.BigEndian.PutUint64(d[taggedTO:], v) }

// DDPUntagged is a view of the header of an untagged DDP segment (RFC 5041
// section 4.3). Of the five octets "reserved for the ULP" RDMAP uses the first
// as its control octet and the others for the STag to invalidate.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	                                +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	                                |T|L|  Rsvd |DV | RDMAP control |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Reserved for the ULP                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Queue Number                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Message Sequence Number                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Message Offset                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type DDPUntagged []byte

// DDPUntaggedLen is the length of a DDPUntagged.
const DDPUntaggedLen = 18

const (
	untaggedQN  = 6
	untaggedMSN = 10
	untaggedMO  = 14
)

// QN returns the queue number.
func (d DDPUntagged) QN() uint32 { return binary.BigEndian.Uint32(d[untaggedQN:]) }

// SetQN writes the queue number.
func (d DDPUntagged) SetQN(v uint32) { binary.BigEndian.PutUint32(d[untaggedQN:], v) }

// MSN returns the message sequence number.
func (d DDPUntagged) MSN() uint32 { return binary.BigEndian.Uint32(d[untaggedMSN:]) }

// SetMSN writes the message sequence number.
func (d DDPUntagged) SetMSN(v uint32) { binary.BigEndian.PutUint32(d[untaggedMSN:], v) }

// MO returns the message offset.
func (d DDPUntagged) MO() uint32 { return binary.BigEndian.Uint32(d[untaggedMO:]) }

// SetMO writes the message offset.
func (d DDPUntagged) SetMO(v uint32) { binary.BigEndian.PutUint32(d[untaggedMO:], v) }

var ddpTaggedSpec = Spec{
	ID: HdrDDPTagged, Name: "iwarp_ddp.tagged", Title: "DDP Tagged Header", Len: DDPTaggedLen,
	Fields: []Field{
		{Name: "iwarp_ddp.tagged_flag", Title: "Tagged flag (T)", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "iwarp_ddp.last_flag", Title: "Last flag (L)", Kind: Bool, Bit: 1, Bits: 1},
		{Name: "iwarp_ddp.rsvd", Title: "Reserved", Base: Hex, Bit: 2, Bits: 4},
		{Name: "iwarp_ddp.dv", Title: "DDP protocol version", Bit: 6, Bits: 2},
		{Name: "iwarp_ddp.stag", Title: "Steering Tag", Base: Hex, Bit: 16, Bits: 32},
		{Name: "iwarp_ddp.tagged_offset", Title: "Tagged offset", Base: Hex, Bit: 48, Bits: 64},
	},
}

var ddpUntaggedSpec = Spec{
	ID: HdrDDPUntagged, Name: "iwarp_ddp.untagged", Title: "DDP Untagged Header", Len: DDPUntaggedLen,
	Fields: []Field{
		{Name: "iwarp_ddp.tagged_flag", Title: "Tagged flag (T)", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "iwarp_ddp.last_flag", Title: "Last flag (L)", Kind: Bool, Bit: 1, Bits: 1},
		{Name: "iwarp_ddp.rsvd", Title: "Reserved", Base: Hex, Bit: 2, Bits: 4},
		{Name: "iwarp_ddp.dv", Title: "DDP protocol version", Bit: 6, Bits: 2},
		{Name: "iwarp_ddp.rsvdulp", Title: "Reserved for use by the ULP", Kind: Bytes, Bit: 8, Bits: 40},
		{Name: "iwarp_ddp.qn", Title: "Queue number", Bit: 48, Bits: 32},
		{Name: "iwarp_ddp.msn", Title: "Message sequence number", Bit: 80, Bits: 32},
		{Name: "iwarp_ddp.mo", Title: "Message offset", Bit: 112, Bits: 32},
	},
}
