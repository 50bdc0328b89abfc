package fault_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

var start = time.Unix(1000, 0)

// frame crafts a RoCEv2 frame; settings are FIELD=VALUE.
func frame(t testing.TB, op string, payload int, settings ...string) []byte {
	t.Helper()
	return frameIn(t, "rocev2", op, payload, settings...)
}

func frameIn(t testing.TB, base, op string, payload int, settings ...string) []byte {
	t.Helper()
	code, err := craft.ParseOpcode(op)
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe(base, code)
	if err != nil {
		t.Fatal(err)
	}
	r.Payload = bytes.Repeat([]byte{0xA5}, payload)
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
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

func psn(n int) string { return fmt.Sprintf("infiniband.bth.psn=%d", n) }

// back turns the addresses of a crafted frame round, and names its QP.
func back(qp string) []string {
	return []string{"ip.src=192.0.2.2", "ip.dst=192.0.2.1", "infiniband.bth.destqp=" + qp}
}

// sent is a frame that an engine let out, and when, after start.
type sent struct {
	Direction fault.Direction
	Data      []byte
	After     time.Duration
}

// play gives an engine frames of one direction, a microsecond apart, and
// returns all that leaves.
func play(e *fault.Engine, d fault.Direction, frames ...[]byte) (out []sent) {
	now := start
	emitUntil := func(end time.Time) {
		for at, ok := e.Deadline(); ok && !at.After(end); at, ok = e.Deadline() {
			o, _ := e.Emit(at)
			if now.Before(at) {
				now = at
			}
			out = append(out, sent{o.Direction, o.Data, now.Sub(start)})
		}
	}
	for i, f := range frames {
		arrival := start.Add(time.Duration(i+1) * time.Microsecond)
		emitUntil(arrival)
		now = arrival
		if e.Receive(now, d, f) {
			out = append(out, sent{d, f, now.Sub(start)})
		}
		emitUntil(now)
	}
	emitUntil(now.Add(time.Hour))
	return out
}

func engine(rules ...fault.Rule) *fault.Engine {
	return fault.NewEngine(fault.Config{Seed: 1, Rules: rules, Craft: fakeCraft})
}

// fakeCraft writes down what is asked for.
func fakeCraft(r fault.Reply) ([]byte, error) {
	return fmt.Appendf(nil, "%v qp=%x psn=%d syndrome=%x msn=%d", r.Opcode, r.QP, r.PSN, r.Syndrome, r.MSN), nil
}

func psnOf(data []byte) int {
	var f wire.Frame
	f.Parse(wire.LinkEthernet, data, len(data))
	if bth := f.View(wire.HdrBTH); len(bth) == wire.BTHLen {
		return int(wire.BTH(bth).PSN())
	}
	return -1
}

func psnsOf(out []sent) (list []int) {
	for _, s := range out {
		list = append(list, psnOf(s.Data))
	}
	return list
}

// message is the packets of one WRITE or SEND of n packets.
func message(t testing.TB, kind string, first, n int) (frames [][]byte) {
	t.Helper()
	if n == 1 {
		return [][]byte{frame(t, "rc "+kind+"-only", 16, psn(first))}
	}
	for i := range n {
		place := "middle"
		switch i {
		case 0:
			place = "first"
		case n - 1:
			place = "last"
		}
		frames = append(frames, frame(t, "rc "+kind+"-"+place, 16, psn(first+i)))
	}
	return frames
}

func opcodes(classes ...string) (o fault.Opcodes) {
	for _, c := range classes {
		o.AddClass(c)
	}
	return o
}

var drop = fault.Actions{Drop: true}

// TestSelectors shows which of a fixed sequence of packets each selector takes.
func TestSelectors(t *testing.T) {
	var frames [][]byte
	frames = append(frames, message(t, "write", 10, 3)...)                                      // 0 1 2
	frames = append(frames, message(t, "send", 13, 1)...)                                       // 3
	frames = append(frames, message(t, "write", 14, 1)...)                                      // 4
	frames = append(frames, frame(t, "rc rdma read request", 0, psn(15)))                       // 5, takes four PSNs
	frames = append(frames, message(t, "write", 19, 3)...)                                      // 6 7 8
	frames = append(frames, message(t, "write", 19, 3)[1:]...)                                  // 9 10: 7 and 8 again
	frames = append(frames, frame(t, "rc send-only", 8, psn(90), "infiniband.bth.destqp=0x33")) // 11
	frames = append(frames, frame(t, "cnp", 0))                                                 // 12
	third := fault.Match{Kind: fault.KindWrite, Message: fault.Just[uint32](3)}
	with := func(m fault.Match, change func(*fault.Match)) fault.Match {
		change(&m)
		return m
	}
	for _, test := range []struct {
		name  string
		match fault.Match
		want  []int // places in frames
	}{
		{"everything", fault.Match{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{"the other direction", fault.Match{Direction: fault.Just(fault.Backward)}, nil},
		{"a QP", fault.Match{QP: fault.Just[uint32](0x33)}, []int{11}},
		{"a PSN", fault.Match{PSN: fault.Just[wire.PSN](20)}, []int{7, 9}},
		{"classes", fault.Match{Opcodes: opcodes("read", "cnp")}, []int{5, 12}},
		{"requests to a QP", fault.Match{Opcodes: opcodes("request"), QP: fault.Just[uint32](0x33)}, []int{11}},
		{"four behind a flow's first", fault.Match{Offset: fault.Just(4)}, []int{4}},
		{"third WRITE", third, []int{6, 7, 8, 9, 10}},
		{"one behind its first", with(third, func(m *fault.Match) { m.Offset = fault.Just(1) }), []int{7, 9}},
		{"its retransmissions", with(third, func(m *fault.Match) { m.Again = fault.Just(true) }), []int{9, 10}},
		{"no retransmissions", with(third, func(m *fault.Match) { m.Again = fault.Just(false) }), []int{6, 7, 8}},
		{"fifth message of any kind", fault.Match{Message: fault.Just[uint32](5)}, []int{6, 7, 8, 9, 10}},
		{"the caller's filter", fault.Match{Filter: func(f *wire.Frame) bool { return f.PayloadLen == 8 }}, []int{11}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := engine(fault.Rule{Match: test.match, Do: drop})
			var got []int
			for i, f := range frames {
				if !e.Receive(start, fault.Forward, f) {
					got = append(got, i)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppearances(t *testing.T) {
	var frames [][]byte
	for i := range 9 {
		frames = append(frames, frame(t, "rc send-only", 4, psn(i)))
	}
	for _, test := range []struct {
		name string
		rule fault.Rule
		want []int
	}{
		{"second", fault.Rule{Nth: 2}, []int{0, 2, 3, 4, 5, 6, 7, 8}},
		{"every third", fault.Rule{Every: 3}, []int{0, 1, 3, 4, 6, 7}},
		{"twice", fault.Rule{Times: 2}, []int{2, 3, 4, 5, 6, 7, 8}},
		{"every third, once", fault.Rule{Every: 3, Times: 1}, []int{0, 1, 3, 4, 5, 6, 7, 8}},
		{"never", fault.Rule{Probability: fault.Just(0.0)}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"always", fault.Rule{Probability: fault.Just(1.0)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.rule.Do = drop
			if diff := cmp.Diff(test.want, psnsOf(play(engine(test.rule), fault.Forward, frames...))); diff != "" {
				t.Errorf("PSNs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	var frames [][]byte
	for i := range 5 {
		frames = append(frames, frame(t, "rc send-only", 4, psn(i)))
	}
	match := fault.Match{PSN: fault.Just[wire.PSN](1)}
	const us = time.Microsecond
	type left struct {
		PSN   int
		After time.Duration
	}
	for _, test := range []struct {
		name string
		do   fault.Actions
		want []left
	}{
		{"delay", fault.Actions{Delay: 2500 * time.Nanosecond}, []left{{0, us}, {2, 3 * us}, {3, 4 * us}, {1, 4500}, {4, 5 * us}}},
		{"reorder", fault.Actions{Reorder: 2}, []left{{0, us}, {2, 3 * us}, {3, 4 * us}, {1, 4 * us}, {4, 5 * us}}},
		{"reorder without followers", fault.Actions{Reorder: 9}, []left{{0, us}, {2, 3 * us}, {3, 4 * us}, {4, 5 * us}, {1, 50*time.Millisecond + 2*us}}},
		{"duplicates", fault.Actions{Duplicate: 2}, []left{{0, us}, {1, 2 * us}, {1, 2 * us}, {1, 2 * us}, {2, 3 * us}, {3, 4 * us}, {4, 5 * us}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []left
			for _, s := range play(engine(fault.Rule{Match: match, Do: test.do}), fault.Forward, frames...) {
				got = append(got, left{psnOf(s.Data), s.After})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRetransmissionsAndNewLives(t *testing.T) {
	again := fault.Rule{Match: fault.Match{Again: fault.Just(true)}, Do: drop}
	first := fault.Rule{Match: fault.Match{Kind: fault.KindSend, Message: fault.Just[uint32](1)}, Do: drop}
	read := func(at, va, length int) []byte {
		return frame(t, "rc rdma read request", 0, psn(at), fmt.Sprintf("infiniband.reth.va=%d", va), fmt.Sprintf("infiniband.reth.dmalen=%d", length))
	}
	for _, test := range []struct {
		name   string
		rule   fault.Rule
		frames [][]byte
		want   []int
	}{
		{"across the wrap", again, [][]byte{
			frame(t, "rc send-only", 4, psn(0xFFFFFE)), frame(t, "rc send-only", 4, psn(0xFFFFFF)), frame(t, "rc send-only", 4, psn(0)),
			frame(t, "rc send-only", 4, psn(0xFFFFFF)), frame(t, "rc send-only", 4, psn(0)),
		}, []int{0xFFFFFE, 0xFFFFFF, 0}},
		{"rest of a READ", again, [][]byte{read(5, 1000, 4000), read(7, 3000, 2000), read(9, 1000, 4000)}, []int{5, 9}},
		{"gaps are no retransmissions", again, [][]byte{frame(t, "rc send-only", 4, psn(1)), frame(t, "rc send-only", 4, psn(5))}, []int{1, 5}},
		{"PSNs before all that were seen", first, [][]byte{frame(t, "rc send-only", 4, psn(5000)), frame(t, "rc send-only", 4, psn(5001)), frame(t, "rc send-only", 4, psn(7))}, []int{5001}},
		{"the rest of a message whose beginning was not seen", first, message(t, "send", 7, 3)[1:], []int{8, 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, psnsOf(play(engine(test.rule), fault.Forward, test.frames...))); diff != "" {
				t.Errorf("PSNs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongFlowsAreRemembered(t *testing.T) {
	e := engine(fault.Rule{Match: fault.Match{Message: fault.Just[uint32](9000)}, Do: drop})
	var frames [][]byte
	for i := range 10000 {
		frames = append(frames, frame(t, "rc send-only", 0, psn(i)))
	}
	frames = append(frames, frames[8999])
	if got := len(play(e, fault.Forward, frames...)); got != len(frames)-2 {
		t.Errorf("%d frames left, want %d", got, len(frames)-2)
	}
}

func TestAnswers(t *testing.T) {
	ack := func(at int) []byte {
		return frame(t, "rc acknowledge", 0, append(back("0x22"), psn(at), "infiniband.aeth.msn=4")...)
	}
	nak := fault.Answer{Syndrome: wire.NewSyndrome(wire.Nak, wire.NakPSNSequence)}
	e := engine(
		fault.Rule{Match: fault.Match{Opcodes: opcodes("write")}, Times: 1, Do: fault.Actions{Answer: fault.Just(nak)}},
		fault.Rule{Match: fault.Match{Opcodes: opcodes("send")}, Do: fault.Actions{Drop: true, Answer: fault.Just(fault.Answer{CNP: true, QP: fault.Just[uint32](0x99)})}},
	)
	play(e, fault.Forward, message(t, "write", 50, 1)...)
	if got := e.Note(); got != "rule 1: not done: comes from a queue pair that is not known yet" {
		t.Errorf("note on the first request: %q", got)
	}
	play(e, fault.Backward, ack(50))
	for _, test := range []struct {
		frame []byte
		want  []string // of the answers
		note  string
	}{
		{message(t, "write", 51, 1)[0], []string{"RC Acknowledge qp=22 psn=51 syndrome=60 msn=4"}, "rule 1: answered with a NAK to QP 0x000022"},
		{message(t, "write", 52, 1)[0], nil, ""},
		{message(t, "send", 53, 1)[0], []string{"CNP qp=99 psn=0 syndrome=0 msn=0"}, "rule 2: dropped, answered with a CNP to QP 0x000099"},
	} {
		var answers []string
		for _, s := range play(e, fault.Forward, test.frame) {
			if s.Direction == fault.Backward {
				answers = append(answers, string(s.Data))
			}
		}
		if diff := cmp.Diff(test.want, answers); diff != "" {
			t.Errorf("PSN %d: answers (-want +got):\n%s", psnOf(test.frame), diff)
		}
		if got := e.Note(); got != test.note {
			t.Errorf("PSN %d: note %q, want %q", psnOf(test.frame), got, test.note)
		}
	}
	if got, want := e.RuleCounts()[0], (fault.RuleCount{Matched: [2]uint64{3, 0}, Acted: [2]uint64{1, 0}, Unable: [2]uint64{1, 0}}); got != want {
		t.Errorf("counts of rule 1: %+v, want %+v", got, want)
	}
}

// TestDatagramsNameTheirSender shows that a UD packet is answered without
// anything learned, and that its flow is the sender's own.
func TestDatagramsNameTheirSender(t *testing.T) {
	e := engine(fault.Rule{Match: fault.Match{Message: fault.Just[uint32](1)}, Do: fault.Actions{Answer: fault.Just(fault.Answer{CNP: true})}})
	ud := func(src string, at int) []byte {
		return frame(t, "ud send-only", 8, psn(at), "infiniband.deth.srcqp="+src)
	}
	var answers []string
	for _, s := range play(e, fault.Forward, ud("0x44", 5), ud("0x45", 3), ud("0x44", 6)) {
		if s.Direction == fault.Backward {
			answers = append(answers, string(s.Data))
		}
	}
	want := []string{"CNP qp=44 psn=0 syndrome=0 msn=0", "CNP qp=45 psn=0 syndrome=0 msn=0"}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestChangesLeaveAGoodPacket(t *testing.T) {
	num := func(id wire.HeaderID, name string, v uint64) fault.Edit {
		return fault.Edit{Name: name, In: []fault.Place{{Header: id, Field: craft.FieldOf(id, name)}}, Num: v}
	}
	for _, test := range []struct {
		name string
		do   fault.Actions
		want icrc.Verdict
	}{
		{"CE", fault.Actions{CE: true}, icrc.Good},
		{"FECN and BECN", fault.Actions{FECN: true, BECN: true}, icrc.Good},
		{"rewritten", fault.Actions{Set: []fault.Edit{num(wire.HdrBTH, "psn", 5)}}, icrc.Good},
		{"corrupted and sealed", fault.Actions{Corrupt: fault.Just(fault.Corrupt{Byte: 3, XOR: 0x10, Seal: true})}, icrc.Good},
		{"corrupted", fault.Actions{Corrupt: fault.Just(fault.Corrupt{Byte: 3, XOR: 0x10})}, icrc.Bad},
	} {
		for _, base := range []string{"rocev2", "rocev2-ipv6", "rocev1"} {
			t.Run(test.name+" "+base, func(t *testing.T) {
				settings := []string{psn(9)}
				if base != "rocev1" {
					settings = append(settings, "udp.checksum=auto")
				}
				in := frameIn(t, base, "rc send-only", 30, settings...)
				before := bytes.Clone(in)
				out := play(engine(fault.Rule{Do: test.do}), fault.Forward, in)
				if len(out) != 1 || bytes.Equal(out[0].Data, in) || !bytes.Equal(in, before) {
					t.Fatalf("%d frames left; changed %v", len(out), len(out) == 1 && !bytes.Equal(out[0].Data, in))
				}
				if v, _, _ := icrc.Verify(out[0].Data); v != test.want {
					t.Errorf("ICRC is %v, want %v", v, test.want)
				}
				if test.want == icrc.Good && !checksumsRight(out[0].Data) {
					t.Errorf("a checksum is wrong in %x", out[0].Data)
				}
			})
		}
	}
}

// TestDamageStaysDamage shows that what one rule damages is not sealed by the
// changes of the next.
func TestDamageStaysDamage(t *testing.T) {
	edit := fault.Edit{Name: "psn", In: []fault.Place{{Header: wire.HdrBTH, Field: craft.FieldOf(wire.HdrBTH, "psn")}}, Num: 5}
	e := engine(
		fault.Rule{Do: fault.Actions{Corrupt: fault.Just(fault.Corrupt{XOR: 1})}},
		fault.Rule{Do: fault.Actions{Set: []fault.Edit{edit}}},
	)
	out := play(e, fault.Forward, frame(t, "rc send-only", 8, psn(9)))
	if len(out) != 1 || psnOf(out[0].Data) != 5 {
		t.Fatalf("%d frames left", len(out))
	}
	if v, _, _ := icrc.Verify(out[0].Data); v != icrc.Bad {
		t.Errorf("ICRC is %v", v)
	}
}

// checksumsRight judges the IPv4 and UDP checksums of a frame without options.
// A BTH flag changes what a UDP checksum covers; those are judged too.
func checksumsRight(data []byte) bool {
	var f wire.Frame
	f.Parse(wire.LinkEthernet, data, len(data))
	if ip := f.View(wire.HdrIPv4); ip != nil && wire.IPv4Header(ip).Checksum() != wire.IPv4Checksum(ip) {
		return false
	}
	udp := wire.UDP(f.View(wire.HdrUDP))
	if udp == nil {
		return true
	}
	var src, dst []byte
	if ip := wire.IPv4Header(f.View(wire.HdrIPv4)); ip != nil {
		src, dst = ip.Addresses()[:4], ip.Addresses()[4:]
	} else {
		ip := wire.IPv6Header(f.View(wire.HdrIPv6))
		src, dst = ip.Addresses()[:16], ip.Addresses()[16:]
	}
	return udp.Checksum() == wire.UDPChecksum(src, dst, data[f.L4:f.L4+udp.Length()])
}

// TestWhatCannotBeDone shows that a rule that does not fit a frame leaves it
// alone and says so.
func TestWhatCannotBeDone(t *testing.T) {
	arp := append(bytes.Repeat([]byte{2}, 12), 0x08, 0x06)
	arp = append(arp, make([]byte, 46)...)
	ack := frame(t, "rc acknowledge", 0)
	aeth := craft.FieldOf(wire.HdrAETH, "msn")
	for _, test := range []struct {
		name  string
		do    fault.Actions
		frame []byte
	}{
		{"no payload", fault.Actions{Corrupt: fault.Just(fault.Corrupt{XOR: 1})}, ack},
		{"no IP", fault.Actions{CE: true}, arp},
		{"no BTH", fault.Actions{BECN: true}, arp},
		{"no such header", fault.Actions{Set: []fault.Edit{{In: []fault.Place{{Header: wire.HdrAETH, Field: aeth}}}}}, frame(t, "rc send-only", 4)},
		{"an answer to an answer", fault.Actions{Answer: fault.Just(fault.Answer{QP: fault.Just[uint32](1)})}, ack},
		{"an answer to ARP", fault.Actions{Answer: fault.Just(fault.Answer{CNP: true, QP: fault.Just[uint32](1)})}, arp},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := engine(fault.Rule{Do: test.do})
			if !e.Receive(start, fault.Forward, test.frame) {
				t.Error("the frame did not pass")
			}
			if c := e.RuleCounts()[0]; c.Unable[fault.Forward] != 1 || c.Acted[fault.Forward] != 0 || !strings.Contains(e.Note(), "not done") {
				t.Errorf("%+v, note %q", c, e.Note())
			}
		})
	}
}

// randomFrames is a mix of packets and of bytes that are none.
func randomFrames(t testing.TB, seed uint64, n int) (frames [][]byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	templates := [][]byte{
		frame(t, "rc write-first", 64), frame(t, "rc write-middle", 64), frame(t, "rc send-only", 3),
		frame(t, "rc acknowledge", 0), frameIn(t, "rocev1", "ud send-only", 9), frameIn(t, "rocev2-ipv6", "rc rdma read request", 0),
	}
	for range n {
		f := bytes.Clone(templates[r.IntN(len(templates))])
		for range r.IntN(4) {
			f[r.IntN(len(f))] ^= byte(1 << r.IntN(8))
		}
		frames = append(frames, f[:len(f)-r.IntN(2)*r.IntN(len(f)-14)])
	}
	return frames
}

func everything() []fault.Rule {
	return []fault.Rule{
		{Match: fault.Match{Offset: fault.Just(2)}, Do: fault.Actions{Reorder: 2}},
		{Probability: fault.Just(0.2), Do: fault.Actions{Corrupt: fault.Just(fault.Corrupt{XOR: 1, Seal: true}), Duplicate: 1}},
		{Probability: fault.Just(0.1), Do: fault.Actions{CE: true, Delay: 3 * time.Microsecond}},
		{Probability: fault.Just(0.1), Do: fault.Actions{Answer: fault.Just(fault.Answer{CNP: true})}},
		{Probability: fault.Just(0.1), Do: drop},
	}
}

func TestNoRulesIsTheIdentity(t *testing.T) {
	frames := randomFrames(t, 1, 2000)
	never := fault.Rule{Match: fault.Match{Again: fault.Just(true), QP: fault.Just[uint32](0xFFFFFE)}, Do: drop}
	for name, e := range map[string]*fault.Engine{"no rules": engine(), "a rule for nobody": engine(never)} {
		out := play(e, fault.Forward, frames...)
		if len(out) != len(frames) {
			t.Fatalf("%s: %d of %d frames left", name, len(out), len(frames))
		}
		for i := range out {
			if !bytes.Equal(out[i].Data, frames[i]) {
				t.Fatalf("%s: frame %d differs", name, i)
			}
		}
	}
}

func TestDropOfEverythingLeavesNothing(t *testing.T) {
	e := engine(fault.Rule{Probability: fault.Just(1.0), Do: drop})
	frames := randomFrames(t, 2, 500)
	if out := play(e, fault.Forward, frames...); len(out) > 0 {
		t.Errorf("%d frames left", len(out))
	}
	if got, want := e.Traffic(fault.Forward), (fault.Traffic{Received: 500, Dropped: 500}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestSameSeedSameDecisions(t *testing.T) {
	frames := randomFrames(t, 3, 2000)
	run := func(seed uint64) []sent {
		return play(fault.NewEngine(fault.Config{Seed: seed, Rules: everything(), Craft: fakeCraft}), fault.Forward, frames...)
	}
	one := run(7)
	if diff := cmp.Diff(one, run(7)); diff != "" {
		t.Errorf("two runs with one seed (-first +second):\n%s", diff)
	}
	if cmp.Equal(one, run(8)) {
		t.Error("another seed decides the same")
	}
}

// TestNothingIsLostOrInvented shows that what comes in is what goes out, but
// for what is counted as dropped and injected.
func TestNothingIsLostOrInvented(t *testing.T) {
	e := engine(everything()...)
	out := play(e, fault.Forward, randomFrames(t, 4, 3000)...)
	there, back := e.Traffic(fault.Forward), e.Traffic(fault.Backward)
	if want := there.Received - there.Dropped + there.Injected + back.Injected; uint64(len(out)) != want {
		t.Errorf("%d frames left, want %d: %+v, %+v", len(out), want, there, back)
	}
	if e.Waiting() != 0 {
		t.Errorf("%d frames still wait", e.Waiting())
	}
}

func TestPassingDoesNotAllocate(t *testing.T) {
	e := engine(fault.Rule{Match: fault.Match{QP: fault.Just[uint32](0x999), Message: fault.Just[uint32](3)}, Do: drop})
	f := frame(t, "rc send-only", 64, psn(5))
	bth := wire.BTH(f[42:])
	next := func() {
		bth.SetPSN(bth.PSN().Add(1))
		if !e.Receive(start, fault.Forward, f) {
			t.Fatal("the frame did not pass")
		}
	}
	for range 10000 {
		next()
	}
	if n := testing.AllocsPerRun(1000, next); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkPass(b *testing.B) {
	e := engine(fault.Rule{Match: fault.Match{QP: fault.Just[uint32](0x999), Message: fault.Just[uint32](3)}, Do: drop})
	f := frame(b, "rc send-only", 1024)
	bth := wire.BTH(f[42:])
	for b.Loop() {
		bth.SetPSN(bth.PSN().Add(1))
		e.Receive(start, fault.Forward, f)
	}
}
