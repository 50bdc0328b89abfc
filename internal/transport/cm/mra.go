package cm

import "github.com/rocecap/rocecap/internal/wire"

// MRAPolicy is when an MRA asks the other side for patience with the consumer.
type MRAPolicy uint8

// Policies.
const (
	MRAOnDuplicate MRAPolicy = iota // when a REQ or REP comes again, as rdma_cm (IB_CM_MRA_FLAG_DELAY)
	MRAAtOnce                       // and also as soon as one has come
	MRANever                        // what comes again is ignored
)

// The messages that an MRA or a REJ is about (IBTA vol. 1, 12.7.2, 12.7.3).
const (
	messageREQ   = 0
	messageREP   = 1
	messageOther = 2
)

// awaitConsumer follows the policy after a REQ or REP has gone to the consumer.
func (m *Manager) awaitConsumer(c *conn) {
	c.mra = m.MRA != MRANever
	if m.MRA == MRAAtOnce {
		m.sendMRA(c, m.MRATimeout)
	}
}

// Delay sends an MRA for the REQ or REP that the consumer has not answered yet:
// it needs up to CodeDuration(serviceTimeout) more.
func (m *Manager) Delay(id ConnID, serviceTimeout uint8) error {
	c, err := m.lookUp(id, requestReceived, replyReceived)
	if err != nil {
		return err
	}
	c.mra = true
	m.sendMRA(c, serviceTimeout)
	return nil
}

func (m *Manager) sendMRA(c *conn, serviceTimeout uint8) {
	mra := wire.CMMra(m.answer(c.peer, c.tid, wire.CMAttrMra))
	if mra == nil {
		return
	}
	mra.SetLocalCommID(uint32(c.id))
	mra.SetRemoteCommID(c.remote.number)
	if c.active {
		mra.SetMessage(messageREP)
	}
	mra.SetServiceTimeout(serviceTimeout)
}

// receiveMRA lets the other side have more time, once for a message (Linux
// cm_mra_handler).
func (m *Manager) receiveMRA(in message) Outcome {
	mra := wire.CMMra(in.body)
	awaited := requestSent
	remote := mra.LocalCommID()
	switch mra.Message() {
	case messageREQ:
		remote = 0 // the REQ's sender does not know the other's ID yet
	case messageREP:
		awaited = replySent
	default:
		return Ignored
	}
	c := m.find(mra.RemoteCommID(), remote)
	if c == nil || c.state != awaited || c.waiting {
		return Ignored
	}
	c.waiting = true
	c.resend.interval = CodeDuration(min(mra.ServiceTimeout(), m.MaxPeerTimeout)) +
		CodeDuration(min(c.ackTimeout, m.MaxPeerTimeout))
	m.timers.arm(c, in.now.Add(c.resend.interval))
	return Handled
}
