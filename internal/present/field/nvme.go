package field

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// nvme are fields that a wire.Field cannot name: the parts of a completion's
// status (NVM Express base specification, figure 92), which lie across the
// bytes of a little-endian word, and the number of blocks of a command, of
// which the wire has one less.
var nvme = []Ref{
	{Name: "nvme.cmd.nlb", Title: "Number of Logical Blocks", Kind: Uint, bits: 16, derive: blocks},
	statusBits("nvme.cqe.status.sc", "Status Code", 1, 8, 4),
	statusBits("nvme.cqe.status.sct", "Status Code Type", 9, 3, 4),
	statusBits("nvme.cqe.status.crd", "Command Retry Delay", 12, 2, 4),
	statusFlag("nvme.cqe.status.m", "More information in log page", 14),
	statusFlag("nvme.cqe.status.dnr", "Do not retry", 15),
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
