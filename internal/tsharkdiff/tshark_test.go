package tsharkdiff

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/testneed"
)

// The characters between columns and between the occurrences of a field. No
// value holds them.
const (
	separator  = "\x1f"
	aggregator = "\x1e"
)

// tshark is the program the tests compare with.
type tshark struct {
	path         string
	home         string // an empty folder of preferences
	major, minor int
}

func findTshark(t *testing.T) *tshark {
	t.Helper()
	s := &tshark{path: testneed.Tool(t, "tshark"), home: t.TempDir()}
	out := s.run(t, "--version")
	m := regexp.MustCompile(`(?m)^TShark \(Wireshark\) (\d+)\.(\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("tshark --version says no version: %.200s", out)
	}
	s.major, _ = strconv.Atoi(string(m[1]))
	s.minor, _ = strconv.Atoi(string(m[2]))
	return s
}

// atLeast reports whether the program is of the given version or newer.
func (s *tshark) atLeast(major, minor int) bool {
	return s.major > major || s.major == major && s.minor >= minor
}

// run returns what tshark prints. It exits with an error for a capture that
// is cut in the middle of a packet, after printing all before the cut.
func (s *tshark) run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), s.path, args...)
	cmd.Env = append(os.Environ(), "WIRESHARK_CONFIG_DIR="+s.home, "LC_ALL=C")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Logf("tshark %.100s: %v: %.300s", strings.Join(args, " "), err, errs.Bytes())
	}
	return out
}

// fieldKinds returns the type of every field that tshark knows, "P" for a
// protocol.
func (s *tshark) fieldKinds(t *testing.T) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for line := range strings.Lines(string(s.run(t, "-G", "fields"))) {
		switch col := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); {
		case len(col) > 2 && col[0] == "P":
			kinds[col[2]] = "P"
		case len(col) > 3 && col[0] == "F":
			kinds[col[2]] = col[3]
		}
	}
	if len(kinds) < 1000 {
		t.Fatalf("tshark -G fields lists only %d fields", len(kinds))
	}
	return kinds
}

// commonFields returns the names that both programs know, in order.
func commonFields(kinds map[string]string) []string {
	var names []string
	for _, ref := range field.All() {
		if kinds[ref.Name] != "" {
			names = append(names, ref.Name)
		}
	}
	return names
}

// columns are the arguments that make either program print the fields.
func columns(names []string) []string {
	args := []string{"-T", "fields", "-E", "occurrence=a", "-E", "separator=" + separator, "-E", "aggregator=" + aggregator}
	for _, name := range names {
		args = append(args, "-e", name)
	}
	return args
}

// settings make tshark judge IP header checksums, and leave TCP port 4420 alone:
// it takes all there for NVMe/TCP, which iWARP on that port is not.
var settings = []string{"-n", "-o", "ip.check_checksum:TRUE", "--disable-protocol", "nvme-tcp"}

// decode returns tshark's row of values for each packet.
func (s *tshark) decode(t *testing.T, file string, names []string) [][]string {
	t.Helper()
	out := s.run(t, slices.Concat(settings, []string{"-r", file}, columns(names))...)
	return table(t, "tshark", out, len(names))
}

var (
	frameLine = regexp.MustCompile(`^Frame (\d+):`)
	crcLine   = regexp.MustCompile(`CRC check: 0x[0-9a-f]+ \((Good|Bad) CRC32`)
)

// crcVerdicts returns what tshark says in words about the CRC32c of the FPDUs
// that each packet completes, "good" and "bad": the words are in no field.
func (s *tshark) crcVerdicts(t *testing.T, file string) map[int][]string {
	t.Helper()
	verdicts := map[int][]string{}
	number := 0
	for line := range strings.Lines(string(s.run(t, slices.Concat(settings, []string{"-V", "-r", file})...))) {
		if m := frameLine.FindStringSubmatch(line); m != nil {
			number, _ = strconv.Atoi(m[1])
		}
		if m := crcLine.FindStringSubmatch(line); m != nil {
			verdicts[number] = append(verdicts[number], strings.ToLower(m[1]))
		}
	}
	return verdicts
}

// ours returns rocecap's row of values for each packet.
func ours(t *testing.T, file string, names []string) [][]string {
	t.Helper()
	var out, errs bytes.Buffer
	args := slices.Concat([]string{"decode", "-r", file}, columns(names))
	if code := rocecap.Main(args, rocecap.Streams{Out: &out, Err: &errs}); code != 0 {
		t.Logf("rocecap exits with %d: %s", code, errs.Bytes())
	}
	return table(t, "rocecap", out.Bytes(), len(names))
}

func table(t *testing.T, who string, out []byte, width int) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), separator)
		if len(row) != width {
			t.Fatalf("%s: row %d has %d columns, want %d", who, len(rows)+1, len(row), width)
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *tshark) String() string { return fmt.Sprintf("tshark %d.%d", s.major, s.minor) }
