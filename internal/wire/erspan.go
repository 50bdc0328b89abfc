package wire

// Values of the version field of an ERSPAN header.
const (
	ERSPANVersion2 = 1 // type II
	ERSPANVersion3 = 2 // type III
)

// ERSPAN2Len is the length of a type II header.
const ERSPAN2Len = 8

// ERSPAN3MinLen is the length of a type III header without subheader.
const ERSPAN3MinLen = 12

const (
	erspanVersion   = 0
	erspanSession   = 2
	erspanIndex     = 4
	erspanTimestamp = 4
	erspanSGT       = 8
	erspanFlags     = 10
	erspanSubLen    = 8

	erspanVLANMask    = 0x0FFF
	erspanCOSMask     = 0xE0 // of byte 2
	erspanEncapMask   = 0x18 // of byte 2
	erspanTruncated   = 0x04 // of byte 2
	erspanSessionMask = 0x03FF
	erspanIndexMask   = 0x000FFFFF
	erspanFrameMask   = 0x7C // of byte 10
	erspanOptional    = 0x01 // of byte 11
	erspanDirection   = 0x08 // of byte 11
	erspanGraMask     = 0x06 // of byte 11
)

// ERSPAN2 is an ERSPAN type II header (draft-foschiano-erspan-03, 4.2). Its
// first word is that of type III too.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-----------------------+-----+---+-+-------------------+
//	|version|         VLAN          | COS |En |T|    session ID     |
//	+-------+---------------+-------+-----+---+-+-------------------+
//	|       reserved        |                 index                 |
//	+-----------------------+---------------------------------------+
type ERSPAN2 []byte

// Version is the version field, ERSPANVersion2.
func (h ERSPAN2) Version() uint8 { return h[erspanVersion] >> 4 }

// SetVersion sets the version field.
func (h ERSPAN2) SetVersion(v uint8) { putBits(&h[erspanVersion], 0xF0, v<<4) }

// VLAN is the VLAN that the frame was mirrored from.
func (h ERSPAN2) VLAN() uint16 { return erspanVLAN(h) }

// SetVLAN sets the VLAN that the frame was mirrored from.
func (h ERSPAN2) SetVLAN(v uint16) { erspanSetVLAN(h, v) }

// COS is the class of service of the mirrored frame.
func (h ERSPAN2) COS() uint8 { return h[erspanSession] >> 5 }

// SetCOS sets the class of service of the mirrored frame.
func (h ERSPAN2) SetCOS(v uint8) { putBits(&h[erspanSession], erspanCOSMask, v<<5) }

// Encap says what tag the mirrored frame had.
func (h ERSPAN2) Encap() uint8 { return h[erspanSession] & erspanEncapMask >> 3 }

// SetEncap says what tag the mirrored frame had.
func (h ERSPAN2) SetEncap(v uint8) {
	putBits(&h[erspanSession], erspanEncapMask, v<<3)
}

// Truncated reports whether the switch cut the mirrored frame.
func (h ERSPAN2) Truncated() bool { return h[erspanSession]&erspanTruncated != 0 }

// SetTruncated says that the switch cut the mirrored frame.
func (h ERSPAN2) SetTruncated(on bool) { putBit(&h[erspanSession], erspanTruncated, on) }

// Session is the ERSPAN session ID.
func (h ERSPAN2) Session() uint16 { return erspanSessionID(h) }

// SetSession sets the ERSPAN session ID.
func (h ERSPAN2) SetSession(v uint16) { erspanSetSessionID(h, v) }

// Index is the source port index, vendor-specific.
func (h ERSPAN2) Index() uint32 { return be.Uint32(h[erspanIndex:]) & erspanIndexMask }

// SetIndex sets the source port index.
func (h ERSPAN2) SetIndex(v uint32) {
	old := be.Uint32(h[erspanIndex:])
	be.PutUint32(h[erspanIndex:], merge(old, v, erspanIndexMask))
}

// ERSPAN3 is an ERSPAN type III header (draft-foschiano-erspan-03, 4.3). The
// last two words, the platform-specific subheader, are there when O is set.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-----------------------+-----+---+-+-------------------+
//	|version|         VLAN          | COS |BSO|T|    session ID     |
//	+-------+-----------------------+-----+---+-+-------------------+
//	|                           timestamp                           |
//	+-------------------------------+-+---------+-----------+-+---+-+
//	|      security group tag       |P|frame typ|hardware ID|D|Gra|O|
//	+-----------+-------------------+-+---------+-----------+-+---+-+
//	|platform ID|              platform-specific                    |
//	+-----------+---------------------------------------------------+
//	|                       platform-specific                       |
//	+---------------------------------------------------------------+
type ERSPAN3 []byte

// Version is the version field, ERSPANVersion3.
func (h ERSPAN3) Version() uint8 { return h[erspanVersion] >> 4 }

// SetVersion sets the version field.
func (h ERSPAN3) SetVersion(v uint8) { putBits(&h[erspanVersion], 0xF0, v<<4) }

// VLAN is the VLAN that the frame was mirrored from.
func (h ERSPAN3) VLAN() uint16 { return erspanVLAN(h) }

// SetVLAN sets the VLAN that the frame was mirrored from.
func (h ERSPAN3) SetVLAN(v uint16) { erspanSetVLAN(h, v) }

// COS is the class of service of the mirrored frame.
func (h ERSPAN3) COS() uint8 { return h[erspanSession] >> 5 }

// SetCOS sets the class of service of the mirrored frame.
func (h ERSPAN3) SetCOS(v uint8) { putBits(&h[erspanSession], erspanCOSMask, v<<5) }

// BSO says whether the mirrored frame was bad, short or oversized.
func (h ERSPAN3) BSO() uint8 { return h[erspanSession] & erspanEncapMask >> 3 }

// SetBSO says whether the mirrored frame was bad, short or oversized.
func (h ERSPAN3) SetBSO(v uint8) {
	putBits(&h[erspanSession], erspanEncapMask, v<<3)
}

// Truncated reports whether the switch cut the mirrored frame.
func (h ERSPAN3) Truncated() bool { return h[erspanSession]&erspanTruncated != 0 }

// SetTruncated says that the switch cut the mirrored frame.
func (h ERSPAN3) SetTruncated(on bool) { putBit(&h[erspanSession], erspanTruncated, on) }

// Session is the ERSPAN session ID.
func (h ERSPAN3) Session() uint16 { return erspanSessionID(h) }

// SetSession sets the ERSPAN session ID.
func (h ERSPAN3) SetSession(v uint16) { erspanSetSessionID(h, v) }

// Timestamp is the switch's time in units of Granularity.
func (h ERSPAN3) Timestamp() uint32 { return be.Uint32(h[erspanTimestamp:]) }

// SetTimestamp sets the switch's time.
func (h ERSPAN3) SetTimestamp(v uint32) { be.PutUint32(h[erspanTimestamp:], v) }

// SGT is the security group tag of the mirrored frame.
func (h ERSPAN3) SGT() uint16 { return be.Uint16(h[erspanSGT:]) }

// SetSGT sets the security group tag of the mirrored frame.
func (h ERSPAN3) SetSGT(v uint16) { be.PutUint16(h[erspanSGT:], v) }

// What an ERSPAN III header can carry (draft-foschiano-erspan, 4.2).
const (
	erspanFrameEthernet = 0
	erspanFrameIP       = 2
)

// FrameType is the kind of the mirrored frame: 0 is Ethernet, 2 is IP.
func (h ERSPAN3) FrameType() uint8 { return h[erspanFlags] & erspanFrameMask >> 2 }

// SetFrameType sets the kind of the mirrored frame.
func (h ERSPAN3) SetFrameType(v uint8) { putBits(&h[erspanFlags], erspanFrameMask, v<<2) }

// Egress reports whether the frame was mirrored on its way out.
func (h ERSPAN3) Egress() bool { return h[erspanFlags+1]&erspanDirection != 0 }

// SetEgress says that the frame was mirrored on its way out.
func (h ERSPAN3) SetEgress(on bool) { putBit(&h[erspanFlags+1], erspanDirection, on) }

// Granularity is the unit of the timestamp.
func (h ERSPAN3) Granularity() uint8 { return h[erspanFlags+1] & erspanGraMask >> 1 }

// SetGranularity sets the unit of the timestamp.
func (h ERSPAN3) SetGranularity(v uint8) {
	putBits(&h[erspanFlags+1], erspanGraMask, v<<1)
}

// HasSubheader reports whether the platform-specific subheader follows.
func (h ERSPAN3) HasSubheader() bool { return h[erspanFlags+1]&erspanOptional != 0 }

// SetHasSubheader says whether the platform-specific subheader follows.
func (h ERSPAN3) SetHasSubheader(on bool) { putBit(&h[erspanFlags+1], erspanOptional, on) }

// HeaderLen is the length that the O bit claims, 12 or 20.
func (h ERSPAN3) HeaderLen() int {
	if h.HasSubheader() {
		return ERSPAN3MinLen + erspanSubLen
	}
	return ERSPAN3MinLen
}

func erspanVLAN(h []byte) uint16 {
	return be.Uint16(h[erspanVersion:]) & erspanVLANMask
}

func erspanSetVLAN(h []byte, v uint16) {
	old := be.Uint16(h[erspanVersion:])
	be.PutUint16(h[erspanVersion:], merge(old, v, erspanVLANMask))
}

func erspanSessionID(h []byte) uint16 {
	return be.Uint16(h[erspanSession:]) & erspanSessionMask
}

func erspanSetSessionID(h []byte, v uint16) {
	old := be.Uint16(h[erspanSession:])
	be.PutUint16(h[erspanSession:], merge(old, v, erspanSessionMask))
}

var erspan2Spec = Spec{
	ID: HdrERSPAN2, Name: "erspan", Title: "Encapsulated Remote Switch Packet Analysis Type II", Len: ERSPAN2Len,
	Fields: []Field{
		{Name: "erspan.version", Title: "Version", Bit: 0, Bits: 4, Width: 16, Names: erspanVersionName},
		{Name: "erspan.vlan", Title: "VLAN", Bit: 4, Bits: 12, Width: 16},
		{Name: "erspan.cos", Title: "COS", Bit: 16, Bits: 3, Width: 16},
		{Name: "erspan.encap", Title: "Encap", Bit: 19, Bits: 2, Width: 16},
		{Name: "erspan.truncated", Title: "Truncated", Bit: 21, Bits: 1, Width: 16},
		{Name: "erspan.spanid", Title: "Session ID", Bit: 22, Bits: 10, Width: 16},
		{Name: "erspan.reserved", Title: "Reserved", Bit: 32, Bits: 12, Width: 32},
		{Name: "erspan.index", Title: "Index", Bit: 44, Bits: 20, Width: 32},
	},
}

// The fields of the subheader have other names on each platform.
var erspan3Spec = Spec{
	ID: HdrERSPAN3, Name: "erspan", Title: "Encapsulated Remote Switch Packet Analysis Type III", Len: ERSPAN3MinLen,
	Fields: []Field{
		{Name: "erspan.version", Title: "Version", Bit: 0, Bits: 4, Width: 16, Names: erspanVersionName},
		{Name: "erspan.vlan", Title: "VLAN", Bit: 4, Bits: 12, Width: 16},
		{Name: "erspan.cos", Title: "COS", Bit: 16, Bits: 3, Width: 16},
		{Name: "erspan.bso", Title: "Bad/Short/Oversized", Bit: 19, Bits: 2, Width: 16},
		{Name: "erspan.truncated", Title: "Truncated", Bit: 21, Bits: 1, Width: 16},
		{Name: "erspan.spanid", Title: "Session ID", Bit: 22, Bits: 10, Width: 16},
		{Name: "erspan.timestamp", Title: "Timestamp", Bit: 32, Bits: 32},
		{Name: "erspan.sgt", Title: "Security Group Tag", Bit: 64, Bits: 16},
		{Name: "erspan.p", Title: "Has Ethernet PDU", Bit: 80, Bits: 1, Width: 16},
		{Name: "erspan.ft", Title: "Frame Type", Bit: 81, Bits: 5, Width: 16},
		{Name: "erspan.hw", Title: "Hardware ID", Bit: 86, Bits: 6, Width: 16},
		{Name: "erspan.direction", Title: "Direction", Kind: Bool, Bit: 92, Bits: 1, Names: erspanDirectionName},
		{Name: "erspan.gra", Title: "Timestamp granularity", Bit: 93, Bits: 2, Width: 16},
		{Name: "erspan.o", Title: "Optional Sub headers", Bit: 95, Bits: 1, Width: 16},
		{Name: "erspan.platid", Title: "Platform ID", Bit: 96, Bits: 6, Width: 32, When: erspanHasSubheader},
		{Name: "erspan.pid1.rsvd1", Title: "Reserved", Bit: 102, Bits: 14, Width: 32, When: erspanIsPlatform1},
		{Name: "erspan.pid1.vsmid", Title: "VSM Domain ID", Bit: 116, Bits: 12, Width: 32, When: erspanIsPlatform1},
		{Name: "erspan.pid1.port_index", Title: "Port ID/Index", Bit: 128, Bits: 32, When: erspanIsPlatform1},
		{Name: "erspan.pid3.rsvd1", Title: "Reserved", Bit: 102, Bits: 12, Width: 32, When: erspanIsPlatform3},
		{Name: "erspan.pid3.port_index", Title: "Port ID/Index", Bit: 114, Bits: 14, Width: 32, When: erspanIsPlatform3},
		{Name: "erspan.pid3.timestamp", Title: "Upper 32-bit Timestamp", Bit: 128, Bits: 32, When: erspanIsPlatform3},
		{Name: "erspan.pid4.rsvd1", Title: "Reserved", Bit: 102, Bits: 12, Width: 32, When: erspanIsPlatform4},
		{Name: "erspan.pid4.rsvd2", Title: "Reserved", Bit: 114, Bits: 14, Width: 32, When: erspanIsPlatform4},
		{Name: "erspan.pid4.rsvd3", Title: "Reserved", Bit: 128, Bits: 32, When: erspanIsPlatform4},
		{Name: "erspan.pid5.switchid", Title: "Switch ID", Bit: 102, Bits: 10, Width: 32, When: erspanIsPlatform5},
		{Name: "erspan.pid5.port_index", Title: "Port ID/Index", Bit: 112, Bits: 16, Width: 32, When: erspanIsPlatform5},
		{Name: "erspan.pid5.timestamp", Title: "Timestamp (seconds)", Bit: 128, Bits: 32, When: erspanIsPlatform5},
		{Name: "erspan.pid7.rsvd1", Title: "Reserved", Bit: 102, Bits: 6, Width: 32, When: erspanIsPlatform7},
		{Name: "erspan.pid7.source_index", Title: "Source Index", Bit: 108, Bits: 20, Width: 32, When: erspanIsPlatform7},
		{Name: "erspan.pid7.timestamp", Title: "Upper 32-bit Timestamp", Bit: 128, Bits: 32, When: erspanIsPlatform7},
	},
}

func erspanHasSubheader(h []byte) bool { return ERSPAN3(h).HasSubheader() }

// Platform IDs share layouts: 0 and 7 have one, 5 and 6 have one.
func erspanIsPlatform1(h []byte) bool { return erspanIsPlatform(h, 1, 1) }
func erspanIsPlatform3(h []byte) bool { return erspanIsPlatform(h, 3, 3) }
func erspanIsPlatform4(h []byte) bool { return erspanIsPlatform(h, 4, 4) }
func erspanIsPlatform5(h []byte) bool { return erspanIsPlatform(h, 5, 6) }
func erspanIsPlatform7(h []byte) bool { return erspanIsPlatform(h, 0, 7) }

// erspanIsPlatform reports whether the subheader is one of platform a or b.
func erspanIsPlatform(h ERSPAN3, a, b uint8) bool {
	if !h.HasSubheader() {
		return false
	}
	id := h[ERSPAN3MinLen] >> 2
	return id == a || id == b
}

func erspanVersionName(v uint64) string {
	switch v {
	case ERSPANVersion2:
		return "Type II"
	case ERSPANVersion3:
		return "Type III"
	}
	return ""
}

func erspanDirectionName(v uint64) string {
	if v != 0 {
		return "Egress"
	}
	return "Ingress"
}
