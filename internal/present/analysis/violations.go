package analysis

import "github.com/rocecap/rocecap/internal/track/conversation"

// violations are what a sender does that the standard forbids.
func violations() []Code {
	return []Code{
		{
			"AFTER-FATAL", conversation.AfterFatal, Error, "a queue pair went on after a NAK that ends it",
			"whether the application has made a new connection with the same queue pair numbers",
			"Behind a NAK Invalid Request, Remote Access Error or Remote Operational Error the requester sends requests, more than a millisecond later and more than twice the time that answers take, or the responder acknowledges, after more than twice the time of its answers. Both queue pairs have to be in the error state.",
			"A device that does not enter the error state, or a queue pair that was reset and connected again.",
		},
		{
			"OPCODE-ORDER", conversation.OpcodeOrder, Error, "a packet cannot follow the one before it",
			"the opcodes of that packet and the one before, with rocecap flow",
			"The PSN is the next one, and yet a MIDDLE or LAST packet has no message to go on with, is of another operation than the message, or a new message begins before the last packet of the one before. A responder answers NAK Invalid Request.",
			"A faulty requester, or two senders that use one queue pair number.",
		},
		{
			"MESSAGE-SIZE", conversation.SizeWrong, Error, "a packet is not as long as its place in the message demands",
			"the path MTU of both ends",
			"FIRST and MIDDLE packets have exactly one path MTU of payload, LAST has at least one byte, and none has more than the path MTU. The first FIRST or MIDDLE packet of a power of two from 256 to 4096 bytes is taken for the path MTU.",
			"Ends with different path MTUs, or a sender that cuts messages wrongly.",
		},
		{
			"MESSAGE-LENGTH", conversation.LengthWrong, Error, "the packets of a WRITE do not add up to the DMA length of its RETH",
			"the RETH of the message's first packet",
			"The RETH in the first packet tells how many bytes the message has. Behind its LAST or ONLY packet there are fewer or more. A responder answers NAK Invalid Request.",
			"A faulty requester.",
		},
		{
			"ACK-BEYOND", conversation.AckBeyond, Warning, "an acknowledgement is of what the capture does not have",
			"the end of the capture: does it miss the last requests?",
			"A PSN was acknowledged that no captured request reaches, and none came until the end. Either the capture misses the last requests, or the responder acknowledges what was never sent.",
			"A capture that could not keep up or ended early, a faulty responder, a spoofed acknowledgement.",
		},
		{
			"RESPONSE-UNASKED", conversation.ResponseUnasked, Error, "a READ or atomic response answers what is neither",
			"the request of that PSN",
			"The PSN of the response is that of a SEND or WRITE packet.",
			"A faulty responder, or one whose expected PSN is not the requester's.",
		},
		{
			"ICRC-MISTAKE", conversation.IcrcMistake, Error, "a sender computes the ICRC wrongly in a known way",
			"rocecap icrc, which names the mistake; the sender's device or software, and what changes packets on the way",
			"The received ICRC is what a known mistake gives, so that the packet is not corrupt. Receivers that do not share the mistake drop it silently.",
			"A sender that does not mask a field which may change on the way, or a device that rewrites a header and does not recompute the ICRC.",
		},
		{
			"MSN-REGRESS", conversation.MSNRegress, Error, "the MSN in the answers went back",
			"the AETH of that packet and of the answer before; the responder's device",
			"The PSN of the answers goes on, and yet the MSN is smaller, modulo two to the power of 24. It counts the messages that the responder has completed, and cannot fall.",
			"A faulty responder, or two that answer for one queue pair.",
		},
		{
			"MSN-COUNT", conversation.MSNWrong, Error, "the MSN does not count the messages that were sent",
			"the messages since the last answer, with rocecap flow; whether the capture misses requests",
			"From an answer that acknowledges everything on, the MSN has to grow by at least the messages that are acknowledged, and by at most those that were sent. A READ counts when its response begins. Behind requests that were not captured nothing is told until such an answer comes again.",
			"A faulty responder: requesters that complete by the MSN complete the wrong messages.",
		},
		{
			"ACK-GHOST", conversation.AckGhost, Warning, "an acknowledgement came of what was acknowledged long ago",
			"whether packets can be held back on the way, or come from another sender",
			"Its PSN is older than everything that was outstanding within the last two round trips and more, and no such request came again. A requester has to ignore it; after the PSNs have run over it could acknowledge what was not received.",
			"An acknowledgement that was on its way for long, a spoofed one, a responder that answers a duplicate with a stored PSN.",
		},
		{
			"ACKREQ-NEVER", conversation.AckReqNever, Error, "a requester that never asks for an acknowledgement waited for one",
			"the AckReq bits of the requests, and what sets them",
			"Not one request of this end has the AckReq bit, none is a READ or atomic, and the requester sent again after its local ACK timeout. A responder owes an acknowledgement only for what asks for it.",
			"A requester that forgets the bit on the last packet of what it sends.",
		},
		{
			"PAD-COUNT", conversation.PadWrong, Error, "the pad count does not fit the payload",
			"the BTH of that packet, and its length",
			"Payload and pad bytes are a multiple of four together, the pad count is not larger than what is there, and FIRST and MIDDLE packets, which have one path MTU, need none. Receivers drop such packets, or cut the wrong number of bytes.",
			"A faulty sender, or a test of one.",
		},
		{
			"PAD-BYTES", conversation.PadSet, Warning, "pad bytes are not 0",
			"the bytes behind the payload: what memory do they come from?",
			"Senders set pad bytes to 0. Receivers do not look at them; the ICRC covers them.",
			"A sender that does not clear its buffer, and so may give away what was in it.",
		},
		{
			"QKEY-QP1", conversation.QKeyQP1, Error, "a datagram to QP 1 has another Q_Key than 0x80010000",
			"the DETH of that packet",
			"QP 1, of the general services, takes that Q_Key alone, and drops other packets silently.",
			"A sender that uses the Q_Key of its own queue pair.",
		},
		{
			"QKEY-CHANGE", conversation.QKeyChanged, Warning, "one queue pair got datagrams with two Q_Keys",
			"the Q_Key of the queue pair, against those that its peers were told",
			"A queue pair has one Q_Key at a time and drops datagrams with another silently. Those of one of the two keys were therefore dropped, unless the key was changed.",
			"A peer that learnt the Q_Key of another queue pair, a stale address, a queue pair number that is used again.",
		},
		{
			"UNKNOWN-OPCODE", conversation.UnknownOpcode, Warning, "an opcode is reserved",
			"the BTH of that packet; the sender's device",
			"The standard gives the opcode no meaning. Receivers drop such packets silently. Those that are left to manufacturers are not told.",
			"A faulty sender, a test of one, or a newer operation than this program knows.",
		},
		{
			"TVER", conversation.VersionUnknown, Error, "the transport header version is not 0",
			"the BTH of that packet",
			"Receivers drop packets of another version silently.",
			"A faulty sender, or a test of one.",
		},
		{
			"RESERVED-BITS", conversation.ReservedBits, Warning, "reserved bits of the BTH are set",
			"the BTH of that packet",
			"Senders set them to 0, receivers do not look at them; the ICRC covers the second run of seven, and masks the byte with the first run of six.",
			"A sender that does not clear the header, or a private use of the bits.",
		},
		{
			"PKEY-CHANGE", conversation.PKeyChanged, Warning, "a sender changed its P_Key within a conversation",
			"the P_Key table and index of the sender's queue pair",
			"A connected queue pair has one P_Key. What goes to one datagram queue pair, but for QP 0 and 1, has one partition, whether full members send or limited ones. Receivers drop packets whose key is not theirs.",
			"A P_Key table that was changed, or another sender.",
		},
		{
			"MIGREQ-CHANGE", conversation.MigReqChanged, Note, "the migration bit changed within a conversation",
			"whether automatic path migration is in use",
			"The M bit tells the state of path migration, and changes when a path is armed or taken.",
			"Path migration, or a sender that does not keep the bit.",
		},
		{
			"CREDIT-BEYOND", conversation.CreditBeyond, Note, "a message was sent for which the responder has told of no receive request",
			"whether RNR-NAK follows; whether the connection was made with end-to-end flow control",
			"The credits in the AETH tell how many messages the responder has receive requests for, counted from its MSN. The SEND, or WRITE with immediate data, goes more than one beyond; one more is always allowed. Judged once an answer tells from what the MSN counts.",
			"A requester that does not look at credits, as some do not, flow control that CM has turned off, or an answer with new credits that the capture has missed.",
		},
	}
}
