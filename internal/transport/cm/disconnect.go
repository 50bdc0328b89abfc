package cm

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Disconnect ends an established connection with a DREQ; Disconnected follows,
// later TimewaitExit. After a Disconnected that the consumer has to answer
// (ManualDREP) it sends the DREP. While a connection already ends it does nothing.
func (m *Manager) Disconnect(now time.Time, id ConnID, private []byte) error {
	c, err := m.lookUp(id, established, disconnectSent, disconnectReceived, timewait)
	switch {
	case err != nil:
		return err
	case c.state == established:
		return m.sendDREQ(now, c, private)
	case c.state == disconnectReceived:
		return m.sendDREP(now, c, private)
	}
	return nil
}

func (m *Manager) sendDREQ(now time.Time, c *conn, private []byte) error {
	if len(private) > wire.CMMessageLen-wire.CMDreqLen {
		return ErrTooLong // before the RTU is lost, which may be needed again
	}
	dreq := wire.CMDreq(format(&c.message, m.transactionID(c), wire.CMAttrDreq))
	dreq.SetLocalCommID(uint32(c.id))
	dreq.SetRemoteCommID(c.remote.number)
	dreq.SetRemoteQPN(c.remoteQPN.number)
	copy(dreq.PrivateData(), private)
	m.enter(c, disconnectSent)
	m.sendUntilAnswered(now, c)
	return nil
}

// sendDREP agrees to the end.
func (m *Manager) sendDREP(now time.Time, c *conn, private []byte) error {
	if len(private) > wire.CMMessageLen-wire.CMDrepLen {
		return ErrTooLong
	}
	// Lost or dropped, it is sent again when the DREQ comes again.
	m.writeDREP(c.peer, c.tid, uint32(c.id), c.remote.number, private)
	m.linger(now, c)
	return nil
}

func (m *Manager) writeDREP(to Peer, tid uint64, local, remote uint32, private []byte) Outcome {
	drep := wire.CMDrep(m.answer(to, tid, wire.CMAttrDrep))
	if drep == nil {
		return Ignored
	}
	drep.SetLocalCommID(local)
	drep.SetRemoteCommID(remote)
	copy(drep.PrivateData(), private)
	return Handled
}

// receiveDREQ takes the other side's wish to end (Linux cm_dreq_handler). A
// connection that is not known is ended all the same (cm_issue_drep), so that
// the other side need not wait for nothing.
func (m *Manager) receiveDREQ(in message) Outcome {
	dreq := wire.CMDreq(in.body)
	local, remote := dreq.RemoteCommID(), dreq.LocalCommID()
	c := m.find(local, remote)
	if c == nil {
		return m.writeDREP(in.from, in.tid, local, remote, nil)
	}
	if c.localQPN != dreq.RemoteQPN() {
		return Ignored
	}
	switch c.state {
	case replySent, established, disconnectSent:
	case timewait:
		return m.writeDREP(in.from, in.tid, local, remote, nil)
	default:
		return Ignored
	}
	c.tid = in.tid
	m.event(Disconnected, c).setPrivate(dreq.PrivateData())
	if m.ManualDREP {
		m.enter(c, disconnectReceived)
		return Handled
	}
	_ = m.sendDREP(in.now, c, nil) // without private data nothing is too long
	return Handled
}

func (m *Manager) receiveDREP(in message) Outcome {
	drep := wire.CMDrep(in.body)
	c := m.find(drep.RemoteCommID(), drep.LocalCommID())
	if c == nil || (c.state != disconnectSent && c.state != disconnectReceived) {
		return Ignored
	}
	if c.state == disconnectSent { // else the consumer knows from the other's DREQ
		m.event(Disconnected, c).setPrivate(drep.PrivateData())
	}
	m.linger(in.now, c)
	return Handled
}
