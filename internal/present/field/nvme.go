package field

import (
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// nvme are fields that a wire.Field cannot name: the parts of a completion's
// status, which lie across the bytes of a little-endian word, the number of
// blocks of a command, of which the wire has one less, and what a CM REQ says of
// the queue.
var nvme = []Ref{
	{Name: "nvme.cmd.nlb", Title: "Number of Logical Blocks", Kind: Uint, bits: 16, derive: blocks},
	statusBits("nvme.cqe.status.sc", "Status Code", 8, wire.NVMeStatus.Code),
	statusBits("nvme.cqe.status.sct", "Status Code Type", 3, wire.NVMeStatus.Type),
	statusBits("nvme.cqe.status.crd", "Command Retry Delay", 2, wire.NVMeStatus.RetryDelay),
	statusFlag("nvme.cqe.status.m", "More information in log page", wire.NVMeStatus.More),
	statusFlag("nvme.cqe.status.dnr", "Do not retry", wire.NVMeStatus.DoNotRetry),

	requestWord("nvme-rdma.cm.req.recfmt", "Record format of the connection request", wire.Dec, wire.NVMeCMReq.RecordFormat),
	requestWord("nvme-rdma.cm.req.qid", "Queue ID that is connected", wire.Dec, wire.NVMeCMReq.QueueID),
	requestWord("nvme-rdma.cm.req.hrqsize", "Host's receive queue size", wire.Dec, wire.NVMeCMReq.ReceiveQueueSize),
	requestWord("nvme-rdma.cm.req.hsqsize", "Host's send queue size, less one", wire.Dec, wire.NVMeCMReq.SendQueueSize),
	requestWord("nvme-rdma.cm.req.cntlid", "Controller ID", wire.Hex, wire.NVMeCMReq.ControllerID),
}

// requestWord is a word of the CM REQ that connects an NVMe queue.
func requestWord(name, title string, base wire.Base, of func(wire.NVMeCMReq) uint16) Ref {
	return Ref{
		Name: name, Title: title, Kind: Uint, Base: base, digits: 4, bits: 16,
		derive: func(dst []Value, p *packet.Packet) []Value {
			if req := nvmeRequest(&p.Frame); req != nil {
				dst = append(dst, Value{Num: uint64(of(req))})
			}
			return dst
		},
	}
}

// nvmeRequest is the private data of a CM REQ that connects an NVMe queue, nil
// for any other packet and where it was cut.
func nvmeRequest(f *wire.Frame) wire.NVMeCMReq {
	req := wire.CMReq(f.View(wire.HdrCMReq))
	private := wire.CMIPPrivate(f.View(wire.HdrCMIPPrivate)).PrivateData()
	if len(req) < wire.CMReqLen || len(private) < wire.NVMeCMReqLen {
		return nil
	}
	switch wire.UpperOfService(req.ServiceID(), private) {
	case wire.UpperNVMe, wire.UpperNVMeAdmin:
		return private
	}
	return nil
}

func statusBits(name, title string, bits int, of func(wire.NVMeStatus) uint8) Ref {
	return Ref{
		Name: name, Title: title, Kind: Uint, Base: wire.Hex, digits: 4, bits: bits,
		derive: status(func(s wire.NVMeStatus) uint64 { return uint64(of(s)) }),
	}
}

func statusFlag(name, title string, of func(wire.NVMeStatus) bool) Ref {
	return Ref{Name: name, Title: title, Kind: Bool, derive: status(func(s wire.NVMeStatus) uint64 {
		if of(s) {
			return 1
		}
		return 0
	})}
}

func status(of func(wire.NVMeStatus) uint64) func([]Value, *packet.Packet) []Value {
	return func(dst []Value, p *packet.Packet) []Value {
		h := p.Frame.View(wire.HdrNVMeResponse)
		if len(h) < wire.NVMeResponseLen {
			return dst
		}
		return append(dst, Value{Num: of(wire.NVMeStatusOf(h))})
	}
}

func blocks(dst []Value, p *packet.Packet) []Value {
	h := p.Frame.View(wire.HdrNVMeCommand)
	if f := wire.SpecOf(wire.HdrNVMeCommand).Field("nvme.cmd.nlb0", h); f != nil {
		dst = append(dst, Value{Num: f.Value(h) + 1})
	}
	return dst
}
