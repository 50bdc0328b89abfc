package analysis

import (
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
)

// connectionCodes are about how connections were made and ended.
func connectionCodes() []Code {
	return []Code{
		{
			"CM-REJECTED", connect.Rejected, Error, "a connection, or a service of datagrams, was refused",
			"the reason in the connection's time line; whether somebody listens at that service ID",
			"A REJ answered the REQ or REP, or a SIDR REP says that there is no queue pair for the service.",
			"Nobody listens (invalid service ID), the application refuses (consumer reject, with private data of its own), no resources, paths or options that the other end does not take, an end that gave up waiting (timeout).",
		},
		{
			"CM-STALE", connect.Stale, Error, "a connection was refused because its queue pair is taken for connected",
			"whether the asking end was started again, and how soon its old queue pair number is used again",
			"A REJ Stale Connection answered: the receiver has a connection with this queue pair number already, or one that is in its time of waiting.",
			"One end has crashed and knows nothing of the connection that the other end still has; queue pair numbers that are used again too soon.",
		},
		{
			"CM-NO-ANSWER", connect.Unanswered, Error, "a connection management message was never answered",
			"whether its packets reach the other end: address, GID, UDP port 4791, partition; whether the capture sees the way back",
			"A message that wants an answer was sent again, or the time that its REQ gives was over, and no answer was captured until the end.",
			"A peer that is down, a wrong path, a firewall, a capture of one direction.",
		},
		{
			"CM-LATE", connect.Late, Warning, "an answer came later than the request allows",
			"what the answering end did meanwhile; whether it could have sent an MRA",
			"The REQ says how long its receiver may take for the REP, and how long its sender takes for the RTU. The answer passed the capture point after more than that, counted from the last copy of what it answers.",
			"An application that is slow to accept, a machine that is overloaded, or an earlier copy of the answer that was lost before the capture point.",
		},
		{
			"CM-REPEATED", connect.Repeated, Warning, "a connection management message was sent again",
			"what answered it, and when, in the connection's time line",
			"The same message of the same transaction came again: its sender had no answer in time.",
			"Loss of the message or of its answer, or an end that takes its time.",
		},
		{
			"CM-MISMATCH", connect.Mismatch, Error, "a connection management message does not agree with those before it",
			"the communication IDs, queue pairs and depths in the connection's messages, with rocecap decode -V",
			"A message has the communication ID of one connection and the peer's ID of another, a DREQ names another queue pair than the connection's, or a REP wants more READs and atomics outstanding than the sender of the REQ answers.",
			"A faulty connection manager, or one that has forgotten a connection and uses its ID again.",
		},
	}
}

// agreementCodes are about what was not done as CM agreed on it.
func agreementCodes() []Code {
	return []Code{
		{
			"AFTER-DISCONNECT", conversation.AfterDisconnect, Error, "an end sent although the connection is over",
			"whether the queue pair was moved to the error state before it was disconnected",
			"A DREP has passed, and more than a millisecond later one of the two queue pairs sends requests or answers.",
			"An end that does not stop its queue pair, or uses it again without connection management.",
		},
		{
			"READ-DEPTH", conversation.DepthBeyond, Error, "more READs and atomics were outstanding than the responder answers at a time",
			"max_rd_atomic of the asking queue pair, against the responder resources in the time line",
			"The other end's responder resources in the REQ or REP are the most that an end may have outstanding. Only those of which no answer has passed are counted, so that there were no fewer.",
			"A queue pair that was set up with another depth than connection management agreed on. Responders answer NAK Invalid Request, or drop what is too much.",
		},
		{
			"MTU-BEYOND", conversation.MTUBeyond, Error, "a packet is longer than the path MTU that was agreed on",
			"the path MTU of the queue pair, against the one in the REQ",
			"The REQ names the path MTU of the connection, and no packet has more payload.",
			"A queue pair that was set up with another path MTU.",
		},
		{
			"MTU-BELOW", conversation.MTUBelow, Warning, "FIRST and MIDDLE packets are shorter than the path MTU that was agreed on",
			"the path MTU of the queue pair, against the one in the REQ",
			"FIRST and MIDDLE packets have exactly one path MTU of payload. An end with a larger one than its peer refuses such packets.",
			"A queue pair that was set up with another path MTU.",
		},
		{
			"PSN-START", conversation.StartPSN, Error, "the first request has another PSN than was agreed on",
			"the starting PSNs in the connection's time line",
			"Each end tells the other which PSN to begin with. The first request that was captured is before that, or 65536 and more behind, which no loss explains.",
			"A queue pair that was set up with another PSN, or packets of an earlier connection of the same queue pairs.",
		},
		{
			"RETRY-BEYOND", conversation.RetryBeyond, Warning, "a request was sent again more often than the REQ allows",
			"the retry count in the connection's time line",
			"The REQ tells its receiver how often to retry without progress. Only retries of that end are judged, and only those that passed the capture point are counted.",
			"A queue pair that was set up with another retry count; devices that take a count of 7 for one without end.",
		},
		{
			"RNR-BEYOND", conversation.RNRBeyond, Warning, "a request was sent again after RNR NAKs more often than was agreed on",
			"the RNR retry count in the connection's time line, 7 being without end",
			"Each end tells the other how often to retry after an RNR NAK.",
			"A queue pair that was set up with another RNR retry count.",
		},
		{
			"TIMEOUT-EARLY", conversation.TimeoutEarly, Warning, "a requester did not wait for the local ACK timeout that was agreed on",
			"the local ACK timeout of the queue pair, against the one in the time line; other findings that tell of packets that were not captured",
			"The REQ names the local ACK timeout of its receiver. That sent again after less than half of it, with nothing before that asked for it. A NAK that was not captured would be a reason.",
			"A queue pair that was set up with another timeout, or a device that retries sooner by itself.",
		},
	}
}
