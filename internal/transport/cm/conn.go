package cm

import (
	"errors"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Errors of what a consumer asks for.
var (
	ErrUnknown = errors.New("cm: no such connection")
	ErrState   = errors.New("cm: not possible in the state of the connection")
	ErrTooLong = errors.New("cm: more data than the message has room for")
	ErrFull    = errors.New("cm: too many connections")
)

// ConnID names a connection or a service resolution: its local communication
// ID, or request ID. It is never 0.
type ConnID uint32

// state is where a connection stands (IBTA vol. 1, 12.9.5 and 12.9.6). That an
// MRA was sent or received is kept apart from it.
type state uint8

const (
	requestSent        state = iota // active: REQ is out
	replyReceived                   // active: the consumer has the REP
	requestReceived                 // passive: the consumer has the REQ
	replySent                       // passive: REP is out
	established                     //
	disconnectSent                  // DREQ is out
	disconnectReceived              // the consumer owes a DREP
	timewait                        // gone, but late packets may still arrive
	sidrSent                        // SIDR_REQ is out
	sidrReceived                    // the consumer has the SIDR_REQ
)

// pending reports whether another side could bring a connection there by one
// message.
func (s state) pending() bool {
	return s == requestReceived || s == replySent || s == sidrReceived
}

// conn is a connection, or a service resolution.
type conn struct {
	id      ConnID
	state   state
	active  bool
	mra     bool // what the consumer has not answered is answered by an MRA when it comes again
	waiting bool // the other side has sent an MRA
	peer    Peer

	serviceID  uint64
	tid        uint64 // of the exchange that goes on
	localQPN   uint32
	remote     remoteKey // its communication ID, or request ID; no number while unknown
	remoteQPN  remoteKey
	lifetime   uint8         // of packets in the network, for the ACK timeout
	ackTimeout uint8         // for timewait
	interval   time.Duration // between sending a message and sending it again
	retries    uint8

	// The message that went out last, for sending it again.
	message [wire.MADLen]byte
	resend  resend
	timer   timer
}

// remoteKey is something of the other side by its number: communication ID, or
// queue pair.
type remoteKey struct {
	guid   uint64
	number uint32
}

// requestKey is a SIDR request of another side, which does not tell its GUID.
type requestKey struct {
	peer Peer
	id   uint32
}

// open makes a connection in a state.
func (m *Manager) open(s state, peer Peer) *conn {
	c := &conn{id: m.newID(), state: s, peer: peer, timer: timer{index: unarmed}}
	m.conns[c.id] = c
	if s.pending() {
		m.pending++
	}
	return c
}

func (m *Manager) newID() ConnID {
	for {
		m.lastID++
		id := ConnID(m.lastID ^ m.idMask)
		if _, used := m.conns[id]; !used && id != 0 {
			return id
		}
	}
}

// transactionID is that of exchanges that the connection begins. Linux forms it
// alike (cm_form_tid): a resent message keeps it, and so do REQ and DREQ.
func (m *Manager) transactionID(c *conn) uint64 { return m.transaction | uint64(c.id) }

// enter moves a connection to another state. No timer survives that.
func (m *Manager) enter(c *conn, s state) {
	if c.state.pending() {
		m.pending--
	}
	if s.pending() {
		m.pending++
	}
	c.state = s
	m.timers.disarm(c)
}

// close forgets a connection.
func (m *Manager) close(c *conn) {
	m.timers.disarm(c)
	if c.state.pending() {
		m.pending--
	}
	delete(m.conns, c.id)
	if m.remotes[c.remote] == c {
		delete(m.remotes, c.remote)
	}
	if m.queuePairs[c.remoteQPN] == c {
		delete(m.queuePairs, c.remoteQPN)
	}
	if key := (requestKey{c.peer, c.remote.number}); m.sidr[key] == c {
		delete(m.sidr, key)
	}
}

// linger keeps a connection until no packet of it can be in the network any
// more. Its other side's queue pair stays taken (IBTA vol. 1, 12.9.8.4; Linux
// cm_enter_timewait).
func (m *Manager) linger(now time.Time, c *conn) {
	m.enter(c, timewait)
	m.timers.arm(c, now.Add(CodeDuration(min(c.ackTimeout, m.MaxPeerTimeout))))
}

// find returns the connection that both sides' IDs in a message name. Before a
// side knows the other's, that is 0.
func (m *Manager) find(local, remote uint32) *conn {
	c := m.conns[ConnID(local)]
	if c == nil || c.remote.number != remote || c.state == sidrSent || c.state == sidrReceived {
		return nil
	}
	return c
}

// lookUp returns the consumer's connection if it is in one of the states.
func (m *Manager) lookUp(id ConnID, states ...state) (*conn, error) {
	c := m.conns[id]
	if c == nil {
		return nil, ErrUnknown
	}
	for _, s := range states {
		if c.state == s {
			return c, nil
		}
	}
	return nil, ErrState
}
