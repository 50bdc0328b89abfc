package wire

import "encoding/binary"

// MPAStart is a view of an MPA start-up frame without its private data: the
// request of the initiator or the reply of the responder (RFC 5044 section
// 7.1.1, RFC 6581 section 5).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+        Key: "MPA ID Req Frame" or "MPA ID Rep Frame"          +
//	|                          (16 octets)                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|M|C|R|S|  Res  |   Revision    |      Private Data Length      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MPAStart []byte

// MPAStartLen is the length of a start-up frame before its private data.
const MPAStartLen = 20

// MaxMPAPrivate is the longest private data a start-up frame may carry
// (RFC 5044 section 7.1.1).
const MaxMPAPrivate = 512

// The keys that begin a request and a reply.
const (
	MPARequestKey = "MPA ID Req Frame"
	MPAReplyKey   = "MPA ID Rep Frame"
)

const (
	mpaKeyLen     = 16
	mpaFlags      = 16
	mpaRevision   = 17
	mpaPrivateLen = 18

	mpaMarkers  = 0x80
	mpaCRC      = 0x40
	mpaReject   = 0x20
	mpaEnhanced = 0x10
	mpaReserved = 0x0f
)

// Key returns the 16 octets that say what the frame is.
func (m MPAStart) Key() []byte { return m[:mpaKeyLen] }

// SetKey writes MPARequestKey or MPAReplyKey.
func (m MPAStart) SetKey(key string) { copy(m[:mpaKeyLen], key) }

// Markers reports flag M: the sender of the frame wants markers in the stream
// that it receives (RFC 5044 section 7.1.1).
func (m MPAStart) Markers() bool { return m[mpaFlags]&mpaMarkers != 0 }

// SetMarkers sets flag M.
func (m MPAStart) SetMarkers(on bool) { setIWARPFlag(m, mpaFlags, mpaMarkers, on) }

// CRC reports flag C: the sender of the frame wants CRCs checked.
func (m MPAStart) CRC() bool { return m[mpaFlags]&mpaCRC != 0 }

// SetCRC sets flag C.
func (m MPAStart) SetCRC(on bool) { setIWARPFlag(m, mpaFlags, mpaCRC, on) }

// Reject reports flag R: the responder refuses the connection.
func (m MPAStart) Reject() bool { return m[mpaFlags]&mpaReject != 0 }

// SetReject sets flag R.
func (m MPAStart) SetReject(on bool) { setIWARPFlag(m, mpaFlags, mpaReject, on) }

// Enhanced reports flag S: the private data begins with an MPAEnhanced. The
// bit is reserved before revision 2.
func (m MPAStart) Enhanced() bool { return m.Revision() >= 2 && m[mpaFlags]&mpaEnhanced != 0 }

// SetEnhanced sets flag S.
func (m MPAStart) SetEnhanced(on bool) { setIWARPFlag(m, mpaFlags, mpaEnhanced, on) }

// Reserved returns the reserved bits after the flags. Before revision 2 the
// bit of flag S is one of them.
func (m MPAStart) Reserved() uint8 {
	if m.Revision() >= 2 {
		return m[mpaFlags] & mpaReserved
	}
	return m[mpaFlags] & (mpaEnhanced | mpaReserved)
}

// SetReserved writes the four bits that are reserved in every revision.
func (m MPAStart) SetReserved(v uint8) {
	m[mpaFlags] = m[mpaFlags]&^mpaReserved | v&mpaReserved
}

// Revision returns the MPA revision, 1 (RFC 5044) or 2 (RFC 6581).
func (m MPAStart) Revision() uint8 { return m[mpaRevision] }

// SetRevision writes the MPA revision.
func (m MPAStart) SetRevision(v uint8) { m[mpaRevision] = v }

// PrivateLen returns the length of the private data, an MPAEnhanced included.
func (m MPAStart) PrivateLen() int { return int(binary.BigEndian.Uint16(m[mpaPrivateLen:])) }

// SetPrivateLen writes the length of the private data.
func (m MPAStart) SetPrivateLen(n int) { binary.BigEndian.PutUint16(m[mpaPrivateLen:], uint16(n)) }

// MPAEnhanced is a view of the set-up data that MPA revision 2 puts before the
// private data (RFC 6581 section 5).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|A|B|           IRD             |C|D|            ORD            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MPAEnhanced []byte

// MPAEnhancedLen is the length of an MPAEnhanced.
const MPAEnhancedLen = 4

// MPANotNegotiated is the IRD or ORD of a side that leaves it to the upper
// layer (RFC 6581 section 9.1).
const MPANotNegotiated = 0x3fff

const (
	mpaIRD = 0
	mpaORD = 2

	mpaFlagA = 0x80 // and C
	mpaFlagB = 0x40 // and D
)

// PeerToPeer reports flag A: the connection is set up in the peer-to-peer
// model, the initiator sends a ready-to-receive message first.
func (m MPAEnhanced) PeerToPeer() bool { return m[mpaIRD]&mpaFlagA != 0 }

// SetPeerToPeer sets flag A.
func (m MPAEnhanced) SetPeerToPeer(on bool) { setIWARPFlag(m, mpaIRD, mpaFlagA, on) }

// RTRSend reports flag B: a zero-length Send is a ready-to-receive message.
func (m MPAEnhanced) RTRSend() bool { return m[mpaIRD]&mpaFlagB != 0 }

// SetRTRSend sets flag B.
func (m MPAEnhanced) SetRTRSend(on bool) { setIWARPFlag(m, mpaIRD, mpaFlagB, on) }

// RTRWrite reports flag C: a zero-length Write is a ready-to-receive message.
func (m MPAEnhanced) RTRWrite() bool { return m[mpaORD]&mpaFlagA != 0 }

// SetRTRWrite sets flag C.
func (m MPAEnhanced) SetRTRWrite(on bool) { setIWARPFlag(m, mpaORD, mpaFlagA, on) }

// RTRRead reports flag D: a zero-length Read is a ready-to-receive message.
func (m MPAEnhanced) RTRRead() bool { return m[mpaORD]&mpaFlagB != 0 }

// SetRTRRead sets flag D.
func (m MPAEnhanced) SetRTRRead(on bool) { setIWARPFlag(m, mpaORD, mpaFlagB, on) }

// IRD returns how many Read Requests the sender of the frame can have pending
// as a responder.
func (m MPAEnhanced) IRD() uint16 { return binary.BigEndian.Uint16(m[mpaIRD:]) & MPANotNegotiated }

// SetIRD writes the IRD.
func (m MPAEnhanced) SetIRD(v uint16) { setLow14(m[mpaIRD:], v) }

// ORD returns how many Read Requests the sender of the frame wants to have
// outstanding.
func (m MPAEnhanced) ORD() uint16 { return binary.BigEndian.Uint16(m[mpaORD:]) & MPANotNegotiated }

// SetORD writes the ORD.
func (m MPAEnhanced) SetORD(v uint16) { setLow14(m[mpaORD:], v) }

// MPALegacy is a view of the private data in which SMB Direct exchanges IRD
// and ORD over MPA revision 1 ([MS-SMBD], Linux fs/smb/client/smbdirect.c).
// The integers are big-endian; old releases of cifs.ko wrote them
// little-endian.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              IRD                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              ORD                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MPALegacy []byte

// MPALegacyLen is the length of an MPALegacy.
const MPALegacyLen = 8

const (
	legacyIRD = 0
	legacyORD = 4
)

// IRD returns the IRD.
func (m MPALegacy) IRD() uint32 { return m.value(legacyIRD) }

// SetIRD writes the IRD, big-endian.
func (m MPALegacy) SetIRD(v uint32) { binary.BigEndian.PutUint32(m[legacyIRD:], v) }

// ORD returns the ORD.
func (m MPALegacy) ORD() uint32 { return m.value(legacyORD) }

// SetORD writes the ORD, big-endian.
func (m MPALegacy) SetORD(v uint32) { binary.BigEndian.PutUint32(m[legacyORD:], v) }

// LittleEndian reports that the integers have the byte order of old cifs.ko.
func (m MPALegacy) LittleEndian() bool {
	return !depthsFit(binary.BigEndian.Uint32(m), binary.BigEndian.Uint32(m[legacyORD:])) && depthsFit(binary.LittleEndian.Uint32(m), binary.LittleEndian.Uint32(m[legacyORD:]))
}

// Plausible reports that the eight bytes can be an IRD and an ORD in one of
// the two byte orders.
func (m MPALegacy) Plausible() bool {
	return depthsFit(binary.BigEndian.Uint32(m), binary.BigEndian.Uint32(m[legacyORD:])) || m.LittleEndian()
}

func (m MPALegacy) value(off int) uint32 {
	if m.LittleEndian() {
		return binary.LittleEndian.Uint32(m[off:])
	}
	return binary.BigEndian.Uint32(m[off:])
}

// depthsFit reports that ird and ord have the 14 bits that MPA can express,
// and are not both zero. Eight bytes of other private data rarely look so.
func depthsFit(ird, ord uint32) bool {
	return ird <= MPANotNegotiated && ord <= MPANotNegotiated && ird|ord != 0
}

// MPAMarker is a view of the marker that stands at every 512th byte of a
// marked stream (RFC 5044 section 4.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           Reserved            |            FPDUPTR            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MPAMarker []byte

// MPAMarkerLen and MPAMarkerStep are the length of a marker and the distance
// from one marker's first byte to the next one's.
const (
	MPAMarkerLen  = 4
	MPAMarkerStep = 512
)

// Reserved returns the reserved half, 0 in a true marker.
func (m MPAMarker) Reserved() uint16 { return binary.BigEndian.Uint16(m) }

// SetReserved writes the reserved half.
func (m MPAMarker) SetReserved(v uint16) { binary.BigEndian.PutUint16(m, v) }

// FPDUPtr returns the distance in stream bytes from the start of the FPDU's
// length field to the marker; 0 when the marker precedes the FPDU.
func (m MPAMarker) FPDUPtr() uint16 { return binary.BigEndian.Uint16(m[2:]) }

// SetFPDUPtr writes the distance.
func (m MPAMarker) SetFPDUPtr(v uint16) { binary.BigEndian.PutUint16(m[2:], v) }

// FPDU is a view of a framed PDU without its markers (RFC 5044 section 4.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          ULPDU_Length         |                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+             ULPDU             +
//	|                                                               |
//	+                               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                               |     PAD (0 to 3 octets)       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 CRC32c, low-order octet first                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type FPDU []byte

// The sizes of an FPDU's parts.
const (
	FPDULengthLen = 2
	FPDUCRCLen    = 4
)

// ULPDULen returns the length of the ULPDU.
func (f FPDU) ULPDULen() int { return int(binary.BigEndian.Uint16(f)) }

// SetULPDULen writes the length of the ULPDU.
func (f FPDU) SetULPDULen(n int) { binary.BigEndian.PutUint16(f, uint16(n)) }

// ULPDU returns the ULPDU.
func (f FPDU) ULPDU() []byte { return f[FPDULengthLen : FPDULengthLen+f.ULPDULen()] }

// CRC returns the CRC field.
func (f FPDU) CRC() uint32 { return binary.LittleEndian.Uint32(f[f.crcAt():]) }

// SetCRC writes the CRC field.
func (f FPDU) SetCRC(v uint32) { binary.LittleEndian.PutUint32(f[f.crcAt():], v) }

func (f FPDU) crcAt() int { return FPDULen(f.ULPDULen()) - FPDUCRCLen }

// FPDUPad returns how many pad bytes follow a ULPDU of n bytes.
func FPDUPad(n int) int { return -(FPDULengthLen + n) & 3 }

// FPDULen returns the length of an FPDU, its markers left out, that carries a
// ULPDU of n bytes.
func FPDULen(n int) int { return FPDULengthLen + n + FPDUPad(n) + FPDUCRCLen }

func setIWARPFlag(b []byte, at int, mask byte, on bool) {
	if on {
		b[at] |= mask
	} else {
		b[at] &^= mask
	}
}

func setLow14(b []byte, v uint16) {
	binary.BigEndian.PutUint16(b, binary.BigEndian.Uint16(b)&^uint16(MPANotNegotiated)|v&MPANotNegotiated)
}
