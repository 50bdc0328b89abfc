package wire

// RMPPLen is the length of an RMPP header behind the common header.
const RMPPLen = 12

// RMPP types (IBTA vol. 1, 13.6.2.1).
const (
	RMPPNone  uint8 = 0 // the datagram is not part of an RMPP transaction
	RMPPData  uint8 = 1
	RMPPAck   uint8 = 2
	RMPPStop  uint8 = 3
	RMPPAbort uint8 = 4
)

// RMPP flags.
const (
	RMPPActive uint8 = 1
	RMPPFirst  uint8 = 2
	RMPPLast   uint8 = 4
)

// RMPP is the header of the reliable multi-packet transaction protocol
// (IBTA vol. 1, 13.6.2.1).
//
//	0 +---------------+---------------+---------+-----+---------------+
//	  |    version    |     type      | resptime|flags|    status     |
//	4 +---------------+---------------+---------+-----+---------------+
//	  |  data 1: segment number of DATA and ACK                       |
//	8 +---------------------------------------------------------------+
//	  |  data 2: payload length of DATA, new window last of ACK       |
//	  +---------------------------------------------------------------+
type RMPP []byte

const (
	rmppVersion      = 0
	rmppType         = 1
	rmppResponseTime = 2
	rmppFlags        = 2
	rmppStatus       = 3
	rmppData1        = 4
	rmppData2        = 8
)

// Version is the version of the protocol, 1.
func (h RMPP) Version() uint8 { return h[rmppVersion] }

// SetVersion sets the version of the protocol.
func (h RMPP) SetVersion(v uint8) { h[rmppVersion] = v }

// Type is the kind of the packet.
func (h RMPP) Type() uint8 { return h[rmppType] }

// SetType sets the kind of the packet.
func (h RMPP) SetType(v uint8) { h[rmppType] = v }

// ResponseTime is the response time, 4.096 us times two to this power, 31 for none.
func (h RMPP) ResponseTime() uint8 { return h[rmppResponseTime] >> 3 }

// SetResponseTime sets the response time.
func (h RMPP) SetResponseTime(v uint8) { putBits(&h[rmppResponseTime], 0xF8, v<<3) }

// Flags is the set of flags.
func (h RMPP) Flags() uint8 { return h[rmppFlags] & 0x07 }

// SetFlags sets the set of flags.
func (h RMPP) SetFlags(v uint8) { putBits(&h[rmppFlags], 0x07, v) }

// Status is the status.
func (h RMPP) Status() uint8 { return h[rmppStatus] }

// SetStatus sets the status.
func (h RMPP) SetStatus(v uint8) { h[rmppStatus] = v }

// Data1 is the segment number of a DATA or an ACK packet.
func (h RMPP) Data1() uint32 { return be.Uint32(h[rmppData1:]) }

// SetData1 sets the segment number of a DATA or an ACK packet.
func (h RMPP) SetData1(v uint32) { be.PutUint32(h[rmppData1:], v) }

// Data2 is the payload length of a DATA packet, the last segment of the window of an ACK.
func (h RMPP) Data2() uint32 { return be.Uint32(h[rmppData2:]) }

// SetData2 sets the payload length of a DATA packet.
func (h RMPP) SetData2(v uint32) { be.PutUint32(h[rmppData2:], v) }

// active reports whether the datagram belongs to an RMPP transaction.
func (h RMPP) active() bool { return h.Version() == 1 && h.Flags()&RMPPActive != 0 }

var rmppSpec = Spec{ID: HdrRMPP, Name: "infiniband.rmpp", Title: "Reliable Multi-Packet Transaction Protocol", Len: RMPPLen, Fields: []Field{
	{Name: "infiniband.rmpp.rmppversion", Title: "RMPP Version", Base: Hex, Bits: 8},
	{Name: "infiniband.rmpp.rmpptype", Title: "RMPP Type", Base: Hex, Bit: 8, Bits: 8, Names: rmppTypeName},
	// Wireshark 4.0 splits this byte into four and four bits.
	{Name: "infiniband.rmpp.rresptime", Title: "Response Time", Base: Hex, Bit: 16, Bits: 5},
	{Name: "infiniband.rmpp.rmppflags", Title: "RMPP Flags", Base: Hex, Bit: 21, Bits: 3, Names: rmppFlagsName},
	{Name: "infiniband.rmpp.rmppstatus", Title: "RMPP Status", Base: Hex, Bit: 24, Bits: 8, Names: rmppStatusName},
	{Name: "infiniband.rmpp.data1", Title: "RMPP Data 1", Base: Hex, Bit: 32, Bits: 32, When: rmppIsOther},
	{Name: "infiniband.rmpp.data2", Title: "RMPP Data 2", Base: Hex, Bit: 64, Bits: 32, When: rmppIsOther},
	{Name: "infiniband.rmpp.segmentnumber", Title: "Segment Number", Base: Hex, Bit: 32, Bits: 32, When: rmppHasSegment},
	{Name: "infiniband.rmpp.payloadlength", Title: "Payload Length", Base: Hex, Bit: 64, Bits: 32, When: rmppIsData},
	{Name: "infiniband.rmpp.newwindowlast", Title: "New Window Last", Base: Hex, Bit: 64, Bits: 32, When: rmppIsAck},
}}

var rmppErrorSpec = Spec{ID: HdrRMPPError, Name: "infiniband.rmpp.error", Title: "RMPP Error Data", Fields: []Field{
	{Name: "infiniband.rmpp.extendederrordata", Title: "Extended Error Data", Kind: Bytes},
}}

func rmppIsData(h []byte) bool { return RMPP(h).Type() == RMPPData }

func rmppIsAck(h []byte) bool { return RMPP(h).Type() == RMPPAck }

func rmppHasSegment(h []byte) bool { return rmppIsData(h) || rmppIsAck(h) }

func rmppIsOther(h []byte) bool { return !rmppHasSegment(h) }

func rmppTypeName(v uint64) string {
	switch uint8(v) {
	case RMPPNone:
		return "Not RMPP"
	case RMPPData:
		return "DATA"
	case RMPPAck:
		return "ACK"
	case RMPPStop:
		return "STOP"
	case RMPPAbort:
		return "ABORT"
	}
	return ""
}

func rmppFlagsName(v uint64) string { return setName(v, "Active", "First", "Last") }

// rmppStatusName names an RMPP status (IBTA vol. 1, table 13.6.2.1).
func rmppStatusName(v uint64) string {
	switch v {
	case 0:
		return "Normal"
	case 1:
		return "Resources Exhausted"
	case 118:
		return "Total Time Too Long"
	case 119:
		return "Inconsistent Last and PayloadLength"
	case 120:
		return "Inconsistent First and SegmentNumber"
	case 121:
		return "Bad RMPPType"
	case 122:
		return "NewWindowLast Too Small"
	case 123:
		return "SegmentNumber Too Big"
	case 124:
		return "Illegal Status"
	case 125:
		return "Unsupported Version"
	case 126:
		return "Too Many Retries"
	case 127:
		return "Unspecified"
	}
	return ""
}
