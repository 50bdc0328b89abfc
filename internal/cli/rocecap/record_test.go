package rocecap

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestRecordingAllocatesNothingPerPacket(t *testing.T) {
	ring, err := capfile.NewRing(os.DevNull, capfile.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.AddInterface(capfile.Interface{Name: "eth0", Link: wire.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	r := &recorder{options: &recordOptions{}, ring: ring, frame: nic.Frame{Data: make([]byte, 98), WireLen: 98, Time: 1}}
	allocs := testing.AllocsPerRun(20_000, func() {
		r.record = recordOf(&r.frame, 0)
		if err := r.one(&r.record); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0.01 || r.written < 20_000 {
		t.Errorf("%g allocations for each of %d packets", allocs, r.written)
	}
}

func TestRecordDoesNotWriteToATerminal(t *testing.T) {
	var said bytes.Buffer
	code := Main([]string{"record", "-i", "none0", "-w", "-"}, Streams{Out: io.Discard, Err: &said, OutTTY: true})
	if code != 2 || !strings.Contains(said.String(), "-w -: the standard output is a terminal") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
}
