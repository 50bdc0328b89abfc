package layers

import "github.com/rocecap/rocecap/internal/wire"

// The types of header fields. They are shared with the rest of the toolkit, and
// go doc does not show their methods: each comment lists them.
type (
	// Opcode is the first byte of a BTH: String() string, the operation's name;
	// Service() Service; Info() *OpcodeInfo.
	Opcode = wire.Opcode
	// OpcodeInfo is what an opcode implies: the fields Name, Service, Place,
	// Response and Payload; Defined() bool; Extended() []HeaderID, the headers
	// behind the BTH in order; HeaderLen() int, bytes of BTH and these.
	OpcodeInfo = wire.OpcodeInfo
	// HeaderID names a header in OpcodeInfo; LayerTypeOf gives its layer type.
	HeaderID = wire.HeaderID
	// Service is the transport service of an opcode: String() string.
	Service = wire.Service
	// Place says where in its message a packet stands.
	Place = wire.Place
	// PSN is a 24-bit packet sequence number. PSNs wrap, so never compare them
	// with <: Add(n int) PSN; Diff(q PSN) int, how many packets it is ahead of q;
	// Less(q PSN) bool; InRange(first PSN, n int) bool.
	PSN = wire.PSN
	// Syndrome is the first byte of an AETH: Kind() AckKind; Code() uint8, the
	// low five bits; Defined() bool; Credits() (n int, ok bool), the receive
	// credits of an ACK; RNRTimer() time.Duration, the wait that an RNR NAK asks
	// for.
	Syndrome = wire.Syndrome
	// AckKind is what a Syndrome says: ACK, RNR NAK or NAK.
	AckKind = wire.AckKind
	// RDMAPOpcode says what message a DDP segment belongs to: String() string;
	// Known, Tagged, Invalidates() bool; QN() uint32, the queue of an untagged
	// one; BodyLen() (n int, ok bool), the bytes behind the DDP header where
	// their number is fixed.
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
func NewSyndrome(kind AckKind, code uint8) Syndrome { return wire.NewSyndrome(kind, code) }
