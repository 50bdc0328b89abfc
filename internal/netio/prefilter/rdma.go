package prefilter

import (
	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/wire"
)

// Traffic says what RDMA passes beside RoCE, PAUSE and PFC.
type Traffic struct {
	UDPPorts []uint16 // destination ports of RoCEv2 beside 4791
	TCPPorts []uint16 // of iWARP connections, at either end
	TCP      bool     // every TCP segment: iWARP connections are not known yet
	// Encapsulated passes every packet of a tunnel: VXLAN, Geneve, GRE and with
	// it ERSPAN, IP in IP, MPLS. What is inside remains to be looked at.
	Encapsulated bool
}

const (
	// maxTags is how many VLAN tags may stand in a frame, beside the one that
	// the interface or the kernel takes out before the program runs.
	maxTags = 2
	// maxExtensions is how many IPv6 extension headers may precede the UDP header.
	maxExtensions = 4

	// Offsets in headers.
	etherType        = 12
	ipv4Start        = wire.EthernetLen
	ipv4Fragment     = wire.EthernetLen + 6
	ipv4Protocol     = wire.EthernetLen + 9
	ipv6Next         = wire.EthernetLen + 6
	extensionLen     = 1
	fragmentOffset   = 2
	sourcePort       = 0
	destinationPort  = 2
	ipv4OffsetBits   = 0x1FFF
	ipv6OffsetBits   = 0xFFF8
	headerLenBits    = 0x0F
	protocolRegister = 0 // the scratch register that keeps the IP protocol
)

// RDMA makes a program that passes RoCEv1, PAUSE and PFC frames, and RoCEv2
// packets, and with them all connection management over queue pair 1; further
// traffic as t says. It does not tell the later fragments of other UDP packets
// from those of RoCEv2 ones, and passes them.
func RDMA(t Traffic) ([]bpf.RawInstruction, error) {
	c := compiler{program: newProgram(), traffic: t}
	c.ipv4, c.ipv6, c.transport, c.fragment = c.label(), c.label(), c.label(), c.label()
	c.writeEthernet()
	c.writeIPv4()
	c.writeIPv6()
	c.writeTransport()
	c.writeFragment()
	return c.assemble()
}

// compiler writes the program of RDMA. X is the place of what it looks at: of
// the Ethernet header, moved on by the length of the tags, then of the UDP or
// TCP header.
type compiler struct {
	*program
	traffic                         Traffic
	ipv4, ipv6, transport, fragment label
}

func (c *compiler) writeEthernet() {
	c.add(bpf.LoadConstant{Dst: bpf.RegX})
	for tags := 0; ; tags++ {
		c.load16(etherType)
		c.jumpIf(wire.EtherTypeIPv4, c.ipv4)
		c.acceptIf(wire.EtherTypeRoCE, wire.EtherTypeMACControl)
		c.jumpIf(wire.EtherTypeIPv6, c.ipv6)
		if c.traffic.Encapsulated {
			c.acceptIf(wire.EtherTypeMPLS, wire.EtherTypeMPLSMulticast)
		}
		if tags == maxTags {
			c.reject()
			return
		}
		tag := c.label()
		c.jumpIf(wire.EtherTypeVLAN, tag)
		c.jumpIf(wire.EtherTypeQinQ, tag)
		c.jumpIf(wire.EtherTypeQinQOld, tag)
		c.reject()
		c.put(tag)
		c.advance(wire.VLANLen)
	}
}

func (c *compiler) writeIPv4() {
	c.put(c.ipv4)
	c.load8(ipv4Protocol)
	c.add(bpf.StoreScratch{Src: bpf.RegA, N: protocolRegister})
	c.load16(ipv4Fragment)
	c.jumpIfBits(ipv4OffsetBits, c.fragment)
	c.load8(ipv4Start)
	c.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: headerLenBits}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2})
	c.advanceByA(ipv4Start)
	c.jump(c.transport)
}

func (c *compiler) writeIPv6() {
	c.put(c.ipv6)
	c.load8(ipv6Next)
	c.add(bpf.StoreScratch{Src: bpf.RegA, N: protocolRegister})
	c.advance(wire.EthernetLen + wire.IPv6Len)
	for range maxExtensions {
		fragment, extension, next := c.label(), c.label(), c.label()
		c.add(bpf.LoadScratch{Dst: bpf.RegA, N: protocolRegister})
		c.jumpIf(wire.IPProtoFragment, fragment)
		c.jumpIf(wire.IPProtoHopOpts, extension)
		c.jumpIf(wire.IPProtoRouting, extension)
		c.jumpIf(wire.IPProtoDestOpts, extension)
		c.jump(c.transport)

		c.put(fragment)
		c.nextHeader()
		c.load16(fragmentOffset)
		c.jumpIfBits(ipv6OffsetBits, c.fragment)
		c.advance(wire.IPv6ExtMinLen)
		c.jump(next)

		c.put(extension) // its length is in units of 8 bytes beyond the first (RFC 8200, 4.3)
		c.nextHeader()
		c.load8(extensionLen)
		c.add(bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 3})
		c.advanceByA(wire.IPv6ExtMinLen)
		c.put(next)
	}
	c.jump(c.transport)
}

// nextHeader takes the protocol from the extension header at X.
func (c *compiler) nextHeader() {
	c.load8(0)
	c.add(bpf.StoreScratch{Src: bpf.RegA, N: protocolRegister})
}

// writeTransport decides by protocol and ports.
func (c *compiler) writeTransport() {
	udp, tcp := c.label(), c.label()
	c.put(c.transport)
	c.add(bpf.LoadScratch{Dst: bpf.RegA, N: protocolRegister})
	c.jumpIf(wire.IPProtoUDP, udp)
	c.jumpIf(wire.IPProtoTCP, tcp)
	c.carriers()
	c.reject()

	c.put(udp)
	c.load16(destinationPort)
	c.acceptIf(wire.PortRoCEv2)
	c.acceptIf(numbers(c.traffic.UDPPorts)...)
	if c.traffic.Encapsulated {
		c.acceptIf(wire.PortVXLAN, wire.PortGeneve)
	}
	c.reject()

	c.put(tcp)
	if c.traffic.TCP {
		c.accept()
		return
	}
	if ports := numbers(c.traffic.TCPPorts); len(ports) > 0 {
		c.load16(sourcePort)
		c.acceptIf(ports...)
		c.load16(destinationPort)
		c.acceptIf(ports...)
	}
	c.reject()
}

// writeFragment decides about the later fragments of a packet, which have no
// ports, by their protocol alone.
func (c *compiler) writeFragment() {
	c.put(c.fragment)
	c.add(bpf.LoadScratch{Dst: bpf.RegA, N: protocolRegister})
	c.acceptIf(wire.IPProtoUDP)
	if c.traffic.TCP || len(c.traffic.TCPPorts) > 0 {
		c.acceptIf(wire.IPProtoTCP)
	}
	c.carriers()
	c.reject()
}

// carriers accepts the protocols of tunnels.
func (c *compiler) carriers() {
	if c.traffic.Encapsulated {
		c.acceptIf(wire.IPProtoGRE, wire.IPProtoIPv4, wire.IPProtoIPv6, wire.IPProtoMPLS)
	}
}

func numbers(ports []uint16) []uint32 {
	out := make([]uint32, len(ports))
	for i, p := range ports {
		out[i] = uint32(p)
	}
	return out
}
