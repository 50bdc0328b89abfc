package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/replay"
	"github.com/rocecap/rocecap/internal/wire"
)

// cmMessages are the messages of the connection manager, and the fields that
// tests name in short.
var cmMessages = map[string]struct {
	header    wire.HeaderID
	attribute uint16
	fields    map[string]string
}{
	"req":     {wire.HdrCMReq, wire.CMAttrReq, map[string]string{"id": "cm.req", "qpn": "cm.req.localqpn", "psn": "cm.req.startpsn", "service": "cm.req.serviceid"}},
	"rep":     {wire.HdrCMRep, wire.CMAttrRep, map[string]string{"id": "cm.rep", "to": "cm.rep.remotecommid", "qpn": "cm.rep.localqpn", "psn": "cm.rep.startpsn"}},
	"rtu":     {wire.HdrCMRtu, wire.CMAttrRtu, map[string]string{"id": "cm.rtu.localcommid", "to": "cm.rtu.remotecommid"}},
	"mra":     {wire.HdrCMMra, wire.CMAttrMra, map[string]string{"id": "cm.mra.localcommid", "to": "cm.mra.remotecommid", "timeout": "cm.mra.servicetimeout"}},
	"rej":     {wire.HdrCMRej, wire.CMAttrRej, map[string]string{"id": "cm.rej.localcommid", "to": "cm.rej.remotecommid", "reason": "cm.rej.reason"}},
	"dreq":    {wire.HdrCMDreq, wire.CMAttrDreq, map[string]string{"id": "cm.dreq.localcommid", "to": "cm.dreq.remotecommid", "qpn": "cm.req.remoteqpneecn"}},
	"drep":    {wire.HdrCMDrep, wire.CMAttrDrep, map[string]string{"id": "cm.drsp.localcommid", "to": "cm.drsp.remotecommid"}},
	"sidrreq": {wire.HdrCMSidrReq, wire.CMAttrSidrReq, map[string]string{"id": "cm.sidrreq.requestid", "service": "cm.sidrreq.serviceid"}},
	"sidrrep": {wire.HdrCMSidrRep, wire.CMAttrSidrRep, map[string]string{"id": "cm.sidrrep.requestid", "qpn": "cm.sidrrep.qpn", "qkey": "cm.sidrrep.qkey"}},
}

// managed builds a message of the connection manager: "req", and SHORT=VALUE
// each; tid is the transaction ID.
func managed(t testing.TB, mine bool, name string, settings []string) []byte {
	t.Helper()
	kind := cmMessages[name]
	op, err := craft.ParseOpcode("ud send-only")
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		t.Fatal(err)
	}
	r.Layers = append(r.Layers, craft.Layer{ID: wire.HdrMAD}, craft.Layer{ID: kind.header, Len: wire.CMMessageLen})
	values := map[string]string{
		"ip.src": us, "ip.dst": them, "infiniband.mad.mgmtclass": "7", "infiniband.mad.classversion": "2",
		"infiniband.mad.method": "3", "infiniband.mad.attributeid": fmt.Sprint(kind.attribute),
	}
	if !mine {
		values["ip.src"], values["ip.dst"] = them, us
	}
	for _, s := range settings {
		short, value, _ := strings.Cut(s, "=")
		full := "mad.transactionid"
		if short != "tid" {
			full = kind.fields[short]
		}
		values["infiniband."+full] = value
	}
	for field, value := range values {
		if err := r.Put(field, value); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data
}

// said writes a frame as its line in a test: what a test names in short, but for
// what is 0.
func said(f *wire.Frame) string {
	for name, kind := range cmMessages {
		h := f.View(kind.header)
		if h == nil {
			continue
		}
		text := "cm " + name
		for _, short := range []string{"id", "to", "qpn", "psn", "service", "qkey"} {
			if field := wire.SpecOf(kind.header).Field("infiniband."+kind.fields[short], h); field != nil && field.Value(h) != 0 {
				text += fmt.Sprintf(" %s=%#x", short, field.Value(h))
			}
		}
		return text + fmt.Sprintf(" tid=%#x", wire.MAD(f.View(wire.HdrMAD)).TransactionID())
	}
	bth := wire.BTH(f.View(wire.HdrBTH))
	text := fmt.Sprintf("%v %d to %#x", bth.Opcode(), bth.PSN(), bth.DestQP())
	if deth := wire.DETH(f.View(wire.HdrDETH)); deth != nil {
		text += fmt.Sprintf(" qkey %#x", deth.QKey())
	}
	return text
}

// against plays a recording against a live peer: each frame that we send is
// answered by lines. It returns what was sent.
func against(t *testing.T, retries int, lines []string, peer func(sent string, n int) []string) (sent []string, r replay.Report, took int64) {
	t.Helper()
	events := recording(t, lines...)
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Retries: retries, Peers: peers(events)})
	var f wire.Frame
	var hasher icrc.Hasher
	now := int64(0)
	hear := func(answers []string) {
		for _, answer := range answers {
			f.Parse(wire.LinkEthernet, packet(t, false, answer), 0)
			m.Receive(&f, now)
		}
	}
	times := map[string]int{}
	hear(peer("", 1))
	for range 100 {
		step := m.Step(now)
		switch {
		case step.Done:
			return sent, m.Report(), now
		case step.Send == nil:
			if step.Until <= now {
				t.Fatalf("wait until %d at %d", step.Until, now)
			}
			now = step.Until
			continue
		}
		f.Parse(wire.LinkEthernet, step.Send, 0)
		if v, _, _ := hasher.Judge(&f); v != icrc.Good {
			t.Errorf("%s has an ICRC that is %v", said(&f), v)
		}
		line := said(&f)
		sent = append(sent, line)
		times[line]++
		hear(peer(line, times[line]))
	}
	t.Fatal("it does not end")
	return nil, r, 0
}

// script answers by what is sent, the first time and every other.
func script(answers map[string][]string) func(string, int) []string {
	return func(sent string, _ int) []string { return answers[sent] }
}

// active is a recording in which we connect, send twice, get something, and the
// peer disconnects.
var active = []string{
	"> cm req id=0x101 qpn=0x11 psn=50 service=0x1061234 tid=0x9",
	"< cm mra id=0x202 to=0x101 timeout=10 tid=0x9",
	"< cm rep id=0x202 to=0x101 qpn=0x22 psn=1000 tid=0x9",
	"> cm rtu id=0x101 to=0x202 tid=0x9",
	"> send-only 1000 bth.a=1", "> send-only 1001 bth.a=1", "< acknowledge 1001",
	"< send-only 50", "> acknowledge 50",
	"< cm dreq id=0x202 to=0x101 qpn=0x11 tid=0x77",
	"> cm drep id=0x101 to=0x202 tid=0x77",
}

// otherPeer is a peer whose names and numbers are its own.
var otherPeer = map[string][]string{
	"cm req id=0x101 qpn=0x11 psn=0x32 service=0x1061234 tid=0x9": {"cm rep id=0xabc to=0x101 qpn=0x99 psn=0xfffffe tid=0x9"},
	"RC SEND Only 16777215 to 0x99":                               {"acknowledge 16777215", "send-only 50"},
	"RC Acknowledge 50 to 0x99":                                   {"cm dreq id=0xabc to=0x101 qpn=0x11 tid=0xdd"},
}

func TestALivePeersNumbersAreLearnedFromItsREP(t *testing.T) {
	sent, r, _ := against(t, 2, active, script(otherPeer))
	want := []string{
		"cm req id=0x101 qpn=0x11 psn=0x32 service=0x1061234 tid=0x9",
		"cm rtu id=0x101 to=0xabc tid=0x9",
		"RC SEND Only 16777214 to 0x99",
		"RC SEND Only 16777215 to 0x99",
		"RC Acknowledge 50 to 0x99",
		"cm drep id=0x101 to=0xabc tid=0xdd",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(replay.Report{Sent: 6, Expected: 4, Answered: 4}, r); diff != "" {
		t.Error(diff)
	}
}

func TestALivePeersNumbersAreLearnedFromItsREQ(t *testing.T) {
	lines := []string{
		"< cm req id=0x202 qpn=0x22 psn=1000 service=5 tid=0x9",
		"> cm rep id=0x101 to=0x202 qpn=0x11 psn=50 tid=0x9",
		"< cm rtu id=0x202 to=0x101 tid=0x9",
		"> send-only 1000 bth.a=1", "< acknowledge 1000",
		"< write-only 50", "> acknowledge 50",
		"> cm dreq id=0x101 to=0x202 qpn=0x22 tid=0x5",
		"< cm drep id=0x202 to=0x101 tid=0x5",
	}
	sent, r, _ := against(t, 0, lines, script(map[string][]string{
		"": {"cm req id=0xabc qpn=0x99 psn=7 service=6 tid=0xee", "cm req id=0xabd qpn=0x99 psn=7 service=5 tid=0xff"},
		"cm rep id=0x101 to=0xabd qpn=0x11 psn=0x32 tid=0xff": {"cm rtu id=0xabd to=0x101 tid=0xff"},
		"RC SEND Only 7 to 0x99":                              {"acknowledge 7", "write-only 50"},
		"cm dreq id=0x101 to=0xabd qpn=0x99 tid=0x5":          {"cm drep id=0xabd to=0x101 tid=0x5"},
	}))
	want := []string{
		"cm rep id=0x101 to=0xabd qpn=0x11 psn=0x32 tid=0xff", "RC SEND Only 7 to 0x99",
		"RC Acknowledge 50 to 0x99", "cm dreq id=0x101 to=0xabd qpn=0x99 tid=0x5",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(replay.Report{Sent: 4, Expected: 5, Answered: 5, Extra: 1}, r); diff != "" {
		t.Error(diff)
	}
}

func TestConnectionsSideBySideKeepTheirOwnNumbers(t *testing.T) {
	var lines []string
	for i := range 2 {
		lines = append(lines, fmt.Sprintf("> cm req id=%d qpn=0x11 psn=1 service=5 tid=%d", 1+i, 1+i))
	}
	lines = append(lines,
		"< cm rep id=0x21 to=1 qpn=0x22 psn=100 tid=1", "< cm rep id=0x22 to=2 qpn=0x23 psn=200 tid=2",
		"> cm rtu id=1 to=0x21 tid=1", "> cm rtu id=2 to=0x22 tid=2")
	sent, r, _ := against(t, 0, lines, script(map[string][]string{
		// The other way round, with each other's numbers.
		"cm req id=0x2 qpn=0x11 psn=0x1 service=0x5 tid=0x2": {
			"cm rep id=0x21 to=2 qpn=0x22 psn=100 tid=2", "cm rep id=0x22 to=1 qpn=0x23 psn=200 tid=1",
		},
	}))
	if diff := cmp.Diff([]string{"cm rtu id=0x1 to=0x22 tid=0x1", "cm rtu id=0x2 to=0x21 tid=0x2"}, sent[2:]); diff != "" || r.Differences != nil || r.Answered != 2 {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestAnMRAProlongsTheWaiting(t *testing.T) {
	first := active[:4]
	const asked = 4096 << 12
	_, r, took := against(t, 0, first, func(sent string, _ int) []string {
		if strings.HasPrefix(sent, "cm req") {
			return []string{"cm mra id=0xabc to=0x101 timeout=12 tid=0x9"}
		}
		return nil
	})
	if diff := cmp.Diff([]string{"record 3: connection 0x00000101: nothing instead of CM Connect Reply"}, texts(r.Differences)); diff != "" {
		t.Error(diff)
	}
	if took != asked || r.Extra != 0 {
		t.Errorf("gave up after %d, %+v", took, r)
	}
}

func TestAREJEndsTheWaitingForThatConnection(t *testing.T) {
	sent, r, took := against(t, 2, active, func(sent string, _ int) []string {
		if strings.HasPrefix(sent, "cm req") {
			return []string{"cm rej to=0x101 reason=8 tid=0x9"}
		}
		return nil
	})
	if diff := cmp.Diff([]string{"record 3: connection 0x00000101: CM Connect Reject (invalid service ID) instead of CM Connect Reply"}, texts(r.Differences)); diff != "" {
		t.Error(diff)
	}
	if len(sent) != 6 || took != 0 || r.Answered != 0 {
		t.Errorf("sent %v in %d, %+v", sent, took, r)
	}
}

func TestARecordedREJIsWaitedFor(t *testing.T) {
	lines := []string{active[0], "< cm rej to=0x101 reason=8 tid=0x9"}
	for answer, want := range map[string][]string{
		"cm rej to=0x101 reason=8 tid=0x9":                     nil,
		"cm rep id=0xabc to=0x101 qpn=0x99 psn=0xfffffe tid=9": {"record 2: connection 0x00000101: CM Connect Reply instead of CM Connect Reject"},
	} {
		_, r, _ := against(t, 0, lines, func(string, int) []string { return []string{answer} })
		if diff := cmp.Diff(want, texts(r.Differences)); diff != "" || r.Expected != 1 {
			t.Errorf("%s: %+v\n%s", answer, r, diff)
		}
	}
}

func TestAREQThatIsNotAnsweredIsSentAgain(t *testing.T) {
	req := "cm req id=0x101 qpn=0x11 psn=0x32 service=0x1061234 tid=0x9"
	sent, r, _ := against(t, 2, active, func(line string, n int) []string {
		if line == req && n < 3 {
			return nil
		}
		return otherPeer[line]
	})
	if diff := cmp.Diff([]string{req, req, req}, sent[:3]); diff != "" || r.Resent != 2 || r.Differences != nil {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestAnRTUThatWasLostIsSentAgain(t *testing.T) {
	rtu := "cm rtu id=0x101 to=0xabc tid=0x9"
	sent, r, _ := against(t, 0, active, func(line string, n int) []string {
		switch {
		case line == rtu && n == 1: // the peer says it once more
			return otherPeer["cm req id=0x101 qpn=0x11 psn=0x32 service=0x1061234 tid=0x9"]
		}
		return otherPeer[line]
	})
	if diff := cmp.Diff([]string{rtu, rtu}, sent[1:3]); diff != "" || r.Resent != 1 || r.Extra != 1 || r.Differences != nil {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestASilentPeerIsTold(t *testing.T) {
	_, r, took := against(t, 1, active, script(nil))
	if diff := cmp.Diff([]string{"record 3: connection 0x00000101: nothing instead of CM Connect Reply"}, texts(r.Differences)); diff != "" {
		t.Error(diff)
	}
	if took != 2*timeout {
		t.Errorf("after %d", took)
	}
}

func TestADatagramGoesWhereTheLiveServiceIs(t *testing.T) {
	lines := []string{
		"> cm sidrreq id=0x101 service=5 tid=1",
		"< cm sidrrep id=0x101 qpn=0x22 qkey=0x1234 tid=1",
		"> ud:send-only 7 deth.q_key=0x1234", "< ud:send-only 9 data=answer",
	}
	sent, r, _ := against(t, 0, lines, script(map[string][]string{
		"cm sidrreq id=0x101 service=0x5 tid=0x1": {"cm sidrrep id=0x101 qpn=0x99 qkey=0x5678 tid=1"},
		"UD SEND Only 7 to 0x99 qkey 0x5678":      {"ud:send-only 1234 data=answer"},
	}))
	if diff := cmp.Diff([]string{"cm sidrreq id=0x101 service=0x5 tid=0x1", "UD SEND Only 7 to 0x99 qkey 0x5678"}, sent); diff != "" || r.Differences != nil || r.Answered != 2 {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestARequestForAServiceIsAnsweredToItsSender(t *testing.T) {
	lines := []string{"< cm sidrreq id=0x202 service=5 tid=1", "> cm sidrrep id=0x202 qpn=0x11 qkey=3 tid=1"}
	sent, r, _ := against(t, 0, lines, script(map[string][]string{"": {"cm sidrreq id=0xabc service=5 tid=0xee"}}))
	if diff := cmp.Diff([]string{"cm sidrrep id=0xabc qpn=0x11 qkey=0x3 tid=0xee"}, sent); diff != "" || r.Answered != 1 {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestWhatIsSaidOfConnectionsThatTheRecordingDoesNotMakeIsNotExpected(t *testing.T) {
	_, r, _ := against(t, 0, []string{"< cm rep id=1 to=2 qpn=3 psn=4", "< cm dreq id=1 to=2", "> cm rtu id=2 to=1"}, script(nil))
	if r.Expected != 0 || r.Differences != nil {
		t.Errorf("%+v", r)
	}
}
