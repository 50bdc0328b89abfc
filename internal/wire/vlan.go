package wire

// VLANLen is the length of a VLAN tag.
const VLANLen = 4

const (
	vlanTCI          = 0
	vlanType         = 2
	vlanPriorityMask = 0xE000
	vlanDEIMask      = 0x1000
	vlanIDMask       = 0x0FFF
)

// VLAN is an IEEE 802.1Q or 802.1ad tag: what follows the EtherType 0x8100 or
// 0x88A8, up to and with the next EtherType.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-----+-+-----------------------+-------------------------------+
//	| PCP |D|        VLAN ID        |             type              |
//	+-----+-+-----------------------+-------------------------------+
type VLAN []byte

func (h VLAN) tci() uint16 { return be.Uint16(h[vlanTCI:]) }

func (h VLAN) setTCI(v, mask uint16) {
	be.PutUint16(h[vlanTCI:], merge(h.tci(), v, mask))
}

// Priority is the priority code point, the class that PFC pauses.
func (h VLAN) Priority() uint8 { return uint8(h.tci() >> 13) }

// SetPriority sets the priority code point.
func (h VLAN) SetPriority(v uint8) { h.setTCI(uint16(v)<<13, vlanPriorityMask) }

// DEI is the drop eligible indicator.
func (h VLAN) DEI() bool { return h.tci()&vlanDEIMask != 0 }

// SetDEI sets the drop eligible indicator.
func (h VLAN) SetDEI(on bool) { putBit(&h[vlanTCI], vlanDEIMask>>8, on) }

// ID is the VLAN identifier.
func (h VLAN) ID() uint16 { return h.tci() & vlanIDMask }

// SetID sets the VLAN identifier.
func (h VLAN) SetID(v uint16) { h.setTCI(v, vlanIDMask) }

// EtherType is the type of what follows the tag.
func (h VLAN) EtherType() uint16 { return be.Uint16(h[vlanType:]) }

// SetEtherType sets the type of what follows the tag.
func (h VLAN) SetEtherType(v uint16) { be.PutUint16(h[vlanType:], v) }

var vlanSpec = Spec{
	ID: HdrVLAN, Name: "vlan", Title: "802.1Q Virtual LAN", Len: VLANLen,
	Fields: []Field{
		{Name: "vlan.priority", Title: "Priority", Bit: 0, Bits: 3, Width: 16},
		{Name: "vlan.dei", Title: "DEI", Kind: Bool, Bit: 3, Bits: 1},
		{Name: "vlan.id", Title: "ID", Bit: 4, Bits: 12, Width: 16},
		{Name: "vlan.etype", Title: "Type", Base: Hex, Bit: vlanType * 8, Bits: 16, Names: EtherTypeName},
	},
}

// serviceVLANSpec is the same tag under its own names: a filter on vlan.id is
// about the customer's VLAN.
var serviceVLANSpec = Spec{
	ID: HdrServiceVLAN, Name: "ieee8021ad", Title: "802.1ad Service VLAN", Len: VLANLen,
	Fields: []Field{
		{Name: "ieee8021ad.priority", Title: "Priority", Bit: 0, Bits: 3, Width: 16},
		{Name: "ieee8021ad.dei", Title: "DEI", Bit: 3, Bits: 1, Width: 16},
		{Name: "ieee8021ad.id", Title: "ID", Bit: 4, Bits: 12, Width: 16},
		{Name: "ieee8021ah.etype", Title: "Type", Base: Hex, Bit: vlanType * 8, Bits: 16, Names: EtherTypeName},
	},
}
