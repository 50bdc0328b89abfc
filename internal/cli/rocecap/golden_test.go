package rocecap_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// goldenPackets is how many packets of a capture a golden text has.
const goldenPackets = "400"

// A view is an output of decode of some packets of a capture.
type view struct {
	golden  string // file in pcaps/golden
	capture string // file in pcaps
	args    []string
}

// goldenViews lists the lines of every capture, and trees, dumps and JSON of
// packets that together have every kind of header.
func goldenViews(t *testing.T) []view {
	t.Helper()
	var list []view
	for _, c := range manifest(t) {
		list = append(list, view{stem(c.name) + ".txt", c.name, []string{"-c", goldenPackets}})
	}
	for _, each := range []struct{ capture, filter string }{
		{"cm_reject.pcap", "frame"},
		{"iw_rping.pcap", "frame.number in {4, 9, 10}"},
		{"nvme_rdma.pcap.gz", "frame.number in {107, 109, 118, 121}"},
		{"py_flush.pcap", "frame.number >= 4"},
		{"rc_vlan.pcap", "frame.number in {1, 13, 14}"},
		{"rping_rxe.pcap", "frame.number <= 3"},
		{"fixtures/mk.pcap", "frame.number in {5, 7, 17}"},
		{"fixtures/t.pcap", "frame.number in {4, 6, 16, 26}"},
		{"fixtures/t4.pcap", "frame.number in {12, 13, 14}"},
		{"fixtures/t5.pcap", "frame.number in {2, 3, 6}"},
		{"fixtures/t6.pcap", "frame.number in {7, 8, 9}"},
		{"cases/21-snaplen.pcap", "frame.number <= 1"},
		{"cases/23-pause-vs-pfc.pcap", "frame.number >= 3"},
		{"cases/33-icrc-outside-length.hex", "frame"},
	} {
		for suffix, flags := range map[string][]string{
			".tree.txt": {"-V"}, ".hex.txt": {"-x"}, ".jsonl": {"-T", "json"},
		} {
			list = append(list, view{stem(each.capture) + suffix, each.capture, append(flags, "-Y", each.filter)})
		}
	}
	return list
}

// stem is a name without its endings.
func stem(name string) string {
	dir, base := filepath.Split(name)
	base, _, _ = strings.Cut(base, ".")
	return dir + base
}

func TestDecodePrintsTheGoldenTexts(t *testing.T) {
	expected := make(map[string]bool)
	for _, v := range goldenViews(t) {
		expected[v.golden] = true
		path := pcaps(t, "golden", filepath.FromSlash(v.golden))
		c := capture{name: v.capture}
		got := mustRun(t, append([]string{"decode", c.open(t)}, v.args...)...)
		if got == "" {
			t.Errorf("%s: no packet is chosen", v.golden)
		}
		if *update {
			writeGolden(t, path, got)
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		} else if string(want) != got {
			t.Errorf("%s: rocecap decode %s %s (-want +got):\n%s", v.golden, strings.Join(v.args, " "), v.capture,
				cmp.Diff(firstDifference(string(want), got)))
		}
	}
	wantNoOtherGolden(t, expected)
}

func writeGolden(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstDifference returns the first few lines in which two texts differ.
func firstDifference(a, b string) (restA, restB []string) {
	const enough = 5
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; i < len(linesA) && i < len(linesB); i++ {
		if linesA[i] != linesB[i] {
			linesA, linesB = linesA[i:], linesB[i:]
			break
		}
	}
	return linesA[:min(enough, len(linesA))], linesB[:min(enough, len(linesB))]
}

// wantNoOtherGolden finds golden texts that no test compares; an update removes
// them.
func wantNoOtherGolden(t *testing.T, expected map[string]bool) {
	t.Helper()
	dir := pcaps(t, "golden")
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || expected[path] {
			return err
		}
		if *update {
			return os.Remove(filepath.Join(dir, filepath.FromSlash(path)))
		}
		t.Errorf("golden/%s: no test compares it", path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
