package roceinject_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
)

// TestLabReplayRunsARecordedPingPongAgainstALiveOne plays the client of
// pcaps/rc_pingpong.pcap (five times 4096 bytes each way) against the server
// that runs in a guest now.
func TestLabReplayRunsARecordedPingPongAgainstALiveOne(t *testing.T) {
	const ourQPN, ourPSN = 0x11, 0x123456
	p := startPingPong(t, ourQPN, ourPSN)
	l, port, guest, server, qpn, psn := p.lab, p.port, p.guest, p.server, p.qpn, p.psn
	recording := filepath.Join(testneed.Pcaps(t), "rc_pingpong.pcap")
	var code int
	var said, errors string
	err := l.Do(func() error {
		code, said, errors = replayed(
			recording, "-i", port.Name, "--as", "10.77.0.2", "--react", "--timeout", "10s", "--timing", "max",
			"--map", "mac:52:54:00:77:00:02="+port.MAC.String(), "--map", "mac:52:54:00:77:00:03="+guest.MAC.String(),
			"--map", "ip:10.77.0.2="+port.IP4.String(), "--map", "ip:10.77.0.3="+guest.IP4.String(),
			"--map", fmt.Sprintf("qp:0x11@10.77.0.2=%d", ourQPN), "--map", fmt.Sprintf("qp:0x11@10.77.0.3=%d", qpn),
			"--map", fmt.Sprintf("psn:0x11@10.77.0.2=%d", psn), "--map", fmt.Sprintf("psn:0x11@10.77.0.3=%d", ourPSN))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 || !strings.HasPrefix(said, "sent 25 packets ") || !strings.Contains(said, "of 25 answers 25 came") {
		t.Errorf("exit code %d, %s%s", code, said, errors)
	}
	if _, err := server.WaitFor(regexp.MustCompile(`5 iters in`), time.Minute); err != nil {
		t.Errorf("the server does not end: %v\n%s", err, server.Output())
	}
}
