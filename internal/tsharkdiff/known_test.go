package tsharkdiff

import (
	"fmt"
	"regexp"
	"testing"
)

// entry is one known difference.
type entry struct {
	reason string // a heading of docs/wireshark-differences.md
	fields string // pattern of the names of the fields
	when   func(d *difference) bool
	// before is the first version of tshark that no longer differs, since the
	// first one that does; zero means all.
	before, since version
	// beside says that only captures of the folder beside the repository show
	// the difference.
	beside bool
}

type version struct{ major, minor int }

// known is the table at work: it counts what each entry covers.
type known struct {
	rows  []row
	count int
}

type row struct {
	*entry
	pattern *regexp.Regexp
	used    int
	example string // the first difference
}

func newKnown(s *tshark) *known {
	k := &known{}
	for i := range entries {
		e := &entries[i]
		if e.before != (version{}) && s.atLeast(e.before.major, e.before.minor) || !s.atLeast(e.since.major, e.since.minor) {
			continue
		}
		k.rows = append(k.rows, row{entry: e, pattern: regexp.MustCompile("^(" + e.fields + ")$")})
	}
	return k
}

// covers reports whether an entry explains the difference.
func (k *known) covers(d *difference) bool {
	for i := range k.rows {
		r := &k.rows[i]
		if r.pattern.MatchString(d.field) && r.when(d) {
			if r.used == 0 {
				r.example = fmt.Sprintf("%s packet %d %s: ours %.60q, tshark %.60q", d.file, d.number, d.field, d.ours, d.theirs)
			}
			r.used++
			k.count++
			return true
		}
	}
	return false
}

// report logs what each entry covered.
func (k *known) report(t *testing.T) {
	t.Helper()
	for _, r := range k.rows {
		t.Logf("%6d  %s, as in %s", r.used, r.reason, r.example)
	}
}

// failUnused fails for an entry that no packet used: the list must not outlive
// its reasons. It is for the version of tshark that the table was made with;
// another may have mended a fault.
func (k *known) failUnused(t *testing.T) {
	t.Helper()
	for _, r := range k.rows {
		if r.used == 0 && (!r.beside || haveShared(t)) {
			t.Errorf("no packet uses the entry %q for %s", r.reason, r.fields)
		}
	}
}
