package tsharkdiff

import (
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
}

// unreadable are the captures that one of the programs cannot read.
var unreadable = map[string]string{}

type version struct{ major, minor int }

// known is the table at work: it counts what each entry covers.
type known struct {
	rows    []row
	reasons map[string]int
}

type row struct {
	*entry
	pattern *regexp.Regexp
	used    int
}

func newKnown(s *tshark) *known {
	k := &known{reasons: map[string]int{}}
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
			r.used++
			k.reasons[r.reason]++
			return true
		}
	}
	return false
}

func (k *known) total() int {
	n := 0
	for _, count := range k.reasons {
		n += count
	}
	return n
}

func (k *known) report(t *testing.T) {
	t.Helper()
	for _, r := range k.rows {
		t.Logf("%6d  %s (%.60s)", r.used, r.reason, r.fields)
	}
}
