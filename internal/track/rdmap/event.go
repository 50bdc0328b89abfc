package rdmap

import "github.com/rocecap/rocecap/internal/track/tally"

// Kind is what happened.
type Kind uint8

// The events. Each is about the stream that an end sends.
const (
	MsnOrder        Kind = iota // a message does not have the sequence number that follows in its queue
	MoOrder                     // a segment does not begin where the one before it in the message ended
	TaggedOrder                 // the same, of a tagged message: another STag or tagged offset
	LastFlag                    // a message ended without the last flag, or goes on behind it
	OpcodeMixed                 // a segment has another opcode than the message
	ReadSink                    // a READ response goes elsewhere than its request says
	ReadBounds                  // a READ response is longer than was asked for
	ReadShort                   // a READ response ends before all was sent that was asked for
	ReadOrder                   // a READ response overtakes that of an earlier request
	ResponseUnasked             // a response to what was not asked
	ReadDepth                   // more READs outstanding than the other end said that it can have
	InvalidSTag                 // use of an STag behind the SEND that invalidates it
	BadMarker                   // a marker does not point to the start of its FPDU
	BadCRC                      // a wrong CRC32c
	BadHeader                   // version, opcode, queue or length that a receiver has to refuse
	ReservedBits                // bits or pad bytes that have to be 0 are not
	BadStart                    // a start-up frame that does not keep to the standard
	Rejected                    // the responder refuses the connection
	Unaligned                   // an FPDU does not fit into a TCP segment
	Terminated                  // an end gave the connection up, and said why
	AfterTerminate              // an end went on behind its Terminate
	Gap                         // bytes that the capture does not have
	Unframed                    // bytes in which no FPDU could be found
	Resent                      // a TCP segment with bytes that had been seen
	Late                        // a TCP segment with bytes that come before what had been seen
	ZeroWindow                  // an end has no room for what the other sends
	Reset                       // an end reset the TCP connection
	Kinds                       // how many there are
)

// Event is one thing that happened in the stream of one end.
type Event struct {
	Kind   Kind
	Packet int    // in which it shows
	Cause  int    // the packet that led to it, 0 when there is none
	Queue  uint32 // of MsnOrder, MoOrder
	Got    uint64 // what is in the packet, where one number is wrong
	Want   uint64 // what it should be, or may be at most
	Bytes  int64  // how many it is about, where that is said
}

// Tallies count the events of each kind.
type Tallies = tally.List[Kind]

var kindNames = [Kinds]string{
	"MsnOrder", "MoOrder", "TaggedOrder", "LastFlag", "OpcodeMixed",
	"ReadSink", "ReadBounds", "ReadShort", "ReadOrder", "ResponseUnasked", "ReadDepth", "InvalidSTag",
	"BadMarker", "BadCRC", "BadHeader", "ReservedBits", "BadStart", "Rejected", "Unaligned",
	"Terminated", "AfterTerminate", "Gap", "Unframed", "Resent", "Late", "ZeroWindow", "Reset",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }
