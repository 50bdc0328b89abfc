package impair_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/impair"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

// noFilter stands for the display filters, which live above this package.
func noFilter(src string) (func(*wire.Frame) bool, error) {
	if src == "bad" {
		return nil, errors.New("no such field")
	}
	return func(*wire.Frame) bool { return true }, nil
}

const allRules = `
seed: 7
rules:
  - name: lose one
    match: {direction: forward, qp: 0x11, op: write, message: 3, psn: +5, retransmission: false}
    times: 1
    drop: true
  - match: {op: [ack, rc send-only], psn: 0xfffffe, filter: infiniband.aeth}
    probability: 0.05
    nth: 2
    every: 3
    delay: 3ms
    duplicate: 2
    reorder: 4
  - match: &backward {direction: backward}
    corrupt: {byte: 5, xor: 0xf0, icrc: right}
    mark: [ce, fecn, becn]
  - match: *backward
    corrupt: {bit: 7}
    mark: ce
    set: {infiniband.bth.psn: 0x10, eth.dst: "02:00:00:00:00:09"}
  - answer: cnp
  - answer: {nak: remote-access, qp: 0x22}
  - answer: {rnr: 14}
  - answer: {nak: }
  - answer: {ack: }
  - answer: {rnr: }
`

func opcodes(classes ...string) (o fault.Opcodes) {
	for _, c := range classes {
		o.AddClass(c)
	}
	return o
}

func TestParse(t *testing.T) {
	got, err := impair.Parse([]byte(allRules), noFilter)
	if err != nil {
		t.Fatal(err)
	}
	mixed := opcodes("ack")
	mixed.Add(wire.OpSendOnly)
	answer := func(a fault.Answer) fault.Rule { return fault.Rule{Do: fault.Actions{Answer: fault.Just(a)}} }
	want := []fault.Rule{
		{
			Name: "lose one", Times: 1, Do: fault.Actions{Drop: true},
			Match: fault.Match{
				Direction: fault.Just(fault.Forward), QP: fault.Just[uint32](0x11), Opcodes: opcodes("write"),
				Message: fault.Just[uint32](3), Kind: fault.KindWrite, Offset: fault.Just(5), Again: fault.Just(false),
			},
		},
		{
			Match: fault.Match{Opcodes: mixed, PSN: fault.Just[wire.PSN](0xFFFFFE)}, Probability: fault.Just(0.05), Nth: 2, Every: 3,
			Do: fault.Actions{Delay: 3 * time.Millisecond, Duplicate: 2, Reorder: 4},
		},
		{
			Match: fault.Match{Direction: fault.Just(fault.Backward)},
			Do:    fault.Actions{Corrupt: fault.Just(fault.Corrupt{Byte: 5, XOR: 0xF0, Seal: true}), CE: true, FECN: true, BECN: true},
		},
		{
			Match: fault.Match{Direction: fault.Just(fault.Backward)},
			Do: fault.Actions{Corrupt: fault.Just(fault.Corrupt{XOR: 0x80}), CE: true, Set: []fault.Edit{
				{Name: "infiniband.bth.psn", Num: 0x10},
				{Name: "eth.dst", Raw: []byte{2, 0, 0, 0, 0, 9}},
			}},
		},
		answer(fault.Answer{CNP: true}),
		answer(fault.Answer{Syndrome: 0x62, QP: fault.Just[uint32](0x22)}),
		answer(fault.Answer{Syndrome: 0x2E}),
		answer(fault.Answer{Syndrome: 0x60}),
		answer(fault.Answer{Syndrome: 0x1F}),
		answer(fault.Answer{Syndrome: 0x2C}),
	}
	if diff := cmp.Diff(want, got.Rules, cmpopts.IgnoreFields(fault.Match{}, "Filter"), cmpopts.IgnoreFields(fault.Edit{}, "In")); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if got.Seed != 7 || got.Rules[0].Match.Filter != nil || got.Rules[1].Match.Filter == nil {
		t.Errorf("seed %d, filters %v and %v", got.Seed, got.Rules[0].Match.Filter != nil, got.Rules[1].Match.Filter != nil)
	}
	if in := got.Rules[3].Do.Set[0].In; len(in) != 1 || in[0].Header != wire.HdrBTH || in[0].Field != craft.FieldOf(wire.HdrBTH, "psn") {
		t.Errorf("infiniband.bth.psn is in %+v", in)
	}
}

func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "# a comment\n", "rules:\n", "seed: 3"} {
		if got, err := impair.Parse([]byte(text), noFilter); err != nil || len(got.Rules) > 0 {
			t.Errorf("%q: %d rules, %v", text, len(got.Rules), err)
		}
	}
}

// TestMistakesAreNamedWithTheirPlace shows the whole message of each mistake.
func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"rule: 1", `line 1, column 1: unknown key "rule": a rules file has seed and rules`},
		{"seed: -1", `line 1, column 7: want a number from 0 to 18446744073709551615, not "-1"`},
		{"rules: 5", "line 1, column 8: want a list"},
		{"rules: [5]", "line 1, column 9: want names with values"},
		{"rules: [{name: x}]", "line 1, column 9: the rule does nothing"},
		{"rules:\n- drop: true\n  drop: true", `line 3, column 3: "drop" is here twice`},
		{"rules:\n- dorp: true", `line 2, column 3: unknown key "dorp": a rule has name, match,`},
		{"rules: [{drop: false}]", "line 1, column 16: want true; leave it out otherwise"},
		{"rules: [{drop: 7}]", `line 1, column 16: want true or false, not "7"`},
		{"rules: [{match: {qp: 0x1000000}, drop: true}]", `line 1, column 22: want a number from 0 to 16777215, not "0x1000000"`},
		{"rules: [{match: {qpn: 1}, drop: true}]", `line 1, column 18: unknown key "qpn": a match has direction, qp,`},
		{"rules: [{match: {psn: +x}, drop: true}]", `line 1, column 23: want a number from 0 to 8388607, not "x"`},
		{"rules: [{match: {psn: -1}, drop: true}]", `line 1, column 23: want a number from 0 to 16777215, not "-1"`},
		{"rules: [{match: {message: 0}, drop: true}]", `line 1, column 27: want a number from 1 to 2147483647, not "0"`},
		{"rules: [{match: {op: wirte}, drop: true}]", `line 1, column 22: op: "wirte" is neither an opcode`},
		{"rules: [{match: {op: []}, drop: true}]", "line 1, column 22: op: want one opcode at least"},
		{"rules: [{match: {direction: up}, drop: true}]", `line 1, column 29: direction: want forward`},
		{"rules: [{match: {filter: bad}, drop: true}]", "line 1, column 26: filter: no such field"},
		{"rules: [{match: {retransmission: x}, drop: true}]", `line 1, column 34: want true or false, not "x"`},
		{"rules: [{probability: 1.5, drop: true}]", `line 1, column 23: want a probability from 0 to 1, not "1.5"`},
		{"rules: [{probability: nan, drop: true}]", `line 1, column 23: want a probability from 0 to 1, not "nan"`},
		{"rules: [{times: 0, drop: true}]", `line 1, column 17: want a number from 1 to 2147483647, not "0"`},
		{"rules: [{delay: 3}]", "line 1, column 17: want a time such as 3ms, up to 1m0s"},
		{"rules: [{delay: 2h}]", "line 1, column 17: want a time such as 3ms, up to 1m0s"},
		{"rules: [{duplicate: 9999}]", `line 1, column 21: want a number from 1 to 1000, not "9999"`},
		{"rules: [{corrupt: {bit: 8}}]", `line 1, column 25: want a number from 0 to 7, not "8"`},
		{"rules: [{corrupt: {xor: 0}}]", "line 1, column 25: xor: 0 changes nothing"},
		{"rules: [{corrupt: {icrc: good}}]", `line 1, column 26: icrc: want right or wrong, not "good"`},
		{"rules: [{corrupt: {bytes: 1}}]", `line 1, column 20: unknown key "bytes"`},
		{"rules: [{mark: ecn}]", `line 1, column 16: mark: want ce, fecn or becn, not "ecn"`},
		{"rules: [{mark: []}]", "line 1, column 16: mark: want ce, fecn or becn"},
		{"rules: [{set: {infiniband.bth.pns: 1}}]", `line 1, column 16: set: no header has a field "infiniband.bth.pns"`},
		{"rules: [{set: {infiniband.bth.psn: 0x1000000}}]", "line 1, column 36: infiniband.bth.psn: "},
		{"rules: [{set: {infiniband.bth.psn: [1]}}]", "line 1, column 36: infiniband.bth.psn: want a value"},
		{"rules: [{set: {ip.checksum: auto}}]", "line 1, column 29: ip.checksum: what can be computed is"},
		{"rules: [{set: {}}]", "line 1, column 15: set: want a field at least"},
		{"rules: [{answer: nack}]", `line 1, column 18: answer: want cnp, ack, nak or rnr, not "nack"`},
		{"rules: [{answer: {qp: 3}}]", "line 1, column 18: answer: want one of cnp, ack, nak and rnr"},
		{"rules: [{answer: {nak: 0, rnr: 1}}]", "line 1, column 18: answer: want one of"},
		{"rules: [{answer: {nak: 32}}]", "line 1, column 24: nak: want a code from 0 to 31, or one of"},
		{"rules: [{answer: {rnr: 32}}]", `line 1, column 24: want a number from 0 to 31, not "32"`},
		{"rules: [{corrupt: {xor: 1, bit: 1}}]", "line 1, column 33: bit and xor exclude each other"},
		{"rules: []\n---\nrules: []", "line 3, column 1: a second document; want one"},
		{"rules: [", "yaml: line 1: "},
	} {
		_, err := impair.Parse([]byte(test.text), noFilter)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestAnswersAreGoodPackets crafts an answer to packets of every base, with and
// without tags, checksums and damage.
func TestAnswersAreGoodPackets(t *testing.T) {
	for _, base := range []string{"rocev2", "rocev2-ipv6", "rocev1"} {
		r, err := craft.NewRecipe(base, wire.OpWriteOnly)
		if err != nil {
			t.Fatal(err)
		}
		r.Payload = []byte("payload")
		r.ICRC.Mode = craft.CRCWrong
		r.Trailer = []byte{1, 2, 3, 4}
		if base != "rocev1" {
			if err := r.Put("udp.checksum", "0x1234"); err != nil {
				t.Fatal(err)
			}
		}
		r.Wrap(1, craft.Layer{ID: wire.HdrVLAN})
		img, err := craft.Build(r)
		if err != nil {
			t.Fatal(err)
		}
		var to, got wire.Frame
		to.Parse(wire.LinkEthernet, img.Data, len(img.Data))
		data, err := impair.Craft(fault.Reply{To: &to, Opcode: wire.OpAcknowledge, QP: 0x22, PSN: 9, Syndrome: 0x60, MSN: 3})
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		got.Parse(wire.LinkEthernet, data, len(data))
		bth, aeth := wire.BTH(got.View(wire.HdrBTH)), wire.AETH(got.View(wire.HdrAETH))
		if len(bth) != wire.BTHLen || len(aeth) != wire.AETHLen || got.View(wire.HdrVLAN) == nil || got.End != len(data) || got.Problems != 0 {
			t.Fatalf("%s: %x, problems %x", base, data, got.Problems)
		}
		if bth.DestQP() != 0x22 || bth.PSN() != 9 || aeth.Syndrome() != 0x60 || aeth.MSN() != 3 {
			t.Errorf("%s: QP %x, PSN %d, syndrome %x, MSN %d", base, bth.DestQP(), bth.PSN(), aeth.Syndrome(), aeth.MSN())
		}
		wantSrc, wantDst := to.Addresses()
		if src, dst := got.Addresses(); src != wantDst || dst != wantSrc {
			t.Errorf("%s: from %v to %v", base, src, dst)
		}
		if v, _, _ := icrc.Verify(data); v != icrc.Good {
			t.Errorf("%s: ICRC is %v", base, v)
		}
	}
}

func TestNoAnswerWithoutBTH(t *testing.T) {
	var f wire.Frame
	f.Parse(wire.LinkEthernet, make([]byte, 60), 60)
	if data, err := impair.Craft(fault.Reply{To: &f, Opcode: wire.OpcodeRoCECNP}); err == nil {
		t.Errorf("made %x", data)
	}
}

// guideRules are the rules files in the guide.
func guideRules(t testing.TB) (files []string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(guide), "```yaml\n") {
		if i > 0 {
			rules, _, _ := strings.Cut(part, "```")
			files = append(files, rules)
		}
	}
	return files
}

func TestRulesInTheGuide(t *testing.T) {
	files := guideRules(t)
	if len(files) == 0 {
		t.Error("the guide has no rules")
	}
	for _, rules := range files {
		if config, err := impair.Parse([]byte(rules), noFilter); err != nil || len(config.Rules) == 0 {
			t.Errorf("%v in:\n%s", err, rules)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(allRules))
	f.Add([]byte("rules: [{match: {psn: +1}, set: {ip.ttl: 3}}]"))
	f.Add([]byte("rules: [{answer: {cnp: , qp: 1}}]"))
	for _, rules := range guideRules(f) {
		f.Add([]byte(rules))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, err := impair.Parse(text, noFilter)
		if err != nil {
			return
		}
		e := fault.NewEngine(config)
		frame := make([]byte, 60)
		e.Receive(time.Unix(0, 0), fault.Forward, frame)
	})
}
