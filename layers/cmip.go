package layers

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMIP is what rdma_cm puts in front of the private data of a CMReq or a
// CMSidrReq: who connects to whom in terms of IP (IBTA annex A11).
type CMIP struct {
	MajorVersion uint8      // 0
	MinorVersion uint8      // 0
	IPVersion    uint8      // of the addresses, 4 or 6
	SrcPort      uint16     // the destination port is in the service ID
	Src, Dst     netip.Addr // sender and receiver; invalid for other IP versions
	PrivateData  []byte     // what the consumer sends along
}

// CMIPServiceID is the service ID of an rdma_cm service, from its IP protocol
// number (6 for RDMA_PS_TCP, 17 for RDMA_PS_UDP) and its port.
func CMIPServiceID(protocol uint8, port uint16) uint64 { return wire.CMIPServiceID(protocol, port) }

// ParseCMIPServiceID is the inverse of CMIPServiceID; ok is false for services
// that are not rdma_cm's.
func ParseCMIPServiceID(id uint64) (protocol uint8, port uint16, ok bool) {
	return wire.ParseCMIPServiceID(id)
}

// IP reads the rdma_cm header of a message; ok is false when it has none.
func (h *CMReq) IP() (ip CMIP, ok bool) { return readCMIP(h.ServiceID, h.PrivateData) }

// IP reads the rdma_cm header of a message; ok is false when it has none.
func (h *CMSidrReq) IP() (ip CMIP, ok bool) { return readCMIP(h.ServiceID, h.PrivateData) }

func readCMIP(service uint64, private []byte) (CMIP, bool) {
	if _, _, ok := wire.ParseCMIPServiceID(service); !ok || len(private) < wire.CMIPPrivateLen {
		return CMIP{}, false
	}
	v := wire.CMIPPrivate(private)
	return CMIP{
		MajorVersion: v.MajorVersion(), MinorVersion: v.MinorVersion(), IPVersion: v.IPVersion(),
		SrcPort: v.SrcPort(), Src: v.Src(), Dst: v.Dst(), PrivateData: v.PrivateData(),
	}, true
}

// Bytes writes the header and the consumer's data: the PrivateData of a message.
func (ip CMIP) Bytes() []byte {
	b := make([]byte, wire.CMIPPrivateLen, wire.CMIPPrivateLen+len(ip.PrivateData))
	v := wire.CMIPPrivate(b)
	v.SetMajorVersion(ip.MajorVersion)
	v.SetMinorVersion(ip.MinorVersion)
	v.SetIPVersion(ip.IPVersion)
	v.SetSrcPort(ip.SrcPort)
	v.SetSrc(ip.Src)
	v.SetDst(ip.Dst)
	return append(b, ip.PrivateData...)
}
