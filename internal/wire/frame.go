// Package wire knows every bit of an RDMA packet: header layouts, opcodes,
// length rules, PSN arithmetic, and a one-pass parser that finds the headers of
// a frame. It is the only place in the project that knows a bit position.
//
// A header is a []byte view with accessors, and a Spec that lists its fields
// under their display-filter names. Nothing here allocates per packet, reads a
// clock or fails: a frame that makes no sense is a Frame whose Problems say so.
package wire

import "net/netip"

// LinkType is a pcap link type (LINKTYPE_*).
type LinkType uint16

// The link types that Parse knows.
const (
	LinkEthernet LinkType = 1
	LinkRawIP    LinkType = 101
	LinkSLL      LinkType = 113
	LinkERF      LinkType = 197
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkIPoIB    LinkType = 242
	LinkIB       LinkType = 247
	LinkSLL2     LinkType = 276
)

// Proto says what the innermost packet of a frame is.
type Proto uint8

// What Parse can find in a frame.
const (
	ProtoOther  Proto = iota // nothing that this package decodes further
	ProtoRoCEv1              // GRH over EtherType 0x8915
	ProtoRoCEv2              // BTH over UDP port 4791
	ProtoIB                  // native InfiniBand with a BTH
	ProtoIBRaw               // native InfiniBand raw packet
	ProtoIBLink              // InfiniBand link-level flow-control packet
	ProtoTCP
	ProtoUDP
	ProtoPause // Ethernet PAUSE, 802.3x
	ProtoPFC   // priority-based flow control, 802.1Qbb
	ProtoARP
	ProtoICMP
)

// Problem is a set of things that are wrong with, or unusual in, a frame.
type Problem uint32

// Problems that Parse can see in one frame.
const (
	ProblemShort         Problem = 1 << iota // a length field leaves no room for the headers
	ProblemLength                            // length fields contradict each other or the frame
	ProblemTVer                              // BTH TVer is not 0 (IBTA 9.2.4)
	ProblemPad                               // PadCnt is larger than the payload
	ProblemUnknownOpcode                     // no header stack is defined for the BTH opcode
	ProblemReserved                          // a reserved bit is set
	ProblemSyndrome                          // undefined AETH syndrome or NAK code
	ProblemPayload                           // payload in a packet that has none
	ProblemFragment                          // IP fragment: lengths and ICRC cannot be judged
	ProblemOptions                           // IP options or extension headers: no ICRC rule is known
	ProblemTooDeep                           // more headers than MaxHeaders
	ProblemVersion                           // IP, GRH or tunnel version is not the one expected
	ProblemBadMAD                            // a management datagram is shorter than its class needs
	ProblemMPA                               // MPA start-up frame: revision, reserved bits or private data
	ProblemDDPVersion                        // DDP version is not 1 (RFC 5041 section 4.1)
	ProblemRDMAPVersion                      // RDMAP version is not 1 (RFC 5040 section 4.1)
	ProblemQueue                             // DDP buffer model or queue number is not the RDMAP opcode's
	ProblemFPDUPad                           // an FPDU's pad bytes are not 0 (RFC 5044 section 4.1)
)

// Frame is what one pass over a captured frame found. A Frame is reusable;
// Parse overwrites all of it.
type Frame struct {
	Stack
	// RoCEPort is one more UDP port, beside 4791, whose datagrams are RoCEv2.
	// Parse leaves it alone; 0 means none.
	RoCEPort uint16

	Link     LinkType
	WireLen  int // length on the wire; len(Data) bytes of it were captured
	Proto    Proto
	Problems Problem

	// Offsets into Data, -1 when the frame has no such part. They are places
	// on the wire: a cut capture may end before them.
	Net  int // innermost LRH, GRH or IP header: where the ICRC's coverage begins
	L4   int // innermost UDP or TCP header
	BTH  int
	ICRC int
	VCRC int
	// End is one past the last byte that the length fields count in: the end
	// of the ICRC, of the TCP segment, or of the UDP payload.
	End int

	Payload    int // offset of the payload
	PayloadLen int // its length on the wire, pad bytes left out
	Pad        int // number of pad bytes
}

// Cut reports whether the capture holds fewer bytes than the packet has.
func (f *Frame) Cut() bool { return f.End > len(f.Data) || len(f.Data) < f.WireLen }

// Addresses returns the innermost source and destination: IP addresses or GIDs,
// or LIDs as LIDAddr has them. They are invalid when the frame has none, or none
// that was captured whole.
func (f *Frame) Addresses() (src, dst netip.Addr) {
	hdrs := f.Headers()
	for i := len(hdrs) - 1; i >= 0; i-- {
		// Few headers have addresses: the bytes of the others are not looked at.
		switch h := hdrs[i]; h.ID {
		case HdrIPv4:
			if ip := IPv4Header(f.Whole(h)); ip != nil {
				return ip.Src(), ip.Dst()
			}
		case HdrIPv6:
			if ip := IPv6Header(f.Whole(h)); ip != nil {
				return ip.Src(), ip.Dst()
			}
		case HdrGRH:
			if grh := GRH(f.Whole(h)); grh != nil {
				return grh.SGID().Unmap(), grh.DGID().Unmap()
			}
		case HdrLRH:
			if lrh := LRH(f.Whole(h)); lrh != nil {
				return LIDAddr(lrh.SLID()), LIDAddr(lrh.DLID())
			}
		}
	}
	return src, dst
}

// lidZone tells LIDs from IPv6 addresses that begin with zeros.
const lidZone = "LID"

// LIDAddr is a LID as the last two bytes of an otherwise empty address, in a zone
// of its own.
func LIDAddr(lid uint16) netip.Addr {
	return netip.AddrFrom16([16]byte{14: byte(lid >> 8), 15: byte(lid)}).WithZone(lidZone)
}

// LID is what LIDAddr has made an address of.
func LID(a netip.Addr) (lid uint16, ok bool) {
	b := a.As16()
	return uint16(b[14])<<8 | uint16(b[15]), a.Zone() == lidZone
}

// PayloadBytes returns the captured bytes of the payload.
func (f *Frame) PayloadBytes() []byte {
	from := min(f.Payload, len(f.Data))
	to := min(f.Payload+f.PayloadLen, len(f.Data))
	return f.Data[from:max(from, to)]
}

// Opcode returns the BTH opcode; ok is false when the frame has no BTH or was
// cut before it.
func (f *Frame) Opcode() (op Opcode, ok bool) {
	if f.BTH < 0 || f.BTH >= len(f.Data) {
		return 0, false
	}
	return Opcode(f.Data[f.BTH]), true
}
