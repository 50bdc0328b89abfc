package cm

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// PortSpace is a name space of rdma_cm's ports (Linux enum rdma_ucm_port_space).
type PortSpace uint16

// Port spaces.
const (
	PortSpaceIPoIB PortSpace = 0x0002
	PortSpaceTCP   PortSpace = 0x0106
	PortSpaceUDP   PortSpace = 0x0111
	PortSpaceIB    PortSpace = 0x013F
)

// ServiceID is the service of a port (Linux rdma_get_service_id).
func ServiceID(space PortSpace, port uint16) uint64 {
	return uint64(space)<<16 | uint64(port)
}

// The consumer's share of private data that rdma_cm leaves in messages.
const (
	MaxREQPrivate     = wire.CMMessageLen - wire.CMReqLen - wire.CMIPPrivateLen     // 56
	MaxREPPrivate     = wire.CMMessageLen - wire.CMRepLen                           // 196
	MaxREJPrivate     = wire.CMMessageLen - wire.CMRejLen                           // 148
	MaxSIDRREQPrivate = wire.CMMessageLen - wire.CMSidrReqLen - wire.CMIPPrivateLen // 180
	MaxSIDRREPPrivate = wire.CMMessageLen - wire.CMSidrRepLen                       // 136
)

// IPHeader is what rdma_cm puts in front of the private data of a REQ or
// SIDR_REQ (IBTA annex A11). The zero IPHeader is none. An IPv4 address has to be
// one: mapped into IPv6, as GIDs have it, it makes a header of IP version 6.
type IPHeader struct {
	Src     netip.Addr
	SrcPort uint16
	Dst     netip.Addr
}

// put writes the header, if there is one, and the consumer's data into the
// private data of a message.
func (h *IPHeader) put(private, data []byte) error {
	if h.Src.IsValid() {
		header := wire.CMIPPrivate(private)
		header.SetIPVersion(6)
		if h.Src.Is4() {
			header.SetIPVersion(4)
		}
		header.SetSrcPort(h.SrcPort)
		header.SetSrc(h.Src)
		header.SetDst(h.Dst)
		private = header.PrivateData()
	}
	return put(private, data)
}

// parseIPHeader takes the header off private data. It is not one when its
// version is not 0 or it is of no known IP version (Linux cma_save_ip_info).
func parseIPHeader(private []byte) (h IPHeader, data []byte, ok bool) {
	header := wire.CMIPPrivate(private)
	if header.MajorVersion() != 0 || header.MinorVersion() != 0 || !header.Src().IsValid() {
		return IPHeader{}, nil, false
	}
	return IPHeader{header.Src(), header.SrcPort(), header.Dst()}, header.PrivateData(), true
}
