package wire

// The lengths of the NVMe structures that a capsule begins with (NVMe over
// Fabrics 1.1, 2.1).
const (
	NVMeCommandLen  = 64
	NVMeResponseLen = 16
)

// NVMe opcodes (NVM Express base specification, figures 138 and 346; the
// Fabrics command set: NVMe over Fabrics 1.1, 3).
const (
	nvmeWrite   = 0x01
	nvmeRead    = 0x02
	nvmeFabrics = 0x7F
)

// nvmeIOName names an opcode of the I/O command set.
func nvmeIOName(v uint64) string {
	switch v {
	case 0x00:
		return "Flush"
	case nvmeWrite:
		return "Write"
	case nvmeRead:
		return "Read"
	case 0x04:
		return "Write Uncorrectable"
	case 0x05:
		return "Compare"
	case 0x08:
		return "Write Zeroes"
	case 0x09:
		return "Dataset Management"
	case nvmeFabrics:
		return "Fabrics"
	}
	return ""
}

func nvmeFabricsName(v uint64) string {
	switch v {
	case 0x00:
		return "Property Set"
	case 0x01:
		return "Connect"
	case 0x04:
		return "Property Get"
	case 0x05:
		return "Authentication Send"
	case 0x06:
		return "Authentication Receive"
	case 0x08:
		return "Disconnect"
	}
	return ""
}

// nvmeSGLName names a descriptor type (NVM Express base, 4.1.2).
func nvmeSGLName(v uint64) string {
	switch v {
	case 0:
		return "Data Block"
	case 2:
		return "Segment"
	case 3:
		return "Last Segment"
	case 4:
		return "Keyed Data Block"
	case 5:
		return "Transport Data Block"
	}
	return ""
}

func nvmeIsFabrics(h []byte) bool { return len(h) > 0 && h[0] == nvmeFabrics }

func nvmeHasNSID(h []byte) bool { return !nvmeIsFabrics(h) }

// nvmeHasBlocks is true of the commands that name a range of blocks. Queue 0
// gives the same opcodes another meaning; UpperNVMeAdmin has its own header.
func nvmeHasBlocks(h []byte) bool { return len(h) > 0 && (h[0] == nvmeWrite || h[0] == nvmeRead) }

func nvmeKeyed(h []byte) bool { return len(h) > 39 && h[39]>>4 == 4 }

var nvmeCommandSpec = Spec{ID: HdrNVMeCommand, Name: "nvme.cmd", Title: "NVMe Command", Len: NVMeCommandLen, Fields: []Field{
	{Name: "nvme.cmd.opc", Title: "Opcode", Base: Hex, Bit: 0, Bits: 8, Names: nvmeIOName},
	{Name: "nvme.cmd.psdt", Title: "PRP Or SGL", Base: Hex, Bit: 8, Bits: 2},
	{Name: "nvme.cmd.fuse_op", Title: "Fuse Operation", Base: Hex, Bit: 14, Bits: 2},
	{Name: "nvme.cmd.cid", Title: "Command ID", Base: Hex, Bit: 16, Bits: 16, Little: true},
	{Name: "nvme.cmd.fctype", Title: "Fabrics Command Type", Base: Hex, Bit: 32, Bits: 8, Names: nvmeFabricsName, When: nvmeIsFabrics},
	{Name: "nvme.cmd.nsid", Title: "Namespace Id", Base: Hex, Bit: 32, Bits: 32, Little: true, When: nvmeHasNSID},
	{Name: "nvme.cmd.mptr", Title: "Metadata Pointer", Base: Hex, Bit: 128, Bits: 64, Little: true, When: nvmeHasNSID},
	{Name: "nvme.cmd.sgl1.addr", Title: "SGL Address", Base: Hex, Bit: 192, Bits: 64, Little: true},
	{Name: "nvme.cmd.sgl1.len", Title: "SGL Length", Bit: 256, Bits: 24, Little: true, When: nvmeKeyed},
	{Name: "nvme.cmd.sgl1.key", Title: "SGL Key", Base: Hex, Bit: 280, Bits: 32, Little: true, When: nvmeKeyed},
	{Name: "nvme.cmd.sgl1.len", Title: "SGL Length", Bit: 256, Bits: 32, Little: true, When: func(h []byte) bool { return !nvmeKeyed(h) }},
	{Name: "nvme.cmd.sgl.type", Title: "Descriptor Type", Base: Hex, Bit: 312, Bits: 4, Names: nvmeSGLName},
	{Name: "nvme.cmd.sgl.subtype", Title: "Descriptor Sub Type", Base: Hex, Bit: 316, Bits: 4},
	{Name: "nvme.cmd.slba", Title: "Start LBA", Base: Hex, Bit: 320, Bits: 64, Little: true, When: nvmeHasBlocks},
	{Name: "nvme.cmd.nlb", Title: "Number of Logical Blocks, less one", Bit: 384, Bits: 16, Little: true, When: nvmeHasBlocks},
}}

var nvmeResponseSpec = Spec{ID: HdrNVMeResponse, Name: "nvme.cqe", Title: "NVMe Completion", Len: NVMeResponseLen, Fields: []Field{
	{Name: "nvme.cqe.dword0", Title: "DWORD0", Base: Hex, Bit: 0, Bits: 32, Little: true},
	{Name: "nvme.cqe.dword1", Title: "DWORD1", Base: Hex, Bit: 32, Bits: 32, Little: true},
	{Name: "nvme.cqe.sqhd", Title: "SQ Head Pointer", Base: Hex, Bit: 64, Bits: 16, Little: true},
	{Name: "nvme.cqe.sqid", Title: "SQ Identifier", Base: Hex, Bit: 80, Bits: 16, Little: true},
	{Name: "nvme.cqe.cid", Title: "Command Identifier", Base: Hex, Bit: 96, Bits: 16, Little: true},
	{Name: "nvme.cqe.status", Title: "Status Field", Base: Hex, Bit: 112, Bits: 16, Little: true},
}}
