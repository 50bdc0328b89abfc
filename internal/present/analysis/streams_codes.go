package analysis

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/rdmap"
)

// streamCodes are the findings in iWARP connections.
func streamCodes() []Code {
	return slices.Concat(streamFailures(), streamOrder(), streamReads(), tcpCodes())
}

func streamFailures() []Code {
	return []Code{
		{
			"IW-TERMINATE", rdmap.Terminated, Error, "an end gave the connection up and said why",
			"the reason in the connection's part, and the packet that it names",
			"An RDMAP Terminate message ends the connection: layer, type and code say what its sender did not accept (RFC 5040 section 4.8). When it quotes the header of a segment and one captured segment alone has it, that is named.",
			"A wrong or invalid STag, bounds or access rights; a message for which no receive was posted, or longer than it; a corrupt FPDU.",
		},
		{
			"IW-REJECT", rdmap.Rejected, Error, "the responder refused the connection",
			"the responder's log; the private data of its reply, with rocecap decode -V",
			"The MPA reply has the reject flag (RFC 5044 section 7.1).",
			"Nobody listens as the initiator expects, the application refused, or MPA revision and set-up mode do not fit.",
		},
		{
			"IW-AFTER-TERMINATE", rdmap.AfterTerminate, Error, "an end went on after its Terminate",
			"the end's device or software",
			"A Terminate is the last message of its sender (RFC 5040 section 5.4).",
			"A faulty sender.",
		},
		{
			"IW-CRC", rdmap.BadCRC, Error, "FPDUs have a wrong CRC32c",
			"what changes payload on the way; offloads of the sender's NIC",
			"One of the ends asked for CRCs, and the CRC of an FPDU is not that of its bytes. TCP's own checksum did not notice. A receiver gives the connection up.",
			"A device or middlebox that changes packets and makes the TCP checksum new, bad memory, a sender that computes it wrongly.",
		},
		{
			"IW-MARKER", rdmap.BadMarker, Error, "MPA markers are wrong",
			"the markers of that packet, with rocecap decode -V",
			"A marker does not give the distance to the start of its FPDU, or its reserved half is not 0 (RFC 5044 section 4.3). Markers are where the start-up frames ask for them.",
			"A faulty sender.",
		},
		{
			"IW-HEADER", rdmap.BadHeader, Error, "FPDUs have headers that a receiver has to refuse",
			"the FPDU of that packet, with rocecap decode -V",
			"The version of DDP or RDMAP is not 1, the opcode is not defined or not on its queue, or the length does not fit. What follows in the queues is not judged until a message begins.",
			"A faulty sender, or bytes that look like FPDUs and are none.",
		},
		{
			"IW-RESERVED", rdmap.ReservedBits, Warning, "bits or pad bytes that have to be 0 are not",
			"the unit of that packet, with rocecap decode -V",
			"Reserved bits of MPA, DDP or RDMAP are set, or the pad of an FPDU is not 0.",
			"A sender that does not clear its headers, or a later version.",
		},
		{
			"IW-START", rdmap.BadStart, Warning, "an MPA start-up frame does not keep to the standard",
			"the start-up frames, with rocecap decode -V",
			"The revision is not 1 or 2, or the reply does not fit the request in revision, set-up mode or control flags, or the private data is too long or too short (RFC 5044 section 7.1, RFC 6581).",
			"Ends of different age, or a faulty one.",
		},
	}
}

func streamOrder() []Code {
	return []Code{
		{
			"IW-MSN-ORDER", rdmap.MsnOrder, Error, "a message does not have the sequence number that follows in its queue",
			"the MSN of that packet and of the message before in the same queue",
			"Untagged messages are numbered from 1 in each queue (RFC 5041 section 5.1.2). A receiver takes another number for another buffer, or gives the connection up.",
			"A faulty sender.",
		},
		{
			"IW-MO-ORDER", rdmap.MoOrder, Error, "a segment does not begin where the one before it ended",
			"the message offset of that packet, and the length of the segment before",
			"The segments of an untagged message follow each other in its offset, from 0 on (RFC 5041 section 5.2).",
			"A faulty sender.",
		},
		{
			"IW-TAGGED-ORDER", rdmap.TaggedOrder, Error, "a WRITE goes on elsewhere than it stopped",
			"STag and tagged offset of that packet, and of the segment before",
			"The segments of a tagged message have one STag and follow each other in the tagged offset (RFC 5041 section 5.2). Or the last flag of the message before is missing.",
			"A faulty sender.",
		},
		{
			"IW-LAST-FLAG", rdmap.LastFlag, Error, "the last flag is not on the last segment of a message",
			"the DDP control bits of that packet and of the segment before",
			"A message begins before the one in front had a segment with flag L, or goes on behind that.",
			"A faulty sender.",
		},
		{
			"IW-OPCODE-MIX", rdmap.OpcodeMixed, Error, "a segment has another opcode than its message",
			"the RDMAP opcode of that packet and of the segment before",
			"All segments of a message have one opcode.",
			"A faulty sender.",
		},
		{
			"IW-STAG-INVALID", rdmap.InvalidSTag, Error, "an STag was used after its invalidation",
			"the Send with Invalidate before, and when the STag was advertised",
			"The same end had sent a Send with Invalidate of that STag, and nothing came back in between that could have made it valid again. The owner of the memory gives the connection up.",
			"An application that reuses an STag without a new advertisement, or invalidates it too early.",
		},
		{
			"IW-GAP", rdmap.Gap, Note, "the capture misses bytes of the stream",
			"the drop counter of the capture",
			"The receiver acknowledged bytes that the capture does not have, or went on behind them. Nothing is judged that they could explain; READ responses are told apart again when none was under way for a second.",
			"A capture that could not keep up, a filter, or a second path.",
		},
		{
			"IW-UNFRAMED", rdmap.Unframed, Note, "bytes in which no FPDU was found",
			"whether the capture begins in the middle of the connection, or misses packets before",
			"Between these bytes and what is known of the stream nothing tells where an FPDU begins.",
			"A capture that begins in the middle, bytes that it misses, or a stream that is not iWARP any more.",
		},
		{
			"IW-UNALIGNED", rdmap.Unaligned, Note, "an FPDU is longer than a TCP segment",
			"the path MTU, and the size of FPDUs that the sender was set to",
			"An FPDU is spread over segments that could not hold it, so that a receiver cannot place it before all are there (RFC 5044 section 5).",
			"A path MTU that became smaller, or a sender that does not look at it.",
		},
	}
}

func streamReads() []Code {
	return []Code{
		{
			"IW-READ-SINK", rdmap.ReadSink, Error, "a READ response goes elsewhere than its request says",
			"sink STag and offset of the request, against those of the response",
			"The response carries the data sink's STag and offset of the request, and its segments follow each other (RFC 5040 section 4.4).",
			"A faulty responder.",
		},
		{
			"IW-READ-BOUNDS", rdmap.ReadBounds, Error, "a READ response is longer than its request",
			"the size in the request",
			"More came than the request asks for: a bounds violation at the requester.",
			"A faulty responder.",
		},
		{
			"IW-READ-SHORT", rdmap.ReadShort, Error, "a READ response is shorter than its request",
			"the size in the request",
			"The segment with the last flag came before all was sent that the request asks for.",
			"A faulty responder.",
		},
		{
			"IW-READ-ORDER", rdmap.ReadOrder, Error, "a READ response overtook that of an earlier request",
			"the requests that were outstanding",
			"Responses come in the order of their requests (RFC 5040 section 5.5).",
			"A faulty responder.",
		},
		{
			"IW-UNASKED", rdmap.ResponseUnasked, Error, "a response answers what was not asked",
			"the requests before",
			"No READ is outstanding, or no atomic with the identifier of the response, and the capture has all that the other end had sent by then.",
			"A faulty responder.",
		},
		{
			"IW-READ-DEPTH", rdmap.ReadDepth, Error, "more READs are outstanding than the other end can take",
			"IRD of the other end's start-up frame, and ORD of this one's",
			"The start-up frame of the other end says how many READs it can have pending (RFC 6581 section 9). The responder gives the connection up.",
			"An application that set its depth without looking at the reply.",
		},
	}
}

func tcpCodes() []Code {
	return []Code{
		{
			"TCP-RESENT", rdmap.Resent, Warning, "TCP sent bytes again that had passed",
			"drop counters behind the capture point, and on the way of the acknowledgements",
			"A segment has only bytes that the capture had seen from this sender: they were lost behind the capture point, or the acknowledgement was lost or late.",
			"Loss in the network, a retransmission timeout that is too short, or a capture that sees each packet twice.",
		},
		{
			"TCP-LATE", rdmap.Late, Warning, "bytes came behind later ones of the stream",
			"drop counters between the sender and the capture point; load balancing",
			"A segment has bytes that were missing: it was overtaken, or lost before the capture point and sent again. Nothing tells which.",
			"Loss in the network, packets of one flow on several paths, a capture from several queues.",
		},
		{
			"TCP-ZERO-WINDOW", rdmap.ZeroWindow, Warning, "a receiver had no room",
			"what the receiving end did meanwhile",
			"The advertised TCP window is 0, and the other end has to wait. The connection's part says how long.",
			"A receiver that is too slow or stopped; receives that are not posted.",
		},
		{
			"TCP-RESET", rdmap.Reset, Warning, "an end reset the TCP connection",
			"a Terminate before, and what the application did",
			"The connection ended with RST before both ends had closed it. What was under way is lost.",
			"An application that ended or crashed, a Terminate, a middlebox that forgot the connection.",
		},
	}
}
