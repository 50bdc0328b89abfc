// Package cm is the InfiniBand communication manager of one port: it sets up
// and ends connections, and resolves datagram services, by management datagrams
// over queue pair 1 (IBTA vol. 1, chapter 12), with the conventions of rdma_cm
// on top (IBTA annex A11). It behaves like Linux's ib_cm and rdma_cm unless its
// Config says otherwise.
//
// A Manager is told the time and what arrives, and is asked what to send, what
// happened and when it wants to be called again:
//
//	m.Receive(now, mad, from)  // a datagram came to QP 1
//	m.Advance(now)             // m.Deadline() has passed
//	m.Emit(&mad)               // until there is nothing more to send
//	m.Event()                  // until there is nothing more to tell
//
// Emit hands over the bytes of every datagram before they leave, so a caller
// that wants to drop, damage or delay them does it there; the Manager resends
// as if the network had done it.
//
// What it does not do: alternate paths (a LAP is refused), redirection, RD, and
// management classes other than communication management.
package cm

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Config is how a Manager behaves. DefaultConfig has what Linux does. Times are
// codes, see CodeDuration.
type Config struct {
	GUID uint64 // of the channel adapter, which with a communication ID names a connection
	Seed uint64 // of communication IDs and transaction IDs

	// ResponseTimeout is how long the other side may take to answer, apart from
	// the way there and back.
	ResponseTimeout uint8
	MaxRetries      uint8 // resends of a message after the first, up to 15
	PacketLifetime  uint8 // of one way through the network
	AckDelay        uint8 // this adapter's delay before an acknowledgement

	MRA        MRAPolicy
	MRATimeout uint8 // service timeout of an MRA: how long the consumer may take

	// ManualDREP leaves the answer to a DREQ to the consumer, who gives it with
	// Disconnect. Otherwise it is sent before the consumer is told.
	ManualDREP bool
	// RejectOnTimeout sends a REJ "timeout" when a REQ or REP stays without an
	// answer to the end (IBTA vol. 1, 12.9.7). Linux does not.
	RejectOnTimeout bool
	// IgnoreLAP leaves a LAP without answer, as Linux does on RoCE ports.
	// Otherwise an APR says that alternate paths are not supported.
	IgnoreLAP bool
	// CheckGID says whether a GID that a REQ is addressed to is this port's, and
	// which one would be right. nil takes every GID.
	CheckGID func(gid netip.Addr) (right netip.Addr, ok bool)

	// MaxPeerTimeout is the longest time that another side may ask for: to
	// resend a REP, in an MRA, and for timewait.
	MaxPeerTimeout uint8
	// What other sides can make the Manager keep. A REQ or SIDR_REQ beyond one of
	// these is dropped; its sender repeats it.
	MaxPending     int // requests that the consumer or the other side has not answered
	MaxConnections int // of all kinds; Connect fails beyond
	MaxEvents      int // events that were not asked for
	MaxQueue       int // datagrams that wait for Emit; beyond, answers and resends are dropped
}

// DefaultConfig is what Linux does (drivers/infiniband/core/cm.c and cma.c:
// CMA_CM_RESPONSE_TIMEOUT, CMA_MAX_CM_RETRIES, CMA_CM_MRA_SETTING,
// CMA_IBOE_PACKET_LIFETIME), with rxe's ACK delay. Older kernels have a packet
// lifetime of 18; the captures in pcaps show the ACK timeout that follows from 16.
// Only a LAP is answered, and the limits on memory are this package's.
func DefaultConfig(guid, seed uint64) Config {
	return Config{
		GUID:            guid,
		Seed:            seed,
		ResponseTimeout: 20,
		MaxRetries:      15,
		PacketLifetime:  16,
		AckDelay:        15,
		MRA:             MRAOnDuplicate,
		MRATimeout:      24,
		MaxPeerTimeout:  maxTimeCode,
		MaxPending:      1024,
		MaxConnections:  1 << 16,
		MaxEvents:       4096,
		MaxQueue:        4096,
	}
}

// Peer is where a datagram comes from or goes to. The Manager reads none of it:
// it compares it, and gives it back.
type Peer struct {
	GID    netip.Addr
	QPN    uint32 // 1
	Handle uint64 // the caller's, for what else it needs to reach the peer
}

// Manager is the communication manager of one port. It belongs to one
// goroutine, and its caller drains Emit and Event after each call.
type Manager struct {
	Config
	listeners  listeners
	conns      map[ConnID]*conn
	remotes    map[remoteKey]*conn  // by the other side's communication ID
	queuePairs map[remoteKey]*conn  // by the other side's queue pair
	sidr       map[requestKey]*conn // SIDR requests of others, unanswered
	pending    int
	timers     timers
	queue      fifo[datagram]
	events     fifo[Event]

	idMask      uint32 // makes IDs that follow each other look unlike each other
	lastID      uint32
	transaction uint64 // upper half of transaction IDs
}

// New makes a Manager.
func New(c Config) *Manager {
	random := rand.New(rand.NewPCG(c.Seed, c.GUID))
	return &Manager{
		Config:      c,
		listeners:   listeners{exact: map[uint64]listener{}},
		conns:       map[ConnID]*conn{},
		remotes:     map[remoteKey]*conn{},
		queuePairs:  map[remoteKey]*conn{},
		sidr:        map[requestKey]*conn{},
		idMask:      random.Uint32(),
		transaction: uint64(random.Uint32()) << 32,
	}
}

// Outcome is what Receive made of a datagram.
type Outcome uint8

// Outcomes.
const (
	Handled   Outcome = iota // it changed something or is answered
	Ignored                  // a message that is not expected now, or that there is no room for
	Unhandled                // another class, class version, method or attribute
	Malformed                // not a management datagram
)

func (o Outcome) String() string {
	return [...]string{"handled", "ignored", "unhandled", "malformed"}[o]
}

// Versions and method of every message (IBTA vol. 1, 16.7.1).
const (
	classVersion = 2
	methodSend   = 0x03
)

// message is a received message with what was around it.
type message struct {
	now  time.Time
	tid  uint64
	body []byte // wire.CMMessageLen
	from Peer
}

// Receive takes a management datagram that came to queue pair 1. Nothing of mad
// is kept. Unhandled ones may be somebody else's.
func (m *Manager) Receive(now time.Time, mad []byte, from Peer) Outcome {
	if len(mad) != wire.MADLen { // IBTA vol. 1, C13-3
		return Malformed
	}
	header := wire.MAD(mad)
	if header.BaseVersion() != wire.MADBaseVersion {
		return Malformed
	}
	if header.MgmtClass() != wire.ClassCM || header.ClassVersion() != classVersion || header.Method() != methodSend {
		return Unhandled
	}
	in := message{now, header.TransactionID(), header.Data(), from}
	switch header.AttributeID() {
	case wire.CMAttrReq:
		return m.receiveREQ(in)
	case wire.CMAttrMra:
		return m.receiveMRA(in)
	case wire.CMAttrRej:
		return m.receiveREJ(in)
	case wire.CMAttrRep:
		return m.receiveREP(in)
	case wire.CMAttrRtu:
		return m.receiveRTU(in)
	case wire.CMAttrDreq:
		return m.receiveDREQ(in)
	case wire.CMAttrDrep:
		return m.receiveDREP(in)
	case wire.CMAttrSidrReq:
		return m.receiveSIDRREQ(in)
	case wire.CMAttrSidrRep:
		return m.receiveSIDRREP(in)
	case wire.CMAttrLap:
		return m.receiveLAP(in)
	case wire.CMAttrApr:
		return Ignored // the Manager sends no LAP
	}
	return Unhandled
}

// Connections is how many connections and service resolutions the Manager
// keeps, in whatever state.
func (m *Manager) Connections() int { return len(m.conns) }

// full reports whether a request of another side has to be dropped.
func (m *Manager) full() bool {
	return m.pending >= m.MaxPending || len(m.conns) >= m.MaxConnections || m.events.len() >= m.MaxEvents
}
