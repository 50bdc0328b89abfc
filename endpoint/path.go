package endpoint

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/udplink"
	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// firstPort is where the UDP source ports of RoCE begin; the rest are 14 bits
	// that spread queue pairs over paths (IBTA A17.9.2; rdma_get_udp_sport).
	firstPort = 0xC000
	portMask  = 0x3FFF

	defaultHopLimit = 64
	// maxHead is the length of the longest head.
	maxHead = wire.EthernetLen + wire.VLANLen + wire.IPv6Len + wire.UDPLen
)

// linkLen is the length of what stands before the IP header.
func (d *Device) linkLen() int {
	if d.options.VLAN != nil {
		return wire.EthernetLen + wire.VLANLen
	}
	return wire.EthernetLen
}

// sourcePort is the port of a queue pair: a hash of its number, as rxe does.
func sourcePort(qpn uint32) uint16 {
	return firstPort | uint16(qpn*2654435761>>16)&portMask // Knuth's multiplicative hash
}

// head is what stands before every packet to an address: Ethernet, tag, IP and
// UDP header, all but lengths, identification and checksum.
func (d *Device) head(a *Address, to host.MAC) []byte {
	b := make([]byte, wire.EthernetLen, maxHead)
	kind := uint16(wire.EtherTypeIPv4)
	if a.DGID.Is6() {
		kind = wire.EtherTypeIPv6
	}
	b = d.ethernet(b, to, kind, a.SL)
	if a.DGID.Is4() {
		b = append(b, ipv4(a)...)
	} else {
		b = append(b, ipv6(a)...)
	}
	udp := wire.UDP(make([]byte, wire.UDPLen))
	udp.SetSrcPort(a.SrcPort)
	udp.SetDstPort(wire.PortRoCEv2)
	return append(b, udp...)
}

// canBeHead reports whether bytes are as long as one of the device's heads.
func (d *Device) canBeHead(head []byte) bool {
	ip := len(head) - d.linkLen() - wire.UDPLen
	return ip == wire.IPv4MinLen || ip == wire.IPv6Len
}

// ethernet writes the link header, with the device's tag if it has one, and
// returns it.
func (d *Device) ethernet(b []byte, to host.MAC, kind uint16, priority uint8) []byte {
	b = b[:wire.EthernetLen]
	eth := wire.Ethernet(b)
	eth.SetDst(to)
	eth.SetSrc(d.mac)
	eth.SetType(kind)
	tag := d.options.VLAN
	if tag == nil {
		return b
	}
	eth.SetType(wire.EtherTypeVLAN)
	b = append(b, make([]byte, wire.VLANLen)...)
	vlan := wire.VLAN(b[wire.EthernetLen:])
	vlan.SetID(tag.ID)
	if priority == 0 {
		priority = tag.Priority
	}
	vlan.SetPriority(priority)
	vlan.SetEtherType(kind)
	return b
}

func ipv4(a *Address) []byte {
	h := wire.IPv4Header(make([]byte, wire.IPv4MinLen))
	h.SetVersion(4)
	h.SetHeaderLen(wire.IPv4MinLen)
	h.SetTOS(a.TrafficClass)
	h.SetDontFragment(true)
	h.SetTTL(a.HopLimit)
	h.SetProtocol(wire.IPProtoUDP)
	h.SetSrc(a.SGID.As4())
	h.SetDst(a.DGID.As4())
	return h
}

func ipv6(a *Address) []byte {
	h := wire.IPv6Header(make([]byte, wire.IPv6Len))
	h.SetVersion(6)
	h.SetTrafficClass(a.TrafficClass)
	h.SetFlowLabel(a.FlowLabel)
	h.SetNextHeader(wire.IPProtoUDP)
	h.SetHopLimit(a.HopLimit)
	h.SetSrc(a.SGID.As16())
	h.SetDst(a.DGID.As16())
	return h
}

// fill completes an address vector and checks it. port is for one that has none.
func (d *Device) fill(a Address, port uint16) (Address, error) {
	a.DGID = a.DGID.Unmap().WithZone("")
	a.SGID = a.SGID.Unmap().WithZone("")
	if !a.SGID.IsValid() {
		a.SGID = d.gidFor(a.DGID)
	}
	switch {
	case !a.DGID.IsValid():
		return a, fmt.Errorf("address vector: no destination")
	case !a.SGID.IsValid() || a.SGID.Is4() != a.DGID.Is4():
		return a, fmt.Errorf("address vector to %v: %w", a.DGID, ErrNoAddress)
	}
	if a.HopLimit == 0 {
		a.HopLimit = defaultHopLimit
	}
	if d.options.UDP { // what a socket sends comes from its own port
		a.SrcPort = udplink.Port
	} else if a.SrcPort == 0 {
		a.SrcPort = port
	}
	if (d.notifier != nil || d.rates != nil) && a.TrafficClass&ecnMask == 0 {
		a.TrafficClass |= ecnCapable
	}
	return a, nil
}

// address completes an address vector, Head and all.
func (d *Device) address(ctx context.Context, a Address, port uint16) (*Address, error) {
	a, err := d.fill(a, port)
	switch {
	case err != nil:
		return nil, err
	case a.Head != nil && !d.canBeHead(a.Head):
		return nil, errNoHandle
	case a.Head != nil:
		return &a, nil
	}
	mac, err := d.resolve(ctx, a.DGID)
	if err != nil {
		return nil, err
	}
	a.Head = d.head(&a, mac)
	return &a, nil
}

// CreateAH makes an address handle: a copy of a that UD work requests can be
// sent to. Of a, only DGID is needed. It may have to ask for a MAC address, for
// as long as ctx lets.
func (d *Device) CreateAH(ctx context.Context, a Address) (*Address, error) {
	return d.address(ctx, a, firstPort)
}

// next is the neighbour that packets to an address are handed to.
func (d *Device) next(to netip.Addr) netip.Addr {
	for _, prefix := range d.options.Addresses {
		if prefix.Masked().Contains(to) {
			return to
		}
	}
	if to.Is6() && to.IsLinkLocalUnicast() {
		return to
	}
	for _, gateway := range d.options.Gateways {
		if gateway.Is4() == to.Is4() {
			return gateway
		}
	}
	return to // it must be on the link
}

// identification is that of the next IPv4 packet. Each has another, so that a
// capture shows which are sent again. A UDP socket's is always 0.
func (d *Device) identification() uint16 {
	if !d.options.UDP {
		d.out.ident++
	}
	return d.out.ident
}

// seal completes a frame: lengths, identification, checksum, ICRC. Its headers
// up to UDP are head bytes long and one of those that head makes.
func (d *Device) seal(frame []byte, head int) {
	udpAt := head - wire.UDPLen
	wire.UDP(frame[udpAt:head]).SetLength(len(frame) - udpAt)
	ipAt, form := d.linkLen(), icrc.RoCEv2IPv4
	if udpAt-ipAt == wire.IPv6Len {
		form = icrc.RoCEv2IPv6
		wire.IPv6Header(frame[ipAt:udpAt]).SetPayloadLen(len(frame) - udpAt)
	} else {
		ip := wire.IPv4Header(frame[ipAt:udpAt])
		ip.SetTotalLen(len(frame) - ipAt)
		ip.SetID(d.identification())
		ip.SetChecksum(wire.IPv4Checksum(ip))
	}
	if d.options.ICRC == RxeFlushICRC && wire.Opcode(frame[head]) == opcodeFlush {
		packet := frame[ipAt : len(frame)-icrc.Len]
		icrc.Store(frame[len(frame)-icrc.Len:], d.out.sum.sum(&d.out.hasher, form, packet, head-ipAt))
		return
	}
	d.out.hasher.Put(form, frame[ipAt:])
}
