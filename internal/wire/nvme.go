package wire

import "encoding/binary"

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

// NVMeCMReqLen is the length of what is defined of an NVMeCMReq.
const NVMeCMReqLen = 10

// nvmeCMReqHead is how much of an NVMeCMReq names the queue.
const nvmeCMReqHead = 4

// NVMeCMReq is the consumer's private data of a CM REQ that connects an NVMe
// queue; all words are little-endian (NVMe over Fabrics 1.1, 7.3.6.4; Linux
// struct nvme_rdma_cm_req). Record format 0 is the only one.
//
//	0 +---------------+---------------+---------------+---------------+
//	  |         record format         |           queue ID            |
//	4 +-------------------------------+-------------------------------+
//	  |   host's receive queue size   |   host's send queue size - 1  |
//	8 +-------------------------------+-------------------------------+
//	  |         controller ID         |           reserved            |
//	  +-------------------------------+-------------------------------+
type NVMeCMReq []byte

// RecordFormat is the format of the other fields, 0.
func (r NVMeCMReq) RecordFormat() uint16 { return binary.LittleEndian.Uint16(r) }

// QueueID is the queue that is connected; 0 is the admin queue.
func (r NVMeCMReq) QueueID() uint16 { return binary.LittleEndian.Uint16(r[2:]) }

// ReceiveQueueSize is the size of the host's receive queue.
func (r NVMeCMReq) ReceiveQueueSize() uint16 { return binary.LittleEndian.Uint16(r[4:]) }

// SendQueueSize is the size of the host's send queue, less one.
func (r NVMeCMReq) SendQueueSize() uint16 { return binary.LittleEndian.Uint16(r[6:]) }

// ControllerID is the controller that an I/O queue belongs to.
func (r NVMeCMReq) ControllerID() uint16 { return binary.LittleEndian.Uint16(r[8:]) }

// NVMeStatus is the status field of a completion with the phase tag that it
// shares a word with (NVM Express base specification, figure 92).
//
//	 15  14 13 12  11  9 8             1 0
//	+---+---+-----+-----+---------------+-+
//	|DNR| M | CRD | SCT |  status code  |P|
//	+---+---+-----+-----+---------------+-+
type NVMeStatus uint16

// NVMeStatusOf reads the status of a whole completion.
func NVMeStatusOf(completion []byte) NVMeStatus {
	return NVMeStatus(binary.LittleEndian.Uint16(completion[nvmeStatus:]))
}

const nvmeStatus = 14

// Code is the status code; 0 of type 0 is success.
func (s NVMeStatus) Code() uint8 { return uint8(s >> 1) }

// Type is the status code type.
func (s NVMeStatus) Type() uint8 { return uint8(s >> 9 & 7) }

// RetryDelay is the index of the delay before a retry, 0 for none.
func (s NVMeStatus) RetryDelay() uint8 { return uint8(s >> 12 & 3) }

// More reports whether the error log has more about the error.
func (s NVMeStatus) More() bool { return s&(1<<14) != 0 }

// DoNotRetry reports whether the command would fail again.
func (s NVMeStatus) DoNotRetry() bool { return s&(1<<15) != 0 }

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
	}
	return ""
}

// nvmeAdminName names an opcode of the admin command set.
func nvmeAdminName(v uint64) string {
	switch v {
	case 0x02:
		return "Get Log Page"
	case 0x06:
		return "Identify"
	case 0x08:
		return "Abort"
	case 0x09:
		return "Set Features"
	case 0x0A:
		return "Get Features"
	case 0x0C:
		return "Asynchronous Event Request"
	case 0x0D:
		return "Namespace Management"
	case 0x15:
		return "Namespace Attachment"
	case 0x18:
		return "Keep Alive"
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

// nvmeHasBlocks is true of the commands that name a range of blocks.
func nvmeHasBlocks(h []byte) bool { return len(h) > 0 && (h[0] == nvmeWrite || h[0] == nvmeRead) }

func nvmeKeyed(h []byte) bool { return len(h) > 39 && h[39]>>4 == 4 }

// nvmeCommon are the fields of every command but those of the Fabrics set.
func nvmeCommon(opcodes func(uint64) string) []Field {
	return []Field{
		{Name: "nvme.cmd.opc", Title: "Opcode", Base: Hex, Bit: 0, Bits: 8, Names: opcodes},
		{Name: "nvme.cmd.psdt", Title: "PRP Or SGL", Base: Hex, Bit: 8, Bits: 2},
		{Name: "nvme.cmd.fuse_op", Title: "Fuse Operation", Base: Hex, Bit: 14, Bits: 2},
		{Name: "nvme.cmd.cid", Title: "Command ID", Base: Hex, Bit: 16, Bits: 16, Little: true},
		{Name: "nvme.cmd.nsid", Title: "Namespace Id", Base: Hex, Bit: 32, Bits: 32, Little: true},
		{Name: "nvme.cmd.mptr", Title: "Metadata Pointer", Base: Hex, Bit: 128, Bits: 64, Little: true},
	}
}

var nvmeSGL = []Field{
	{Name: "nvme.cmd.sgl1.addr", Title: "SGL Address", Base: Hex, Bit: 192, Bits: 64, Little: true},
	{Name: "nvme.cmd.sgl1.len", Title: "SGL Length", Bit: 256, Bits: 24, Little: true, When: nvmeKeyed},
	{Name: "nvme.cmd.sgl1.key", Title: "SGL Key", Base: Hex, Bit: 280, Bits: 32, Little: true, When: nvmeKeyed},
	{Name: "nvme.cmd.sgl1.len", Title: "SGL Length", Bit: 256, Bits: 32, Little: true, When: func(h []byte) bool { return !nvmeKeyed(h) }},
	{Name: "nvme.cmd.sgl.type", Title: "Descriptor Type", Base: Hex, Bit: 312, Bits: 4, Names: nvmeSGLName},
	{Name: "nvme.cmd.sgl.subtype", Title: "Descriptor Sub Type", Base: Hex, Bit: 316, Bits: 4},
}

var nvmeCommandSpec = Spec{ID: HdrNVMeCommand, Name: "nvme.cmd", Title: "NVMe Command", Len: NVMeCommandLen, Fields: concat(
	nvmeCommon(nvmeIOName), nvmeSGL, []Field{
		{Name: "nvme.cmd.slba", Title: "Start LBA", Base: Hex, Bit: 320, Bits: 64, Little: true, When: nvmeHasBlocks},
		{Name: "nvme.cmd.nlb0", Title: "Number of Logical Blocks, less one", Bit: 384, Bits: 16, Little: true, When: nvmeHasBlocks},
	})}

var nvmeAdminSpec = Spec{ID: HdrNVMeAdmin, Name: "nvme.cmd", Title: "NVMe Admin Command", Len: NVMeCommandLen, Fields: concat(nvmeCommon(nvmeAdminName), nvmeSGL)}

// nvmeFabricsIs says of which Fabrics command a field is.
func nvmeFabricsIs(fctype byte) func(h []byte) bool {
	return func(h []byte) bool { return len(h) > 4 && h[4] == fctype }
}

func nvmeIsProperty(h []byte) bool { return nvmeFabricsIs(0x00)(h) || nvmeFabricsIs(0x04)(h) }

var nvmeFabricsSpec = Spec{ID: HdrNVMeFabrics, Name: "nvme.fabrics.cmd", Title: "NVMe Fabrics Command", Len: NVMeCommandLen, Fields: concat(
	[]Field{
		{Name: "nvme.fabrics.cmd.opc", Title: "Opcode", Kind: Bytes, Bit: 0, Bits: 8},
		{Name: "nvme.fabrics.cmd.cid", Title: "Command Identifier", Base: Hex, Bit: 16, Bits: 16, Little: true},
		{Name: "nvme.fabrics.cmd.fctype", Title: "Fabric Command Type", Base: Hex, Bit: 32, Bits: 8, Names: nvmeFabricsName},
	},
	nvmeWhen(nvmeFabricsIs(0x01), nvmeSGL...),
	nvmeWhen(nvmeFabricsIs(0x01),
		Field{Name: "nvme.fabrics.cmd.connect.recfmt", Title: "Record Format", Bit: 320, Bits: 16, Little: true},
		Field{Name: "nvme.fabrics.cmd.connect.qid", Title: "Queue ID", Bit: 336, Bits: 16, Little: true},
		Field{Name: "nvme.fabrics.cmd.connect.sqsize", Title: "Submission Queue Size, less one", Bit: 352, Bits: 16, Little: true},
		Field{Name: "nvme.fabrics.cmd.connect.cattr", Title: "Connect Attributes", Base: Hex, Bit: 368, Bits: 8},
		Field{Name: "nvme.fabrics.cmd.connect.kato", Title: "Keep Alive Timeout, ms", Bit: 384, Bits: 32, Little: true},
	),
	nvmeWhen(nvmeIsProperty,
		Field{Name: "nvme.fabrics.cmd.prop_get_set.attrib.size", Title: "Property Size", Base: Hex, Bit: 325, Bits: 3},
		Field{Name: "nvme.fabrics.cmd.prop_get_set.offset", Title: "Offset", Base: Hex, Bit: 352, Bits: 32, Little: true},
	),
)}

// nvmeWhen makes fields exist only in some commands.
func nvmeWhen(when func(h []byte) bool, fields ...Field) []Field {
	list := make([]Field, 0, len(fields))
	for _, f := range fields {
		f.When = both(when, f.When)
		list = append(list, f)
	}
	return list
}

func both(a, b func(h []byte) bool) func(h []byte) bool {
	if b == nil {
		return a
	}
	return func(h []byte) bool { return a(h) && b(h) }
}

var nvmeResponseSpec = Spec{ID: HdrNVMeResponse, Name: "nvme.cqe", Title: "NVMe Completion", Len: NVMeResponseLen, Fields: []Field{
	{Name: "nvme.cqe.dword0", Title: "DWORD0", Base: Hex, Bit: 0, Bits: 32, Little: true},
	{Name: "nvme.cqe.dword1", Title: "DWORD1", Base: Hex, Bit: 32, Bits: 32, Little: true},
	{Name: "nvme.cqe.sqhd", Title: "SQ Head Pointer", Base: Hex, Bit: 64, Bits: 16, Little: true},
	{Name: "nvme.cqe.sqid", Title: "SQ Identifier", Base: Hex, Bit: 80, Bits: 16, Little: true},
	{Name: "nvme.cqe.cid", Title: "Command Identifier", Base: Hex, Bit: 96, Bits: 16, Little: true},
	{Name: "nvme.cqe.status", Title: "Status Field", Base: Hex, Bit: nvmeStatus * 8, Bits: 16, Little: true},
}}
