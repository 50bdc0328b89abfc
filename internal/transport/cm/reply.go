package cm

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Accept answers a ConnectRequest with a REP. Established, Rejected or
// Unreachable follows. The queue pair has to be able to receive before.
func (m *Manager) Accept(now time.Time, id ConnID, local *Side, private []byte) error {
	c, err := m.lookUp(id, requestReceived)
	if err != nil {
		return err
	}
	rep := wire.CMRep(format(&c.message, c.tid, wire.CMAttrRep))
	rep.SetLocalCommID(uint32(c.id))
	rep.SetRemoteCommID(c.remote.number)
	rep.SetLocalCAGUID(m.GUID)
	rep.SetTargetACKDelay(m.AckDelay)

	rep.SetVendorID(local.VendorID)
	rep.SetLocalQKey(local.QKey)
	rep.SetLocalQPN(local.QPN)
	rep.SetLocalEECN(local.EECN)
	rep.SetStartingPSN(local.StartingPSN)
	rep.SetResponderResources(local.ResponderResources)
	rep.SetInitiatorDepth(local.InitiatorDepth)
	rep.SetFlowControl(local.FlowControl)
	rep.SetRNRRetryCount(local.RNRRetryCount)
	rep.SetSRQ(local.SRQ)
	if err := put(rep.PrivateData(), private); err != nil {
		return err
	}
	c.localQPN = local.number()
	m.enter(c, replySent)
	m.sendUntilAnswered(now, c)
	return nil
}

// receiveREP takes the answer to our REQ (Linux cm_rep_handler).
func (m *Manager) receiveREP(in message) Outcome {
	rep := wire.CMRep(in.body)
	c := m.find(rep.RemoteCommID(), 0)
	if c == nil || c.state != requestSent {
		return m.duplicateREP(rep)
	}
	side := readREPSide(rep)
	remote := remoteKey{rep.LocalCAGUID(), rep.LocalCommID()}
	queuePair := remoteKey{remote.guid, side.number()}
	if m.remotes[remote] != nil {
		return Ignored
	}
	if old := m.queuePairs[queuePair]; old != nil {
		m.refuseREP(in)
		m.disconnectStale(in.now, old)
		return Handled
	}
	c.tid = in.tid
	c.remote, c.remoteQPN = remote, queuePair
	m.remotes[remote], m.queuePairs[queuePair] = c, c
	c.ackTimeout = ackTimeout(rep.TargetACKDelay(), c.lifetime)
	m.enter(c, replyReceived)
	e := m.event(Reply, c)
	e.Remote = side
	e.setPrivate(rep.PrivateData())
	m.awaitConsumer(c)
	return Handled
}

// duplicateREP is for a REP to a REQ that has one already, or that nobody sent
// (Linux cm_dup_rep_handler).
func (m *Manager) duplicateREP(rep wire.CMRep) Outcome {
	c := m.find(rep.RemoteCommID(), rep.LocalCommID())
	switch {
	case c == nil || !c.active:
		return Ignored
	case c.state == established: // the RTU was lost, and is still the last message
		m.sendAgain(c)
		return Handled
	case c.state == replyReceived && c.mra:
		m.sendMRA(c, m.MRATimeout)
		return Handled
	}
	return Ignored
}

// Establish completes a connection. The side that asked for it calls it after
// Reply, when its queue pair can receive and send: an RTU goes out, and there is
// no further event. The side that was asked may call it when data came before
// the RTU, which is the event "communication established" of a queue pair;
// Established follows.
func (m *Manager) Establish(id ConnID, private []byte) error {
	c, err := m.lookUp(id, replyReceived, replySent, established)
	switch {
	case err != nil:
		return err
	case c.active && c.state == established:
		return ErrState
	case c.active:
		return m.sendRTU(c, private)
	case c.state == replySent:
		m.enter(c, established)
		m.event(Established, c)
	}
	return nil
}

func (m *Manager) sendRTU(c *conn, private []byte) error {
	rtu := wire.CMRtu(format(&c.message, c.tid, wire.CMAttrRtu))
	rtu.SetLocalCommID(uint32(c.id))
	rtu.SetRemoteCommID(c.remote.number)
	if err := put(rtu.PrivateData(), private); err != nil {
		return err
	}
	m.enter(c, established)
	m.send(c)
	return nil
}

func (m *Manager) receiveRTU(in message) Outcome {
	rtu := wire.CMRtu(in.body)
	c := m.find(rtu.RemoteCommID(), rtu.LocalCommID())
	if c == nil || c.state != replySent {
		return Ignored
	}
	m.enter(c, established)
	m.event(Established, c).setPrivate(rtu.PrivateData())
	return Handled
}

func readREPSide(rep wire.CMRep) Side {
	return Side{
		QPN:                rep.LocalQPN(),
		EECN:               rep.LocalEECN(),
		QKey:               rep.LocalQKey(),
		StartingPSN:        rep.StartingPSN(),
		ResponderResources: rep.ResponderResources(),
		InitiatorDepth:     rep.InitiatorDepth(),
		RNRRetryCount:      rep.RNRRetryCount(),
		FlowControl:        rep.FlowControl(),
		SRQ:                rep.SRQ(),
		VendorID:           rep.VendorID(),
	}
}
