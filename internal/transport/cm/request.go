package cm

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Request is a connection to ask for.
type Request struct {
	To        Peer
	ServiceID uint64
	IP        IPHeader // of rdma_cm; zero for none
	Local     Side
	Terms
	PrivateData []byte
}

// Connect sends a REQ. Its outcome is an event: Reply, Rejected or Unreachable.
func (m *Manager) Connect(now time.Time, r *Request) (ConnID, error) {
	if len(m.conns) >= m.MaxConnections {
		return 0, ErrFull
	}
	c := m.open(requestSent, r.To)
	c.active = true
	c.serviceID = r.ServiceID
	c.tid = m.transactionID(c)
	c.localQPN = r.Local.number()
	c.lifetime = m.PacketLifetime
	c.ackTimeout = m.PacketLifetime + 1
	// There, the answer, and back (Linux ib_send_cm_req).
	c.interval = 2*CodeDuration(m.PacketLifetime) + CodeDuration(m.ResponseTimeout)
	c.retries = m.MaxRetries
	if err := m.formatREQ(c, r); err != nil {
		m.close(c)
		return 0, err
	}
	m.sendUntilAnswered(now, c)
	return c.id, nil
}

func (m *Manager) formatREQ(c *conn, r *Request) error {
	req := wire.CMReq(format(&c.message, c.tid, wire.CMAttrReq))
	req.SetLocalCommID(uint32(c.id))
	req.SetServiceID(r.ServiceID)
	req.SetLocalCAGUID(m.GUID)
	req.SetRemoteResponseTimeout(m.ResponseTimeout)
	req.SetLocalResponseTimeout(m.ResponseTimeout)
	req.SetMaxCMRetries(m.MaxRetries)

	req.SetVendorID(r.Local.VendorID)
	req.SetLocalQKey(r.Local.QKey)
	req.SetLocalQPN(r.Local.QPN)
	req.SetLocalEECN(r.Local.EECN)
	req.SetResponderResources(r.Local.ResponderResources)
	req.SetInitiatorDepth(r.Local.InitiatorDepth)
	req.SetFlowControl(r.Local.FlowControl)
	req.SetStartingPSN(r.Local.StartingPSN)
	req.SetRNRRetryCount(r.Local.RNRRetryCount)
	req.SetSRQ(r.Local.SRQ)

	req.SetTransportType(r.Transport)
	req.SetExtendedTransport(r.Extended)
	req.SetRetryCount(r.RetryCount)
	req.SetPKey(withDefault(r.PKey))
	req.SetPathMTU(r.PathMTU)
	primary := r.Primary
	if primary.ACKTimeout == 0 {
		primary.ACKTimeout = ackTimeout(m.AckDelay, m.PacketLifetime)
	}
	primary.write(req.PrimaryPath())
	r.Alternate.write(req.AlternatePath())
	return r.IP.put(req.PrivateData(), r.PrivateData)
}

// receiveREQ finds out whose a REQ is (Linux cm_req_handler, cm_match_req).
func (m *Manager) receiveREQ(in message) Outcome {
	req := wire.CMReq(in.body)
	remote := remoteKey{req.LocalCAGUID(), req.LocalCommID()}
	if c := m.remotes[remote]; c != nil {
		return m.duplicateREQ(in, c)
	}
	side := readREQSide(req)
	if old := m.queuePairs[remoteKey{remote.guid, side.number()}]; old != nil {
		return m.staleREQ(in, old)
	}
	service, ok := m.listeners.find(req.ServiceID())
	if !ok {
		return m.refuse(in, Rejection{Reason: InvalidServiceID})
	}
	if !supported(req) {
		return m.refuse(in, Rejection{Reason: InvalidTransportType})
	}
	if m.CheckGID != nil {
		if right, ok := m.CheckGID(req.PrimaryPath().RemoteGID()); !ok {
			return m.refuseGID(in, right)
		}
	}
	var ip IPHeader
	private := req.PrivateData()
	if service.ip {
		// rdma_cm gives such a request up, which makes it a consumer's refusal.
		if ip, private, ok = parseIPHeader(private); !ok {
			return m.refuse(in, Rejection{Reason: ConsumerReject})
		}
	}
	if m.full() {
		return Ignored
	}
	c := m.openRequested(in, remote, &side)
	e := m.event(ConnectRequest, c)
	e.Remote, e.Terms, e.IP = side, readTerms(req), ip
	e.setPrivate(private)
	m.awaitConsumer(c)
	return Handled
}

// openRequested makes the connection that a REQ asks for.
func (m *Manager) openRequested(in message, remote remoteKey, side *Side) *conn {
	req := wire.CMReq(in.body)
	c := m.open(requestReceived, in.from)
	c.serviceID = req.ServiceID()
	c.tid = in.tid
	c.remote = remote
	c.remoteQPN = remoteKey{remote.guid, side.number()}
	c.ackTimeout = max(req.PrimaryPath().LocalACKTimeout(), 1)
	c.interval = CodeDuration(min(req.LocalResponseTimeout(), m.MaxPeerTimeout))
	c.retries = req.MaxCMRetries()
	m.remotes[c.remote] = c
	m.queuePairs[c.remoteQPN] = c
	return c
}

// duplicateREQ is for a REQ of a connection that is known (Linux
// cm_dup_req_handler). A REP that was sent is resent anyway.
func (m *Manager) duplicateREQ(in message, c *conn) Outcome {
	switch {
	case c.state == requestReceived && c.mra:
		m.sendMRA(c, m.MRATimeout)
		return Handled
	case c.state == timewait:
		return m.refuse(in, Rejection{Reason: StaleConnection})
	}
	return Ignored
}

// staleREQ is for a REQ for a queue pair that has a connection: one of the two
// is not true any more. The sender may try again when the old one is gone.
func (m *Manager) staleREQ(in message, old *conn) Outcome {
	outcome := m.refuse(in, Rejection{Reason: StaleConnection})
	m.disconnectStale(in.now, old)
	return outcome
}

func (m *Manager) disconnectStale(now time.Time, old *conn) {
	if old.state == established {
		// Without private data nothing is too long.
		_ = m.sendDREQ(now, old, nil)
	}
}

// supported reports whether a REQ asks for a transport that there is: all but RD.
func supported(req wire.CMReq) bool {
	switch req.TransportType() {
	case wire.TransportRC, wire.TransportUC:
		return true
	case wire.TransportExtended:
		return req.ExtendedTransport() == wire.ExtendedTransportXRC
	}
	return false
}

// refuseGID answers a REQ for another port, with the right GID if one is known.
func (m *Manager) refuseGID(in message, right netip.Addr) Outcome {
	if !right.IsValid() {
		return m.refuse(in, Rejection{Reason: InvalidGID})
	}
	gid := right.As16()
	return m.refuse(in, Rejection{Reason: InvalidGID, Info: gid[:]})
}

func readREQSide(req wire.CMReq) Side {
	return Side{
		QPN:                req.LocalQPN(),
		EECN:               req.LocalEECN(),
		QKey:               req.LocalQKey(),
		StartingPSN:        req.StartingPSN(),
		ResponderResources: req.ResponderResources(),
		InitiatorDepth:     req.InitiatorDepth(),
		RNRRetryCount:      req.RNRRetryCount(),
		FlowControl:        req.FlowControl(),
		SRQ:                req.SRQ(),
		VendorID:           req.VendorID(),
	}
}

func readTerms(req wire.CMReq) Terms {
	return Terms{
		Transport:  req.TransportType(),
		Extended:   req.ExtendedTransport(),
		PathMTU:    req.PathMTU(),
		RetryCount: req.RetryCount(),
		PKey:       req.PKey(),
		Primary:    readPath(req.PrimaryPath()),
		Alternate:  readPath(req.AlternatePath()),
	}
}
