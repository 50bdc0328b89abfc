package wire

// VXLANLen is the length of a VXLAN header.
const VXLANLen = 8

const (
	vxlanFlags    = 0
	vxlanPolicy   = 2
	vxlanVNI      = 4
	vxlanReserved = 7
	vxlanFlagI    = 0x08 // of byte 0
)

// VXLAN is a VXLAN header (RFC 7348, 5), with the fields of the group policy
// extension (draft-smith-vxlan-group-policy).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-------+-----+---------------+-------------------------------+
//	|G|R R R|I|R R R|R|D|R R|A|R R R|        group policy ID        |
//	+-+-----+-+-----+-+-+---+-+-----+---------------+---------------+
//	|            VXLAN network identifier           |   reserved    |
//	+-----------------------------------------------+---------------+
type VXLAN []byte

// Flags is the first 16 bits.
func (h VXLAN) Flags() uint16 { return be.Uint16(h[vxlanFlags:]) }

// SetFlags sets the first 16 bits.
func (h VXLAN) SetFlags(v uint16) { be.PutUint16(h[vxlanFlags:], v) }

// HasVNI is the I flag, which a valid header has.
func (h VXLAN) HasVNI() bool { return h[vxlanFlags]&vxlanFlagI != 0 }

// SetHasVNI sets the I flag.
func (h VXLAN) SetHasVNI(on bool) { putBit(&h[vxlanFlags], vxlanFlagI, on) }

// Policy is the group policy ID.
func (h VXLAN) Policy() uint16 { return be.Uint16(h[vxlanPolicy:]) }

// SetPolicy sets the group policy ID.
func (h VXLAN) SetPolicy(v uint16) { be.PutUint16(h[vxlanPolicy:], v) }

// VNI is the VXLAN network identifier.
func (h VXLAN) VNI() uint32 { return uint24(h[vxlanVNI:]) }

// SetVNI sets the VXLAN network identifier.
func (h VXLAN) SetVNI(v uint32) { putUint24(h[vxlanVNI:], v) }

var vxlanSpec = Spec{
	ID: HdrVXLAN, Name: "vxlan", Title: "Virtual eXtensible Local Area Network", Len: VXLANLen,
	Fields: []Field{
		{Name: "vxlan.flags", Title: "Flags", Base: Hex, Bit: vxlanFlags * 8, Bits: 16},
		{Name: "vxlan.flag_g", Title: "GBP Extension", Kind: Bool, Bit: 0, Bits: 1},
		{Name: "vxlan.flag_i", Title: "VXLAN Network ID (VNI)", Kind: Bool, Bit: 4, Bits: 1},
		{Name: "vxlan.flag_d", Title: "Don't Learn", Kind: Bool, Bit: 9, Bits: 1},
		{Name: "vxlan.flag_a", Title: "Policy Applied", Kind: Bool, Bit: 12, Bits: 1},
		{Name: "vxlan.gbp", Title: "Group Policy ID", Bit: vxlanPolicy * 8, Bits: 16},
		{Name: "vxlan.vni", Title: "VXLAN Network Identifier (VNI)", Bit: vxlanVNI * 8, Bits: 24},
		{Name: "vxlan.reserved8", Title: "Reserved", Bit: vxlanReserved * 8, Bits: 8},
	},
}
