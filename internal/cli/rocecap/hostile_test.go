package rocecap_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// harmed is a capture in which bytes of headers and times were changed.
func harmed(rnd *rand.Rand, records []capfile.Record) []capfile.Record {
	records = slices.Clone(records)
	for i := range records {
		rec := &records[i]
		rec.Interface = 0
		if rnd.IntN(20) == 0 {
			rec.Time = rnd.Int64N(1 << 62)
		}
		if rnd.IntN(3) > 0 || len(rec.Data) == 0 {
			continue
		}
		rec.Data = bytes.Clone(rec.Data)
		for range 1 + rnd.IntN(3) {
			rec.Data[rnd.IntN(min(len(rec.Data), 330))] = byte(rnd.Uint32())
		}
	}
	return records
}

// Whatever is in a capture, it is analyzed, and what was found can be written in all
// forms.
func TestACaptureWithAnythingInItIsAnalyzed(t *testing.T) {
	files := captured(t)
	var names []string
	for name, records := range files {
		if len(records) <= 100 && records[0].Link == wire.LinkEthernet {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	dir := t.TempDir()
	ways := [][]string{
		{"analyze", "--messages", "--findings"},
		{"analyze", "--json", "--messages", "--findings"},
		{"analyze", "-n", "0", "--html", filepath.Join(dir, "page.html")},
		{"analyze", "-n", "0", "--annotate", filepath.Join(dir, "annotated.pcapng")},
		{"flow", "--around", "3"},
	}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		name := names[rnd.IntN(len(names))]
		file := writeRecords(t, wire.LinkEthernet, harmed(rnd, files[name]))
		for _, way := range ways[:1+rnd.IntN(len(ways))] {
			args := append(slices.Clone(way), file)
			r := run(args...)
			if r.code != 0 && way[0] != "flow" || strings.Contains(r.err, "panic") {
				t.Fatalf("seed %d, %s: rocecap %s: exit code %d\n%s", seed, name, strings.Join(args, " "), r.code, r.err)
			}
			if slices.Contains(way, "--json") && !json.Valid([]byte(r.out)) {
				t.Fatalf("seed %d, %s: not JSON: %s", seed, name, r.out)
			}
		}
	}
}
