package roceinject_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/lab"
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

// stranger is a lab in which a guest has our address in its neighbour table:
// nobody answers for it, and the guest asks before it connects.
func stranger(t *testing.T) (*lab.Lab, lab.Port, *lab.Peer) {
	t.Helper()
	l := lab.Up(t, 1)
	port, guest := l.Port(t, 1, "br0"), l.Peer(1)
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	guest.MustRun(patience, t, fmt.Sprintf("ip neigh replace %v lladdr %v dev eth0", port.IP4, port.MAC))
	t.Cleanup(func() { guest.MustRun(context.Background(), t, fmt.Sprintf("ip neigh del %v dev eth0", port.IP4)) })
	return l, port, guest
}

// replayedAs plays what the host with the last byte of its addresses said in a
// recording between 10.77.0.2 and 10.77.0.3; the guest is the other one.
func replayedAs(t *testing.T, l *lab.Lab, port lab.Port, guest *lab.Peer, recording string, us, them byte) (code int, said string) {
	t.Helper()
	var errors string
	err := l.Do(func() error {
		code, said, errors = replayed(
			filepath.Join(testneed.Pcaps(t), recording),
			"-i", port.Name, "--as", fmt.Sprintf("10.77.0.%d", us), "--react", "--timeout", "20s", "--timing", "max",
			"--map", fmt.Sprintf("mac:52:54:00:77:00:%02x=%v", us, port.MAC), "--map", fmt.Sprintf("mac:52:54:00:77:00:%02x=%v", them, guest.MAC),
			"--map", fmt.Sprintf("ip:10.77.0.%d=%v", us, port.IP4), "--map", fmt.Sprintf("ip:10.77.0.%d=%v", them, guest.IP4))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return code, said + errors
}

// TestLabReplayConnectsToALiveServerAndRunsARecordedRping plays the client of
// pcaps/rping_rxe.pcap from its REQ to the disconnection, against an rping -s
// that runs now. Nothing tells the server's queue pair, PSN and communication ID
// but its REP.
func TestLabReplayConnectsToALiveServerAndRunsARecordedRping(t *testing.T) {
	l, port, guest := stranger(t)
	server := guest.Start(t, fmt.Sprintf("stdbuf -oL rping -s -d -v -S 500 -a %v", guest.IP4))
	if _, err := server.WaitFor(regexp.MustCompile(`rdma_listen`), time.Minute); err != nil {
		t.Fatal(err)
	}
	if code, said := replayedAs(t, l, port, guest, "rping_rxe.pcap", 2, 3); code != 0 || !strings.Contains(said, " 0 differences") {
		t.Errorf("exit code %d, %s\n%s", code, said, server.Output())
	}
	if _, err := server.WaitFor(regexp.MustCompile(`DISCONNECT EVENT`), time.Minute); err != nil {
		t.Errorf("the server does not see the end: %v\n%s", err, server.Output())
	}
}

// TestLabReplayAnswersALiveClient plays the server of pcaps/ucmatose.pcap (two
// connections, three SENDs of 300 bytes each way on both) for a client that
// connects now. Its requests tell its queue pairs, PSNs, communication and
// transaction IDs.
func TestLabReplayAnswersALiveClient(t *testing.T) {
	l, port, guest := stranger(t)
	client := guest.Start(t, fmt.Sprintf("stdbuf -oL ucmatose -s %v -c 2 -C 3 -S 300", port.IP4))
	if code, said := replayedAs(t, l, port, guest, "ucmatose.pcap", 3, 2); code != 0 || !strings.Contains(said, " 0 differences") {
		t.Errorf("exit code %d, %s\n%s", code, said, client.Output())
	}
	if _, err := client.WaitFor(regexp.MustCompile(`return status 0`), time.Minute); err != nil {
		t.Errorf("the client does not end well: %v\n%s", err, client.Output())
	}
}

// TestLabReplayFindsALiveDatagramService plays the client of pcaps/udaddy.pcap
// (four datagrams of 200 bytes each way); the reply to its SIDR_REQ tells the
// queue pair that they go to. What is in the server's datagrams is whatever its
// memory held, so that the contents differ.
func TestLabReplayFindsALiveDatagramService(t *testing.T) {
	l, port, guest := stranger(t)
	server := guest.Start(t, fmt.Sprintf("stdbuf -oL udaddy -b %v -C 4 -S 200", guest.IP4))
	if _, err := server.WaitFor(regexp.MustCompile(`starting server`), time.Minute); err != nil {
		t.Fatal(err)
	}
	if code, said := replayedAs(t, l, port, guest, "udaddy.pcap", 2, 3); code == 2 || !strings.Contains(said, "of 5 answers 5 came, and 0 ") {
		t.Errorf("exit code %d, %s\n%s", code, said, server.Output())
	}
	if _, err := server.WaitFor(regexp.MustCompile(`return status 0`), time.Minute); err != nil {
		t.Errorf("the server does not end well: %v\n%s", err, server.Output())
	}
}
