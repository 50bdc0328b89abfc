package connect

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

var (
	alice = netip.MustParseAddr("192.0.2.1")
	bob   = netip.MustParseAddr("192.0.2.2")
)

// script makes the messages of a capture: alice asks with ID 5 and QP 0x11, bob
// answers with ID 6 and QP 0x12.
type script struct {
	t      *testing.T
	track  *Tracker
	now    int64
	number int
	closed []*Connection
	told   []Event
}

func newScript(t *testing.T, limit int) *script {
	s := &script{t: t, track: NewTracker(limit)}
	s.track.Closed = func(c *Connection) { s.closed = append(s.closed, c) }
	s.track.Report = func(_ *Connection, e Event) { s.told = append(s.told, e) }
	return s
}

// say sends a message of a transaction; changes set its fields.
func (s *script) say(src, dst netip.Addr, attribute uint16, transaction uint64, changes ...func(body []byte)) {
	s.number++
	s.now += int64(time.Millisecond)
	m := Message{
		Number: s.number, Time: s.now, Repeated: s.now, Src: src, Dst: dst,
		Attribute: Attribute(attribute), Transaction: transaction, len: wire.CMMessageLen,
	}
	for _, change := range changes {
		change(m.Body())
	}
	s.track.Take(&m)
}

func (s *script) wait(d time.Duration) { s.now += int64(d) }

// setting 10 is 4.19 ms.
func (s *script) req() {
	s.say(alice, bob, wire.CMAttrReq, 1, func(b []byte) {
		m := wire.CMReq(b)
		m.SetLocalCommID(5)
		m.SetLocalQPN(0x11)
		m.SetResponderResources(4)
		m.SetInitiatorDepth(3)
		m.SetRemoteResponseTimeout(10)
		m.SetLocalResponseTimeout(10)
	})
}

// between sets the IDs of sender and receiver.
func between(local, remote uint32) func(body []byte) {
	return func(b []byte) {
		wire.CMRtu(b).SetLocalCommID(local)
		wire.CMRtu(b).SetRemoteCommID(remote)
	}
}

func (s *script) rep(depth uint8) {
	s.say(bob, alice, wire.CMAttrRep, 1, between(6, 5), func(b []byte) {
		m := wire.CMRep(b)
		m.SetLocalQPN(0x12)
		m.SetInitiatorDepth(depth)
	})
}

func (s *script) rtu() {
	s.say(alice, bob, wire.CMAttrRtu, 1, between(5, 6))
}

func (s *script) rej(reason uint16) {
	s.say(bob, alice, wire.CMAttrRej, 1, between(0, 5), func(b []byte) { wire.CMRej(b).SetReason(reason) })
}

func (s *script) mra(setting uint8) {
	s.say(bob, alice, wire.CMAttrMra, 1, between(6, 5), func(b []byte) { wire.CMMra(b).SetServiceTimeout(setting) })
}

func (s *script) dreq(qpn uint32) {
	s.say(bob, alice, wire.CMAttrDreq, 2, between(6, 5), func(b []byte) { wire.CMDreq(b).SetRemoteQPN(qpn) })
}

func (s *script) drep() {
	s.say(alice, bob, wire.CMAttrDrep, 2, between(5, 6))
}

func (s *script) sidrReq() {
	s.say(alice, bob, wire.CMAttrSidrReq, 9, func(b []byte) { wire.CMSidrReq(b).SetRequestID(5) })
}

func (s *script) sidrRep(status uint8) {
	s.say(bob, alice, wire.CMAttrSidrRep, 9, func(b []byte) {
		m := wire.CMSidrRep(b)
		m.SetRequestID(5)
		m.SetStatus(status)
		m.SetQPN(0x12)
	})
}

// want ends the capture and compares what was told, and the only connection's
// outcome.
func (s *script) want(outcome Outcome, kinds ...Kind) *Connection {
	s.t.Helper()
	s.track.Finish(s.now)
	var got []Kind
	for _, e := range s.told {
		got = append(got, e.Kind)
	}
	if !slices.Equal(got, kinds) {
		s.t.Errorf("told %v, want %v", got, kinds)
	}
	if len(s.closed) != 1 {
		s.t.Fatalf("%d connections, want one", len(s.closed))
	}
	if got := s.closed[0].Outcome; got != outcome {
		s.t.Errorf("%v, want %v", got, outcome)
	}
	return s.closed[0]
}

// frame builds the frame of a management datagram.
func frame(t testing.TB, mad []byte) *wire.Frame {
	t.Helper()
	op, err := craft.ParseOpcode("ud send-only")
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put("infiniband.bth.destqp", "1"); err != nil {
		t.Fatal(err)
	}
	r.Payload = mad
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	f := new(wire.Frame)
	f.Parse(r.Link, img.Data, img.WireLen)
	return f
}

// datagram makes a management datagram of connection management.
func datagram(attribute uint16, change func(body []byte)) []byte {
	b := make([]byte, wire.MADLen)
	mad := wire.MAD(b)
	mad.SetBaseVersion(wire.MADBaseVersion)
	mad.SetMgmtClass(wire.ClassCM)
	mad.SetMethod(methodSend)
	mad.SetTransactionID(77)
	mad.SetAttributeID(attribute)
	if change != nil {
		change(mad.Data())
	}
	return b
}
