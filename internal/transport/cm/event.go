package cm

import "github.com/rocecap/rocecap/internal/wire"

// EventKind is what an event tells.
type EventKind uint8

// Kinds of events, and which fields of an Event they have beside Conn and Peer.
const (
	// ConnectRequest: a REQ for a service that is listened for. Accept, Reject or
	// Delay it. ServiceID, Remote, Terms, IP, ACKTimeout, private data.
	ConnectRequest EventKind = iota + 1
	// Reply: our REQ was accepted. Establish or Reject it. Remote, ACKTimeout,
	// private data.
	Reply
	// Established: the other side has our REP, it sent an RTU (private data), or
	// the consumer has seen its data.
	Established
	// Rejected: Reason, Message, Info, private data. It may end an established
	// connection too.
	Rejected
	// Unreachable: nobody answered a REQ, REP or SIDR_REQ. The ID is gone.
	Unreachable
	// Disconnected: the other side wants to end (private data), or has agreed that
	// we do, or has not answered (TimedOut).
	Disconnected
	// TimewaitExit: no packet of the connection is in the network any more. The ID
	// is gone and the queue pair may be used again.
	TimewaitExit
	// SIDRRequest: somebody asks for the queue pair of a service. AnswerSIDR it.
	// ServiceID, Terms.PKey, IP, private data.
	SIDRRequest
	// SIDRReply: Status, ServiceID, Remote.QPN, Remote.QKey, Info, private data.
	// The ID is gone.
	SIDRReply
)

func (k EventKind) String() string {
	names := [...]string{
		"none", "connect request", "reply", "established", "rejected", "unreachable",
		"disconnected", "timewait exit", "SIDR request", "SIDR reply",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

const (
	maxPrivate = wire.CMMessageLen - wire.CMRtuLen // of all messages, that of RTU and DREP
	maxInfo    = 72
)

// Event is something that the consumer has to know. It holds what the other
// side said as it said it.
type Event struct {
	Kind EventKind
	Conn ConnID
	Peer Peer

	ServiceID  uint64
	Remote     Side
	Terms      Terms
	IP         IPHeader
	ACKTimeout uint8 // code, for our queue pair

	Reason   RejectReason
	Message  uint8 // that was rejected: 0 REQ, 1 REP, 2 none
	Status   SIDRStatus
	TimedOut bool // nobody answered

	private    [maxPrivate]byte
	privateLen uint8
	info       [maxInfo]byte
	infoLen    uint8
}

// PrivateData is all that the message has room for: the other side's data and
// the zeros behind it. An IPHeader is left out.
func (e *Event) PrivateData() []byte { return e.private[:e.privateLen] }

// Info is the additional information of a refusal.
func (e *Event) Info() []byte { return e.info[:e.infoLen] }

// Limits is how many READs and atomics our queue pair has to take from the other
// one, and may have outstanding itself: the other side's two numbers crosswise,
// as rdma_cm gives them.
func (e *Event) Limits() (responderResources, initiatorDepth uint8) {
	return e.Remote.InitiatorDepth, e.Remote.ResponderResources
}

func (e *Event) setPrivate(b []byte) { e.privateLen = uint8(copy(e.private[:], b)) }

func (e *Event) setInfo(b []byte) { e.infoLen = uint8(copy(e.info[:], b)) }

// event queues an event and returns it for the rest to be filled in.
func (m *Manager) event(kind EventKind, c *conn) *Event {
	e := m.events.push()
	e.Kind, e.Conn, e.Peer, e.ServiceID, e.ACKTimeout = kind, c.id, c.peer, c.serviceID, c.ackTimeout
	return e
}

// Event returns the next event.
func (m *Manager) Event() (Event, bool) {
	e := m.events.pop()
	if e == nil {
		return Event{}, false
	}
	return *e, true
}
