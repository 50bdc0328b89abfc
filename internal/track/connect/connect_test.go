package connect

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestAConnectionFromItsRequestToItsEnd(t *testing.T) {
	s := newScript(t, Limit)
	s.req()
	s.rep(4)
	s.rtu()
	s.wait(time.Second)
	s.dreq(0x11)
	s.drep()
	c := s.want(Disconnected)
	if want := [2]End{{alice, 5, true, 0x11}, {bob, 6, true, 0x12}}; c.Ends != want {
		t.Errorf("ends %+v", c.Ends)
	}
	if len(c.Messages) != 5 || c.Messages[1].Sender != 1 || c.Messages[4].Sender != 0 {
		t.Errorf("messages %+v", c.Messages)
	}
	if d, ok := c.Took(wire.CMAttrReq, wire.CMAttrRtu); !ok || d != 2*time.Millisecond {
		t.Errorf("connected in %v, %v", d, ok)
	}
	if _, ok := c.Took(wire.CMAttrReq, wire.CMAttrRej); ok {
		t.Error("a REJ that was never sent has a time")
	}
	if len(s.track.ids) != 0 || s.track.open != 0 {
		t.Errorf("left %d IDs, %d connections", len(s.track.ids), s.track.open)
	}
}

func TestOutcomesAndFindings(t *testing.T) {
	for _, test := range []struct {
		name    string
		say     func(s *script)
		outcome Outcome
		kinds   []Kind
	}{
		{"half open", func(s *script) { s.req(); s.rep(0) }, Replied, nil},
		{"consumer rejects", func(s *script) { s.req(); s.rej(28) }, Refused, []Kind{Rejected}},
		{"the REJ is lost, and the next answer has another ID", func(s *script) {
			for id := range uint32(2) {
				s.req()
				s.say(bob, alice, wire.CMAttrRej, 1, between(6+id, 5))
			}
		}, Refused, []Kind{Rejected, Repeated}},
		{"and accepts", func(s *script) { s.req(); s.rej(3); s.req(); s.rep(0); s.rtu() }, Established, []Kind{Rejected, Repeated}},
		{"stale connection", func(s *script) { s.req(); s.rej(10) }, Refused, []Kind{Stale}},
		{"the capture ends behind the request", func(s *script) { s.req() }, Asked, nil},
		{"the request's time is over", func(s *script) { s.req(); s.wait(5 * time.Millisecond) }, Asked, []Kind{Unanswered}},
		{"an MRA gives more time", func(s *script) { s.req(); s.mra(11); s.wait(9 * time.Millisecond) }, Asked, nil},
		{"and that is over", func(s *script) { s.req(); s.mra(11); s.wait(13 * time.Millisecond) }, Asked, []Kind{Unanswered}},
		{"the request comes again", func(s *script) { s.req(); s.req() }, Asked, []Kind{Repeated, Unanswered}},
		{"and is answered", func(s *script) { s.req(); s.req(); s.rep(0); s.rtu() }, Established, []Kind{Repeated}},
		{"the RTU is lost", func(s *script) { s.req(); s.rep(0); s.rtu(); s.rep(0); s.rtu() }, Established, []Kind{Repeated}},
		{"an answer is late", func(s *script) { s.req(); s.wait(5 * time.Millisecond); s.rep(0); s.rtu() }, Established, []Kind{Late}},
		{"it is late for the copy too", func(s *script) {
			s.req()
			s.wait(5 * time.Millisecond)
			s.req()
			s.wait(5 * time.Millisecond)
			s.rep(0)
		}, Replied, []Kind{Repeated, Late}},
		{"an RTU is late", func(s *script) { s.req(); s.rep(0); s.wait(5 * time.Millisecond); s.rtu() }, Established, []Kind{Late}},
		{"an MRA came in time", func(s *script) { s.req(); s.mra(20); s.wait(time.Second); s.rep(0); s.rtu() }, Established, nil},
		{"the REP's depth is beyond the REQ's resources", func(s *script) { s.req(); s.rep(5); s.rtu() }, Established, []Kind{Mismatch}},
		{"a DREQ of another queue pair", func(s *script) { s.req(); s.rep(0); s.rtu(); s.dreq(0x13); s.drep() }, Disconnected, []Kind{Mismatch}},
		{"an RTU of another ID", func(s *script) {
			s.req()
			s.rep(0)
			s.say(alice, bob, wire.CMAttrRtu, 1, between(5, 7))
		}, Established, []Kind{Mismatch}},
		{"a DREQ is not answered", func(s *script) { s.req(); s.rep(0); s.rtu(); s.dreq(0x11) }, Disconnecting, nil},
		{"although it came again", func(s *script) { s.req(); s.rep(0); s.rtu(); s.dreq(0x11); s.dreq(0x11) }, Disconnecting, []Kind{Repeated, Unanswered}},
		{"the capture begins with the end", func(s *script) { s.dreq(0x11); s.drep() }, Disconnected, nil},
		{"with an RTU", func(s *script) { s.rtu() }, Established, nil},
		{"a service has a queue pair", func(s *script) { s.sidrReq(); s.sidrRep(0) }, Resolved, nil},
		{"a service has none", func(s *script) { s.sidrReq(); s.sidrRep(1) }, Refused, []Kind{Rejected}},
		{"a service does not answer", func(s *script) { s.sidrReq(); s.sidrReq() }, Asked, []Kind{Repeated, Unanswered}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(t, Limit)
			test.say(s)
			s.want(test.outcome, test.kinds...)
		})
	}
}

func TestRepeatsAreCountedWithTheFirst(t *testing.T) {
	s := newScript(t, Limit)
	s.req()
	s.req()
	s.req()
	s.rep(0)
	s.rtu()
	s.rtu() // not a request: counted, and no finding
	c := s.want(Established, Repeated, Repeated)
	if len(c.Messages) != 3 || c.Messages[0].Repeats != 2 || c.Messages[2].Repeats != 1 {
		t.Errorf("%+v", c.Messages)
	}
	if c.Messages[0].Repeated != 3*int64(time.Millisecond) || s.told[0] != (Event{Repeated, 2, 1}) {
		t.Errorf("%+v, %+v", c.Messages[0].Repeated, s.told[0])
	}
}

func TestAnIDThatIsUsedAgainIsAnotherConnection(t *testing.T) {
	s := newScript(t, Limit)
	s.req()
	s.rep(0)
	s.rtu()
	s.say(alice, bob, wire.CMAttrReq, 4, func(b []byte) { wire.CMReq(b).SetLocalCommID(5) })
	s.track.Finish(s.now)
	if len(s.closed) != 2 || s.closed[0].Outcome != Established || s.closed[1].Outcome != Asked || s.track.Seen() != 2 {
		t.Errorf("%d connections", len(s.closed))
	}
}

func TestBothEndsMayHaveOneAddress(t *testing.T) {
	s := newScript(t, Limit)
	for _, m := range []struct {
		attribute     uint16
		local, remote uint32
	}{{wire.CMAttrReq, 5, 0}, {wire.CMAttrRep, 6, 5}, {wire.CMAttrRtu, 5, 6}, {wire.CMAttrDreq, 6, 5}, {wire.CMAttrDrep, 5, 6}} {
		s.say(alice, alice, m.attribute, uint64(m.attribute), between(m.local, m.remote), func(b []byte) {
			if m.attribute == wire.CMAttrReq {
				wire.CMReq(b).SetRemoteResponseTimeout(20)
				wire.CMReq(b).SetLocalResponseTimeout(20)
			}
		})
	}
	c := s.want(Disconnected)
	for i, sender := range []int{0, 1, 0, 1, 0} {
		if c.Messages[i].Sender != sender {
			t.Errorf("%v is from end %d", c.Messages[i].Attribute, c.Messages[i].Sender)
		}
	}
}

func TestIDsOfSIDRAreOthers(t *testing.T) {
	s := newScript(t, Limit)
	s.req()
	s.sidrReq()
	s.rep(0)
	s.sidrRep(0)
	s.track.Finish(s.now)
	if len(s.closed) != 2 || s.closed[0].Datagram == s.closed[1].Datagram {
		t.Errorf("%d connections", len(s.closed))
	}
}

func TestMessagesBeyondTheBoundAreCounted(t *testing.T) {
	s := newScript(t, Limit)
	s.req()
	const more = 100
	for i := range uint64(more) {
		s.say(bob, alice, wire.CMAttrMra, 100+i, between(6, 5))
	}
	c := s.want(Asked)
	if len(c.Messages) != maxKept || c.Unkept != 1+more-maxKept {
		t.Errorf("%d kept, %d not", len(c.Messages), c.Unkept)
	}
}

func TestTheConnectionSilentLongestMakesRoom(t *testing.T) {
	s := newScript(t, 100)
	const many = 10_000
	for i := range uint32(many) {
		s.say(alice, bob, wire.CMAttrReq, uint64(i), func(b []byte) { wire.CMReq(b).SetLocalCommID(i) })
		if i%2 == 0 {
			s.say(bob, alice, wire.CMAttrRej, uint64(i), between(0, i))
		}
		if len(s.track.ids) > 200 || s.track.open > 100 {
			t.Fatalf("%d IDs of %d connections are kept", len(s.track.ids), s.track.open)
		}
	}
	s.track.Finish(s.now)
	// Those that were refused are over: nothing is lost of them.
	if s.track.Seen() != many || s.track.Evicted() != (many-100)/2 || len(s.closed) != many || len(s.track.ids) != 0 {
		t.Errorf("seen %d, evicted %d, closed %d, left %d", s.track.Seen(), s.track.Evicted(), len(s.closed), len(s.track.ids))
	}
}

func TestOnlyMessagesThatAreFollowedAreRead(t *testing.T) {
	for attribute, form := range forms {
		var m Message
		if !m.Read(frame(t, datagram(uint16(attribute), nil))) || m.Attribute != attribute || m.Transaction != 77 {
			t.Errorf("%s is read as %+v", form.name, m)
		}
		if m.Attribute.String() != form.name || len(m.Body()) != wire.CMMessageLen {
			t.Errorf("%v has %d bytes", m.Attribute, len(m.Body()))
		}
	}
	var m Message
	for name, change := range map[string]func(wire.MAD){
		"ClassPortInfo":   func(mad wire.MAD) { mad.SetAttributeID(1) },
		"another method":  func(mad wire.MAD) { mad.SetMethod(0x81) },
		"another class":   func(mad wire.MAD) { mad.SetMgmtClass(wire.ClassSA) },
		"no such message": func(mad wire.MAD) { mad.SetAttributeID(0x1F) },
	} {
		mad := datagram(wire.CMAttrReq, nil)
		change(mad)
		if m.Read(frame(t, mad)) {
			t.Errorf("%s is read", name)
		}
	}
}

// TestEveryPrefixOfAMessage cuts the capture at each byte: without the whole
// header there is no message, and with it what was captured of the rest.
func TestEveryPrefixOfAMessage(t *testing.T) {
	for attribute, form := range forms {
		mad := datagram(uint16(attribute), func(b []byte) {
			for i := range b {
				b[i] = 0xA5
			}
		})
		whole := frame(t, mad)
		h, ok := whole.Last(wire.HdrMAD)
		if !ok {
			t.Fatal("no datagram")
		}
		header := int(h.Off) + wire.MADHeaderLen + wire.SpecOf(form.header).Len
		for n := range len(whole.Data) + 1 {
			var f wire.Frame
			f.Parse(whole.Link, whole.Data[:n], whole.WireLen)
			var m Message
			if got := m.Read(&f); got != (n >= header) {
				t.Fatalf("%s cut at byte %d of %d: read %v", form.name, n, header, got)
			} else if !got {
				continue
			}
			if want := min(wire.SpecOf(form.header).Len+n-header, wire.CMMessageLen); len(m.Body()) != want {
				t.Fatalf("%s cut at byte %d: %d bytes, want %d", form.name, n, len(m.Body()), want)
			}
		}
	}
}

func TestPrivateDataIsTheConsumers(t *testing.T) {
	ip := func(b []byte) {
		m := wire.CMReq(b)
		m.SetServiceID(wire.CMIPServiceID(6, 7174))
		h := wire.CMIPPrivate(m.PrivateData())
		h.SetIPVersion(4)
		h.SetSrcPort(999)
		h.SetSrc(alice)
		copy(h.PrivateData(), "hello")
	}
	var m Message
	if !m.Read(frame(t, datagram(wire.CMAttrReq, ip))) {
		t.Fatal("no message")
	}
	if h := m.IP(); h == nil || h.SrcPort() != 999 || h.Src() != alice || !bytes.Equal(m.Private(), []byte("hello")) {
		t.Errorf("%v, private data %q", h, m.Private())
	}
	plain := func(b []byte) { copy(wire.CMReq(b).PrivateData(), "hello") }
	if !m.Read(frame(t, datagram(wire.CMAttrReq, plain))) || m.IP() != nil || string(m.Private()) != "hello" {
		t.Errorf("without rdma_cm: %v, %q", m.IP(), m.Private())
	}
	if !m.Read(frame(t, datagram(wire.CMAttrRtu, nil))) || len(m.Private()) != 0 || m.IP() != nil {
		t.Errorf("an RTU with private data %q", m.Private())
	}
	if service, ok := m.Service(); ok {
		t.Errorf("an RTU asks for service %#x", service)
	}
}

func TestNames(t *testing.T) {
	for o := range Disconnected + 1 {
		if o.String() == "" {
			t.Errorf("outcome %d has no name", o)
		}
	}
	for k := range Kinds {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if got := Attribute(0x1F).String(); got != "attribute 0x001f" {
		t.Errorf("%q", got)
	}
}

// FuzzTracker lets messages of any kind and content come in any order: nothing
// panics, and what is kept stays within its limits.
func FuzzTracker(f *testing.F) {
	f.Add([]byte("\x10\x00\x05\x00\x13\x01\x06\x05\x14\x00\x05\x06\x15\x01\x06\x05\x16\x00\x05\x06"))
	f.Add([]byte("\x17\x00\x01\x00\x18\x01\x00\x01\x10\x00\x05\x00\x10\x00\x05\x00\x12\x01\x00\x05\x1c\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 4
		track := NewTracker(limit)
		closed := 0
		track.Closed = func(*Connection) { closed++ }
		ends := [...]netip.Addr{alice, bob}
		for i := 0; i+4 <= len(data); i += 4 {
			b := data[i : i+4]
			mad := datagram(uint16(b[0]), func(body []byte) {
				for j := range body {
					body[j] = b[3] * byte(j)
				}
				between(uint32(b[2]&3), uint32(b[3]&3))(body)
				if b[0] == byte(wire.CMAttrSidrRep) {
					between(uint32(b[3]&3), 0)(body)
				}
			})
			wire.MAD(mad).SetTransactionID(uint64(b[1] >> 4))
			n := i/4 + 1
			m := Message{Number: n, Time: int64(n) << (b[1] >> 3), Src: ends[b[1]&1], Dst: ends[b[1]>>1&1]}
			if !m.Read(frame(t, mad)) {
				continue
			}
			c := track.Take(&m)
			if len(track.ids) > 2*limit || track.open > limit || len(c.Messages) > maxKept {
				t.Fatalf("%d IDs, %d connections, %d messages", len(track.ids), track.open, len(c.Messages))
			}
			linked := map[*Connection]bool{}
			for c := track.oldest; c != nil; c = c.newer {
				linked[c] = true
			}
			for k, c := range track.ids {
				if k != identityOf(c, 0) && k != identityOf(c, 1) || !linked[c] {
					t.Fatalf("%+v is not %+v", k, c.Ends)
				}
			}
			if len(linked) != track.open {
				t.Fatalf("%d connections in order, %d open", len(linked), track.open)
			}
		}
		track.Finish(0)
		if closed != track.Seen() || len(track.ids) != 0 {
			t.Fatalf("%d of %d are closed, %d IDs are left", closed, track.Seen(), len(track.ids))
		}
	})
}

// FuzzMessage reads messages out of datagrams of any content and length.
func FuzzMessage(f *testing.F) {
	for attribute := range forms {
		f.Add(datagram(uint16(attribute), nil))
	}
	f.Fuzz(func(t *testing.T, mad []byte) {
		if len(mad) > 4096 {
			return
		}
		var m Message
		if !m.Read(frame(t, mad)) {
			return
		}
		if n := len(m.Body()); n > wire.CMMessageLen || len(m.Private()) > n {
			t.Fatalf("%d bytes, %d of them private", n, len(m.Private()))
		}
		track := NewTracker(1)
		track.Take(&m)
		track.Finish(m.Time)
	})
}

// TestWhatIsSilentEndsUnlessItIsUp lets time pass behind three connections: one
// that is up, one that has ended, and one whose request nobody answers.
func TestWhatIsSilentEndsUnlessItIsUp(t *testing.T) {
	up, over, asked := newScript(t, Limit), newScript(t, Limit), newScript(t, Limit)
	for _, s := range []*script{up, over} {
		s.req()
		s.rep(0)
		s.rtu()
	}
	over.dreq(0x11)
	over.drep()
	asked.req()
	for _, test := range []struct {
		s    *script
		left int
		told int
	}{{up, 1, 0}, {over, 0, 0}, {asked, 0, 1}} {
		test.s.track.Expire(test.s.now+int64(time.Minute), time.Minute)
		if test.s.track.open != 1 {
			t.Errorf("%d connections open after a minute, want 1", test.s.track.open)
		}
		test.s.track.Expire(test.s.now+int64(time.Minute)+1, time.Minute)
		if test.s.track.open != test.left || len(test.s.told) != test.told {
			t.Errorf("%d connections open after more than a minute, want %d; told %v", test.s.track.open, test.left, test.s.told)
		}
	}
}
