package rocecap

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
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
		var err error
		if m.filter, err = filter.Compile(test.filter); err != nil {
			t.Fatal(err)
		}
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
