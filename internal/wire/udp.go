package wire

// UDP destination ports that this package looks behind (IANA).
const (
	PortRoCEv2 = 4791
	PortVXLAN  = 4789
	PortGeneve = 6081
)

// UDPLen is the length of a UDP header.
const UDPLen = 8

const (
	udpSrcPort  = 0
	udpDstPort  = 2
	udpLength   = 4
	udpChecksum = 6
)

// UDP is a UDP header (RFC 768).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          source port          |       destination port        |
//	+-------------------------------+-------------------------------+
//	|            length             |           checksum            |
//	+-------------------------------+-------------------------------+
type UDP []byte

// SrcPort is the source port.
func (h UDP) SrcPort() uint16 { return be.Uint16(h[udpSrcPort:]) }

// SetSrcPort sets the source port.
func (h UDP) SetSrcPort(v uint16) { be.PutUint16(h[udpSrcPort:], v) }

// DstPort is the destination port.
func (h UDP) DstPort() uint16 { return be.Uint16(h[udpDstPort:]) }

// SetDstPort sets the destination port.
func (h UDP) SetDstPort(v uint16) { be.PutUint16(h[udpDstPort:], v) }

// Length is the length of header and payload.
func (h UDP) Length() int { return int(be.Uint16(h[udpLength:])) }

// SetLength sets the length of header and payload.
func (h UDP) SetLength(n int) { be.PutUint16(h[udpLength:], uint16(n)) }

// Checksum is the checksum; 0 means that the sender computed none.
func (h UDP) Checksum() uint16 { return be.Uint16(h[udpChecksum:]) }

// SetChecksum sets the checksum; UDPChecksum computes it.
func (h UDP) SetChecksum(v uint16) { be.PutUint16(h[udpChecksum:], v) }

// UDPChecksum computes the checksum of a whole datagram, header and payload, as
// if its checksum field were zero. src and dst are both 4 or both 16 bytes, the
// addresses of its IP header (RFC 768; RFC 8200, 8.1). The result is never 0,
// which would mean "no checksum".
func UDPChecksum(src, dst, datagram []byte) uint16 {
	sum := pseudoSum(src, dst, IPProtoUDP, len(datagram))
	sum = onesSum(sum, datagram)
	if len(datagram) >= UDPLen {
		sum += uint64(^be.Uint16(datagram[udpChecksum:]))
	}
	if c := ^foldSum(sum); c != 0 {
		return c
	}
	return 0xFFFF
}

// pseudoSum is the sum of the pseudo header before a UDP or TCP checksum. The
// IPv4 and IPv6 pseudo headers differ only in where their zeros are.
func pseudoSum(src, dst []byte, protocol uint8, length int) uint64 {
	sum := onesSum(0, src)
	sum = onesSum(sum, dst)
	return sum + uint64(protocol) + uint64(length)
}

var udpSpec = Spec{
	ID: HdrUDP, Name: "udp", Title: "User Datagram Protocol", Len: UDPLen,
	Fields: []Field{
		{Name: "udp.srcport", Title: "Source Port", Bit: udpSrcPort * 8, Bits: 16},
		{Name: "udp.dstport", Title: "Destination Port", Bit: udpDstPort * 8, Bits: 16, Names: udpPortName},
		{Name: "udp.length", Title: "Length", Bit: udpLength * 8, Bits: 16},
		{Name: "udp.checksum", Title: "Checksum", Base: Hex, Bit: udpChecksum * 8, Bits: 16},
	},
}

func udpPortName(v uint64) string {
	switch v {
	case PortRoCEv2:
		return "RoCEv2"
	case PortVXLAN:
		return "VXLAN"
	case PortGeneve:
		return "Geneve"
	}
	return ""
}
