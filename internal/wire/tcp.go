package wire

// TCPMinLen is the length of a TCP header without options.
const TCPMinLen = 20

const (
	tcpSrcPort   = 0
	tcpDstPort   = 2
	tcpSeq       = 4
	tcpAck       = 8
	tcpFlags     = 12
	tcpWindow    = 14
	tcpChecksum  = 16
	tcpUrgent    = 18
	tcpFlagsMask = 0x0FFF
)

// TCP flags, as Flags returns them.
const (
	TCPFin = 1 << iota
	TCPSyn
	TCPReset
	TCPPush
	TCPAck
	TCPUrgent
	TCPECE
	TCPCWR
	TCPAE
)

// tcpFlagNames are in the order of the bits.
var tcpFlagNames = [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"}

// TCP is a TCP header (RFC 9293, 3.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          source port          |       destination port        |
//	+-------------------------------+-------------------------------+
//	|                        sequence number                        |
//	+---------------------------------------------------------------+
//	|                     acknowledgment number                     |
//	+-------+-----+-+-+-+-+-+-+-+-+-+-------------------------------+
//	|offset | res |A|C|E|U|A|P|R|S|F|            window             |
//	+-------+-----+-+-+-+-+-+-+-+-+-+-------------------------------+
//	|           checksum            |        urgent pointer         |
//	+-------------------------------+-------------------------------+
//	|                     options, 0 to 40 bytes                    |
//	+---------------------------------------------------------------+
type TCP []byte

// SrcPort is the source port.
func (h TCP) SrcPort() uint16 { return be.Uint16(h[tcpSrcPort:]) }

// SetSrcPort sets the source port.
func (h TCP) SetSrcPort(v uint16) { be.PutUint16(h[tcpSrcPort:], v) }

// DstPort is the destination port.
func (h TCP) DstPort() uint16 { return be.Uint16(h[tcpDstPort:]) }

// SetDstPort sets the destination port.
func (h TCP) SetDstPort(v uint16) { be.PutUint16(h[tcpDstPort:], v) }

// Seq is the sequence number of the first byte.
func (h TCP) Seq() uint32 { return be.Uint32(h[tcpSeq:]) }

// SetSeq sets the sequence number.
func (h TCP) SetSeq(v uint32) { be.PutUint32(h[tcpSeq:], v) }

// Ack is the acknowledgment number.
func (h TCP) Ack() uint32 { return be.Uint32(h[tcpAck:]) }

// SetAck sets the acknowledgment number.
func (h TCP) SetAck(v uint32) { be.PutUint32(h[tcpAck:], v) }

// HeaderLen is the length of the header that its data offset claims, 0 to 60.
func (h TCP) HeaderLen() int { return int(h[tcpFlags]>>4) * 4 }

// SetHeaderLen sets the data offset to a length in bytes, a multiple of 4.
func (h TCP) SetHeaderLen(n int) { putBits(&h[tcpFlags], 0xF0, uint8(n/4)<<4) }

// Flags is the twelve bits of reserved bits and flags.
func (h TCP) Flags() uint16 { return be.Uint16(h[tcpFlags:]) & tcpFlagsMask }

// SetFlags sets the twelve bits of reserved bits and flags.
func (h TCP) SetFlags(v uint16) {
	old := be.Uint16(h[tcpFlags:])
	be.PutUint16(h[tcpFlags:], merge(old, v, tcpFlagsMask))
}

// AppendFlagNames adds the names of the flags that are set, the lowest bit first,
// with spaces between them.
func (h TCP) AppendFlagNames(dst []byte) []byte {
	start := len(dst)
	for i, name := range tcpFlagNames {
		if h.Flags()&(1<<i) == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, name...)
	}
	return dst
}

// Window is the window field, not scaled.
func (h TCP) Window() uint16 { return be.Uint16(h[tcpWindow:]) }

// SetWindow sets the window field.
func (h TCP) SetWindow(v uint16) { be.PutUint16(h[tcpWindow:], v) }

// Checksum is the checksum.
func (h TCP) Checksum() uint16 { return be.Uint16(h[tcpChecksum:]) }

// SetChecksum sets the checksum; TCPChecksum computes it.
func (h TCP) SetChecksum(v uint16) { be.PutUint16(h[tcpChecksum:], v) }

// Urgent is the urgent pointer.
func (h TCP) Urgent() uint16 { return be.Uint16(h[tcpUrgent:]) }

// SetUrgent sets the urgent pointer.
func (h TCP) SetUrgent(v uint16) { be.PutUint16(h[tcpUrgent:], v) }

// Options is the part of the claimed header behind the fixed 20 bytes, as much
// of it as was captured.
func (h TCP) Options() []byte { return optionBytes(h, TCPMinLen, h.HeaderLen()) }

// TCPChecksum computes the checksum of a whole segment, header and payload, as
// if its checksum field were zero. src and dst are both 4 or both 16 bytes, the
// addresses of its IP header (RFC 9293, 3.1).
func TCPChecksum(src, dst, segment []byte) uint16 {
	sum := pseudoSum(src, dst, IPProtoTCP, len(segment))
	sum = onesSum(sum, segment)
	if len(segment) >= TCPMinLen {
		sum += uint64(^be.Uint16(segment[tcpChecksum:]))
	}
	return ^foldSum(sum)
}

var tcpSpec = Spec{
	ID: HdrTCP, Name: "tcp", Title: "Transmission Control Protocol", Len: TCPMinLen,
	Fields: []Field{
		{Name: "tcp.srcport", Title: "Source Port", Bit: tcpSrcPort * 8, Bits: 16},
		{Name: "tcp.dstport", Title: "Destination Port", Bit: tcpDstPort * 8, Bits: 16},
		{Name: "tcp.seq_raw", Title: "Sequence Number (raw)", Bit: tcpSeq * 8, Bits: 32},
		{Name: "tcp.ack_raw", Title: "Acknowledgment number (raw)", Bit: tcpAck * 8, Bits: 32},
		{Name: "tcp.hdr_len", Title: "Header Length", Bit: tcpFlags * 8, Bits: 4, Scale: 4},
		{Name: "tcp.flags", Title: "Flags", Base: Hex, Bit: tcpFlags*8 + 4, Bits: 12, Width: 16},
		{Name: "tcp.flags.res", Title: "Reserved", Kind: Bool, Bit: tcpFlags*8 + 4, Bits: 3},
		{Name: "tcp.flags.ae", Title: "Accurate ECN", Kind: Bool, Bit: tcpFlags*8 + 7, Bits: 1},
		{Name: "tcp.flags.cwr", Title: "Congestion Window Reduced", Kind: Bool, Bit: tcpFlags*8 + 8, Bits: 1},
		{Name: "tcp.flags.ece", Title: "ECN-Echo", Kind: Bool, Bit: tcpFlags*8 + 9, Bits: 1},
		{Name: "tcp.flags.urg", Title: "Urgent", Kind: Bool, Bit: tcpFlags*8 + 10, Bits: 1},
		{Name: "tcp.flags.ack", Title: "Acknowledgment", Kind: Bool, Bit: tcpFlags*8 + 11, Bits: 1},
		{Name: "tcp.flags.push", Title: "Push", Kind: Bool, Bit: tcpFlags*8 + 12, Bits: 1},
		{Name: "tcp.flags.reset", Title: "Reset", Kind: Bool, Bit: tcpFlags*8 + 13, Bits: 1},
		{Name: "tcp.flags.syn", Title: "Syn", Kind: Bool, Bit: tcpFlags*8 + 14, Bits: 1},
		{Name: "tcp.flags.fin", Title: "Fin", Kind: Bool, Bit: tcpFlags*8 + 15, Bits: 1},
		{Name: "tcp.window_size_value", Title: "Window", Bit: tcpWindow * 8, Bits: 16},
		{Name: "tcp.checksum", Title: "Checksum", Base: Hex, Bit: tcpChecksum * 8, Bits: 16},
		{Name: "tcp.urgent_pointer", Title: "Urgent Pointer", Bit: tcpUrgent * 8, Bits: 16},
		{Name: "tcp.options", Title: "TCP Options", Kind: Bytes, Bit: TCPMinLen * 8, When: tcpHasOptions},
	},
}

func tcpHasOptions(h []byte) bool { return TCP(h).HeaderLen() > TCPMinLen }
