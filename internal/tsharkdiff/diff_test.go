package tsharkdiff

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"
)

func TestExplore(t *testing.T) {
	s := findTshark(t)
	names := commonFields(s.fieldNames(t))
	extra := []string{"frame.protocols", "_ws.malformed"}
	all := append(slices.Clone(names), extra...)
	count := map[string]int{}
	first := map[string]string{}
	packets, values := 0, 0
	for _, file := range captures(t) {
		file = readable(t, file)
		start := time.Now()
		theirs := s.decode(t, file, all)
		mid := time.Now()
		own := ours(t, file, names)
		t.Log(file, mid.Sub(start), time.Since(mid))
		if len(own) != len(theirs) {
			t.Errorf("%s: %d rows, tshark %d", file, len(own), len(theirs))
			continue
		}
		op := slices.Index(names, "infiniband.bth.opcode")
		for i, row := range own {
			packets++
			for k := range row {
				if row[k] != "" || theirs[i][k] != "" {
					values++
				}
				if row[k] == theirs[i][k] {
					continue
				}
				kind := "differ"
				if row[k] == "" {
					kind = "ours empty"
				} else if theirs[i][k] == "" {
					kind = "theirs empty"
				}
				key := names[k] + " " + kind
				count[key]++
				if count[key] <= 3 {
					first[key] += fmt.Sprintf("    %s:%d op=%s\n        ours   %.200q\n        theirs %.200q  %s\n", filepath.Base(file), i+1, row[op], row[k], theirs[i][k], theirs[i][len(names)])
				}
			}
		}
	}
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	f, _ := os.Create("/tmp/explore.txt")
	for _, k := range keys {
		fmt.Fprintf(f, "%s  %d\n%s", k, count[k], first[k])
	}
	f.Close()
	t.Logf("%d packets, %d values, %d kinds of difference", packets, values, len(keys))
}
