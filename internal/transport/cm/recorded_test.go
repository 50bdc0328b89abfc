package cm_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

// recordedMADs returns the management datagrams of a capture.
func recordedMADs(t testing.TB, name string) (list []mad) {
	t.Helper()
	r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var f wire.Frame
	for {
		batch, err := r.Next()
		if err != nil {
			break // the end
		}
		for _, rec := range batch.Records {
			f.Parse(rec.Link, rec.Data, rec.WireLen)
			for _, h := range f.Headers() {
				if h.ID == wire.HdrMAD {
					list = append(list, mad(rec.Data[h.Off:h.Off+wire.MADLen]))
				}
			}
		}
		batch.Release()
	}
	if len(list) == 0 {
		t.Fatalf("%s: no management datagrams", name)
	}
	return list
}

func attribute(m *mad) uint16 { return wire.MAD(m[:]).AttributeID() }

// ids reads the IDs of sender and receiver; REQ and SIDR messages have one.
func ids(m *mad) (local, remote uint32) {
	body := wire.CMRtu(wire.MAD(m[:]).Data())
	switch attribute(m) {
	case wire.CMAttrReq, wire.CMAttrSidrReq:
		return body.LocalCommID(), 0
	case wire.CMAttrSidrRep:
		return 0, body.LocalCommID()
	}
	return body.LocalCommID(), body.RemoteCommID()
}

func setIDs(m *mad, local, remote uint32) {
	body := wire.CMRtu(wire.MAD(m[:]).Data())
	switch attribute(m) {
	case wire.CMAttrReq, wire.CMAttrSidrReq:
		body.SetLocalCommID(local)
	case wire.CMAttrSidrRep:
		body.SetLocalCommID(remote)
	default:
		body.SetLocalCommID(local)
		body.SetRemoteCommID(remote)
	}
}

// conversation is what the two sides of a recorded connection sent.
type conversation struct {
	active uint32 // the ID of who began
	mads   []mad
}

// mine reports whether the active side sent a datagram.
func (c *conversation) mine(m *mad) bool {
	local, _ := ids(m)
	return local == c.active
}

func conversations(mads []mad) (list []*conversation) {
	for _, m := range mads {
		local, remote := ids(&m)
		if a := attribute(&m); a == wire.CMAttrReq || a == wire.CMAttrSidrReq {
			list = append(list, &conversation{active: local})
		}
		for _, c := range list {
			if c.active == local || c.active == remote {
				c.mads = append(c.mads, m)
			}
		}
	}
	return list
}

// player is a Manager in the place of one side of a recorded conversation.
type player struct {
	*cm.Manager
	t *testing.T
	// What it is called, in the recording and by the Manager.
	recorded uint32
	id       cm.ConnID
}

// hear gives the Manager what the other side sent, with the Manager's ID in the
// place of the recorded one.
func (p *player) hear(m mad) {
	p.t.Helper()
	local, remote := ids(&m)
	if remote == p.recorded && remote != 0 {
		remote = uint32(p.id)
	}
	setIDs(&m, local, remote)
	if outcome := p.Receive(start, m[:], peerB); outcome != cm.Handled {
		p.t.Errorf("%#04x is %v", attribute(&m), outcome)
	}
	if e, ok := p.Event(); ok {
		p.id = e.Conn
	}
}

// say has the consumer do what makes the recorded side send a datagram, and
// compares what the Manager sends with it, byte by byte. Only the IDs that each
// side chooses as it likes are taken over.
func (p *player) say(m mad, began *cm.Event) {
	p.t.Helper()
	if err := p.act(&m, began); err != nil {
		p.t.Fatal(err)
	}
	var got mad
	if _, ok := p.Emit(&got); !ok {
		p.t.Fatalf("%#04x is not sent", attribute(&m))
	}
	local, remote := ids(&m)
	if local != 0 {
		p.recorded = local
		local = uint32(p.id)
	}
	setIDs(&m, local, remote)
	switch attribute(&m) {
	case wire.CMAttrReq, wire.CMAttrSidrReq, wire.CMAttrDreq:
		wire.MAD(m[:]).SetTransactionID(wire.MAD(got[:]).TransactionID())
	}
	if got != m {
		p.t.Errorf("%#04x differs from the recorded one:%s", attribute(&m), differences(&got, &m))
	}
}

func differences(got, want *mad) (text string) {
	for i := range got {
		if got[i] != want[i] {
			text += fmt.Sprintf("\n\tbyte %d: %#02x, recorded %#02x", i, got[i], want[i])
		}
	}
	return text
}

// act calls for the datagram. began is what the request says, to be asked for
// again by the active side.
func (p *player) act(m *mad, began *cm.Event) (err error) {
	body := wire.MAD(m[:]).Data()
	switch attribute(m) {
	case wire.CMAttrReq:
		p.id, err = p.Connect(start, requestAgain(began))
	case wire.CMAttrSidrReq:
		p.id, err = p.ResolveSIDR(start, &cm.SIDR{
			To: peerB, ServiceID: began.ServiceID, IP: began.IP, PKey: began.Terms.PKey, PrivateData: began.PrivateData(),
		})
	case wire.CMAttrRep:
		rep := wire.CMRep(body)
		err = p.Accept(start, p.id, &cm.Side{
			QPN: rep.LocalQPN(), StartingPSN: rep.StartingPSN(),
			ResponderResources: rep.ResponderResources(), InitiatorDepth: rep.InitiatorDepth(),
			RNRRetryCount: rep.RNRRetryCount(), FlowControl: rep.FlowControl(), SRQ: rep.SRQ(),
		}, rep.PrivateData())
	case wire.CMAttrSidrRep:
		rep := wire.CMSidrRep(body)
		err = p.AnswerSIDR(p.id, cm.SIDRAnswer{QPN: rep.QPN(), QKey: rep.QKey(), PrivateData: rep.PrivateData()})
	case wire.CMAttrRtu:
		err = p.Establish(p.id, wire.CMRtu(body).PrivateData())
	case wire.CMAttrDreq:
		err = p.Disconnect(start, p.id, wire.CMDreq(body).PrivateData())
	case wire.CMAttrDrep, wire.CMAttrRej:
		// sent without being asked
	default:
		return fmt.Errorf("nothing makes %#04x", attribute(m))
	}
	return err
}

// requestAgain is the request that another side has heard of.
func requestAgain(e *cm.Event) *cm.Request {
	r := &cm.Request{
		To: peerB, ServiceID: e.ServiceID, IP: e.IP, Local: e.Remote, Terms: e.Terms, PrivateData: e.PrivateData(),
	}
	for _, path := range []*cm.Path{&r.Primary, &r.Alternate} {
		path.LocalGID, path.RemoteGID = path.RemoteGID, path.LocalGID
		path.LocalLID, path.RemoteLID = path.RemoteLID, path.LocalLID
	}
	return r
}

// hearing is the event that a request makes where somebody listens.
func hearing(t *testing.T, request mad) cm.Event {
	m := cm.New(cm.DefaultConfig(0, 0))
	listenAsRecorded(m, &request)
	m.Receive(start, request[:], peerB)
	e, ok := m.Event()
	if !ok {
		t.Fatal("the request is not understood")
	}
	return e
}

func listenAsRecorded(m *cm.Manager, request *mad) {
	service := wire.CMReq(wire.MAD(request[:]).Data()).ServiceID()
	m.ListenIP(cm.PortSpace(service>>16), uint16(service))
}

// guid is the GUID of the side that plays, 0 where the recording has none.
func guid(c *conversation, active bool) uint64 {
	for _, m := range c.mads {
		body := wire.MAD(m[:]).Data()
		switch a := attribute(&m); {
		case a == wire.CMAttrReq && active:
			return wire.CMReq(body).LocalCAGUID()
		case a == wire.CMAttrRep && !active:
			return wire.CMRep(body).LocalCAGUID()
		}
	}
	return 0
}

// TestEitherSideOfARecordingSendsWhatLinuxSent plays both sides of what rxe
// recorded. The consumer's data, queue pairs and paths are the recording's; all
// else in 256 bytes is the Manager's: versions, time-outs, retries, LIDs, ACK
// timeouts, which IDs and transaction IDs are repeated where, and zeros.
//
// Not compared, because it differs by choice: the communication IDs and
// transaction IDs that a side makes up.
func TestEitherSideOfARecordingSendsWhatLinuxSent(t *testing.T) {
	for _, row := range []struct {
		name          string
		conversations int
	}{
		{"rping_rxe.pcap", 1},
		{"ucmatose.pcap", 2},
		{"udaddy.pcap", 1},
		{"cm_reject.pcap", 1},
		{"nvme_rdma.pcap.gz", 3},
	} {
		list := conversations(recordedMADs(t, row.name))
		if len(list) != row.conversations {
			t.Errorf("%s has %d conversations", row.name, len(list))
		}
		for i, c := range list {
			for _, active := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/active=%t", row.name, i, active), func(t *testing.T) {
					replay(t, c, active)
				})
			}
		}
	}
}

func replay(t *testing.T, c *conversation, active bool) {
	p := &player{Manager: cm.New(cm.DefaultConfig(guid(c, active), 7)), t: t}
	refused := attribute(&c.mads[1]) == wire.CMAttrRej
	if !active && !refused {
		listenAsRecorded(p.Manager, &c.mads[0])
	}
	began := hearing(t, c.mads[0])
	for _, m := range c.mads {
		if c.mine(&m) == active {
			p.say(m, &began)
		} else {
			p.hear(m)
		}
	}
	var more mad
	if _, ok := p.Emit(&more); ok {
		t.Errorf("%#04x is sent as well", attribute(&more))
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}
