package wire

// The parts of a packet behind its headers.

// The lengths of the two CRCs of a packet.
const (
	ICRCLen = 4
	VCRCLen = 2
)

var payloadSpec = Spec{ID: HdrPayload, Name: "infiniband.payload", Title: "Payload"}

var padSpec = Spec{ID: HdrPad, Name: "infiniband.pad", Title: "Pad"}

var icrcSpec = Spec{ID: HdrICRC, Name: "infiniband.icrc", Title: "Invariant CRC", Len: ICRCLen, Fields: []Field{
	{Name: "infiniband.invariant.crc", Title: "Invariant CRC", Base: Hex, Bit: 0, Bits: 32},
}}

var vcrcSpec = Spec{ID: HdrVCRC, Name: "infiniband.vcrc", Title: "Variant CRC", Len: VCRCLen, Fields: []Field{
	{Name: "infiniband.variant.crc", Title: "Variant CRC", Base: Hex, Bit: 0, Bits: 16},
}}

var trailerSpec = Spec{ID: HdrTrailer, Name: "eth.trailer", Title: "Trailer"}

var tcpPayloadSpec = Spec{ID: HdrTCPPayload, Name: "tcp.payload", Title: "TCP payload"}
