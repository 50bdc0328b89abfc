package analysis

import "github.com/rocecap/rocecap/internal/track/conversation"

// violations are what a sender does that the standard forbids.
func violations() []Code {
	return []Code{
		{
			"AFTER-FATAL", conversation.AfterFatal, Error, "a queue pair went on after a NAK that ends it",
			"whether the application has made a new connection with the same queue pair numbers",
			"Behind a NAK Invalid Request, Remote Access Error or Remote Operational Error, and more than a millisecond later, the requester sends requests or the responder acknowledges. Both queue pairs have to be in the error state.",
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
			"A connected queue pair has one P_Key. Receivers drop packets whose key is not theirs.",
			"A P_Key table that was changed, or another sender.",
		},
		{
			"MIGREQ-CHANGE", conversation.MigReqChanged, Note, "the migration bit changed within a conversation",
			"whether automatic path migration is in use",
			"The M bit tells the state of path migration, and changes when a path is armed or taken.",
			"Path migration, or a sender that does not keep the bit.",
		},
	}
}
