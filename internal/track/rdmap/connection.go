package rdmap

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Connection is one iWARP connection. Its exported fields are results.
type Connection struct {
	First, Last  int   // its first and last packet
	Began, Ended int64 // their times
	Evicted      bool
	// Initiator is the end that sent the MPA request, -1 when no start-up frame
	// was captured.
	Initiator int
	Ends      [2]End // the first is the one that sent the first packet
}

// End is one end of a connection: what it sends, and what it asks for.
type End struct {
	Addr       netip.AddrPort
	TCP        TCP // when the connection is over; Sent tells meanwhile
	Start      Start
	FPDUs      int
	Incomplete int // of which bytes are missing in the capture
	Markers    int
	CRCs       [iwarp.CRCBad + 1]int // FPDUs by verdict
	Opcodes    [16]Opcode
	Missing    int64 // bytes of the stream that the capture does not have
	Unframed   int64 // bytes in which no FPDU could be found
	Operations [Ops]Operation
	// Unfinished counts messages, and requests for some, whose end was not
	// captured.
	Unfinished  int
	MostReads   int      // READs outstanding at a time
	Regions     []Region // memory of the other end, in the order of the first use
	MoreRegions int      // uses of memory that there was no room for
	Terminate   *Terminate
	Tallies     Tallies

	report func(Event)
	tcp    half
	stream stream
}

// Start is what an end says in its MPA start-up frame.
type Start struct {
	Packet     int // 0: not captured
	Revision   uint8
	Markers    bool // the end wants markers in what it receives
	CRC        bool
	Reject     bool
	Enhanced   bool // the frame has IRD and ORD
	PeerToPeer bool
	IRD, ORD   uint16
	Private    int // bytes of private data, without IRD and ORD
}

// Opcode counts what an end sends with an RDMAP opcode.
type Opcode struct {
	FPDUs    int
	Messages int   // those whose last segment was seen
	Bytes    int64 // behind the DDP header
}

// Op is what an end asks for.
type Op uint8

// The operations.
const (
	Send Op = iota
	Write
	Read
	Atomic
	Immediate
	Ops // how many there are
)

var opNames = [Ops]string{"SEND", "WRITE", "READ", "ATOMIC", "IMMEDIATE"}

// String returns the operation's name.
func (op Op) String() string { return opNames[op] }

// Operation is what is known of the messages of one kind.
type Operation struct {
	Messages int // complete ones
	Partial  int // of which not all bytes were captured
	Bytes    int64
	// Latency is from the first segment to the last of the response, or to the
	// TCP acknowledgement of the last byte; nil when none was measured.
	Latency *latency.Histogram
}

func (o *Operation) complete(bytes int64, broken bool) {
	o.Messages++
	o.Bytes += bytes
	if broken {
		o.Partial++
	}
}

func (o *Operation) took(ns int64) {
	if o.Latency == nil {
		o.Latency = &latency.Histogram{}
	}
	o.Latency.Add(time.Duration(ns))
}

// Region is what was seen of memory under one STag of the other end.
type Region struct {
	STag    uint32
	Lowest  uint64 // tagged offset
	End     uint64 // one past the highest
	Written int64  // bytes
	Read    int64
}

// Terminate is how an end gave the connection up.
type Terminate struct {
	Packet int
	Cause  int     // the packet with the segment that it complains about, 0 when that is not known
	Head   [2]byte // layer, type and code
}

// Words names layer, type and code.
func (t *Terminate) Words() string { return wire.RDMAPTerminateHeader(t.Head[:]).Words() }

// tell reports an event of the end's stream.
func (e *End) tell(ev Event) {
	e.Tallies.Add(ev.Kind, ev.Packet, 1)
	if e.report != nil {
		e.report(ev)
	}
}

// newConnection begins the results of a TCP connection that carries iWARP.
func newConnection(f *flow) *Connection {
	c := &Connection{First: f.first, Last: f.last, Began: f.began, Ended: f.ended, Initiator: -1}
	for i := range c.Ends {
		e := &c.Ends[i]
		e.stream.pairing = pairing{loose: true, quiet: f.began}
		e.Addr, e.tcp = f.addr[i], f.tcp[i]
	}
	return c
}

// close ends what is open.
func (c *Connection) close(f *flow) {
	for i := range c.Ends {
		e := &c.Ends[i]
		e.tcp.close(f.ended)
		e.TCP = e.tcp.TCP
		e.finish()
		c.Ends[1-i].Unfinished += e.stream.responses.abandon()
	}
	for i := range c.Ends {
		c.Ends[i].stream, c.Ends[i].report = stream{}, nil
	}
}
