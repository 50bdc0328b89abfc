package prefilter

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestCompileAsksTCPDump(t *testing.T) {
	testneed.Tool(t, "tcpdump")
	program, err := Compile("udp dst port 4791 and ip", "lo")
	vm := machine(t, program, err)
	roce := ethernet(ipv4(17, 0, 0, datagram(1, 4791)...), wire.EtherTypeIPv4)
	other := ethernet(ipv4(17, 0, 0, datagram(4791, 1)...), wire.EtherTypeIPv4)
	if !passes(t, vm, roce) || passes(t, vm, other) {
		t.Error("the program does not do what the expression says")
	}
	if program, err := Compile("", "lo"); err != nil || len(program) != 1 {
		t.Errorf("no expression became %v, %v", program, err)
	}
}

// A program for the interface asks the kernel for the tag that it took out.
func TestCompileKnowsWhereTagsAre(t *testing.T) {
	testneed.Tool(t, "tcpdump")
	testneed.Root(t)
	program, err := Compile("vlan 5", "lo")
	if err != nil {
		t.Fatal(err)
	}
	const vlanTagPresent = 0xFFFFF000 + 48 // SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT
	for _, in := range program {
		if in.K == vlanTagPresent {
			return
		}
	}
	t.Errorf("%v does not load the kernel's tag", program)
}

func TestCompilePassesOnWhatIsWrong(t *testing.T) {
	testneed.Tool(t, "tcpdump")
	for expression, want := range map[string]string{
		"udp prot 5":    `filter "udp prot 5": tcpdump: can't parse filter expression: syntax error`,
		"-w /tmp/steal": "syntax error", // no option of tcpdump
	} {
		if _, err := Compile(expression, "lo"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", expression, err, want)
		}
	}
	// No interface of that name, and still a question of tags.
	if _, err := Compile("vlan 5", "no0"); err == nil || !strings.Contains(err.Error(), "no0") {
		t.Errorf("tags on an interface that is not there: %v", err)
	}
	if program, err := Compile("udp", "no0"); err != nil || len(program) == 0 {
		t.Errorf("a program for any interface: %v", err)
	}
}

func TestCompileWithoutTCPDump(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Compile("udp", "lo"); !errors.Is(err, ErrNoTCPDump) {
		t.Error(err)
	}
}

func TestParseProgram(t *testing.T) {
	got, err := parse("2\n40 0 1 4294963248\n6 0 0 262144\n")
	want := []bpf.RawInstruction{{Op: 40, Jf: 1, K: 4294963248}, {Op: 6, K: 262144}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, text := range []string{
		"", "\n", "0", "x\n6 0 0 1", "2\n6 0 0 1", "1\n6 0 0", "1\n6 0 0 1 1", "1\n6 256 0 1",
		"1\n6 0 0 4294967296", "1\n65536 0 0 1", "1\n6 0 0 -1", "-1",
	} {
		if program, err := parse(text); err == nil {
			t.Errorf("%q became %v", text, program)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2\n40 0 1 4294963248\n6 0 0 262144\n")
	f.Add("1\n6 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		program, err := parse(text)
		if (err == nil) != (len(program) > 0) || len(program) > maxInstructions {
			t.Errorf("%d instructions, %v", len(program), err)
		}
	})
}
