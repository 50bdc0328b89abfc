package analysis

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Codes are all findings that there can be, the worst first.
func Codes() []Code {
	return slices.Concat(failures(), versionCodes(), connectionCodes(), agreementCodes(), pauseStalls(), stalls(), violations(), losses(), resends(), congestion(), notes(), streamCodes())
}

func failures() []Code {
	return []Code{
		{
			"NAK-ACCESS", conversation.NakAccess, Error, "the responder refused access to its memory",
			"the rkey, address and length of the request in that packet, against what the responder has registered and advertised",
			"A NAK Remote Access Error answered a WRITE, READ or atomic. Both queue pairs are in the error state and all that was posted behind is flushed.",
			"A stale or wrong rkey, an address beyond the region, missing access rights, a region that was deregistered too early, another protection domain.",
		},
		{
			"NAK-INVALID", conversation.NakInvalid, Error, "the responder took a request for invalid",
			"the opcode order of the message, its length against the RETH, and how many READs and atomics were outstanding",
			"A NAK Invalid Request answered. Both queue pairs are in the error state.",
			"More READs or atomics outstanding than the responder's depth, a message longer than the receive buffer on some devices, an operation that the queue pair does not allow, a misaligned atomic.",
		},
		{
			"NAK-OPERATION", conversation.NakOperation, Error, "the responder could not carry out a request",
			"the length of the SEND against the receive buffer that was posted, and the responder's own completion status",
			"A NAK Remote Operational Error answered: the fault lies at the responder. Both queue pairs are in the error state.",
			"A receive buffer that is too small, or that names memory that is not registered.",
		},
		{
			"RETRY-EXHAUSTED", conversation.RetriesSpent, Error, "a request was sent again until the requester gave up",
			"what is between the last packets that were answered and the first that were not; whether the responder is still there",
			"The request was sent again after timeouts or NAKs, never got a good answer, and then nothing came for longer than the requester waits. It completes with a retry error, the queue pair is in the error state, and all that was posted behind is flushed.",
			"A responder that is gone, or whose queue pair was reset; a way that is broken in one direction; packets of one kind or size that are always dropped, such as those longer than a link's MTU.",
		},
		{
			"RNR-EXHAUSTED", conversation.RNRSpent, Error, "a message was refused by RNR NAKs until the requester gave up",
			"who posts receive requests at the responder, and what holds it up; the requester's RNR retry count",
			"The responder had no receive request each time, and the requester tries no more. It completes with an RNR retry error, and the queue pair is in the error state.",
			"A consumer that hangs, a program that posts too few receive requests, an RNR retry count or timer that is too small.",
		},
		{
			"NAK-OTHER", conversation.NakOther, Error, "an acknowledgement carries a code that is not defined",
			"the AETH of that packet, with rocecap decode -V",
			"The syndrome is reserved, or belongs to reliable datagrams. Requesters ignore it, or give up.",
			"A faulty device, or a corrupt packet whose ICRC the capture cannot judge.",
		},
	}
}

func stalls() []Code {
	return []Code{
		{
			"RESEND-TIMEOUT", conversation.RetransmitTimeout, Warning, "the requester waited for its local ACK timeout and sent again",
			"the packets just before: what was lost there, and why did no NAK tell",
			"Nothing came back for so long that the requester sent again. It is the slowest way to recover: nothing was done meanwhile. The shortest wait bounds the setting, 4.096 us times two to the power of it.",
			"The last packet of a burst was lost, so that no later one could show it; a NAK or an ACK was lost; a responder that is stopped or gone.",
		},
		{
			"RNR-NAK", conversation.RNRNak, Warning, "the responder had no receive request for a message",
			"the depth of the receive queue against the sender's; the minimal RNR timer (code 0 is 655 ms)",
			"Receiver not ready: the message is refused, and the sender waits for the time in the NAK. After too many the queue pair fails.",
			"Receives that are posted too late or too few, a consumer that is too slow.",
		},
		{
			"RNR-EARLY", conversation.RNREarly, Warning, "the requester did not wait as long as the RNR NAK told",
			"the timer in the RNR NAK, and the requester's device",
			"The retry passed the capture point earlier than the timer allows. The wait begins when the NAK arrives, so that no way to count it makes this right.",
			"A requester that ignores the timer, or rounds it down; some are known to.",
		},
		{
			"RNR-STORM", conversation.RNRStorm, Warning, "a message was refused five times in a row or more",
			"who posts receive requests at the responder, and what holds it up",
			"Five RNR NAKs came with the same PSN. The requester tries seven times more at most, or for ever when the setting is 7; then the queue pair fails.",
			"A responder without receive requests: a consumer that hangs, or a program that posts too few.",
		},
		{
			"RNR-LATE", conversation.RNRLate, Note, "the requester waited much longer than the RNR NAK told",
			"whether the RNR NAK reached the requester; the granularity of its timers",
			"It sent again after more than four times what it was told, and 20 ms and two round trips more. The standard sets no upper bound.",
			"An RNR NAK that was lost behind the capture point, so that the local ACK timeout did it; slow timers; a busy requester.",
		},
	}
}

func losses() []Code {
	return []Code{
		{
			"PSN-LOST", conversation.Lost, Warning, "requests were lost before the capture point",
			"drop counters between the sender and the capture point; whether priority flow control covers the traffic's class",
			"A PSN is missing in the capture, and the responder asks for it with a NAK: it did not get it either. All that was sent behind is dropped and has to be sent again.",
			"Full switch buffers without priority flow control, a wrong DSCP or priority, a bad cable.",
		},
		{
			"PSN-LOST-BEHIND", conversation.LostBehind, Warning, "requests were lost, or too late, behind the capture point",
			"drop counters between the capture point and the receiver, and the receiver's own",
			"The capture has the packet, and yet the responder asks for it: it was lost behind the capture point, or came there later than what was sent behind it.",
			"As PSN-LOST, on the other side of the capture point; a receiver that drops for want of buffers; two paths.",
		},
		{
			"PSN-CORRUPT", conversation.LostCorrupt, Warning, "requests with a wrong ICRC were asked for again",
			"rocecap icrc, and the symbol and FEC errors of the links on the way",
			"The packet's ICRC is wrong, and its receiver dropped it silently. It asked for it with a NAK, or got it again with what it asked for.",
			"A bad link or cable, or a device that changes packets and does not recompute the ICRC.",
		},
		{
			"ICRC-BAD", conversation.BadICRC, Warning, "packets have a wrong ICRC",
			"rocecap icrc, which says which mistake reproduces the received value",
			"A receiver drops such packets silently. What no known mistake explains is not followed, because any bit of it may be wrong.",
			"A bad link, a device that changes packets, or a sender that computes it wrongly.",
		},
		{
			"READ-LOST", conversation.ResponseLost, Warning, "READ or atomic responses were lost before the capture point",
			"drop counters on the way from the responder, which sends the data, to the capture point",
			"A response is missing in the capture, and the requester asks for it again: it did not get it either. Responses behind it are worth nothing to the requester.",
			"As PSN-LOST; for READs it is the responder's data that crowds the way.",
		},
		{
			"ANSWER-LOST", conversation.AckLost, Warning, "answers were lost behind the capture point",
			"drop counters between the capture point and the requester",
			"What was acknowledged, or responded to, in the capture was sent again: the answer did not reach the requester, or too late.",
			"Loss on the way back, or a local ACK timeout that is shorter than the way.",
		},
		{
			"PSN-GAP", conversation.Unresolved, Warning, "requests are missing: the network lost them, or the capture",
			"the drop counter of the capture itself; other findings of the conversation",
			"A PSN is missing in the capture and was sent again later, or the conversation ended. A responder names only the first packet that it misses, so of several losses at a time the others are told as gaps; a capture that misses no packets has lost them in the network. UC never tells.",
			"As PSN-LOST, or a capture that could not keep up.",
		},
		{
			"PSN-REORDER", conversation.Reordered, Warning, "requests came in another order than they were sent",
			"load balancing: are packets of one flow spread over several paths?",
			"A PSN came later than what was sent behind it, and was not sent again for that. Most responders answer with a NAK, and everything is sent again although nothing is lost.",
			"Packet spraying, link aggregation by packet, a change of path; a capture from several queues.",
		},
		{
			"PSN-DISORDER", conversation.Disordered, Warning, "packets were late, or sent again, close together",
			"load balancing: are packets of one flow spread over several paths?",
			"Within a round trip several requests came out of order, or twice. A late packet and one that was sent again look alike, so that the analysis names neither; it counts each packet of which it is not sure.",
			"As PSN-REORDER, for more than one packet at a time.",
		},
		{
			"PSN-DUPLICATE", conversation.Duplicate, Note, "requests came twice",
			"whether the capture point sees each packet twice, as a mirror of both directions does",
			"A request came again, while the sender went on as if nothing had been; or it is the same packet, by its IP identification, time to live or time.",
			"A mirror port that copies in and out, captures of two places in one file, a loop, or a packet that was so late that it had been sent again.",
		},
		{
			"CAPTURE-MISSED", conversation.Missed, Note, "the capture misses requests that arrived",
			"the drop counter of the capture",
			"A PSN is missing in the capture, was never sent again, and the responder acknowledges it. The network has not lost it; counts of messages and bytes are too small.",
			"A capture that could not keep up, a filter, a second path beside the capture point.",
		},
		{
			"CAPTURE-MISSED-READ", conversation.ResponseGap, Note, "the capture misses responses that arrived",
			"the drop counter of the capture",
			"A READ or atomic response is missing in the capture, and the requester did not ask for it again.",
			"As CAPTURE-MISSED.",
		},
	}
}

func resends() []Code {
	return []Code{
		{
			"RESEND-NAK", conversation.RetransmitNak, Warning, "the requester sent again after a NAK PSN sequence error",
			"the losses that it answers",
			"The responder missed a PSN and asked for it; the requester went back to it and sent everything from there again.",
			"See PSN-LOST, PSN-LOST-BEHIND and PSN-REORDER.",
		},
		{
			"RESEND-IMPLIED", conversation.RetransmitImplied, Warning, "the requester asked again for responses that it misses",
			"the losses that it answers",
			"A later response or acknowledgement showed the requester that an earlier response is missing, as a NAK would.",
			"See READ-LOST and ANSWER-LOST.",
		},
		{
			"RESEND-RNR", conversation.RetransmitRNR, Warning, "the requester sent again after an RNR NAK",
			"how many receive requests the responder posts, and when",
			"The responder had no receive request; the requester waited for as long as the NAK told and sent again.",
			"See RNR-NAK.",
		},
		{
			"RESEND-UNSEEN", conversation.RetransmitUnseen, Warning, "the requester sent again for a reason that was not captured",
			"whether the capture misses packets, or sees one direction only",
			"There is neither a NAK nor a long enough wait before. The NAK may not have been captured, or passed on another way. Where no answer was captured at all, a wait of less than 50 ms may have ended by a NAK, an RNR NAK or the timer: nothing tells.",
			"A capture of one direction, or one that could not keep up.",
		},
		{
			"ACK-UNSENT", conversation.AckUnsent, Warning, "a request was acknowledged before it was sent",
			"whether the two directions of the capture have the same clock",
			"An acknowledgement passed before the request that it acknowledges: a ghost, which some requesters take for real, or the capture has its packets in a wrong order.",
			"A capture from several queues or two ports; a spoofed or very old acknowledgement.",
		},
	}
}

func notes() []Code {
	return []Code{
		{
			"NAK-SEQUENCE", conversation.NakSequence, Note, "the responder missed a PSN and said so",
			"PSN-LOST, PSN-LOST-BEHIND and PSN-REORDER of the same conversation",
			"A NAK PSN Sequence Error carries the PSN that the responder waits for. Behind an RNR NAK it only says that the message was refused.",
			"Loss or reordering.",
		},
		{
			"CE-MARK", conversation.CongestionCE, Note, "a switch marked packets for congestion",
			"whether CNPs answer, and whether the sender slows down",
			"The ECN field is CE: a queue on the way was longer than its threshold.",
			"Congestion: many senders to one receiver, or a slower link.",
		},
		{
			"CNP", conversation.CongestionCNP, Note, "the receiver asked the sender to slow down",
			"the packets marked CE of the other direction",
			"A congestion notification packet tells the sender of marked packets to reduce its rate.",
			"See CE-MARK.",
		},
	}
}
