package rocecap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// pfc is a PFC frame that stops a priority for so many quanta, or releases it.
func pfc(priority int, quanta byte, at int64) capfile.Record {
	frame := make([]byte, 60)
	copy(frame, []byte{1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 0xB, 0x88, 0x08, 1, 1, 0, 1 << priority})
	frame[18+2*priority] = quanta
	return capfile.Record{Data: frame, WireLen: len(frame), Time: at, HasTime: true, Link: wire.LinkEthernet, FCSLen: -1}
}

func TestTheLadderHasTheFlowControlBetweenThePackets(t *testing.T) {
	records := recordsOf(t, "rc_pingpong.pcap")
	for i := range records {
		records[i].Interface = 0
	}
	at := records[3].Time
	records = slices.Insert(records, 4, pfc(3, 9, at+10), pfc(3, 9, at+20), pfc(4, 9, at+30), pfc(3, 0, at+40))
	records = slices.Insert(records, 0, pfc(5, 9, records[0].Time))
	records = append(records, pfc(6, 9, records[len(records)-1].Time+10))
	out := mustRun(t, "flow", writeRecords(t, wire.LinkEthernet, records))
	var got []string
	for line := range strings.Lines(out) {
		if before, text, ok := strings.Cut(line, "|~~ "); ok {
			got = append(got, strings.Fields(before)[0]+" "+strings.TrimRight(text, "|~ \n"))
		}
	}
	want := []string{
		"6 02:00:00:00:00:0b stops priority 3",
		"8 02:00:00:00:00:0b stops priority 4",
		"9 02:00:00:00:00:0b releases priority 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q:\n%s", got, want, out)
	}
	out = mustRun(t, "flow", "--around", "10", "-c", "2", writeRecords(t, wire.LinkEthernet, records))
	if lines := strings.Split(out, "\n"); !strings.Contains(lines[2], "stops priority 4") || !strings.Contains(lines[3], "releases priority 3") {
		t.Errorf("got:\n%s", out)
	}
}
