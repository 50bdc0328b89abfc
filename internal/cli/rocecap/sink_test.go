package rocecap_test

import (
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// A pcap file says once for all packets that they end with an FCS.
func TestWrittenCaptureStillSaysThatFramesEndWithAnFCS(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pcap")
	w, err := capfile.Create(in, capfile.Interface{Link: wire.LinkEthernet, FCSLen: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&capfile.Record{Link: wire.LinkEthernet, Data: make([]byte, 64), WireLen: 64, HasTime: true, Interface: -1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.pcap", "out.pcapng"} {
		out := filepath.Join(dir, name)
		mustRun(t, "decode", "-w", out, in)
		if got := mustRun(t, "decode", "-T", "fields", "-e", "eth.fcs", out); got != "0x00000000\n" {
			t.Errorf("%s: FCS %q", name, got)
		}
	}
}
