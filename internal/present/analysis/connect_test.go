package analysis

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

// meeting makes the frames of CM exchanges and hands them to the survey.
type meeting struct {
	t       *testing.T
	report  *Report
	events  *Events
	tracker *survey.Tracker
	number  int
	now     int64
	trust   conversation.Trust // of the next frames
}

func newMeeting(t *testing.T, r *Report) *meeting {
	m := &meeting{t: t, report: r, events: &Events{}, tracker: survey.NewTracker()}
	m.tracker.Conversations.Closed, m.tracker.Connections.Closed = r.Add, r.AddConnection
	m.tracker.Connections.Report = m.events.AddConnect
	return m
}

// packet takes a frame of a recipe into the survey.
func (m *meeting) packet(opcode string, payload []byte, settings ...string) {
	m.t.Helper()
	op, err := craft.ParseOpcode(opcode)
	if err != nil {
		m.t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := r.Put(name, value); err != nil {
			m.t.Fatal(err)
		}
	}
	r.Payload = payload
	img, err := craft.Build(r)
	if err != nil {
		m.t.Fatal(err)
	}
	var frame wire.Frame
	frame.Parse(r.Link, img.Data, img.WireLen)
	m.number++
	m.now += int64(time.Millisecond)
	var facts survey.Facts
	facts.Read(&frame, survey.Stamp{Number: m.number, Time: m.now}).Trust = m.trust
	m.tracker.Take(&facts)
}

const (
	fromA = "ip.src=192.0.2.1"
	toA   = "ip.dst=192.0.2.1"
	fromB = "ip.src=192.0.2.2"
	toB   = "ip.dst=192.0.2.2"
)

// say sends a connection management message.
func (m *meeting) say(src, dst string, attribute uint16, change func(body []byte)) {
	b := make([]byte, wire.MADLen)
	mad := wire.MAD(b)
	mad.SetBaseVersion(wire.MADBaseVersion)
	mad.SetMgmtClass(wire.ClassCM)
	mad.SetMethod(3)
	mad.SetTransactionID(9)
	mad.SetAttributeID(attribute)
	change(mad.Data())
	m.packet("ud send-only", b, src, dst, "infiniband.bth.destqp=1", "infiniband.deth.srcqp=1", "infiniband.deth.q_key=0x80010000")
}

func (m *meeting) req(id uint32) {
	m.say(fromA, toB, wire.CMAttrReq, func(b []byte) {
		q := wire.CMReq(b)
		q.SetLocalCommID(id)
		q.SetServiceID(0x1234)
		q.SetLocalQPN(0x11)
		q.SetStartingPSN(700)
		q.SetPathMTU(3)
		q.SetRetryCount(2)
		q.SetRNRRetryCount(3)
		q.SetRemoteResponseTimeout(20)
		q.SetLocalResponseTimeout(20)
		q.PrimaryPath().SetLocalACKTimeout(14)
		copy(q.PrivateData(), "hello")
	})
}

func ids(b []byte, local, remote uint32) {
	wire.CMRtu(b).SetLocalCommID(local)
	wire.CMRtu(b).SetRemoteCommID(remote)
}

func (m *meeting) rep(id, of uint32) {
	m.say(fromB, toA, wire.CMAttrRep, func(b []byte) {
		ids(b, id, of)
		p := wire.CMRep(b)
		p.SetLocalQPN(0x12)
		p.SetStartingPSN(100)
		p.SetRNRRetryCount(7)
		p.SetResponderResources(1)
	})
}

func (m *meeting) rtu(id, of uint32) {
	m.say(fromA, toB, wire.CMAttrRtu, func(b []byte) { ids(b, id, of) })
}

func (m *meeting) rej(of uint32, reason uint16) {
	m.say(fromB, toA, wire.CMAttrRej, func(b []byte) {
		ids(b, 0, of)
		rej := wire.CMRej(b)
		rej.SetReason(reason)
		rej.SetInfoLength(2)
		copy(rej.Info(), "\x01\x02")
	})
}

// finish ends the capture and returns the text.
func (m *meeting) finish() string {
	m.tracker.Finish()
	m.report.Finish(m.tracker)
	var b bytes.Buffer
	text := Text{Style: NewStyle(false), Conversations: 9}
	if err := text.Write(&b, m.report); err != nil {
		m.t.Fatal(err)
	}
	return b.String()
}

func TestAConversationBeginsWithItsTimeLine(t *testing.T) {
	m := newMeeting(t, &Report{File: "x.pcap"})
	m.req(5)
	m.req(5)
	m.rep(6, 5)
	m.rtu(5, 6)
	m.packet("rc send-only", []byte("data"), fromA, toB, "infiniband.bth.destqp=0x12", "infiniband.bth.psn=100")
	text := m.finish()
	const want = `   connected; it took 3.00 ms
         +0 ns       1  REQ       from 192.0.2.1: service 0x0000000000001234, RC QP 0x000011, its
                                  peer begins with PSN 700, path MTU 1024, retries 2, RNR retries 3,
                                  ACK timeout 67.1 ms (14), READs: answers 0, asks 0 at a time, to
                                  be answered within 4.29 s (20), GID :: to ::, LID 0 to 0, private
                                  data 5 B 68656c6c6f, once more, last at +1.00 ms
      +2.00 ms       3  REP       from 192.0.2.2: QP 0x000012, its peer begins with PSN 100, RNR
                                  retries without end, READs: answers 1, asks 0 at a time, ACK delay
                                  4.10 us (0)
      +3.00 ms       4  RTU       from 192.0.2.1
     CM-REPEATED               1  packet 2
`
	if !strings.Contains(text, want) || strings.Contains(text, "without a conversation") {
		t.Errorf("%s\nwant in it\n%s", text, want)
	}
	if got := m.events.Comments(2); len(got) != 1 || got[0] != "CM-REPEATED: a connection management message was sent again (of packet 1)" {
		t.Errorf("comments of packet 2: %q", got)
	}
}

func TestConnectionsWithoutAConversationAreListedBehind(t *testing.T) {
	m := newMeeting(t, &Report{File: "x.pcap"})
	m.req(5)
	m.rej(5, 28)
	text := m.finish()
	for _, want := range []string{
		"connections without a conversation\n   192.0.2.1 and 192.0.2.2\n   refused\n",
		"REJ       from 192.0.2.2: consumer reject (28), more about it 2 B 0102\n     CM-REJECTED               1  packet 2\n",
		"  CM-REJECTED      once: a connection, or a service of datagrams, was refused (packet 2)\n                   192.0.2.1 and 192.0.2.2: consumer reject (28)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks\n%s", text, want)
		}
	}
}

func TestConnectionsAreChosenAsConversationsAre(t *testing.T) {
	for _, test := range []struct {
		qps  []uint32
		host string
		want int
	}{{nil, "", 1}, {[]uint32{0x11}, "", 1}, {[]uint32{0x99}, "", 0}, {nil, "192.0.2.2", 1}, {nil, "192.0.2.9", 0}} {
		r := &Report{QPs: test.qps}
		if test.host != "" {
			r.Hosts = []netip.Addr{netip.MustParseAddr(test.host)}
		}
		m := newMeeting(t, r)
		m.req(5)
		m.rej(5, 8)
		m.finish()
		if got := len(r.connections.list); got != test.want {
			t.Errorf("%v %v choose %d connections, want %d", test.qps, test.host, got, test.want)
		}
	}
}

func TestConnectionsThatAreNotListedAreCounted(t *testing.T) {
	r := &Report{}
	m := newMeeting(t, r)
	m.req(5)
	m.rej(5, 28)
	m.finish()
	for range maxConnections + 9 {
		r.AddConnection(r.connections.list[0])
	}
	if len(r.connections.list) != maxConnections || r.connections.unlisted != 10 {
		t.Errorf("%d listed, %d not", len(r.connections.list), r.connections.unlisted)
	}
	if s := r.sums(Error, Warning)[0]; s.worst.Code.Name != "CM-REJECTED" || s.count != maxConnections+10 {
		t.Errorf("%+v", s)
	}
}

func TestJSONHasEachConnectionWhole(t *testing.T) {
	r := &Report{}
	m := newMeeting(t, r)
	m.req(5)
	m.rep(6, 5)
	m.rtu(5, 6)
	m.packet("rc send-only", []byte("data"), fromA, toB, "infiniband.bth.destqp=0x12", "infiniband.bth.psn=100")
	m.finish()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct{ Connections []jsonConnection }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Connections) != 1 {
		t.Fatalf("%d connections", len(got.Connections))
	}
	c := got.Connections[0]
	req := c.Messages[0]
	switch {
	case c.Outcome != "established", c.Conversation == 0, *c.ConnectTime != 0.002, *c.Ends[0].ID != 5, c.Ends[1].QP != 0x12:
		t.Errorf("%+v", c)
	case req.Message != "REQ", req.Private != "68656c6c6f", req.Fields["infiniband.cm.req.startpsn"] != 700.0,
		req.Fields["infiniband.cm.req.serviceid"] != "0x0000000000001234", req.Fields["infiniband.cm.req.private"] != nil:
		t.Errorf("%+v", req)
	case *c.Ends[1].Agreed.Retries != 2, *c.Ends[1].Agreed.AckTimeout != 67108864, c.Ends[1].Agreed.FirstPSN != 700:
		t.Errorf("%+v", c.Ends[1].Agreed)
	case c.Ends[0].Agreed.Retries != nil, c.Ends[0].Agreed.FirstPSN != 100, c.Ends[0].Agreed.Depth != 1, c.Ends[0].Agreed.RNRRetries != 7:
		t.Errorf("%+v", c.Ends[0].Agreed)
	}
}

// TestEveryMessageSaysWhatItIs writes a time line of every kind of message, with
// fields of all ones: nothing panics, and each says something of its own.
func TestEveryMessageSaysWhatItIs(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for attribute, want := range map[uint16]string{
		wire.CMAttrReq:     "REQ       from 192.0.2.1: service 0xff",
		wire.CMAttrMra:     "MRA       from 192.0.2.1: of the code 3, it needs 8796 s (31)",
		wire.CMAttrRej:     "REJ       from 192.0.2.1: reason (65535), more about it 72 B ff",
		wire.CMAttrRep:     "REP       from 192.0.2.1: QP 0xffffff, its peer begins with PSN 16777215",
		wire.CMAttrRtu:     "RTU       from 192.0.2.1: private data 224 B ff",
		wire.CMAttrDreq:    "DREQ      from 192.0.2.1: of QP 0xffffff",
		wire.CMAttrDrep:    "DREP      from 192.0.2.1: private data 224 B ff",
		wire.CMAttrSidrReq: "SIDR REQ  from 192.0.2.1: service 0xff",
		wire.CMAttrSidrRep: "SIDR REP  from 192.0.2.1: code 255, private data 136 B",
		wire.CMAttrLap:     "LAP       from 192.0.2.1: of QP 0xffffff, GID ffff:",
		wire.CMAttrApr:     "APR       from 192.0.2.1: code 255, private data 148 B",
	} {
		m := newMeeting(t, &Report{})
		m.say(fromA, toB, attribute, func(b []byte) {
			for i := range b {
				b[i] = 0xFF
			}
		})
		if text := m.finish(); !strings.Contains(words(text), words(want)) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
}

// TestTheEndOfAConnectionEndsItsQueuePairs lets CM end what it began, and one end
// go on: the DREP finds the conversation.
func TestTheEndOfAConnectionEndsItsQueuePairs(t *testing.T) {
	m := newMeeting(t, &Report{File: "x.pcap"})
	send := func(psn string) {
		m.packet("rc send-only", []byte("data"), fromA, toB, "infiniband.bth.destqp=0x12", "infiniband.bth.psn="+psn)
	}
	m.req(5)
	m.rep(6, 5)
	m.rtu(5, 6)
	send("100")
	m.say(fromB, toA, wire.CMAttrDreq, func(b []byte) {
		ids(b, 6, 5)
		wire.CMDreq(b).SetRemoteQPN(0x11)
	})
	m.say(fromA, toB, wire.CMAttrDrep, func(b []byte) { ids(b, 5, 6) })
	m.now += int64(time.Second)
	send("101")
	text := m.finish()
	for _, want := range []string{
		"   connected, and ended; it took 2.00 ms, and was up for 2.00 ms; the end took 1.00 ms\n",
		"DREQ      from 192.0.2.2: of QP 0x000011\n",
		"AFTER-DISCONNECT          1  packet 7\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
}

func TestCorruptMessagesAreNotFollowed(t *testing.T) {
	r := &Report{}
	m := newMeeting(t, r)
	m.trust = conversation.Corrupt
	m.req(5)
	m.trust = conversation.Trusted
	m.req(6)
	m.finish()
	if len(r.connections.list) != 1 || r.connections.list[0].Ends[0].ID != 6 {
		t.Errorf("%d connections", len(r.connections.list))
	}
}
