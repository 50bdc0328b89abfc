package wire

var mpaRequestSpec = mpaStartSpec(HdrMPARequest, "iwarp_mpa.req", "MPA Request Frame", "iwarp_mpa.key.req")

var mpaReplySpec = mpaStartSpec(HdrMPAReply, "iwarp_mpa.rep", "MPA Reply Frame", "iwarp_mpa.key.rep")

func mpaStartSpec(id HeaderID, name, title, key string) Spec {
	return Spec{
		ID: id, Name: name, Title: title, Len: MPAStartLen,
		Fields: []Field{
			{Name: key, Title: "Key", Kind: Bytes, Bit: 0, Bits: 128},
			{Name: "iwarp_mpa.marker_flag", Title: "Marker flag (M)", Kind: Bool, Bit: 128, Bits: 1},
			{Name: "iwarp_mpa.crc_flag", Title: "CRC flag (C)", Kind: Bool, Bit: 129, Bits: 1},
			{Name: "iwarp_mpa.rej_flag", Title: "Connection rejected flag (R)", Kind: Bool, Bit: 130, Bits: 1},
			{Name: "iwarp_mpa.enhanced_flag", Title: "Enhanced connection set-up flag (S)", Kind: Bool, Bit: 131, Bits: 1, When: isMPAv2},
			{Name: "iwarp_mpa.res", Title: "Reserved", Base: Hex, Bit: 132, Bits: 4, When: isMPAv2},
			{Name: "iwarp_mpa.res", Title: "Reserved", Base: Hex, Bit: 131, Bits: 5, When: isMPAv1},
			{Name: "iwarp_mpa.rev", Title: "Revision", Bit: 136, Bits: 8},
			{Name: "iwarp_mpa.pdlength", Title: "Private data length", Bit: 144, Bits: 16},
		},
	}
}

func isMPAv1(h []byte) bool { return len(h) > mpaRevision && h[mpaRevision] < 2 }

func isMPAv2(h []byte) bool { return len(h) > mpaRevision && h[mpaRevision] >= 2 }

var mpaEnhancedSpec = Spec{
	ID: HdrMPAEnhanced, Name: "iwarp_mpa.enhanced", Title: "Enhanced RDMA Connection Establishment Data", Len: MPAEnhancedLen,
	Fields: []Field{
		{Name: "iwarp_mpa.enhanced.a", Title: "Peer-to-peer model (A)", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "iwarp_mpa.enhanced.b", Title: "Zero-length Send as RTR (B)", Kind: Bool, Bit: 1, Bits: 1},
		{Name: "iwarp_mpa.enhanced.ird", Title: "IRD", Bit: 2, Bits: 14},
		{Name: "iwarp_mpa.enhanced.c", Title: "Zero-length Write as RTR (C)", Kind: Bool, Bit: 16, Bits: 1},
		{Name: "iwarp_mpa.enhanced.D", Title: "Zero-length Read as RTR (D)", Kind: Bool, Bit: 17, Bits: 1},
		{Name: "iwarp_mpa.enhanced.ord", Title: "ORD", Bit: 18, Bits: 14},
	},
}

// A field is read big-endian, so the little-endian form shows as bytes.
var mpaLegacySpec = Spec{
	ID: HdrMPALegacy, Name: "iwarp_mpa.legacy", Title: "IRD and ORD in the private data", Len: MPALegacyLen,
	Fields: []Field{
		{Name: "iwarp_mpa.legacy.ird", Title: "IRD", Bit: 0, Bits: 32, When: isLegacyBE},
		{Name: "iwarp_mpa.legacy.ord", Title: "ORD", Bit: 32, Bits: 32, When: isLegacyBE},
		{Name: "iwarp_mpa.broken_le_legacy", Title: "IRD and ORD in little-endian order", Kind: Bytes, Bit: 0, Bits: 64, When: isLegacyLE},
	},
}

func isLegacyBE(h []byte) bool { return !isLegacyLE(h) }

func isLegacyLE(h []byte) bool { return len(h) >= MPALegacyLen && MPALegacy(h).LittleEndian() }

var mpaPrivateSpec = Spec{
	ID: HdrMPAPrivate, Name: "iwarp_mpa.privatedata", Title: "Private Data",
	Fields: []Field{
		{Name: "iwarp_mpa.privatedata", Title: "Private data", Kind: Bytes},
	},
}

var fpduSpec = Spec{
	ID: HdrFPDU, Name: "iwarp_mpa.fpdu", Title: "MPA FPDU", Len: FPDULengthLen,
	Fields: []Field{
		{Name: "iwarp_mpa.ulpdulength", Title: "ULPDU length", Bit: 0, Bits: 16},
	},
}

var mpaMarkerSpec = Spec{
	ID: HdrMPAMarker, Name: "iwarp_mpa.markers", Title: "MPA Marker", Len: MPAMarkerLen,
	Fields: []Field{
		{Name: "iwarp_mpa.marker_res", Title: "Reserved", Base: Hex, Bit: 0, Bits: 16},
		{Name: "iwarp_mpa.marker_fpduptr", Title: "FPDU back pointer", Bit: 16, Bits: 16},
	},
}

// fpduPayloadSpec has no Wireshark name: Wireshark hands the bytes on to its
// generic data dissector.
var fpduPayloadSpec = Spec{
	ID: HdrFPDUPayload, Name: "iwarp_rdma.payload", Title: "Payload",
	Fields: []Field{
		{Name: "iwarp_rdma.payload", Title: "Payload", Kind: Bytes},
	},
}

var fpduPadSpec = Spec{
	ID: HdrFPDUPad, Name: "iwarp_mpa.pad", Title: "MPA Pad",
	Fields: []Field{
		{Name: "iwarp_mpa.pad", Title: "Padding", Kind: Bytes},
	},
}

// fpduCRCSpec names the CRC twice, as Wireshark does: it says crc_check where
// CRCs are in use and crc where they are not. Both show the four bytes in the
// order of the wire.
var fpduCRCSpec = Spec{
	ID: HdrFPDUCRC, Name: "iwarp_mpa.crc", Title: "MPA CRC32c", Len: FPDUCRCLen,
	Fields: []Field{
		{Name: "iwarp_mpa.crc", Title: "CRC", Base: Hex, Bit: 0, Bits: 32},
		{Name: "iwarp_mpa.crc_check", Title: "CRC check", Base: Hex, Bit: 0, Bits: 32},
	},
}
