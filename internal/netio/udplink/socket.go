package udplink

import (
	"net"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// socket is the port of one address.
type socket struct {
	address netip.Addr
	conn    *net.UDPConn
	head    int // length of what stands before a payload
	control []byte
	hidden  hidden
}

func newSocket(address netip.Addr) (*socket, error) {
	conn, err := bind(address)
	if err != nil {
		return nil, err
	}
	s := &socket{address: address, conn: conn, head: wire.EthernetLen + wire.IPv6Len + wire.UDPLen, control: make([]byte, 128)}
	if address.Is4() {
		s.head = wire.EthernetLen + wire.IPv4MinLen + wire.UDPLen
	}
	return s, nil
}

// receive reads a datagram and puts the headers before it that it had, as far
// as they can be known. It returns the frame's length.
func (s *socket) receive(b []byte) (int, error) {
	n, control, _, from, err := s.conn.ReadMsgUDPAddrPort(b[s.head:], s.control)
	if err != nil {
		return 0, err
	}
	clear(b[:s.head])
	eth := wire.Ethernet(b)
	eth.SetDst(own())
	eth.SetSrc(Peer())
	udpAt := s.head - wire.UDPLen
	udp := wire.UDP(b[udpAt:s.head])
	udp.SetSrcPort(from.Port())
	udp.SetDstPort(Port)
	udp.SetLength(wire.UDPLen + n)
	class := trafficClass(s.control[:control])
	if !s.address.Is4() {
		eth.SetType(wire.EtherTypeIPv6)
		ip := wire.IPv6Header(b[wire.EthernetLen:udpAt])
		ip.SetVersion(6)
		ip.SetTrafficClass(class)
		ip.SetPayloadLen(wire.UDPLen + n)
		ip.SetNextHeader(wire.IPProtoUDP)
		ip.SetHopLimit(hopLimit)
		ip.SetSrc(from.Addr().WithZone("").As16())
		ip.SetDst(s.address.As16())
		return s.head + n, nil
	}
	eth.SetType(wire.EtherTypeIPv4)
	ip := wire.IPv4Header(b[wire.EthernetLen:udpAt])
	ip.SetVersion(4)
	ip.SetHeaderLen(wire.IPv4MinLen)
	ip.SetTOS(class)
	ip.SetTotalLen(wire.IPv4MinLen + wire.UDPLen + n)
	ip.SetDontFragment(true)
	ip.SetTTL(hopLimit)
	ip.SetProtocol(wire.IPProtoUDP)
	ip.SetSrc(from.Addr().Unmap().As4())
	ip.SetDst(s.address.As4())
	s.hidden.find(b[wire.EthernetLen : s.head+n])
	ip.SetChecksum(wire.IPv4Checksum(ip))
	return s.head + n, nil
}

// hopLimit stands for the one that was not asked for; the ICRC does not cover it.
const hopLimit = 64
