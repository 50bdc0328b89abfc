package rocecap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// trigger is what a recording is made around: a finding of some kinds, or more of
// them in a second than a number.
type trigger struct {
	name  string
	kinds []any
	above int // 0: each fires

	last   int64              // the part of a second in which there was one last
	counts [partsOfSecond]int // those of the last second, by its parts
	sum    int
}

// partsOfSecond is how finely the last second is told.
const partsOfSecond = 100

// groups are the names for several codes. A trigger can be any code, too.
var groups = map[string]func(analysis.Code) bool{
	"nak":     func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "NAK-") },
	"rnr":     func(c analysis.Code) bool { return c.Name == "RNR-NAK" },
	"timeout": func(c analysis.Code) bool { return c.Name == "RESEND-TIMEOUT" },
	"resend":  func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "RESEND-") },
	"pause":   func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "PFC-") || c.Name == "PAUSE-PLAIN" },
	"cm":      func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "CM-") },
	"iwarp":   func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "IW-") },
	"icrc":    func(c analysis.Code) bool { return strings.HasPrefix(c.Name, "ICRC-") },
	"cnp":     func(c analysis.Code) bool { return c.Name == "CNP" },
	"ce":      func(c analysis.Code) bool { return c.Name == "CE-MARK" },
	"error":   func(c analysis.Code) bool { return c.Grade == analysis.Error },
	"warning": func(c analysis.Code) bool { return c.Grade >= analysis.Warning },
}

// parseTriggers reads texts such as "nak,cnp-rate>1000".
func parseTriggers(texts []string) (list []*trigger, err error) {
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			t, err := parseTrigger(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
	}
	return list, nil
}

func parseTrigger(text string) (*trigger, error) {
	t := &trigger{name: text}
	name := text
	if rate, number, ok := strings.Cut(text, "-rate>"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--trigger %s: want a number of findings a second, at least 1", text)
		}
		name, t.above = rate, n
	}
	is := groups[strings.ToLower(name)]
	if is == nil {
		is = func(c analysis.Code) bool { return strings.EqualFold(c.Name, name) }
	}
	for _, c := range analysis.Codes() {
		if is(c) {
			t.kinds = append(t.kinds, c.Kind)
		}
	}
	if len(t.kinds) == 0 {
		return nil, fmt.Errorf("--trigger %s: want %s, a code that rocecap explain lists, or one of these and -rate>N", text, strings.Join(groupNames(), ", "))
	}
	return t, nil
}

func groupNames() (names []string) {
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// fires reports whether a finding is one that a recording is made around.
func (t *trigger) fires(kind any, now int64) bool {
	if !slices.Contains(t.kinds, kind) {
		return false
	}
	if t.above == 0 {
		return true
	}
	t.pass(now / (int64(time.Second) / partsOfSecond))
	t.counts[t.last%partsOfSecond]++
	t.sum++
	return t.sum > t.above
}

// pass forgets what is a second ago, now that it is a part of a second. When that is
// before the last one, as when a clock is set back, what there is counts as then.
func (t *trigger) pass(part int64) {
	if part-t.last >= partsOfSecond || t.last-part >= partsOfSecond {
		t.counts, t.sum, t.last = [partsOfSecond]int{}, 0, part
	}
	for ; t.last < part; t.last++ {
		oldest := &t.counts[(t.last+1)%partsOfSecond]
		t.sum -= *oldest
		*oldest = 0
	}
}
