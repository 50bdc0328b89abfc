package roceinject

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
)

// craftWith runs `roceinject craft` and returns its exit code and all that it says.
func craftWith(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = Main(append([]string{"craft"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	return code, out.String()
}

// TestCraftRefusesWhatItWouldIgnore shows that no flag is silently without effect.
func TestCraftRefusesWhatItWouldIgnore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cnp.yaml")
	if err := os.WriteFile(file, []byte("- op: cnp"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		{"rc send-only --crc wrong", "crc: the packet has none"},
		{"rc send-only --vcrc flip:3", "vcrc: the packet has none"},
		{"rc send-only --vcrc 0x12 --base rocev1", "vcrc: the packet has none"},
		{"iwarp send --icrc wrong", "icrc: the packet has none"},
		{"iwarp mpa-request --crc wrong", "crc: the packet has none"},
		{"-f " + file + " --qp 3", "--qp describes a packet of an opcode"},
		{"-f " + file + " --step infiniband.bth.psn=1", "--step describes"},
		{"-f " + file + " --smac 02:00:00:00:00:09", "--smac describes"},
		{"-f " + file + " --count 3", "--count makes packets of an opcode"},
		{"-f " + file + " -w " + file, "written over"},
		{"rc send-only --payload @" + long, "more than"},
	} {
		if code, said := craftWith(strings.Fields(test.args)...); code != exitError || !strings.Contains(said, test.want) {
			t.Errorf("%s: exit code %d, %s, want %q", test.args, code, said, test.want)
		}
	}
	for _, args := range []string{"rc send-only --crc none --vcrc auto", "ud send-only --base ib --vcrc wrong --icrc wrong", "-f " + file} {
		if code, said := craftWith(strings.Fields(args)...); code != exitOK {
			t.Errorf("%s: exit code %d, %s", args, code, said)
		}
	}
}

// TestCommandsSayWhatIsMissing without a word of how they count arguments.
func TestCommandsSayWhatIsMissing(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"bridge", "bridge what?"},
		{"bridge lo", "bridge what?"},
		{"bridge a b c", `"c" is one word too many`},
		{"bridge a b --duration -1s", "--duration -1s"},
		{"replay", "replay which capture?"},
		{"peer", "peer of what?"},
		{"peer fly", `no mode "fly"`},
	} {
		var out bytes.Buffer
		code := Main(strings.Fields(test.args), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if code != exitError || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: exit code %d, %s, want %q", test.args, code, out.String(), test.want)
		}
	}
}
