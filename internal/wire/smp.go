package wire

// Where the parts of a subnet management packet lie in the datagram
// (IBTA vol. 1, 14.2.1.1 and 14.2.1.2).
const (
	smpDataOff = 64
	smpDataEnd = 128
)

// The header of a LID-routed subnet management packet:
//
//	+---------------------------------------------------------------+
//	|                            M_Key                              |
//	|                                                               |
//	+---------------------------------------------------------------+
//	|                     reserved (32 bytes)                       |
//	+---------------------------------------------------------------+
var smpLIDSpec = Spec{ID: HdrSMPLID, Name: "infiniband.smplid", Title: "Subnet Management Packet (LID Routed)", Len: SMPLen, Fields: []Field{
	{Name: "infiniband.smplid.mkey", Title: "M_Key", Base: Hex, Bits: 64},
}}

// SMPLen is the length of the header of a subnet management packet of either
// kind.
const SMPLen = 40

// SMP is the header of a directed-route packet. The direction bit, the hop
// pointer and the hop count lie in the common header (mad.go). In a LID-routed
// packet the two LIDs are reserved.
//
//	+---------------------------------------------------------------+
//	|                            M_Key                              |
//	|                                                               |
//	+-------------------------------+-------------------------------+
//	|            DrSLID             |            DrDLID             |
//	+-------------------------------+-------------------------------+
//	|                     reserved (28 bytes)                       |
//	+---------------------------------------------------------------+
type SMP []byte

// MKey is the management key.
func (h SMP) MKey() uint64 { return be.Uint64(h) }

// SetMKey sets the management key.
func (h SMP) SetMKey(v uint64) { be.PutUint64(h, v) }

// DrSLID is the source LID of the directed part of the route.
func (h SMP) DrSLID() uint16 { return be.Uint16(h[8:]) }

// SetDrSLID sets the source LID of the directed part of the route.
func (h SMP) SetDrSLID(v uint16) { be.PutUint16(h[8:], v) }

// DrDLID is the destination LID of the directed part of the route.
func (h SMP) DrDLID() uint16 { return be.Uint16(h[10:]) }

// SetDrDLID sets the destination LID of the directed part of the route.
func (h SMP) SetDrDLID(v uint16) { be.PutUint16(h[10:], v) }

var smpDirectedSpec = Spec{ID: HdrSMPDirected, Name: "infiniband.smpdirected", Title: "Subnet Management Packet (Directed Route)", Len: SMPLen, Fields: []Field{
	{Name: "infiniband.smplid.mkey", Title: "M_Key", Base: Hex, Bits: 64},
	{Name: "infiniband.smpdirected.drslid", Title: "Directed-Route Source LID", Base: Hex, Bit: 64, Bits: 16},
	{Name: "infiniband.smpdirected.drdlid", Title: "Directed-Route Destination LID", Base: Hex, Bit: 80, Bits: 16},
}}

// The two port lists at the end of a directed-route packet, one byte a hop.
var smpPathsSpec = Spec{ID: HdrSMPPaths, Name: "infiniband.smpdirected.paths", Title: "Directed-Route Paths", Len: 128, Fields: []Field{
	{Name: "infiniband.smpdirected.initialpath", Title: "Initial Path", Kind: Bytes, Bits: 512},
	{Name: "infiniband.smpdirected.returnpath", Title: "Return Path", Kind: Bytes, Bit: 512, Bits: 512},
}}

// smpAttribute names the header of a subnet management attribute
// (IBTA vol. 1, table 14.2.5), HdrNone for one that is not described.
func smpAttribute(attr uint16) HeaderID {
	switch attr {
	case 0x0002:
		return HdrNotice
	case 0x0010:
		return HdrNodeDescription
	case 0x0011:
		return HdrNodeInfo
	case 0x0012:
		return HdrSwitchInfo
	case 0x0014:
		return HdrGUIDInfo
	case 0x0015:
		return HdrPortInfo
	case 0x0016:
		return HdrPKeyTable
	case 0x0017:
		return HdrSLtoVLTable
	case 0x0018:
		return HdrVLArbitrationTable
	case 0x0019:
		return HdrLinearForwardingTable
	case 0x001A:
		return HdrRandomForwardingTable
	case 0x001B:
		return HdrMulticastForwardingTable
	case 0x001C:
		return HdrLinkSpeedWidthPairs
	case 0x0020:
		return HdrSMInfo
	case 0x0030:
		return HdrVendorDiag
	case 0x0031:
		return HdrLedInfo
	}
	return HdrNone
}

func smpAttributeName(attr uint16) string {
	switch attr {
	case 0x0002:
		return "Notice"
	case 0x0010:
		return "NodeDescription"
	case 0x0011:
		return "NodeInfo"
	case 0x0012:
		return "SwitchInfo"
	case 0x0014:
		return "GUIDInfo"
	case 0x0015:
		return "PortInfo"
	case 0x0016:
		return "P_KeyTable"
	case 0x0017:
		return "SLtoVLMappingTable"
	case 0x0018:
		return "VLArbitrationTable"
	case 0x0019:
		return "LinearForwardingTable"
	case 0x001A:
		return "RandomForwardingTable"
	case 0x001B:
		return "MulticastForwardingTable"
	case 0x001C:
		return "LinkSpeedWidthPairsTable"
	case 0x0020:
		return "SMInfo"
	case 0x0030:
		return "VendorDiag"
	case 0x0031:
		return "LedInfo"
	}
	return ""
}
