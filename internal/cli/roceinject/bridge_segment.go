package roceinject

import (
	"bytes"

	"github.com/rocecap/rocecap/internal/wire"
)

// parter does what a network card does for a kernel that leaves segmentation to
// it (TSO): it makes frames of one TCP segment of one that is several. A virtual
// interface hands such frames on as they are, and none takes them to be sent.
type parter struct {
	frame wire.Frame
}

// part returns the frames of a merged one, each as long as an MTU in bytes allows
// but for the last: headers alike (RFC 9293, 3.1), sequence numbers and IP
// identifications counting up, FIN and PSH in the last alone, CWR in the first
// (RFC 3168, 6.1.2). It returns none for what fits as it is, or is not plain TCP.
func (p *parter) part(data []byte, mtu int) (parts [][]byte) {
	f := &p.frame
	f.Parse(wire.LinkEthernet, data, len(data))
	if f.Proto != wire.ProtoTCP || f.Problems&(wire.ProblemFragment|wire.ProblemShort) != 0 || f.Cut() || p.tunnelled() {
		return nil
	}
	tcp := wire.TCP(data[f.L4:f.End])
	begin := f.L4 + tcp.HeaderLen()
	room := f.Net + mtu - begin
	if f.Net+mtu >= f.End || room <= 0 {
		return nil
	}
	for at := begin; at < f.End; at += room {
		end := min(at+room, f.End)
		part := append(bytes.Clone(data[:begin]), data[at:end]...)
		flags := tcp.Flags()
		if at > begin {
			flags &^= wire.TCPCWR
		}
		if end < f.End {
			flags &^= wire.TCPFin | wire.TCPPush
		}
		segment := wire.TCP(part[f.L4:])
		segment.SetFlags(flags)
		segment.SetSeq(tcp.Seq() + uint32(at-begin))
		p.finish(part, uint16(len(parts)))
		parts = append(parts, part)
	}
	return parts
}

// finish sets the lengths, the IP identification and the checksums of a part.
func (p *parter) finish(part []byte, number uint16) {
	network, segment := part[p.frame.Net:], part[p.frame.L4:]
	if ip := wire.IPv4Header(network); ip.Version() == 4 {
		ip.SetTotalLen(len(network))
		ip.SetID(ip.ID() + number)
		ip.SetChecksum(wire.IPv4Checksum(network[:p.frame.L4-p.frame.Net]))
	} else {
		wire.IPv6Header(network).SetPayloadLen(len(network) - wire.IPv6Len)
	}
	src, dst := addresses(network)
	wire.TCP(segment).SetChecksum(wire.TCPChecksum(src, dst, segment))
}

// tunnelled reports whether an IP header stands before the innermost one.
func (p *parter) tunnelled() bool {
	for _, h := range p.frame.Headers() {
		if h.ID == wire.HdrIPv4 || h.ID == wire.HdrIPv6 {
			return int(h.Off) != p.frame.Net
		}
	}
	return true
}
