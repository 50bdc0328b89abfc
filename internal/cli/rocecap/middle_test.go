package rocecap_test

import (
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// The requester of rc_loss_write never waited for its timer. A capture of it that
// begins in the middle of losses has no answer at first to what was sent once.
func TestACaptureThatBeginsInTheMiddleBlamesNoTimer(t *testing.T) {
	records := captured(t)["rc_loss_write.pcap.gz"]
	timers, naks := 0, 0
	for start := 20; start < 1000; start += 61 {
		path := writeRecords(t, wire.LinkEthernet, records[start:])
		for _, f := range foundIn(t, path).Findings {
			switch f.Code {
			case "RESEND-TIMEOUT":
				timers += f.Count
			case "RESEND-NAK":
				naks += f.Count
			}
		}
	}
	if timers > 1 || naks < 100 {
		t.Errorf("%d timeouts, and sent again %d times after a NAK", timers, naks)
	}
}

// Neither a NAK nor an RNR NAK is in a capture of what the requester sends. Of the
// four times that rc_loss_send waits for more than 50 ms, two end by a NAK.
func TestACaptureOfRequestsAloneBlamesNoTimer(t *testing.T) {
	for file, long := range map[string]int{"rc_loss_write.pcap.gz": 0, "rc_loss_send.pcap.gz": 4, "rc_loss_read.pcap.gz": 0, "py_rnrok.pcap": 0} {
		got := map[string]int{}
		for _, f := range foundIn(t, onlyFrom(t, file, 2)).Findings {
			got[f.Code] += f.Count
		}
		if got["RESEND-TIMEOUT"] != long || got["RESEND-UNSEEN"] == 0 {
			t.Errorf("%s: %v, want %d timeouts", file, got, long)
		}
	}
}

func TestACaptureOfAnswersAloneHasTheNAKs(t *testing.T) {
	for file, want := range map[string]string{"rc_loss_write.pcap.gz": "NAK-SEQUENCE", "py_badrkey.pcap": "NAK-ACCESS", "py_rnrok.pcap": "RNR-NAK"} {
		whole, alone := 0, 0
		for _, f := range foundIn(t, pcaps(t, file)).Findings {
			if f.Code == want {
				whole += f.Count
			}
		}
		for _, f := range foundIn(t, onlyFrom(t, file, 3)).Findings {
			if f.Code == want {
				alone += f.Count
			}
		}
		if alone == 0 || alone != whole {
			t.Errorf("%s: %s %d times, in the whole capture %d times", file, want, alone, whole)
		}
	}
}

// onlyFrom is what one of the two hosts of a recorded capture has sent.
func onlyFrom(t *testing.T, file string, host byte) string {
	t.Helper()
	var kept []capfile.Record
	for _, rec := range captured(t)[file] {
		if rec.Data[29] == host {
			kept = append(kept, rec)
		}
	}
	return writeRecords(t, wire.LinkEthernet, kept)
}
