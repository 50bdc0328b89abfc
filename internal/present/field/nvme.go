package field

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// nvme are fields that a wire.Field cannot name: the parts of a completion's
// status (NVM Express base specification, figure 92), which lie across the
// bytes of a little-endian word, the number of blocks of a command, of which
// the wire has one less, and what a CM REQ says of the queue.
var nvme = []Ref{
	{Name: "nvme.cmd.nlb", Title: "Number of Logical Blocks", Kind: Uint, bits: 16, derive: blocks},
	statusBits("nvme.cqe.status.sc", "Status Code", 1, 8, 4),
	statusBits("nvme.cqe.status.sct", "Status Code Type", 9, 3, 4),
	statusBits("nvme.cqe.status.crd", "Command Retry Delay", 12, 2, 4),
	statusFlag("nvme.cqe.status.m", "More information in log page", 14),
	statusFlag("nvme.cqe.status.dnr", "Do not retry", 15),

	requestWord("nvme-rdma.cm.req.recfmt", "Record format of the connection request", wire.Dec, 0),
	requestWord("nvme-rdma.cm.req.qid", "Queue ID that is connected", wire.Dec, 2),
	requestWord("nvme-rdma.cm.req.hrqsize", "Host's receive queue size", wire.Dec, 4),
	requestWord("nvme-rdma.cm.req.hsqsize", "Host's send queue size, less one", wire.Dec, 6),
	requestWord("nvme-rdma.cm.req.cntlid", "Controller ID", wire.Hex, 8),
}

// requestWord is a 16-bit word of the private data of the CM REQ that connects
// an NVMe queue (NVMe over Fabrics 1.1, 7.3.6.4; Linux struct
// nvme_rdma_cm_req).
func requestWord(name, title string, base wire.Base, off int) Ref {
	return Ref{
		Name: name, Title: title, Kind: Uint, Base: base, digits: 4, bits: 16,
		derive: func(dst []Value, p *packet.Packet) []Value {
			if b := nvmeRequest(&p.Frame); len(b) >= off+2 {
				dst = append(dst, Value{Num: uint64(binary.LittleEndian.Uint16(b[off:]))})
			}
			return dst
		},
	}
}

// nvmeRequest is the private data of a CM REQ that connects an NVMe queue, nil
// for any other packet.
func nvmeRequest(f *wire.Frame) []byte {
	req, b := wire.CMReq(f.View(wire.HdrCMReq)), f.View(wire.HdrCMIPPrivate)
	if len(req) < wire.CMReqLen || len(b) < wire.CMIPPrivateLen {
		return nil
	}
	b = b[wire.CMIPPrivateLen:]
	switch wire.UpperOfService(req.ServiceID(), b) {
	case wire.UpperNVMe, wire.UpperNVMeAdmin:
		return b
	}
	return nil
}

func statusBits(name, title string, shift, width uint, digits int) Ref {
	return Ref{
		Name: name, Title: title, Kind: Uint, Base: wire.Hex, digits: digits, bits: int(width),
		derive: status(shift, width),
	}
}

func statusFlag(name, title string, shift uint) Ref {
	return Ref{Name: name, Title: title, Kind: Bool, derive: status(shift, 1)}
}

func status(shift, width uint) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		h := p.Frame.View(wire.HdrNVMeResponse)
		if len(h) < wire.NVMeResponseLen {
			return dst
		}
		word := binary.LittleEndian.Uint16(h[wire.NVMeResponseLen-2:])
		return append(dst, Value{Num: uint64(word>>shift) & (1<<width - 1)})
	}
}

func blocks(dst []Value, p *packet.Packet) []Value {
	h := p.Frame.View(wire.HdrNVMeCommand)
	fields := wire.SpecOf(wire.HdrNVMeCommand).Fields
	for i := range fields {
		if f := &fields[i]; f.Name == "nvme.cmd.nlb0" && f.Present(h) {
			dst = append(dst, Value{Num: f.Value(h) + 1})
		}
	}
	return dst
}
