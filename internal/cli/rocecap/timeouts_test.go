package rocecap_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// perftestTimeout is the local ACK timeout that perftest sets unless it is told
// otherwise: 4.096 us times two to the power of 14.
const perftestTimeout = 4096 * time.Nanosecond << 14

// stepsBack lists the requests of a capture of one conversation whose PSN is not
// behind the one before, by the time since the last answer.
func stepsBack(t *testing.T, file string) (waits []time.Duration) {
	t.Helper()
	args := strings.Fields("-T fields -E occurrence=f -e frame.time_relative -e infiniband.bth.opcode -e infiniband.bth.psn -r")
	out, err := exec.Command(testneed.Tool(t, "tshark"), append(args, file)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	begun, last, answered := false, wire.PSN(0), time.Duration(0)
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		seconds, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Duration(seconds * float64(time.Second))
		psn := wire.PSN(number(t, f[2]))
		if wire.Opcode(number(t, f[1])).Info().Response {
			answered = at
			continue
		}
		if begun && psn.Less(last) {
			waits = append(waits, at-answered)
		}
		begun, last = true, psn
	}
	return waits
}

// TestTimeoutsAreThoseThatTheTimesAllow counts the timeouts of lossy captures
// with other means than the tracker: going back is a timeout if nothing was
// answered for as long as perftest's timer runs.
func TestTimeoutsAreThoseThatTheTimesAllow(t *testing.T) {
	for name, want := range map[string]struct{ steps, timeouts int }{
		"rc_loss_write.pcap.gz": {12, 0},
		"rc_loss_read.pcap.gz":  {17, 0},
		"rc_loss_send.pcap.gz":  {17, 2},
	} {
		t.Run(name, func(t *testing.T) {
			waits, timeouts := stepsBack(t, pcaps(t, name)), 0
			for _, w := range waits {
				if w >= perftestTimeout {
					timeouts++
				}
			}
			if len(waits) != want.steps || timeouts != want.timeouts {
				t.Errorf("%d steps back, %d of them after a timeout; want %+v", len(waits), timeouts, want)
			}
			found := 0
			for _, f := range analyzeJSON(t, pcaps(t, name)).Findings {
				if f.Code == "RESEND-TIMEOUT" {
					found += f.Count
				}
			}
			if found != timeouts {
				t.Errorf("analyze finds %d timeouts, there are %d", found, timeouts)
			}
		})
	}
}
