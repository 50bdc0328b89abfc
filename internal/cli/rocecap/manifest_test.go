package rocecap_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// capture is a row of pcaps/MANIFEST.md.
type capture struct {
	name    string // "fixtures/t.pcap"
	packets int
	icrc    string // "25 good, 1 bad, 1 cut", or "none"
}

// manifest reads the tables of pcaps/MANIFEST.md.
func manifest(t *testing.T) []capture {
	t.Helper()
	text, err := os.ReadFile(pcaps(t, "MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	var list []capture
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == 1 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "file" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		n, err := strconv.Atoi(cells[1])
		if err != nil || len(cells) != 5 || slices.Contains(cells, "") {
			t.Fatalf("row without five filled columns: %s", line)
		}
		list = append(list, capture{cells[0], n, cells[2]})
	}
	return list
}

// open returns the path of a capture that the program reads.
func (c *capture) open(t *testing.T) string {
	t.Helper()
	if dir, name := filepath.Split(filepath.FromSlash(c.name)); dir != "" && filepath.Ext(name) == ".hex" {
		return caseFile(t, name)
	}
	return pcaps(t, filepath.FromSlash(c.name))
}

func TestManifestNamesEveryCaptureAndNoOther(t *testing.T) {
	var named, there []string
	for _, c := range manifest(t) {
		named = append(named, c.name)
	}
	err := fs.WalkDir(os.DirFS(pcaps(t)), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "golden":
			return fs.SkipDir
		case !d.IsDir() && path != "MANIFEST.md":
			there = append(there, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(named)
	slices.Sort(there)
	if diff := cmp.Diff(there, named); diff != "" {
		t.Errorf("captures in the folder (-) and in MANIFEST.md (+):\n%s", diff)
	}
}

func TestEveryCaptureHasTheICRCVerdictsOfTheManifest(t *testing.T) {
	const twice = "transport headers covered twice, the second time unmasked, as Linux rxe does for FLUSH"
	flush := map[string]int{"py_flush.pcap": 5, "py_flushmr.pcap": 1}
	for _, c := range manifest(t) {
		v := judge(t, c.open(t))
		if v.Packets != c.packets || v.counts() != c.icrc {
			t.Errorf("%s: %d packets, %s; the manifest says %d, %s", c.name, v.Packets, v.counts(), c.packets, c.icrc)
		}
		recorded := !strings.Contains(c.name, "/")
		number, expected := flush[c.name]
		switch {
		case !recorded:
		case !expected && (v.Bad > 0 || v.Cut > 0 || v.NotCheckable > 0):
			t.Errorf("%s: %s; a recorded ICRC is good, but for FLUSH requests", c.name, v.counts())
		case expected && (len(v.Mistakes) != 1 || v.Mistakes[0].Mistake != twice || !slices.Equal(v.Mistakes[0].First, []int{number})):
			t.Errorf("%s: %+v; want packet %d: %s", c.name, v.Mistakes, number, twice)
		}
	}
}

// counts are the verdicts in the manifest's words.
func (v *verdicts) counts() string {
	var list []string
	for _, each := range []struct {
		n    int
		name string
	}{{v.Good, "good"}, {v.Bad, "bad"}, {v.Cut, "cut"}, {v.NotCheckable, "not checkable"}} {
		if each.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", each.n, each.name))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
