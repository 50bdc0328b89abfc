package rocecap

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/testneed"
)

// TestTheDetailOfAnIWARPConnectionListsItsPackets looks at a connection of which half
// the packets have come: the list then goes on, and is what decode prints.
func TestTheDetailOfAnIWARPConnectionListsItsPackets(t *testing.T) {
	file := filepath.Join(testneed.Pcaps(t), "iw_rping.pcap")
	var listed bytes.Buffer
	if code := Main([]string{"decode", "-t", "a", file}, Streams{Out: &listed, Err: &listed}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, listed.String())
	}
	m := newMonitor()
	m.backlog = &backlog{span: time.Hour, limit: 1 << 20}
	v := &viewer{options: &liveOptions{}, monitor: m, watch: newWatch(m)}
	records := captest.Records(t, file)
	half := len(records) / 2
	m.take(records[:half])
	s := v.watch.look(m.now)
	if len(s.Rows) != 2 || s.Rows[0].Service != "iWARP" {
		t.Fatalf("rows: %+v", s.Rows)
	}
	id := s.Rows[0].ID
	lines := func() []string { return strings.Split(strings.TrimSuffix(listed.String(), "\n"), "\n") }
	wantLines(t, v.detail(id, 0), lines()[:half])
	m.take(records[half:])
	d := v.detail(id, 0)
	wantLines(t, d, lines())
	if !strings.Contains(d.Analysis, "MPA revision 2") || !strings.Contains(d.Analysis, "READ") || strings.Contains(d.Analysis, "packets,") {
		t.Errorf("it tells:\n%s", d.Analysis)
	}
	if v.leave(); m.stream != nil {
		t.Error("its packets are remembered when nobody looks any more")
	}
	if v.detail(id+1, 0) != nil {
		t.Error("there is a detail of what is not there")
	}
}

func wantLines(t *testing.T, d *live.Detail, want []string) {
	t.Helper()
	if d == nil || !d.Stream {
		t.Fatalf("detail: %+v", d)
	}
	if got, want := strings.Join(d.Lines, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAFindingOfAnIWARPConnectionHasTheNumberOfItsRow plays a capture with findings
// of iWARP.
func TestAFindingOfAnIWARPConnectionHasTheNumberOfItsRow(t *testing.T) {
	m := newMonitor()
	w := newWatch(m)
	m.take(captest.Records(t, filepath.Join(testneed.Pcaps(t), "iw_read_bw.pcap")))
	s := w.look(m.now)
	if len(s.Findings) == 0 {
		t.Fatal("nothing is found")
	}
	for _, f := range s.Findings {
		at := slices.IndexFunc(s.Rows, func(r live.Row) bool { return r.ID == f.ID && r.End == f.End })
		if at < 0 || f.Where != s.Rows[at].From+" to "+s.Rows[at].To {
			t.Errorf("%+v is about none of %+v", f, s.Rows)
		}
	}
}
