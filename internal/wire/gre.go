package wire

// GREMinLen is the length of a GRE header without optional words.
const GREMinLen = 4

const (
	greFlags        = 0
	greProtocol     = 2
	greFlagChecksum = 0x80 // of byte 0
	greFlagRouting  = 0x40
	greFlagKey      = 0x20
	greFlagSequence = 0x10
	greVersionMask  = 0x07 // of byte 1
)

// GRE is a GRE header of version 0 (RFC 2784 and RFC 2890; the routing bit is
// RFC 1701's). Each of the last three words is there only when its flag is set.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-----+---------+-----+-------------------------------+
//	|C|R|K|S|s|recur|reserved | ver |         protocol type         |
//	+-+-+-+-+-+-----+---------+-----+-------------------------------+
//	|       checksum (C or R)       |        offset (C or R)        |
//	+-------------------------------+-------------------------------+
//	|                            key (K)                            |
//	+---------------------------------------------------------------+
//	|                      sequence number (S)                      |
//	+---------------------------------------------------------------+
type GRE []byte

// Version is the GRE version; 1 is PPTP's, whose header is another one.
func (h GRE) Version() uint8 { return h[greFlags+1] & greVersionMask }

// SetVersion sets the GRE version.
func (h GRE) SetVersion(v uint8) { putBits(&h[greFlags+1], greVersionMask, v) }

// HasChecksum is the checksum flag.
func (h GRE) HasChecksum() bool { return h[greFlags]&greFlagChecksum != 0 }

// SetHasChecksum sets the checksum flag.
func (h GRE) SetHasChecksum(on bool) { putBit(&h[greFlags], greFlagChecksum, on) }

// HasRouting is the routing flag: source route entries that HeaderLen does not count
// follow the header.
func (h GRE) HasRouting() bool { return h[greFlags]&greFlagRouting != 0 }

// SetHasRouting sets the routing flag.
func (h GRE) SetHasRouting(on bool) { putBit(&h[greFlags], greFlagRouting, on) }

// HasKey is the key flag.
func (h GRE) HasKey() bool { return h[greFlags]&greFlagKey != 0 }

// SetHasKey sets the key flag.
func (h GRE) SetHasKey(on bool) { putBit(&h[greFlags], greFlagKey, on) }

// HasSequence is the sequence number flag. An ERSPAN packet without it is of
// type I and has no ERSPAN header.
func (h GRE) HasSequence() bool { return h[greFlags]&greFlagSequence != 0 }

// SetHasSequence sets the sequence number flag.
func (h GRE) SetHasSequence(on bool) { putBit(&h[greFlags], greFlagSequence, on) }

// Protocol is the EtherType of what follows.
func (h GRE) Protocol() uint16 { return be.Uint16(h[greProtocol:]) }

// SetProtocol sets the EtherType of what follows.
func (h GRE) SetProtocol(v uint16) { be.PutUint16(h[greProtocol:], v) }

// keyOffset is where the key is, or would be.
func (h GRE) keyOffset() int {
	if h.HasChecksum() || h.HasRouting() {
		return GREMinLen + 4
	}
	return GREMinLen
}

// sequenceOffset is where the sequence number is, or would be.
func (h GRE) sequenceOffset() int {
	if h.HasKey() {
		return h.keyOffset() + 4
	}
	return h.keyOffset()
}

// HeaderLen is the length that the flags claim, 4 to 16.
func (h GRE) HeaderLen() int {
	if h.HasSequence() {
		return h.sequenceOffset() + 4
	}
	return h.sequenceOffset()
}

// Checksum is the checksum. The header has one only when HasChecksum or
// HasRouting says so.
func (h GRE) Checksum() uint16 { return be.Uint16(h[GREMinLen:]) }

// SetChecksum sets the checksum of a header that has one.
func (h GRE) SetChecksum(v uint16) { be.PutUint16(h[GREMinLen:], v) }

// Key is the key of a header that HasKey.
func (h GRE) Key() uint32 { return be.Uint32(h[h.keyOffset():]) }

// SetKey sets the key of a header that HasKey.
func (h GRE) SetKey(v uint32) { be.PutUint32(h[h.keyOffset():], v) }

// Sequence is the sequence number of a header that HasSequence.
func (h GRE) Sequence() uint32 { return be.Uint32(h[h.sequenceOffset():]) }

// SetSequence sets the sequence number of a header that HasSequence.
func (h GRE) SetSequence(v uint32) { be.PutUint32(h[h.sequenceOffset():], v) }

// The key and the sequence number are listed once for each place they can have.
var greSpec = Spec{
	ID: HdrGRE, Name: "gre", Title: "Generic Routing Encapsulation", Len: GREMinLen,
	Fields: []Field{
		{Name: "gre.flags_and_version", Title: "Flags and Version", Base: Hex, Bit: 0, Bits: 16},
		{Name: "gre.flags.checksum", Title: "Checksum Bit", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "gre.flags.routing", Title: "Routing Bit", Kind: Bool, Bit: 1, Bits: 1},
		{Name: "gre.flags.key", Title: "Key Bit", Kind: Bool, Bit: 2, Bits: 1},
		{Name: "gre.flags.sequence_number", Title: "Sequence Number Bit", Kind: Bool, Bit: 3, Bits: 1},
		{Name: "gre.flags.strict_source_route", Title: "Strict Source Route Bit", Kind: Bool, Bit: 4, Bits: 1},
		{Name: "gre.flags.recursion_control", Title: "Recursion control", Bit: 5, Bits: 3, Width: 16},
		{Name: "gre.flags.reserved", Title: "Flags (Reserved)", Bit: 8, Bits: 5, Width: 16},
		{Name: "gre.flags.version", Title: "Version", Bit: 13, Bits: 3, Width: 16},
		{Name: "gre.proto", Title: "Protocol Type", Base: Hex, Bit: greProtocol * 8, Bits: 16, Names: EtherTypeName},
		{Name: "gre.checksum", Title: "Checksum", Base: Hex, Bit: GREMinLen * 8, Bits: 16, When: greHasChecksum},
		{Name: "gre.offset", Title: "Offset", Bit: (GREMinLen + 2) * 8, Bits: 16, When: greHasChecksum},
		{Name: "gre.key", Title: "Key", Base: Hex, Bit: GREMinLen * 8, Bits: 32, When: greHasKeyAt4},
		{Name: "gre.key", Title: "Key", Base: Hex, Bit: (GREMinLen + 4) * 8, Bits: 32, When: greHasKeyAt8},
		{Name: "gre.sequence_number", Title: "Sequence Number", Bit: GREMinLen * 8, Bits: 32, When: greHasSequenceAt4},
		{Name: "gre.sequence_number", Title: "Sequence Number", Bit: (GREMinLen + 4) * 8, Bits: 32, When: greHasSequenceAt8},
		{Name: "gre.sequence_number", Title: "Sequence Number", Bit: (GREMinLen + 8) * 8, Bits: 32, When: greHasSequenceAt12},
	},
}

func greHasChecksum(h []byte) bool { return GRE(h).HasChecksum() || GRE(h).HasRouting() }

func greHasKeyAt4(h []byte) bool { return GRE(h).HasKey() && GRE(h).keyOffset() == GREMinLen }
func greHasKeyAt8(h []byte) bool { return GRE(h).HasKey() && GRE(h).keyOffset() == GREMinLen+4 }

func greHasSequenceAt4(h []byte) bool  { return greHasSequenceAt(h, GREMinLen) }
func greHasSequenceAt8(h []byte) bool  { return greHasSequenceAt(h, GREMinLen+4) }
func greHasSequenceAt12(h []byte) bool { return greHasSequenceAt(h, GREMinLen+8) }

func greHasSequenceAt(h GRE, off int) bool { return h.HasSequence() && h.sequenceOffset() == off }
