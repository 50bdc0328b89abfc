package wire

import "encoding/binary"

// ERF record types (Endace ERF types reference). Bit 7 of the type byte is the
// mark of an extension header and no part of the type.
const (
	ERFTypeEthernet           = 2
	ERFTypeColourEthernet     = 11
	ERFTypeDSMColourEthernet  = 16
	ERFTypeColourHashEthernet = 20
	ERFTypeInfiniBand         = 21
	ERFTypeInfiniBandLink     = 25 // link-level flow-control packets
	ERFTypeMeta               = 27 // the highest type in use but the pad's
	ERFTypePad                = 48
)

// ERFEthernetPad is how many bytes lie between the headers of an Ethernet
// record and its frame; they count in the record length, not in the wire length.
const ERFEthernetPad = 2

// ERFLen is the length of the header of an ERF record.
const ERFLen = 16

const (
	erfTimestamp  = 0
	erfType       = 8
	erfFlags      = 9
	erfRecordLen  = 10
	erfLoss       = 12
	erfWireLen    = 14
	erfTypeMask   = 0x7F
	erfMore       = 0x80 // an extension header follows
	erfFlagCap    = 0x03
	erfFlagVaries = 0x04
	erfFlagTrunc  = 0x08
	erfFlagRX     = 0x10
	erfFlagDS     = 0x20
)

// ERF is the header of an ERF record, LINKTYPE_ERF.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|       timestamp, little-endian, 32 bits of fraction then      |
//	|                      32 bits of seconds                       |
//	+-+-------------+---+-+-+-+-+---+-------------------------------+
//	|E|    type     |res|D|R|T|V|cap|         record length         |
//	+-+-------------+---+-+-+-+-+---+-------------------------------+
//	|         loss counter          |          wire length          |
//	+-------------------------------+-------------------------------+
type ERF []byte

// Timestamp is the time since 1970 in units of 2^-32 seconds.
func (h ERF) Timestamp() uint64 { return binary.LittleEndian.Uint64(h[erfTimestamp:]) }

// SetTimestamp sets the time since 1970 in units of 2^-32 seconds.
func (h ERF) SetTimestamp(v uint64) { binary.LittleEndian.PutUint64(h[erfTimestamp:], v) }

// Type is the record type, without the mark of an extension header.
func (h ERF) Type() uint8 { return h[erfType] & erfTypeMask }

// SetType sets the record type.
func (h ERF) SetType(v uint8) { putBits(&h[erfType], erfTypeMask, v) }

// HasExtension reports whether an extension header follows.
func (h ERF) HasExtension() bool { return h[erfType]&erfMore != 0 }

// SetHasExtension says whether an extension header follows.
func (h ERF) SetHasExtension(on bool) { putBit(&h[erfType], erfMore, on) }

// Interface is the capture interface, 0 to 3.
func (h ERF) Interface() uint8 { return h[erfFlags] & erfFlagCap }

// SetInterface sets the capture interface.
func (h ERF) SetInterface(v uint8) { putBits(&h[erfFlags], erfFlagCap, v) }

// Varying reports whether records are as long as their packets.
func (h ERF) Varying() bool { return h[erfFlags]&erfFlagVaries != 0 }

// SetVarying says that records are as long as their packets.
func (h ERF) SetVarying(on bool) { putBit(&h[erfFlags], erfFlagVaries, on) }

// Truncated reports whether the capture card ran out of room for the packet.
func (h ERF) Truncated() bool { return h[erfFlags]&erfFlagTrunc != 0 }

// SetTruncated says that the capture card ran out of room for the packet.
func (h ERF) SetTruncated(on bool) { putBit(&h[erfFlags], erfFlagTrunc, on) }

// RXError reports whether the card received the packet with an error.
func (h ERF) RXError() bool { return h[erfFlags]&erfFlagRX != 0 }

// SetRXError says that the card received the packet with an error.
func (h ERF) SetRXError(on bool) { putBit(&h[erfFlags], erfFlagRX, on) }

// DSError reports whether the card had an internal error.
func (h ERF) DSError() bool { return h[erfFlags]&erfFlagDS != 0 }

// SetDSError says that the card had an internal error.
func (h ERF) SetDSError(on bool) { putBit(&h[erfFlags], erfFlagDS, on) }

// RecordLen is the length of the whole record, this header included.
func (h ERF) RecordLen() int { return int(be.Uint16(h[erfRecordLen:])) }

// SetRecordLen sets the length of the whole record.
func (h ERF) SetRecordLen(n int) { be.PutUint16(h[erfRecordLen:], uint16(n)) }

// Loss is the number of packets lost before this one; other record types may
// keep a colour here.
func (h ERF) Loss() uint16 { return be.Uint16(h[erfLoss:]) }

// SetLoss sets the number of packets lost before this one.
func (h ERF) SetLoss(v uint16) { be.PutUint16(h[erfLoss:], v) }

// WireLen is the length that the packet had on the wire.
func (h ERF) WireLen() int { return int(be.Uint16(h[erfWireLen:])) }

// SetWireLen sets the length that the packet had on the wire.
func (h ERF) SetWireLen(n int) { be.PutUint16(h[erfWireLen:], uint16(n)) }

// ERF extension header types whose body erfExtSpec describes.
const (
	erfExtClass     = 3
	erfExtIntercept = 4
	erfExtRawLink   = 5
)

// ERFExtLen is the length of an extension header.
const ERFExtLen = 8

const (
	erfExtType = 0
)

// ERFExt is an extension header of an ERF record. Its type decides what the
// body means.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-------------+-----------------------------------------------+
//	|E|    type     |                                               |
//	+-+-------------+             body                              |
//	|                                                               |
//	+---------------------------------------------------------------+
type ERFExt []byte

// Type is the extension header's type.
func (h ERFExt) Type() uint8 { return h[erfExtType] & erfTypeMask }

// SetType sets the extension header's type.
func (h ERFExt) SetType(v uint8) { putBits(&h[erfExtType], erfTypeMask, v) }

// More reports whether another extension header follows.
func (h ERFExt) More() bool { return h[erfExtType]&erfMore != 0 }

// SetMore says whether another extension header follows.
func (h ERFExt) SetMore(on bool) { putBit(&h[erfExtType], erfMore, on) }

// Body is the seven bytes behind the type.
func (h ERFExt) Body() [7]byte { return [7]byte(h[erfExtType+1 : ERFExtLen]) }

// SetBody sets the seven bytes behind the type.
func (h ERFExt) SetBody(b [7]byte) { copy(h[erfExtType+1:ERFExtLen], b[:]) }

// erf.ts is not among the fields: the times of a frame say it in seconds.
var erfSpec = Spec{
	ID: HdrERF, Name: "erf", Title: "Extensible Record Format", Len: ERFLen,
	Fields: []Field{
		{Name: "erf.types", Title: "Record type", Base: Hex, Bit: erfType * 8, Bits: 8},
		{Name: "erf.types.ext_header", Title: "Extension header present", Bit: erfType * 8, Bits: 1},
		{Name: "erf.types.type", Title: "Type", Bit: erfType*8 + 1, Bits: 7, Names: erfTypeName},
		{Name: "erf.flags", Title: "Flags", Base: Hex, Bit: erfFlags * 8, Bits: 8},
		{Name: "erf.flags.res", Title: "Reserved", Base: Hex, Bit: erfFlags * 8, Bits: 2},
		{Name: "erf.flags.dse", Title: "DS error", Bit: erfFlags*8 + 2, Bits: 1},
		{Name: "erf.flags.rxe", Title: "RX error", Bit: erfFlags*8 + 3, Bits: 1},
		{Name: "erf.flags.trunc", Title: "Truncated", Bit: erfFlags*8 + 4, Bits: 1},
		{Name: "erf.flags.vlen", Title: "Varying record length", Bit: erfFlags*8 + 5, Bits: 1},
		{Name: "erf.flags.cap", Title: "Capture interface", Bit: erfFlags*8 + 6, Bits: 2},
		{Name: "erf.rlen", Title: "Record length", Bit: erfRecordLen * 8, Bits: 16},
		{Name: "erf.lctr", Title: "Loss counter", Bit: erfLoss * 8, Bits: 16, When: erfCountsLoss},
		{Name: "erf.wlen", Title: "Wire length", Bit: erfWireLen * 8, Bits: 16},
	},
}

var erfExtSpec = Spec{
	ID: HdrERFExt, Name: "erf.ehdr", Title: "ERF Extension Header", Len: ERFExtLen,
	Fields: []Field{
		{Name: "erf.ehdr.types", Title: "Extension Header", Bit: 1, Bits: 7, Names: erfExtTypeName},
		{Name: "erf.ehdr.class.flags", Title: "Flags", Base: Hex, Bit: 8, Bits: 24, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.sh", Title: "Search hit", Bit: 8, Bits: 1, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.shm", Title: "Multiple search hits", Bit: 9, Bits: 1, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.res1", Title: "Reserved", Base: Hex, Bit: 10, Bits: 2, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.user", Title: "User classification", Bit: 12, Bits: 16, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.res2", Title: "Reserved", Base: Hex, Bit: 28, Bits: 1, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.drop", Title: "Drop Steering Bit", Bit: 29, Bits: 1, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.flags.str", Title: "Stream Steering Bits", Bit: 30, Bits: 2, Width: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.class.seqnum", Title: "Sequence number", Bit: 32, Bits: 32, When: erfExtIsClass},
		{Name: "erf.ehdr.int.res1", Title: "Reserved", Base: Hex, Bit: 8, Bits: 8, When: erfExtIsIntercept},
		{Name: "erf.ehdr.int.intid", Title: "Intercept ID", Bit: 16, Bits: 16, When: erfExtIsIntercept},
		{Name: "erf.ehdr.int.res2", Title: "Reserved", Base: Hex, Bit: 32, Bits: 32, When: erfExtIsIntercept},
		{Name: "erf.ehdr.raw.res", Title: "Reserved", Base: Hex, Bit: 8, Bits: 24, Width: 32, When: erfExtIsRawLink},
		{Name: "erf.ehdr.raw.seqnum", Title: "Sequence number", Bit: 32, Bits: 16, When: erfExtIsRawLink},
		{Name: "erf.ehdr.raw.rate", Title: "Rate", Bit: 48, Bits: 8, When: erfExtIsRawLink},
		{Name: "erf.ehdr.raw.link_type", Title: "Link Type", Bit: 56, Bits: 8, When: erfExtIsRawLink},
	},
}

// erfCountsLoss holds for the record types that this package decodes; some of
// the others keep a colour in the place of the loss counter.
func erfCountsLoss(h []byte) bool { return erfTypeName(uint64(ERF(h).Type())) != "" }

func erfExtIsClass(h []byte) bool     { return ERFExt(h).Type() == erfExtClass }
func erfExtIsIntercept(h []byte) bool { return ERFExt(h).Type() == erfExtIntercept }
func erfExtIsRawLink(h []byte) bool   { return ERFExt(h).Type() == erfExtRawLink }

func erfTypeName(v uint64) string {
	switch v {
	case ERFTypeEthernet:
		return "Ethernet"
	case ERFTypeInfiniBand:
		return "InfiniBand"
	case ERFTypeInfiniBandLink:
		return "InfiniBand link"
	}
	return ""
}

func erfExtTypeName(v uint64) string {
	switch v {
	case erfExtClass:
		return "Classification"
	case erfExtIntercept:
		return "Intercept ID"
	case erfExtRawLink:
		return "Raw link"
	}
	return ""
}
