package rocecap

import (
	"bytes"
	"errors"
	"io"
	"math"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/testneed"
)

// TestMonitorFiltersByWhatPacketsMeanTogether has filters that ask for units in a
// TCP stream, and for what a CM exchange says of a queue pair: as many packets are
// followed as decode lists.
func TestMonitorFiltersByWhatPacketsMeanTogether(t *testing.T) {
	for _, test := range []struct{ file, filter string }{
		{"iw_rping.pcap", "iwarp_rdma.opcode == 3"},
		{"iw_rping.pcap", "iwarp_mpa"},
		{"nvme_rdma.pcap.gz", "nvme.cmd.opc"},
	} {
		file := filepath.Join(testneed.Pcaps(t), test.file)
		var listed bytes.Buffer
		if code := Main([]string{"decode", "-Y", test.filter, file}, Streams{Out: &listed, Err: &listed}); code != 0 {
			t.Fatalf("exit code %d\n%s", code, listed.String())
		}
		m := newMonitor()
		chosen, err := filter.Compile(test.filter)
		if err != nil {
			t.Fatal(err)
		}
		m.follow(chosen)
		reader, err := capfile.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for {
			batch, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			m.take(batch.Records)
			batch.Release()
		}
		reader.Close()
		if got, want := m.tracker.Counts.Seen, bytes.Count(listed.Bytes(), []byte{'\n'}); got != want || got == 0 || got == m.number {
			t.Errorf("%s -Y %s: %d of %d packets are followed, decode lists %d", test.file, test.filter, got, m.number, want)
		}
	}
}

// TestTheCollectorIsToldWhatMemoryThereIs has no limit, and one that the user chose.
func TestTheCollectorIsToldWhatMemoryThereIs(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	restore := boundMemory(64 << 20)
	if got := debug.SetMemoryLimit(-1); got != 288<<20 {
		t.Errorf("limit %d, want 288 MiB", got)
	}
	if restore(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("the limit stays when nothing is followed any more")
	}
	debug.SetMemoryLimit(1 << 30)
	restore = boundMemory(0)
	if got := debug.SetMemoryLimit(-1); got != 1<<30 {
		t.Errorf("the user's limit became %d", got)
	}
	restore()
}
