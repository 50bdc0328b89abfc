package wire

import "net/netip"

// CMIPPrivateLen is the length of the rdma_cm header in front of the
// consumer's private data.
const CMIPPrivateLen = 36

// CMIPPrivate is what rdma_cm puts in front of the private data of a REQ or a
// SIDR_REQ (IBTA annex A11; Linux struct cma_hdr). An IPv4 address is in the
// last four bytes of its sixteen.
//
//	 0 +-------+-------+-------+-------+-------------------------------+
//	   |  maj  |  min  |  IPv  |  rsv  |          source port          |
//	 4 +-------+-------+-------+-------+-------------------------------+
//	   |                  source address (16 bytes)                    |
//	20 +---------------------------------------------------------------+
//	   |                destination address (16 bytes)                 |
//	36 +---------------------------------------------------------------+
//	   |                   consumer's private data                     |
//	   +---------------------------------------------------------------+
type CMIPPrivate []byte

const (
	cmIPMajorVersion = 0
	cmIPMinorVersion = 0
	cmIPIPVersion    = 1
	cmIPSrcPort      = 2
)

// MajorVersion is the major version, 0.
func (h CMIPPrivate) MajorVersion() uint8 { return h[cmIPMajorVersion] >> 4 }

// SetMajorVersion sets the major version.
func (h CMIPPrivate) SetMajorVersion(v uint8) { putBits(&h[cmIPMajorVersion], 0xF0, v<<4) }

// MinorVersion is the minor version, 0.
func (h CMIPPrivate) MinorVersion() uint8 { return h[cmIPMinorVersion] & 0x0F }

// SetMinorVersion sets the minor version.
func (h CMIPPrivate) SetMinorVersion(v uint8) { putBits(&h[cmIPMinorVersion], 0x0F, v) }

// IPVersion is the version of the addresses, 4 or 6.
func (h CMIPPrivate) IPVersion() uint8 { return h[cmIPIPVersion] >> 4 }

// SetIPVersion sets the version of the addresses.
func (h CMIPPrivate) SetIPVersion(v uint8) { putBits(&h[cmIPIPVersion], 0xF0, v<<4) }

// SrcPort is the sender's port.
func (h CMIPPrivate) SrcPort() uint16 { return be.Uint16(h[cmIPSrcPort:]) }

// SetSrcPort sets the sender's port.
func (h CMIPPrivate) SetSrcPort(v uint16) { be.PutUint16(h[cmIPSrcPort:], v) }

const (
	cmIPSrc = 4
	cmIPDst = 20
)

// Src is the sender's address, the zero Addr when the IP version is unknown.
func (h CMIPPrivate) Src() netip.Addr { return h.addr(cmIPSrc) }

// SetSrc sets the sender's address. It does not set the IP version.
func (h CMIPPrivate) SetSrc(a netip.Addr) { h.setAddr(cmIPSrc, a) }

// Dst is the receiver's address, the zero Addr when the IP version is unknown.
func (h CMIPPrivate) Dst() netip.Addr { return h.addr(cmIPDst) }

// SetDst sets the receiver's address. It does not set the IP version.
func (h CMIPPrivate) SetDst(a netip.Addr) { h.setAddr(cmIPDst, a) }

func (h CMIPPrivate) addr(off int) netip.Addr {
	switch h.IPVersion() {
	case 4:
		return netip.AddrFrom4([4]byte(h[off+12 : off+16]))
	case 6:
		return netip.AddrFrom16([16]byte(h[off : off+16]))
	}
	return netip.Addr{}
}

func (h CMIPPrivate) setAddr(off int, a netip.Addr) {
	field := h[off : off+16]
	clear(field)
	if a.Is4() {
		b := a.As4()
		copy(field[12:], b[:])
		return
	}
	b := a.As16()
	copy(field, b[:])
}

// PrivateData is what the consumer sends along.
func (h CMIPPrivate) PrivateData() []byte { return cmRest(h, CMIPPrivateLen) }

// ParseCMIPServiceID splits the service ID of an rdma_cm service into its IP
// protocol and port. ok is false for a service ID that is not of that kind
// (IBTA annex A11, A11.3.2).
func ParseCMIPServiceID(id uint64) (protocol uint8, port uint16, ok bool) {
	return uint8(id >> 16), uint16(id), id>>24 == 1
}

// CMIPServiceID is the service ID of an rdma_cm service.
func CMIPServiceID(protocol uint8, port uint16) uint64 {
	return 1<<24 | uint64(protocol)<<16 | uint64(port)
}

var cmIPPrivateSpec = Spec{ID: HdrCMIPPrivate, Name: "infiniband.cm.req.ip_cm", Title: "RDMA IP CM Private Data", Len: CMIPPrivateLen, Fields: []Field{
	{Name: "infiniband.cm.req.ip_cm.majv", Title: "IP CM Major Version", Base: Hex, Bits: 4},
	{Name: "infiniband.cm.req.ip_cm.minv", Title: "IP CM Minor Version", Base: Hex, Bit: 4, Bits: 4},
	{Name: "infiniband.cm.req.ip_cm.ipv", Title: "IP CM IP Version", Base: Hex, Bit: 8, Bits: 4},
	{Name: "infiniband.cm.req.ip_cm.reserved", Title: "IP CM Reserved", Base: Hex, Bit: 12, Bits: 4},
	{Name: "infiniband.cm.req.ip_cm.sport", Title: "IP CM Source Port", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.cm.req.ip_cm.sip4", Title: "IP CM Source IP", Kind: IPv4, Bit: 128, Bits: 32, When: cmIPIsIPv4},
	{Name: "infiniband.cm.req.ip_cm.sip6", Title: "IP CM Source IP", Kind: IPv6, Bit: 32, Bits: 128, When: cmIPIsIPv6},
	{Name: "infiniband.cm.req.ip_cm.dip4", Title: "IP CM Destination IP", Kind: IPv4, Bit: 256, Bits: 32, When: cmIPIsIPv4},
	{Name: "infiniband.cm.req.ip_cm.dip6", Title: "IP CM Destination IP", Kind: IPv6, Bit: 160, Bits: 128, When: cmIPIsIPv6},
	{Name: "infiniband.cm.req.ip_cm.private", Title: "IP CM Consumer Private Data", Kind: Bytes, Bit: 288},
}}

func cmIPIsIPv4(h []byte) bool { return CMIPPrivate(h).IPVersion() == 4 }

func cmIPIsIPv6(h []byte) bool { return CMIPPrivate(h).IPVersion() == 6 }
