package wire

// GeneveMinLen is the length of a Geneve header without options.
const GeneveMinLen = 8

const (
	geneveVersion     = 0
	geneveFlags       = 1
	geneveProtocol    = 2
	geneveVNI         = 4
	geneveReserved    = 7
	geneveVersionMask = 0xC0 // of byte 0
	geneveOptLenMask  = 0x3F // of byte 0
	geneveFlagOAM     = 0x80 // of byte 1
	geneveFlagCrit    = 0x40 // of byte 1
)

// Geneve is a Geneve header (RFC 8926, 3.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---+-----------+-+-+-----------+-------------------------------+
//	|ver|  opt len  |O|C| reserved  |         protocol type         |
//	+---+-----------+-+-+-----------+---------------+---------------+
//	|           virtual network identifier          |   reserved    |
//	+-----------------------------------------------+---------------+
//	|                    options, 0 to 252 bytes                    |
//	+---------------------------------------------------------------+
type Geneve []byte

// Version is the version, 0.
func (h Geneve) Version() uint8 { return h[geneveVersion] >> 6 }

// SetVersion sets the version.
func (h Geneve) SetVersion(v uint8) {
	putBits(&h[geneveVersion], geneveVersionMask, v<<6)
}

// OptionsLen is the length in bytes that the options claim, 0 to 252.
func (h Geneve) OptionsLen() int { return int(h[geneveVersion]&geneveOptLenMask) * 4 }

// SetOptionsLen sets the length of the options in bytes, a multiple of 4.
func (h Geneve) SetOptionsLen(n int) {
	putBits(&h[geneveVersion], geneveOptLenMask, uint8(n/4))
}

// HeaderLen is the length of header and options that the header claims, 8 to 260.
func (h Geneve) HeaderLen() int { return GeneveMinLen + h.OptionsLen() }

// OAM is the flag of a control packet.
func (h Geneve) OAM() bool { return h[geneveFlags]&geneveFlagOAM != 0 }

// SetOAM sets the flag of a control packet.
func (h Geneve) SetOAM(on bool) { putBit(&h[geneveFlags], geneveFlagOAM, on) }

// Critical reports whether an option must not be ignored.
func (h Geneve) Critical() bool { return h[geneveFlags]&geneveFlagCrit != 0 }

// SetCritical says that an option must not be ignored.
func (h Geneve) SetCritical(on bool) { putBit(&h[geneveFlags], geneveFlagCrit, on) }

// Protocol is the EtherType of what follows.
func (h Geneve) Protocol() uint16 { return be.Uint16(h[geneveProtocol:]) }

// SetProtocol sets the EtherType of what follows.
func (h Geneve) SetProtocol(v uint16) { be.PutUint16(h[geneveProtocol:], v) }

// VNI is the virtual network identifier.
func (h Geneve) VNI() uint32 { return uint24(h[geneveVNI:]) }

// SetVNI sets the virtual network identifier.
func (h Geneve) SetVNI(v uint32) { putUint24(h[geneveVNI:], v) }

// Options is the part of the claimed header behind the fixed 8 bytes, as much
// of it as was captured.
func (h Geneve) Options() []byte { return optionBytes(h, GeneveMinLen, h.HeaderLen()) }

var geneveSpec = Spec{
	ID: HdrGeneve, Name: "geneve", Title: "Generic Network Virtualization Encapsulation", Len: GeneveMinLen,
	Fields: []Field{
		{Name: "geneve.version", Title: "Version", Bit: 0, Bits: 2},
		{Name: "geneve.option.length", Title: "Options Length", Bit: 2, Bits: 6, Scale: 4},
		{Name: "geneve.flags", Title: "Flags", Base: Hex, Bit: geneveFlags * 8, Bits: 8},
		{Name: "geneve.flags.oam", Title: "Operations, Administration and Management Frame", Kind: Bool, Bit: geneveFlags * 8, Bits: 1},
		{Name: "geneve.flags.critical", Title: "Critical Options Present", Kind: Bool, Bit: geneveFlags*8 + 1, Bits: 1},
		{Name: "geneve.flags.reserved", Title: "Reserved", Kind: Bool, Bit: geneveFlags*8 + 2, Bits: 6},
		{Name: "geneve.proto_type", Title: "Protocol Type", Base: Hex, Bit: geneveProtocol * 8, Bits: 16, Names: EtherTypeName},
		{Name: "geneve.vni", Title: "Virtual Network Identifier (VNI)", Base: Hex, Bit: geneveVNI * 8, Bits: 24},
		{Name: "geneve.reserved", Title: "Reserved", Base: Hex, Bit: geneveReserved * 8, Bits: 8},
		{Name: "geneve.options", Title: "Geneve Options", Kind: Bytes, Bit: GeneveMinLen * 8, When: geneveHasOptions},
	},
}

func geneveHasOptions(h []byte) bool { return Geneve(h).OptionsLen() > 0 }
