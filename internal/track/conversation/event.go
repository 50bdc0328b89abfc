package conversation

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/tally"
	"github.com/rocecap/rocecap/internal/wire"
)

// Kind is what happened.
type Kind uint8

// The events. The first are verdicts on packets that are not where they should
// be: N of them, from PSN on.
const (
	Lost        Kind = iota // lost before the capture point: the responder asked for it again
	LostBehind              // seen, and yet asked for: lost or late behind the capture point
	LostCorrupt             // seen with a wrong ICRC, and asked for again
	Missed                  // not captured: the responder acknowledged it
	Reordered               // it came later than what was sent behind it
	Unresolved              // lost, or missed by the capture: nothing tells
	Duplicate               // it came twice, and was not sent again with what follows
	Disordered              // several came late close together: nothing tells what was late and what was sent again
	// What was sent again, from PSN on, and why.
	RetransmitNak     // after a NAK "PSN sequence error"
	RetransmitImplied // after a response that shows that an earlier one is missing
	RetransmitRNR     // after an RNR NAK
	RetransmitTimeout // after the local ACK timeout
	RetransmitUnseen  // nothing that was captured is the reason
	// What the responder said.
	NakSequence
	NakInvalid
	NakAccess
	NakOperation
	NakOther // NAK or syndrome that is not defined for the service
	RNRNak
	// What is wrong with answers and reactions.
	AckLost       // acknowledged, and yet sent again after a timeout
	AckUnsent     // an acknowledgement of what was not sent yet
	RNREarly      // sent again before the time of the RNR NAK was over
	ResponseLost  // READ responses that were asked for again
	ResponseGap   // READ responses not captured, and not asked for again
	CongestionCE  // packets marked by congestion
	CongestionCNP // congestion notifications
	BadICRC
	IcrcMistake // a wrong ICRC that a known mistake explains
	// What does not keep to the standard.
	SizeWrong      // a packet of a message is not as long as the path MTU, or longer
	LengthWrong    // the packets of a WRITE are not as long together as its RETH says
	OpcodeOrder    // a packet cannot follow the one before it
	ReservedBits   // bits that have to be 0 are not
	VersionUnknown // the transport header version is not 0
	PKeyChanged
	MigReqChanged
	AckBeyond       // an acknowledgement of what the capture does not have, up to its end
	ResponseUnasked // READ or atomic responses to what is neither
	AfterFatal      // a queue pair goes on after a NAK that ends it
	// What the fields of headers and answers say that cannot be so.
	PadWrong     // the pad count is not what the payload needs
	PadSet       // pad bytes are not 0
	QKeyChanged  // a queue pair got two Q_Keys
	QKeyQP1      // QP 1 got another Q_Key than its own
	AckReqNever  // a requester timed out that never asks for an acknowledgement
	AckGhost     // an acknowledgement of what was acknowledged long ago
	MSNRegress   // the MSN goes back
	MSNWrong     // the MSN does not count the messages that were sent
	CreditBeyond // a message for which the responder told that it has no receive request
	RNRStorm     // a message was refused many times in a row
	RNRLate      // sent again much later than the RNR NAK told
	// What congestion and flow control did.
	CEUnanswered // marked packets that no notification answers
	CNPUnmarked  // a notification without a marked packet before
	StallPaused  // nothing came while flow control paused something
	// What was not done as CM agreed on it.
	StartPSN        // the first request has another PSN
	DepthBeyond     // more READs and atomics outstanding than the responder takes
	MTUBeyond       // a packet is longer than the path MTU
	MTUBelow        // a FIRST or MIDDLE packet is shorter
	RetryBeyond     // sent again more often
	RNRBeyond       // sent again after RNR NAKs more often
	TimeoutEarly    // sent again before the local ACK timeout
	AfterDisconnect // an end goes on when the connection is over
	// What became of a request in the end.
	RetriesSpent  // sent again after timeouts or NAKs until nothing came any more
	RNRSpent      // refused by RNR NAKs until nothing came any more
	UnknownOpcode // an opcode that is reserved
	Kinds         // how many there are
)

// Event is one thing that happened in a direction of a conversation.
type Event struct {
	Kind   Kind
	Packet int // in which it shows
	Cause  int // the packet that led to it, 0 when there is none
	PSN    wire.PSN
	N      int           // packets concerned
	Waited time.Duration // of retransmissions: since the last sign of progress; RNREarly: since the RNR NAK
}

// Tallies count the events of each kind.
type Tallies = tally.List[Kind]

var kindNames = [Kinds]string{
	"Lost", "LostBehind", "LostCorrupt", "Missed", "Reordered", "Unresolved", "Duplicate", "Disordered",
	"RetransmitNak", "RetransmitImplied", "RetransmitRNR", "RetransmitTimeout", "RetransmitUnseen",
	"NakSequence", "NakInvalid", "NakAccess", "NakOperation", "NakOther", "RNRNak",
	"AckLost", "AckUnsent", "RNREarly", "ResponseLost", "ResponseGap", "CongestionCE", "CongestionCNP", "BadICRC", "IcrcMistake",
	"SizeWrong", "LengthWrong", "OpcodeOrder", "ReservedBits", "VersionUnknown", "PKeyChanged", "MigReqChanged",
	"AckBeyond", "ResponseUnasked", "AfterFatal",
	"PadWrong", "PadSet", "QKeyChanged", "QKeyQP1", "AckReqNever", "AckGhost", "MSNRegress", "MSNWrong",
	"CreditBeyond", "RNRStorm", "RNRLate",
	"CEUnanswered", "CNPUnmarked", "StallPaused",
	"StartPSN", "DepthBeyond", "MTUBeyond", "MTUBelow", "RetryBeyond", "RNRBeyond", "TimeoutEarly", "AfterDisconnect",
	"RetriesSpent", "RNRSpent", "UnknownOpcode",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }
