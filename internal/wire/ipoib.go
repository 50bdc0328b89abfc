package wire

// IPoIBPseudoLen is the length of the pseudo header.
const IPoIBPseudoLen = 20

const (
	ipoibQPN = 1
	ipoibGID = 4
)

// IPoIBPseudo is an IPoIB hardware address (RFC 4391, 9.1.1), the pseudo header
// before an IPoIB frame in a capture of link type 242.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+-----------------------------------------------+
//	|   reserved    |               destination QPN                 |
//	+---------------+-----------------------------------------------+
//	|                       destination GID                         |
//	|                                                               |
//	|                                                               |
//	|                                                               |
//	+---------------------------------------------------------------+
type IPoIBPseudo []byte

// QPN is the destination queue pair number.
func (h IPoIBPseudo) QPN() uint32 { return uint24(h[ipoibQPN:]) }

// SetQPN sets the destination queue pair number.
func (h IPoIBPseudo) SetQPN(v uint32) { putUint24(h[ipoibQPN:], v) }

// GID is the destination GID.
func (h IPoIBPseudo) GID() [16]byte { return [16]byte(h[ipoibGID:IPoIBPseudoLen]) }

// SetGID sets the destination GID.
func (h IPoIBPseudo) SetGID(g [16]byte) { copy(h[ipoibGID:IPoIBPseudoLen], g[:]) }

// IPoIBLen is the length of an IPoIB header.
const IPoIBLen = 4

const (
	ipoibType     = 0
	ipoibReserved = 2
)

// IPoIB is the IPoIB encapsulation header (RFC 4391, 6).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|             type              |           reserved            |
//	+-------------------------------+-------------------------------+
type IPoIB []byte

// EtherType is the type of what follows.
func (h IPoIB) EtherType() uint16 { return be.Uint16(h[ipoibType:]) }

// SetEtherType sets the type of what follows.
func (h IPoIB) SetEtherType(v uint16) { be.PutUint16(h[ipoibType:], v) }

// Reserved is the reserved half of the header.
func (h IPoIB) Reserved() uint16 { return be.Uint16(h[ipoibReserved:]) }

// SetReserved sets the reserved half of the header.
func (h IPoIB) SetReserved(v uint16) { be.PutUint16(h[ipoibReserved:], v) }

var ipoibPseudoSpec = Spec{
	ID: HdrIPoIBPseudo, Name: "ipoib.daddr", Title: "IPoIB Destination Address", Len: IPoIBPseudoLen,
	Fields: []Field{
		{Name: "ipoib.daddr.qpn", Title: "Destination QPN", Base: Hex, Bit: ipoibQPN * 8, Bits: 24},
		{Name: "ipoib.dgid", Title: "Destination GID", Kind: IPv6, Bit: ipoibGID * 8, Bits: 128},
	},
}

var ipoibSpec = Spec{
	ID: HdrIPoIB, Name: "ipoib", Title: "IP over InfiniBand", Len: IPoIBLen,
	Fields: []Field{
		{Name: "ipoib.type", Title: "Type", Base: Hex, Bit: ipoibType * 8, Bits: 16, Names: EtherTypeName},
		{Name: "ipoib.reserved", Title: "Reserved", Base: Hex, Bit: ipoibReserved * 8, Bits: 16},
	},
}
