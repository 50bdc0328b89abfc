// Package tcpstream puts the captured segments of one TCP connection back into
// the two byte streams that its ends exchanged.
//
// It copes with what captures hold: segments out of order, retransmissions that
// overlap, sequence numbers that wrap, segments that the capture missed or cut
// short, and connections whose start was not captured. It is pure: the caller
// feeds it segments and pulls chunks, and it keeps no memory of the caller's.
package tcpstream

import "github.com/rocecap/rocecap/internal/wire"

// Flags is the low octet of the TCP flags, with the bits of the TCP header
// (RFC 9293 section 3.1).
type Flags uint8

// The flags that matter here.
const (
	FIN Flags = wire.TCPFin
	SYN Flags = wire.TCPSyn
	RST Flags = wire.TCPReset
	ACK Flags = wire.TCPAck
)

// Segment is one captured TCP segment.
type Segment struct {
	Number uint64 // packet number in the capture
	Seq    uint32
	Ack    uint32
	Flags  Flags
	// Payload is the captured part of the payload. It is only read during the
	// call it is given to and the calls of Next up to the next Push.
	Payload []byte
	Len     int // length of the payload on the wire
	Offset  int // of the payload in its frame; chunks pass it on
}

// Chunk is a run of consecutive stream bytes from one segment, or a gap.
type Chunk struct {
	Dir int // which stream: 0 or 1
	// Off is where in the stream the chunk begins. It counts from the byte
	// after the SYN, or from the first byte seen.
	Off  int64
	Data []byte // valid until the next call
	// Gap is how many bytes the capture does not have; Data is empty then.
	Gap int64
	// Cut says that the bytes of a gap belong to a segment that was captured
	// in part.
	Cut    bool
	Number uint64 // the packet that Data, or the cut segment, came in
	// Start and End tell whether the chunk begins and ends where its segment
	// does on the wire.
	Start, End bool
	SegLen     int // length of the segment's payload on the wire
	Offset     int // of Data in the frame of the segment
}

// Limits bounds what streams may hold back.
type Limits struct {
	PerStream int // bytes that one stream may keep behind a hole
	Total     int // bytes that all streams with one Budget may keep
}

// DefaultLimits holds the reordering of a fast link without letting a capture
// full of holes take the machine's memory.
func DefaultLimits() Limits { return Limits{PerStream: 8 << 20, Total: 32 << 20} }

// Budget is the memory that many connections share.
type Budget struct {
	limits Limits
	used   int
}

// NewBudget returns a budget with nothing used.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// Take counts n more bytes as used; a negative n gives bytes back.
func (b *Budget) Take(n int) { b.used += n }

// Used returns how many bytes are in use.
func (b *Budget) Used() int { return b.used }

// Scarce reports that more than half of the total is in use: who needs memory no
// more should not keep it for later.
func (b *Budget) Scarce() bool { return b.used > b.limits.Total/2 }

// Full reports that more than the total is in use.
func (b *Budget) Full() bool { return b.used > b.limits.Total }
