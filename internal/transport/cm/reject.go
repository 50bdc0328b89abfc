package cm

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// RejectReason is why a REJ was sent (IBTA vol. 1, 12.6.7.2; Linux enum
// ib_cm_rej_reason).
type RejectReason uint16

// Reasons.
const (
	NoQP                    RejectReason = 1
	NoEEC                   RejectReason = 2
	NoResources             RejectReason = 3
	Timeout                 RejectReason = 4
	Unsupported             RejectReason = 5
	InvalidCommID           RejectReason = 6
	InvalidCommInstance     RejectReason = 7
	InvalidServiceID        RejectReason = 8 // nobody listens
	InvalidTransportType    RejectReason = 9
	StaleConnection         RejectReason = 10
	NoRDC                   RejectReason = 11
	InvalidGID              RejectReason = 12
	InvalidLID              RejectReason = 13
	InvalidSL               RejectReason = 14
	InvalidTrafficClass     RejectReason = 15
	InvalidHopLimit         RejectReason = 16
	InvalidPacketRate       RejectReason = 17
	InvalidAltGID           RejectReason = 18
	InvalidAltLID           RejectReason = 19
	InvalidAltSL            RejectReason = 20
	InvalidAltTrafficClass  RejectReason = 21
	InvalidAltHopLimit      RejectReason = 22
	InvalidAltPacketRate    RejectReason = 23
	PortAndCMRedirect       RejectReason = 24
	PortRedirect            RejectReason = 25
	InvalidMTU              RejectReason = 26
	InsufficientResources   RejectReason = 27 // responder resources
	ConsumerReject          RejectReason = 28
	RNRRetryCountReject     RejectReason = 29
	DuplicateLocalCommID    RejectReason = 30
	InvalidClassVersion     RejectReason = 31
	InvalidFlowLabel        RejectReason = 32
	InvalidAltFlowLabel     RejectReason = 33
	VendorOptionUnsupported RejectReason = 35
)

func (r RejectReason) String() string {
	if name := wire.CMRejReason(uint16(r)); name != "" {
		return name
	}
	return fmt.Sprintf("reason %d", uint16(r))
}

// Rejection is what a REJ says.
type Rejection struct {
	Reason      RejectReason
	Info        []byte // up to 72 bytes, of which the reason knows the meaning
	PrivateData []byte
}

func (r *Rejection) fits() bool { return len(r.Info) <= maxInfo && len(r.PrivateData) <= MaxREJPrivate }

// Reject refuses a ConnectRequest or a Reply, or breaks the setting-up of a
// connection off. What was never connected is forgotten at once.
func (m *Manager) Reject(now time.Time, id ConnID, r Rejection) error {
	c, err := m.lookUp(id, requestSent, requestReceived, replySent, replyReceived)
	if err != nil {
		return err
	}
	if !r.fits() {
		return ErrTooLong
	}
	m.sendREJ(c, r)
	if c.state == requestSent || c.state == requestReceived {
		m.close(c)
	} else {
		m.linger(now, c) // Linux ib_send_cm_rej
	}
	return nil
}

// Abort ends a connection or service resolution whatever its state is, as when
// its owner dies (Linux cm_destroy_id). There are still the events that the end
// of an established connection brings.
func (m *Manager) Abort(now time.Time, id ConnID) error {
	c := m.conns[id]
	if c == nil {
		return ErrUnknown
	}
	switch c.state {
	case requestSent:
		m.rejectTimeout(c)
	case requestReceived:
		m.sendREJ(c, Rejection{Reason: ConsumerReject})
	case replySent, replyReceived:
		m.sendREJ(c, Rejection{Reason: ConsumerReject})
		m.linger(now, c)
		return nil
	case established:
		return m.sendDREQ(now, c, nil)
	case disconnectReceived:
		return m.sendDREP(now, c, nil)
	case disconnectSent:
		m.linger(now, c)
		return nil
	case timewait:
		return nil
	case sidrReceived:
		return m.AnswerSIDR(id, SIDRAnswer{Status: SIDRReject})
	case sidrSent:
	}
	m.close(c)
	return nil
}

// sendREJ refuses what the connection waits for the consumer with.
func (m *Manager) sendREJ(c *conn, r Rejection) {
	rejected := uint8(messageOther)
	switch c.state {
	case requestReceived:
		rejected = messageREQ
	case replyReceived:
		rejected = messageREP
	}
	m.writeREJ(c.peer, c.tid, uint32(c.id), c.remote.number, rejected, r)
}

// rejectTimeout says that nothing came in time. As the other side's ID may be
// unknown, the GUID goes along (Linux cm_destroy_id).
func (m *Manager) rejectTimeout(c *conn) {
	var guid [8]byte
	binary.BigEndian.PutUint64(guid[:], m.GUID)
	m.sendREJ(c, Rejection{Reason: Timeout, Info: guid[:]})
}

// refuse answers a REQ without making a connection of it.
func (m *Manager) refuse(in message, r Rejection) Outcome {
	req := wire.CMReq(in.body)
	return m.writeREJ(in.from, in.tid, 0, req.LocalCommID(), messageREQ, r)
}

// refuseREP answers a REP for a queue pair that has a connection already.
func (m *Manager) refuseREP(in message) {
	rep := wire.CMRep(in.body)
	m.writeREJ(in.from, in.tid, rep.RemoteCommID(), rep.LocalCommID(), messageREP, Rejection{Reason: StaleConnection})
}

func (m *Manager) writeREJ(to Peer, tid uint64, local, remote uint32, rejected uint8, r Rejection) Outcome {
	rej := wire.CMRej(m.answer(to, tid, wire.CMAttrRej))
	if rej == nil {
		return Ignored
	}
	rej.SetLocalCommID(local)
	rej.SetRemoteCommID(remote)
	rej.SetMessageRejected(rejected)
	rej.SetReason(uint16(r.Reason))
	rej.SetInfoLength(uint8(len(r.Info)))
	copy(rej.Info(), r.Info)
	copy(rej.PrivateData(), r.PrivateData)
	return Handled
}

// receiveREJ ends what is refused (Linux cm_rej_handler).
func (m *Manager) receiveREJ(in message) Outcome {
	rej := wire.CMRej(in.body)
	c := m.findRejected(rej)
	if c == nil {
		return Ignored
	}
	wasSettingUp := false
	switch c.state {
	case requestSent, replySent, requestReceived:
		wasSettingUp = true
	case replyReceived, established, disconnectSent:
	default:
		return Ignored
	}
	e := m.event(Rejected, c)
	e.Reason, e.Message = RejectReason(rej.Reason()), rej.MessageRejected()
	e.setInfo(rej.Info())
	e.setPrivate(rej.PrivateData())
	if wasSettingUp && e.Reason != StaleConnection {
		m.close(c)
	} else {
		m.linger(in.now, c)
	}
	return Handled
}

// findRejected returns the connection that a REJ is about (Linux
// cm_acquire_rejected_id): which of the IDs its sender knew depends on the
// message and the reason.
func (m *Manager) findRejected(rej wire.CMRej) *conn {
	timedOut := rej.Reason() == uint16(Timeout)
	if info := rej.Info(); timedOut && len(info) >= 8 {
		if c := m.remotes[remoteKey{binary.BigEndian.Uint64(info), rej.LocalCommID()}]; c != nil {
			return c
		}
	}
	if rej.MessageRejected() == messageREQ {
		return m.find(rej.RemoteCommID(), 0)
	}
	c := m.find(rej.RemoteCommID(), rej.LocalCommID())
	if c == nil && timedOut { // of a REP that never came
		c = m.find(rej.RemoteCommID(), 0)
	}
	return c
}
