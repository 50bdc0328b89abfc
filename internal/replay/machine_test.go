package replay_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/replay"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// Both hosts have one queue pair.
const (
	us, them       = "10.0.0.1", "10.0.0.2"
	ourQP, theirQP = "0x11", "0x22"
)

// packet builds a packet; words are its opcode, its PSN, and FIELD=VALUE or
// data=TEXT.
func packet(t testing.TB, mine bool, text string) []byte {
	t.Helper()
	words := strings.Fields(text)
	if words[0] == "cm" {
		return managed(t, mine, words[1], words[2:])
	}
	service, name, ok := strings.Cut(words[0], ":")
	if !ok {
		service, name = "rc", words[0]
	}
	op, err := craft.ParseOpcode(service + " " + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"ip.src": us, "ip.dst": them, "infiniband.bth.destqp": theirQP, "infiniband.bth.psn": words[1]}
	if !mine {
		settings["ip.src"], settings["ip.dst"], settings["infiniband.bth.destqp"] = them, us, ourQP
	}
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "data" {
			r.Payload = []byte(value)
			continue
		}
		settings["infiniband."+name] = value
	}
	for name, value := range settings {
		if err := r.Put(name, value); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data
}

// recording makes events from lines: "> opcode psn ..." is ours, "< ..." the
// peer's. A record is a microsecond after the one before.
func recording(t testing.TB, lines ...string) (events []replay.Event) {
	t.Helper()
	for i, line := range lines {
		mine := line[0] == '>'
		events = append(events, replay.Event{
			Frame: packet(t, mine, line[2:]), Time: int64(i) * 1000, Number: int64(i + 1), Mine: mine,
		})
	}
	return events
}

const timeout = 1_000_000

func peers(events []replay.Event) map[rewrite.Endpoint]rewrite.Endpoint {
	var facts rewrite.Facts
	var f wire.Frame
	for _, e := range events {
		f.Parse(wire.LinkEthernet, e.Frame, 0)
		facts.Learn(&f)
	}
	known, _ := facts.Pairs()
	return known
}

// run plays a recording against a peer that answers each frame, by its line in
// the recording and how often it has come, with lines; it returns what was sent
// and how it ended.
func run(t *testing.T, retries int, lines []string, peer func(line string, n int) []string) (sent []string, r replay.Report) {
	t.Helper()
	events := recording(t, lines...)
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Retries: retries, Peers: peers(events)})
	times := map[string]int{}
	var f wire.Frame
	now := int64(0)
	for range 1000 {
		step := m.Step(now)
		switch {
		case step.Done:
			return sent, m.Report()
		case step.Send == nil:
			if step.Until <= now {
				t.Fatalf("wait until %d at %d", step.Until, now)
			}
			now = step.Until
			continue
		}
		i := slices.IndexFunc(events, func(e replay.Event) bool { return e.Mine && bytes.Equal(e.Frame, step.Send) })
		line := lines[i][2:]
		sent = append(sent, line)
		times[line]++
		for _, answer := range peer(line, times[line]) {
			f.Parse(wire.LinkEthernet, packet(t, false, answer), 0)
			m.Receive(&f, now)
		}
	}
	t.Fatal("it does not end")
	return nil, r
}

func texts(list []replay.Difference) (out []string) {
	for _, d := range list {
		out = append(out, d.String())
	}
	return out
}

func TestAPeerThatAnswersAsRecordedMakesNoDifference(t *testing.T) {
	lines := []string{
		"> send-only 1 bth.a=1", "< acknowledge 1",
		"> write-first 2", "> write-middle 3", "> write-last 4 bth.a=1", "< acknowledge 4",
		"> read-request 5 reth.dmalen=600", "< read-response-first 5 data=" + strings.Repeat("x", 256), "< read-response-middle 6 data=" + strings.Repeat("y", 256), "< read-response-last 7 data=" + strings.Repeat("z", 88),
		"> fetch-add 8", "< atomic-acknowledge 8 atomicacketh.origremdt=7",
		"> send-only 9 bth.a=1", "< acknowledge 9 aeth.syndrome=0x63",
		"< send-only 50 data=ping", "> acknowledge 50",
	}
	sent, r := run(t, 3, lines, asRecorded(lines))
	if diff := cmp.Diff(replay.Report{Sent: 8, Expected: 8, Answered: 8}, r); diff != "" {
		t.Error(diff)
	}
	var want []string
	for _, line := range lines {
		if line[0] == '>' {
			want = append(want, line[2:])
		}
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
}

// asRecorded is a peer that does after each line what stands behind it.
func asRecorded(lines []string) func(string, int) []string {
	return func(line string, _ int) (answers []string) {
		i := slices.Index(lines, "> "+line)
		for _, next := range lines[i+1:] {
			if next[0] == '>' {
				break
			}
			answers = append(answers, next[2:])
		}
		return answers
	}
}

func TestEachDifferenceIsReported(t *testing.T) {
	one := []string{"> send-only 1 bth.a=1", "< acknowledge 1"}
	read := []string{"> read-request 5 reth.dmalen=4", "< read-response-only 5 data=good"}
	for _, c := range []struct {
		name    string
		lines   []string
		answers []string // to the first frame
		want    []string
	}{
		{"NAK", one, []string{"acknowledge 1 aeth.syndrome=0x62"}, []string{"record 2: PSN 1: NAK (Remote Access Error) instead of ACK"}},
		{"nothing", one, nil, []string{"record 2: PSN 1: nothing instead of ACK"}},
		{"ACK instead of NAK", []string{"> send-only 1", "< acknowledge 1 aeth.syndrome=0x61"}, []string{"acknowledge 1"}, []string{"record 2: PSN 1: ACK instead of NAK (Invalid Request)"}},
		{"another NAK", []string{"> send-only 1", "< acknowledge 1 aeth.syndrome=0x61"}, []string{"acknowledge 1 aeth.syndrome=0x63"}, []string{"record 2: PSN 1: NAK (Remote Operational Error) instead of NAK (Invalid Request)"}},
		{"ACK instead of data", read, []string{"acknowledge 5"}, []string{"record 2: PSN 5: ACK instead of RC RDMA READ Response Only"}},
		{"other data", read, []string{"read-response-only 5 data=goof"}, []string{"record 2: PSN 5: RC RDMA READ Response Only with other data from byte 3 on (0x66, not 0x64)"}},
		{"another result", []string{"> fetch-add 8", "< atomic-acknowledge 8 atomicacketh.origremdt=7"}, []string{"atomic-acknowledge 8 atomicacketh.origremdt=8"}, []string{"record 2: PSN 8: RC ATOMIC Acknowledge with other data from byte 7 on (0x08, not 0x07)"}},
		{"less data", read, []string{"read-response-only 5 data=goo"}, []string{"record 2: PSN 5: RC RDMA READ Response Only with 3 bytes of data, not 4"}},
		{"other operation", []string{"> send-only 1", "< acknowledge 1", "< send-only 7 data=a"}, []string{"acknowledge 1", "write-only 7 data=a"}, []string{"record 3: PSN 7: RC RDMA WRITE Only instead of RC SEND Only"}},
	} {
		_, r := run(t, 0, c.lines, func(string, int) []string { return c.answers })
		if diff := cmp.Diff(c.want, texts(r.Differences)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestWhatIsNotAnsweredIsSentAgain(t *testing.T) {
	lines := []string{"> write-first 1", "> write-last 2 bth.a=1", "< acknowledge 2"}
	sent, r := run(t, 2, lines, func(line string, n int) []string {
		if line == "write-last 2 bth.a=1" && n == 3 {
			return []string{"acknowledge 2"}
		}
		return nil
	})
	if diff := cmp.Diff(replay.Report{Sent: 2, Resent: 2, Expected: 1, Answered: 1}, r); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"write-first 1", "write-last 2 bth.a=1", "write-last 2 bth.a=1", "write-last 2 bth.a=1"}, sent); diff != "" {
		t.Error(diff)
	}
}

func TestASequenceErrorGoesBackToTheMissingPacket(t *testing.T) {
	lines := []string{"> write-first 1", "> write-middle 2", "> write-last 3 bth.a=1", "< acknowledge 3"}
	sent, r := run(t, 2, lines, func(line string, n int) []string {
		switch {
		case line == "write-last 3 bth.a=1" && n == 1:
			return []string{"acknowledge 2 aeth.syndrome=0x60"}
		case line == "write-last 3 bth.a=1":
			return []string{"acknowledge 3"}
		}
		return nil
	})
	if diff := cmp.Diff([]string{"record 4: PSN 3: NAK (PSN Sequence Error) instead of ACK"}, texts(r.Differences)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lines[:3], prefixed(sent[:3])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lines[1:3], prefixed(sent[3:])); diff != "" {
		t.Errorf("sent again:\n%s", diff)
	}
	if r.Answered != 1 {
		t.Errorf("%+v", r)
	}
}

func prefixed(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, "> "+line)
	}
	return out
}

func TestAnRNRNakIsWaitedFor(t *testing.T) {
	events := recording(t, "> send-only 1 bth.a=1", "< acknowledge 1")
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Retries: 1, Peers: peers(events)})
	var f wire.Frame
	if step := m.Step(0); step.Send == nil {
		t.Fatalf("%+v", step)
	}
	f.Parse(wire.LinkEthernet, packet(t, false, "acknowledge 1 aeth.syndrome=0x2e"), 0) // 1.28 ms
	m.Receive(&f, 100)
	if step := m.Step(200); step.Send != nil || step.Until != 100+1_280_000 {
		t.Errorf("after the RNR NAK: %+v", step)
	}
	if step := m.Step(1_280_100); !bytes.Equal(step.Send, events[0].Frame) {
		t.Errorf("when its time is over: %+v", step)
	}
	f.Parse(wire.LinkEthernet, packet(t, false, "acknowledge 1"), 0)
	m.Receive(&f, 1_300_000)
	if step := m.Step(1_300_000); !step.Done {
		t.Errorf("at the end: %+v", step)
	}
	if diff := cmp.Diff([]string{"record 2: PSN 1: RNR NAK (1.28ms) instead of ACK"}, texts(m.Report().Differences)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatThePeerRepeatsIsAnsweredAgain(t *testing.T) {
	lines := []string{
		"< send-only 50", "< send-only 51", "> acknowledge 51", // one ACK for both
		"< read-request 52 reth.dmalen=600", "> read-response-first 52", "> read-response-middle 53", "> read-response-last 54",
		"> send-only 1", "< acknowledge 1",
	}
	events := recording(t, lines...)
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Retries: 2, Peers: peers(events)})
	var f wire.Frame
	hear := func(line string) {
		f.Parse(wire.LinkEthernet, packet(t, false, line), 0)
		m.Receive(&f, 0)
	}
	sent := func() (list []string) {
		for step := m.Step(0); step.Send != nil; step = m.Step(0) {
			i := slices.IndexFunc(events, func(e replay.Event) bool { return bytes.Equal(e.Frame, step.Send) })
			list = append(list, lines[i])
		}
		return list
	}
	for _, c := range []struct {
		heard []string
		want  []string
	}{
		{[]string{"send-only 50", "send-only 51"}, lines[2:3]},
		{[]string{"send-only 50"}, lines[2:3]},
		{[]string{"send-only 51"}, lines[2:3]},
		{[]string{"send-only 50"}, nil}, // enough
		{[]string{"read-request 52 reth.dmalen=600"}, lines[4:8]},
		{[]string{"read-request 52 reth.dmalen=600"}, lines[4:7]},
	} {
		for _, line := range c.heard {
			hear(line)
		}
		if diff := cmp.Diff(c.want, sent()); diff != "" {
			t.Errorf("after %v:\n%s", c.heard, diff)
		}
	}
	if r := m.Report(); r.Extra != 4 || r.Differences != nil {
		t.Errorf("%+v", r)
	}
}

func TestAFatalNAKEndsTheWaitingForThatQueuePair(t *testing.T) {
	lines := []string{"> send-only 1", "< acknowledge 1", "> send-only 2", "< acknowledge 2", "> send-only 3", "< acknowledge 3"}
	sent, r := run(t, 3, lines, func(line string, _ int) []string {
		if line == "send-only 1" {
			return []string{"acknowledge 1 aeth.syndrome=0x61"}
		}
		return nil
	})
	if len(sent) != 3 || len(r.Differences) != 1 || r.Answered != 0 {
		t.Errorf("sent %v, %+v", sent, r)
	}
}

func TestAnswersAreWaitedForWhereTheRecordingHasThem(t *testing.T) {
	// The recorded peer answered late: the second request was on its way.
	lines := []string{"> send-only 1 bth.a=1", "> send-only 2 bth.a=1", "< acknowledge 1", "< acknowledge 2", "> send-only 3"}
	events := recording(t, lines...)
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Peers: peers(events)})
	for i := range 2 {
		if step := m.Step(0); !bytes.Equal(step.Send, events[i].Frame) {
			t.Fatalf("request %d: %+v", i, step)
		}
	}
	if step := m.Step(0); step.Send != nil || step.Until != timeout {
		t.Fatalf("before the answer: %+v", step)
	}
	var f wire.Frame
	f.Parse(wire.LinkEthernet, packet(t, false, "acknowledge 2"), 0) // covers both
	m.Receive(&f, 10)
	if step := m.Step(10); !bytes.Equal(step.Send, events[4].Frame) {
		t.Errorf("after it: %+v", step)
	}
	if r := m.Report(); r.Answered != 2 || r.Differences != nil {
		t.Errorf("%+v", r)
	}
}

func TestWhatDoesNotBelongIsNotAnAnswer(t *testing.T) {
	events := recording(t, "> send-only 5", "< acknowledge 5")
	m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Peers: peers(events)})
	m.Step(0)
	broken := packet(t, false, "acknowledge 5")
	broken[len(broken)-1] ^= 1
	var f wire.Frame
	for _, data := range [][]byte{
		packet(t, true, "acknowledge 5"), // to another host
		packet(t, false, "acknowledge 4"),
		packet(t, false, "send-only 5"),
		packet(t, false, "acknowledge 5")[:50],
		broken,
	} {
		f.Parse(wire.LinkEthernet, data, 0)
		m.Receive(&f, 1)
		if step := m.Step(1); step.Done {
			t.Fatalf("%x ends the waiting", data)
		}
	}
	r := m.Report()
	if diff := cmp.Diff([]string{"PSN 5: ACK with a wrong ICRC"}, texts(r.Differences)); diff != "" || r.Extra != 2 {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestAnswersToWhatTheCaptureDoesNotHaveAreNotExpected(t *testing.T) {
	_, r := run(t, 0, []string{"> send-only 9", "< acknowledge 12", "< acknowledge 9"}, func(string, int) []string { return []string{"acknowledge 9"} })
	if r.Expected != 1 || r.Answered != 1 || r.Differences != nil {
		t.Errorf("%+v", r)
	}
}

// A peer that drops, repeats and holds back at random gets everything in the
// end, and the machine neither hangs nor sees a difference.
func TestLossIsRepairedWhateverIsLost(t *testing.T) {
	var lines []string
	for i := range 12 {
		psn := strconv.Itoa((0xfffffa + i) & 0xffffff)
		lines = append(lines, "> send-only "+psn+" bth.a=1", "< acknowledge "+psn)
	}
	for seed := range 64 {
		expected := 0 // index of the PSN that the peer wants
		lost := 0
		_, r := run(t, 8, lines, func(line string, n int) []string {
			i := slices.Index(lines, "> "+line) / 2
			if (seed>>(uint(i)%6))&1 == 1 && n <= 2 && lost < 30 {
				lost++
				return nil
			}
			if i == expected {
				expected++
			}
			if i < expected {
				return []string{lines[2*(expected-1)+1][2:]}
			}
			return nil
		})
		if r.Differences != nil || r.Answered != 12 || r.Resent < lost {
			t.Errorf("seed %d, %d lost: %+v", seed, lost, r)
		}
	}
}

func TestPaceKeepsTheGapsOfTheRecording(t *testing.T) {
	for _, c := range []struct {
		pace replay.Pace
		want []int64
	}{
		{replay.Pace{}, []int64{50, 50, 50, 50}},
		{replay.Pace{Speed: 1}, []int64{50, 150, 150, 450}},
		{replay.Pace{Speed: 2}, []int64{50, 100, 100, 250}},
		{replay.Pace{Speed: 1, Cost: func(n int) int64 { return int64(n) }}, []int64{50, 150, 210, 450}},
	} {
		var got []int64
		for _, at := range []int64{1000, 1100, 1100, 1400} {
			got = append(got, c.pace.Due(at, 60, 50))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("speed %v:\n%s", c.pace.Speed, diff)
		}
	}
}

func TestAfterAnAnswerTheGapBeginsAnew(t *testing.T) {
	p := replay.Pace{Speed: 1}
	p.Due(0, 60, 0)
	p.Await(100, 5000) // was 100 in the recording
	if due := p.Due(130, 60, 5000); due != 5030 {
		t.Errorf("due at %d", due)
	}
}

func FuzzReceive(f *testing.F) {
	for _, text := range []string{"acknowledge 1", "acknowledge 1 aeth.syndrome=0x60", "send-only 3", "read-response-only 2 data=abcd"} {
		f.Add(packet(f, false, text))
	}
	for _, text := range []string{active[1], active[2], active[9], "< cm rej to=0x101", "< cm rep to=0x101 id=0xabc qpn=0x99 psn=7"} {
		f.Add(packet(f, false, text[2:]))
	}
	lines := append(active[:9:9], "> send-only 1", "> read-request 2 reth.dmalen=4", "< acknowledge 1", "< read-response-only 2 data=good", "< send-only 3")
	events := recording(f, append(lines, active[9:]...)...)
	known := peers(events)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := replay.New(events, &replay.Pace{}, replay.Options{Timeout: timeout, Retries: 2, Peers: known})
		var frame wire.Frame
		frame.Parse(wire.LinkEthernet, data, 0)
		now := int64(0)
		for range 200 {
			step := m.Step(now)
			if step.Done {
				return
			}
			if step.Send == nil {
				now = step.Until
			}
			m.Receive(&frame, now)
		}
		t.Errorf("no end: %+v", m.Report())
	})
}
