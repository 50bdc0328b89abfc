package layers

import "github.com/rocecap/rocecap/internal/wire"

// The types of header fields, with their methods.
type (
	// Opcode is the first byte of a BTH. Its String is the operation's name,
	// its Info says which headers follow.
	Opcode = wire.Opcode
	// OpcodeInfo is what an opcode implies.
	OpcodeInfo = wire.OpcodeInfo
	// HeaderID names a header in OpcodeInfo; LayerTypeOf gives its layer type.
	HeaderID = wire.HeaderID
	// Service is the transport service of an opcode.
	Service = wire.Service
	// Place says where in its message a packet stands.
	Place = wire.Place
	// PSN is a 24-bit packet sequence number. PSNs wrap: compare them with its
	// methods.
	PSN = wire.PSN
	// Syndrome is the first byte of an AETH.
	Syndrome = wire.Syndrome
	// AckKind is what a Syndrome says: ACK, RNR NAK or NAK.
	AckKind = wire.AckKind
	// RDMAPOpcode says what message a DDP segment belongs to.
	RDMAPOpcode = wire.RDMAPOpcode
)

// The transport services.
const (
	ServiceNone         = wire.ServiceNone
	ServiceRC           = wire.RC
	ServiceUC           = wire.UC
	ServiceRD           = wire.RD
	ServiceUD           = wire.UD
	ServiceCNP          = wire.CNP
	ServiceXRC          = wire.XRC
	ServiceManufacturer = wire.Manufacturer
)

// The places of a packet in its message.
const (
	PlaceNone   = wire.PlaceNone
	PlaceFirst  = wire.PlaceFirst
	PlaceMiddle = wire.PlaceMiddle
	PlaceLast   = wire.PlaceLast
	PlaceOnly   = wire.PlaceOnly
)

// The kinds of acknowledgement, Syndrome.Kind.
const (
	Ack         = wire.Ack
	RNRNak      = wire.RNRNak
	AckReserved = wire.AckReserved
	Nak         = wire.Nak
)

// The NAK codes, Syndrome.Code of a Nak.
const (
	NakPSNSequence      = wire.NakPSNSequence
	NakInvalidRequest   = wire.NakInvalidRequest
	NakRemoteAccess     = wire.NakRemoteAccess
	NakRemoteOperation  = wire.NakRemoteOperation
	NakInvalidRDRequest = wire.NakInvalidRDRequest
)

// NewSyndrome makes a Syndrome from its kind and its 5-bit code.
func NewSyndrome(kind AckKind, code uint8) Syndrome {
	return Syndrome(uint8(kind)<<5 | code&0x1F)
}
