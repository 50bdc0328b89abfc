package cm_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

// everyMessage is one of each kind of datagram that two Managers send.
func everyMessage(t testing.TB) []mad {
	p := newPair(t, func(_, b *cm.Config) { b.MRA = cm.MRAAtOnce })
	p.b.ListenIP(cm.PortSpaceUDP, port)
	a, b := p.establish()
	lap := p.of(p.a, wire.CMAttrRtu)
	wire.MAD(lap[:]).SetAttributeID(wire.CMAttrLap)
	p.inject(p.b, lap)
	p.flush()
	p.must(p.a.Disconnect(p.now, a, nil))
	p.flush()
	p.event(p.a, cm.Disconnected)
	if e := p.event(p.b, cm.Disconnected); e.Conn != b {
		t.Fatal("another connection")
	}
	r := request()
	r.ServiceID, r.Local.QPN = 1, 0x99
	p.connect(r)
	p.resolve()
	p.flush()
	p.must(p.b.AnswerSIDR(p.event(p.b, cm.SIDRRequest).Conn, cm.SIDRAnswer{}))
	p.flush()
	return append(append([]mad{lap}, p.a.sent...), p.b.sent...)
}

func TestEveryMessageIsThere(t *testing.T) {
	seen := map[uint16]bool{}
	for _, m := range everyMessage(t) {
		seen[attribute(&m)] = true
	}
	for a := wire.CMAttrReq; a <= wire.CMAttrApr; a++ {
		if !seen[a] {
			t.Errorf("no %#04x", a)
		}
	}
}

func TestADatagramOfAnotherLengthIsMalformed(t *testing.T) {
	p := newPair(t)
	for _, m := range everyMessage(t) {
		for n := range m {
			if outcome := p.b.Receive(p.now, m[:n], peerA); outcome != cm.Malformed {
				t.Fatalf("%#04x cut to %d bytes is %v", attribute(&m), n, outcome)
			}
		}
		if outcome := p.b.Receive(p.now, append(m[:], 0), peerA); outcome != cm.Malformed {
			t.Fatalf("%#04x with a byte more is %v", attribute(&m), outcome)
		}
	}
	p.silent(p.b)
	if p.b.Connections() != 0 {
		t.Error("something is left")
	}
}

func TestHeadersOfOtherDatagrams(t *testing.T) {
	p := newPair(t)
	p.connect(request())
	req := p.take(p.a, wire.CMAttrReq)
	for _, row := range []struct {
		name  string
		spoil func(m wire.MAD)
		want  cm.Outcome
	}{
		{"base version", func(m wire.MAD) { m.SetBaseVersion(2) }, cm.Malformed},
		{"class version", func(m wire.MAD) { m.SetClassVersion(1) }, cm.Unhandled},
		{"SubnAdm", func(m wire.MAD) { m.SetMgmtClass(wire.ClassSA) }, cm.Unhandled},
		{"PerfMgt", func(m wire.MAD) { m.SetMgmtClass(wire.ClassPerf) }, cm.Unhandled},
		{"method Get", func(m wire.MAD) { m.SetMethod(1) }, cm.Unhandled},
		{"ClassPortInfo", func(m wire.MAD) { m.SetAttributeID(1) }, cm.Unhandled},
		{"SuggestAlternatePath", func(m wire.MAD) { m.SetAttributeID(0x1B) }, cm.Unhandled},
	} {
		m := req
		row.spoil(m[:])
		if outcome := p.inject(p.b, m); outcome != row.want {
			t.Errorf("%s: %v, want %v", row.name, outcome, row.want)
		}
		p.silent(p.b)
	}
}

func TestAFloodOfRequestsIsBounded(t *testing.T) {
	config := cm.DefaultConfig(guidB, 2)
	config.MaxPending, config.MaxEvents, config.MaxQueue = 10, 12, 14
	m := cm.New(config)
	m.ListenIP(cm.PortSpaceTCP, port)
	m.ListenIP(cm.PortSpaceUDP, port)
	p := newPair(t)
	p.connect(request())
	req := p.take(p.a, wire.CMAttrReq)
	p.resolve()
	question := p.take(p.a, wire.CMAttrSidrReq)

	flood := func() {
		for i := uint32(1); i <= 1000; i++ {
			r := wire.CMReq(wire.MAD(req[:]).Data())
			r.SetLocalCommID(i)
			r.SetLocalQPN(i)
			m.Receive(start, req[:], peerA)
			wire.CMSidrReq(wire.MAD(question[:]).Data()).SetRequestID(i)
			m.Receive(start, question[:], peerA)
		}
		if m.Connections() > config.MaxPending {
			t.Errorf("%d connections", m.Connections())
		}
		if err := m.Check(); err != nil {
			t.Error(err)
		}
	}
	flood()
	// They are given up, and come again, and nobody reads the events.
	for range 10 {
		for _, e := range events(m) {
			if err := m.Abort(start, e.Conn); err != nil {
				t.Error(err)
			}
			flood()
		}
	}
	sent := 0
	var out mad
	for _, ok := m.Emit(&out); ok; _, ok = m.Emit(&out) {
		sent++
	}
	if sent > config.MaxQueue {
		t.Errorf("%d datagrams were queued", sent)
	}
	if n := len(events(m)); n > config.MaxEvents {
		t.Errorf("%d events were queued", n)
	}
}

func TestEventsThatNobodyReadsAreBounded(t *testing.T) {
	config := cm.DefaultConfig(guidB, 2)
	config.MaxEvents = 20
	m := cm.New(config)
	m.ListenIP(cm.PortSpaceTCP, port)
	p := newPair(t)
	for i := range uint32(100) {
		// Asked for, and given up at once.
		r := request()
		r.Local.QPN = i + 1
		a := p.connect(r)
		req := p.take(p.a, wire.CMAttrReq)
		m.Receive(start, req[:], peerA)
		p.must(p.a.Abort(p.now, a))
		rej := p.take(p.a, wire.CMAttrRej)
		m.Receive(start, rej[:], peerA)
	}
	if n := len(events(m)); n < 20 || n > 21 {
		t.Errorf("%d events", n)
	}
}

func TestResendsThatNobodyTakesAreBounded(t *testing.T) {
	config := cm.DefaultConfig(guidA, 2)
	config.MaxQueue = 30
	m := cm.New(config)
	for range 20 {
		if _, err := m.Connect(start, request()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		m.Advance(start.Add(time.Duration(i) * 10 * time.Second))
	}
	sent := 0
	var out mad
	for _, ok := m.Emit(&out); ok; _, ok = m.Emit(&out) {
		sent++
	}
	if sent != config.MaxQueue {
		t.Errorf("%d datagrams", sent)
	}
}

func events(m *cm.Manager) (list []cm.Event) {
	for e, ok := m.Event(); ok; e, ok = m.Event() {
		list = append(list, e)
	}
	return list
}

func TestAPeerCannotAskForHours(t *testing.T) {
	p := newPair(t, func(_, b *cm.Config) { b.MaxPeerTimeout = 16 })
	a := p.connect(request())
	m := p.take(p.a, wire.CMAttrReq)
	req := wire.CMReq(wire.MAD(m[:]).Data())
	req.SetLocalResponseTimeout(31)
	req.PrimaryPath().SetLocalACKTimeout(31)
	p.inject(p.b, m)
	b := p.event(p.b, cm.ConnectRequest).Conn
	p.must(p.b.Accept(p.now, b, side(), nil))
	if d := p.b.Deadline().Sub(p.now); d != cm.CodeDuration(16) {
		t.Errorf("the REP is resent after %v", d)
	}
	p.flush()
	p.must(p.a.Establish(a, nil))
	p.must(p.a.Disconnect(p.now, a, nil))
	p.flush()
	if d := p.b.Deadline().Sub(p.now); d != cm.CodeDuration(16) {
		t.Errorf("timewait takes %v", d)
	}
}

// TestTheHotPathsDoNotAllocate: what others can make the Manager do without the
// consumer, and what recurs by itself.
func TestTheHotPathsDoNotAllocate(t *testing.T) {
	p := newPair(t)
	a, _ := p.establish()
	req, rep := p.of(p.a, wire.CMAttrReq), p.of(p.b, wire.CMAttrRep)
	refused, unknown := req, p.of(p.a, wire.CMAttrRtu)
	r := wire.CMReq(wire.MAD(refused[:]).Data())
	r.SetLocalCommID(5)
	r.SetLocalQPN(6)
	r.SetServiceID(7)
	wire.MAD(unknown[:]).SetAttributeID(wire.CMAttrDreq)
	wire.CMDreq(wire.MAD(unknown[:]).Data()).SetRemoteCommID(8)
	var out mad
	check := func(what string, m *cm.Manager, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, func() {
			do()
			for _, ok := m.Emit(&out); ok; _, ok = m.Emit(&out) {
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	check("REQ refused", p.b.Manager, func() { p.b.Receive(p.now, refused[:], peerA) })
	check("REQ again", p.b.Manager, func() { p.b.Receive(p.now, req[:], peerA) })
	check("REP again", p.a.Manager, func() { p.a.Receive(p.now, rep[:], peerB) })
	check("DREQ for nothing", p.b.Manager, func() { p.b.Receive(p.now, unknown[:], peerA) })
	p.must(p.a.Disconnect(p.now, a, nil))
	now := p.now
	check("DREQ again", p.a.Manager, func() {
		now = now.Add(time.Microsecond)
		if at := p.a.Deadline(); !at.IsZero() {
			now = at
		}
		p.a.Advance(now)
	})
}

// stage is two Managers in the middle of things, for a fuzzer to play with.
// Their IDs are always the same.
type stage struct {
	t     testing.TB
	now   time.Time
	m     *cm.Manager
	known []cm.ConnID
}

func newStage(t testing.TB) *stage {
	config := cm.DefaultConfig(guidB, 2)
	config.MaxConnections, config.MaxPending, config.MaxEvents = 64, 16, 32
	s := &stage{t: t, now: start, m: cm.New(config)}
	s.m.ListenIP(cm.PortSpaceTCP, port)
	s.m.ListenIP(cm.PortSpaceUDP, port)
	s.m.Listen(0x1234_0000, 0xFFFF_0000)
	return s
}

// step is one byte of what the consumer and time do, before a datagram comes.
func (s *stage) step(op byte) {
	arg := int(op >> 3)
	var id cm.ConnID
	if len(s.known) > 0 {
		id = s.known[arg%len(s.known)]
	}
	// Errors are what most of these deserve.
	switch op & 7 {
	case 0:
		_ = s.m.Accept(s.now, id, side(), nil)
	case 1:
		_ = s.m.Reject(s.now, id, cm.Rejection{Reason: cm.ConsumerReject})
	case 2:
		_ = s.m.Establish(id, nil)
	case 3:
		_ = s.m.Disconnect(s.now, id, nil)
	case 4:
		_ = s.m.AnswerSIDR(id, cm.SIDRAnswer{QPN: 9})
	case 5:
		s.now = s.now.Add(cm.CodeDuration(uint8(arg)))
		s.m.Advance(s.now)
	case 6:
		if arg&1 == 0 {
			_, _ = s.m.Connect(s.now, request())
		} else {
			_, _ = s.m.ResolveSIDR(s.now, sidr())
		}
	case 7:
		_ = s.m.Abort(s.now, id)
	}
	s.drain(1 + s.m.Connections())
}

// receive gives the Manager a datagram. It makes at most one event and two
// datagrams of it: a REJ and the DREQ of a stale connection.
func (s *stage) receive(m []byte) {
	s.m.Receive(s.now, m, peerA)
	s.drain(2)
}

func (s *stage) drain(datagrams int) {
	var out mad
	n := 0
	for _, ok := s.m.Emit(&out); ok; _, ok = s.m.Emit(&out) {
		n++
	}
	if n > datagrams {
		s.t.Fatalf("%d datagrams, want at most %d; last %#04x", n, datagrams, attribute(&out))
	}
	for _, e := range events(s.m) {
		s.known = append(s.known, e.Conn)
		if len(e.PrivateData()) > 224 || len(e.Info()) > 72 {
			s.t.Fatalf("%v with %d bytes", e.Kind, len(e.PrivateData()))
		}
	}
	if len(s.known) > 32 {
		s.known = s.known[len(s.known)-32:]
	}
	if s.m.Connections() > 64 {
		s.t.Fatalf("%d connections", s.m.Connections())
	}
	if err := s.m.Check(); err != nil {
		s.t.Fatal(err)
	}
}

// chunk is what a fuzzer says about one datagram: the step before it, which of
// the known messages it is, one byte to change with its place, and whether IDs of
// the Manager's connections are put in.
const chunk = 5

func (s *stage) play(messages []mad, script []byte) {
	for ; len(script) >= chunk; script = script[chunk:] {
		s.step(script[0])
		m := messages[int(script[1])%len(messages)]
		local, remote := ids(&m)
		if n := len(s.known); n > 0 && script[4]&1 != 0 {
			remote = uint32(s.known[int(script[4]>>2)%n])
		}
		if n := len(s.known); n > 0 && script[4]&2 != 0 {
			local = uint32(s.known[int(script[4]>>2)%n])
		}
		setIDs(&m, local, remote)
		m[script[2]] ^= script[3]
		s.receive(m[:])
	}
	s.receive(script)
}

func TestRandomDatagramsChangeNothingForTheWorse(t *testing.T) {
	s := newStage(t)
	random := rand.New(rand.NewPCG(1, 2))
	messages := everyMessage(t)
	for range 20000 {
		m := messages[random.IntN(len(messages))]
		for range random.IntN(4) {
			m[random.IntN(len(m))] = byte(random.Uint32())
		}
		if random.IntN(4) == 0 && len(s.known) > 0 { // an ID that means something
			binary.BigEndian.PutUint32(m[28:], uint32(s.known[random.IntN(len(s.known))]))
		}
		s.step(byte(random.Uint32()))
		s.receive(m[:])
	}
	// Everything ends when the consumer wants it to.
	for range 3 {
		for _, id := range s.m.IDs() {
			_ = s.m.Abort(s.now, id)
			s.drain(1)
		}
		for at := s.m.Deadline(); !at.IsZero(); at = s.m.Deadline() {
			s.now = at
			s.m.Advance(at)
			s.drain(1 + s.m.Connections())
		}
	}
	if s.m.Connections() != 0 {
		t.Errorf("%d connections are stuck", s.m.Connections())
	}
}

func FuzzReceive(f *testing.F) {
	messages := everyMessage(f)
	for _, name := range []string{"rping_rxe.pcap", "udaddy.pcap", "cm_reject.pcap"} {
		messages = append(messages, recordedMADs(f, name)...)
	}
	var all []byte
	for i := range messages {
		all = append(all, byte(i), byte(i), 0, 0, byte(i))
	}
	f.Add(all)
	f.Add([]byte{0, 1, 0, 0, 0, 0, 7, 30, 1, 1, 3, 4, 0, 0, 1}) // REQ, accepted, ...
	f.Add(bytes.Repeat([]byte{6, 3, 28, 0xFF, 3}, 10))
	f.Fuzz(func(t *testing.T, script []byte) {
		newStage(t).play(messages, script[:min(len(script), 64*chunk)])
	})
}
