package cm

import (
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// SIDRStatus is the outcome of a service resolution (Linux enum
// ib_cm_sidr_status).
type SIDRStatus uint8

// Outcomes.
const (
	SIDRSuccess            SIDRStatus = 0
	SIDRUnsupported        SIDRStatus = 1 // nobody listens
	SIDRReject             SIDRStatus = 2
	SIDRNoQP               SIDRStatus = 3
	SIDRRedirect           SIDRStatus = 4
	SIDRUnsupportedVersion SIDRStatus = 5
)

func (s SIDRStatus) String() string {
	names := [...]string{
		"success", "service not supported", "rejected", "no QP", "redirect", "version not supported",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// SIDR is a question for the queue pair of a datagram service.
type SIDR struct {
	To          Peer
	ServiceID   uint64
	IP          IPHeader
	PKey        uint16 // 0 is the default partition
	PrivateData []byte
}

// ResolveSIDR sends a SIDR_REQ. SIDRReply or Unreachable follows.
func (m *Manager) ResolveSIDR(now time.Time, r *SIDR) (ConnID, error) {
	if len(m.conns) >= m.MaxConnections {
		return 0, ErrFull
	}
	c := m.open(sidrSent, r.To)
	c.active = true
	c.serviceID = r.ServiceID
	c.tid = m.transactionID(c)
	c.interval = CodeDuration(m.ResponseTimeout) // Linux cma_resolve_ib_udp
	c.retries = m.MaxRetries
	req := wire.CMSidrReq(format(&c.message, c.tid, wire.CMAttrSidrReq))
	req.SetRequestID(uint32(c.id))
	req.SetPKey(withDefault(r.PKey))
	req.SetServiceID(r.ServiceID)
	if err := r.IP.put(req.PrivateData(), r.PrivateData); err != nil {
		m.close(c)
		return 0, err
	}
	m.sendUntilAnswered(now, c)
	return c.id, nil
}

// receiveSIDRREQ asks the consumer (Linux cm_sidr_req_handler). Once answered,
// a question that comes again is a new one.
func (m *Manager) receiveSIDRREQ(in message) Outcome {
	req := wire.CMSidrReq(in.body)
	key := requestKey{in.from, req.RequestID()}
	if m.sidr[key] != nil {
		return Ignored
	}
	service, ok := m.listeners.find(req.ServiceID())
	if !ok {
		return m.writeSIDRREP(in.from, in.tid, req.RequestID(), req.ServiceID(), SIDRAnswer{Status: SIDRUnsupported})
	}
	var ip IPHeader
	private := req.PrivateData()
	if service.ip {
		if ip, private, ok = parseIPHeader(private); !ok {
			return m.writeSIDRREP(in.from, in.tid, req.RequestID(), req.ServiceID(), SIDRAnswer{Status: SIDRReject})
		}
	}
	if m.full() {
		return Ignored
	}
	c := m.open(sidrReceived, in.from)
	c.serviceID = req.ServiceID()
	c.tid = in.tid
	c.remote.number = req.RequestID()
	m.sidr[key] = c
	e := m.event(SIDRRequest, c)
	e.IP = ip
	e.Terms.PKey = req.PKey()
	e.setPrivate(private)
	return Handled
}

// SIDRAnswer is what a SIDR_REP says.
type SIDRAnswer struct {
	Status      SIDRStatus
	QPN, QKey   uint32
	VendorID    uint32
	Info        []byte // up to 72 bytes
	PrivateData []byte
}

// AnswerSIDR answers a SIDRRequest, which is then forgotten.
func (m *Manager) AnswerSIDR(id ConnID, a SIDRAnswer) error {
	c, err := m.lookUp(id, sidrReceived)
	if err != nil {
		return err
	}
	if len(a.Info) > maxInfo || len(a.PrivateData) > MaxSIDRREPPrivate {
		return ErrTooLong
	}
	m.writeSIDRREP(c.peer, c.tid, c.remote.number, c.serviceID, a)
	m.close(c)
	return nil
}

func (m *Manager) writeSIDRREP(to Peer, tid uint64, request uint32, service uint64, a SIDRAnswer) Outcome {
	rep := wire.CMSidrRep(m.answer(to, tid, wire.CMAttrSidrRep))
	if rep == nil {
		return Ignored
	}
	rep.SetRequestID(request)
	rep.SetServiceID(service)
	rep.SetStatus(uint8(a.Status))
	rep.SetQPN(a.QPN)
	rep.SetQKey(a.QKey)
	rep.SetVendorID(a.VendorID)
	rep.SetInfoLength(uint8(len(a.Info)))
	copy(rep.Info(), a.Info)
	copy(rep.PrivateData(), a.PrivateData)
	return Handled
}

func (m *Manager) receiveSIDRREP(in message) Outcome {
	rep := wire.CMSidrRep(in.body)
	c := m.conns[ConnID(rep.RequestID())]
	if c == nil || c.state != sidrSent {
		return Ignored
	}
	e := m.event(SIDRReply, c)
	e.Status = SIDRStatus(rep.Status())
	e.ServiceID = rep.ServiceID()
	e.Remote = Side{QPN: rep.QPN(), QKey: rep.QKey(), VendorID: rep.VendorID()}
	info := rep.Info()
	e.setInfo(info[:min(int(rep.InfoLength()), len(info))])
	e.setPrivate(rep.PrivateData())
	m.close(c)
	return Handled
}
