package wire

// EtherTypes that a frame with RDMA in it can have (IEEE registry).
const (
	EtherTypeIPv4          = 0x0800
	EtherTypeARP           = 0x0806
	EtherTypeTransparent   = 0x6558 // Ethernet inside GRE or Geneve
	EtherTypeVLAN          = 0x8100
	EtherTypeIPv6          = 0x86DD
	EtherTypeMACControl    = 0x8808
	EtherTypeMPLS          = 0x8847
	EtherTypeMPLSMulticast = 0x8848
	EtherTypeQinQ          = 0x88A8 // 802.1ad service tag
	EtherTypeERSPAN2       = 0x88BE // GRE protocol of ERSPAN types I and II
	EtherTypeRoCE          = 0x8915 // RoCEv1 (IBTA annex A16)
	EtherTypeQinQOld       = 0x9100 // service tag before 802.1ad
	EtherTypeERSPAN3       = 0x22EB // GRE protocol of ERSPAN type III
)

// minEtherType is the lowest value that is a type and not a length
// (IEEE 802.3, 3.2.6).
const minEtherType = 0x0600

// EthernetLen is the length of an Ethernet II header.
const EthernetLen = 14

const (
	ethDst  = 0
	ethSrc  = 6
	ethType = 12
)

// Ethernet is an Ethernet II header.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                          destination                          |
//	+-------------------------------+-------------------------------+
//	|     destination (cont.)       |            source             |
//	+-------------------------------+-------------------------------+
//	|                        source (cont.)                         |
//	+-------------------------------+-------------------------------+
//	|        type or length         |
//	+-------------------------------+
type Ethernet []byte

// Dst is the destination address.
func (h Ethernet) Dst() [6]byte { return [6]byte(h[ethDst:ethSrc]) }

// SetDst sets the destination address.
func (h Ethernet) SetDst(a [6]byte) { copy(h[ethDst:ethSrc], a[:]) }

// Src is the source address.
func (h Ethernet) Src() [6]byte { return [6]byte(h[ethSrc:ethType]) }

// SetSrc sets the source address.
func (h Ethernet) SetSrc(a [6]byte) { copy(h[ethSrc:ethType], a[:]) }

// Type is the EtherType; IsLength says when it is a length instead.
func (h Ethernet) Type() uint16 { return be.Uint16(h[ethType:]) }

// SetType sets the EtherType.
func (h Ethernet) SetType(v uint16) { be.PutUint16(h[ethType:], v) }

// IsLength reports whether the frame is an 802.3 one, whose type field is a
// length.
func (h Ethernet) IsLength() bool { return h.Type() < minEtherType }

var ethernetSpec = Spec{
	ID: HdrEthernet, Name: "eth", Title: "Ethernet II", Len: EthernetLen,
	Fields: []Field{
		{Name: "eth.dst", Title: "Destination", Kind: MAC, Bit: ethDst * 8, Bits: 48},
		{Name: "eth.src", Title: "Source", Kind: MAC, Bit: ethSrc * 8, Bits: 48},
		{Name: "eth.type", Title: "Type", Base: Hex, Bit: ethType * 8, Bits: 16, Names: EtherTypeName, When: ethHasType},
		{Name: "eth.len", Title: "Length", Bit: ethType * 8, Bits: 16, When: ethHasLength},
	},
}

func ethHasType(h []byte) bool   { return !Ethernet(h).IsLength() }
func ethHasLength(h []byte) bool { return Ethernet(h).IsLength() }

// EtherTypeName names an EtherType, "" for one that this package does not know.
func EtherTypeName(v uint64) string {
	switch v {
	case EtherTypeIPv4:
		return "IPv4"
	case EtherTypeARP:
		return "ARP"
	case EtherTypeTransparent:
		return "Transparent Ethernet bridging"
	case EtherTypeVLAN:
		return "802.1Q VLAN"
	case EtherTypeIPv6:
		return "IPv6"
	case EtherTypeMACControl:
		return "MAC Control"
	case EtherTypeMPLS:
		return "MPLS"
	case EtherTypeMPLSMulticast:
		return "MPLS multicast"
	case EtherTypeQinQ:
		return "802.1ad VLAN"
	case EtherTypeERSPAN2:
		return "ERSPAN II"
	case EtherTypeRoCE:
		return "RoCEv1"
	case EtherTypeQinQOld:
		return "QinQ"
	case EtherTypeERSPAN3:
		return "ERSPAN III"
	}
	return ""
}
