package roceinject_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
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
	l := lab.Up(t, 1)
	port, guest := l.Port(t, 1, "br0"), l.Peer(1)
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Nobody answers for our address; the guest asks before it connects.
	guest.MustRun(patience, t, fmt.Sprintf("ip neigh replace %v lladdr %v dev eth0", port.IP4, port.MAC))
	t.Cleanup(func() { guest.MustRun(context.Background(), t, fmt.Sprintf("ip neigh del %v dev eth0", port.IP4)) })
	server := guest.Start(t, "stdbuf -oL ibv_rc_pingpong -d rxe0 -g 1 -n 5")
	if _, err := server.WaitFor(regexp.MustCompile(`local address`), time.Minute); err != nil {
		t.Fatal(err)
	}
	var qpn, psn int
	if err := l.Do(func() (err error) {
		qpn, psn, err = meetPingPong(guest.IP4, port.IP4, ourQPN, ourPSN)
		return err
	}); err != nil {
		t.Fatalf("%v\n%s", err, server.Output())
	}
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

// meetPingPong exchanges queue pair numbers with ibv_rc_pingpong as its client
// does: LID, QPN, PSN and GID in hexadecimal over TCP, then one word more
// (rdma-core, libibverbs/examples/rc_pingpong.c).
func meetPingPong(server, self netip.Addr, ourQPN, ourPSN int) (qpn, psn int, err error) {
	const patience = 30 * time.Second
	var conn net.Conn
	for end := time.Now().Add(patience); conn == nil; { // it listens a little after it has said its address
		conn, err = net.DialTimeout("tcp", netip.AddrPortFrom(server, 18515).String(), patience)
		if err != nil && time.Now().After(end) {
			return 0, 0, err
		}
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, 0, err
	}
	gid := self.As16()
	ours := fmt.Sprintf("%04x:%06x:%06x:%x", 0, ourQPN, ourPSN, gid) + "\x00"
	if _, err := io.WriteString(conn, ours); err != nil {
		return 0, 0, err
	}
	theirs := make([]byte, len(ours))
	if _, err := io.ReadFull(conn, theirs); err != nil {
		return 0, 0, err
	}
	var lid int
	if _, err := fmt.Sscanf(string(theirs), "%x:%x:%x:", &lid, &qpn, &psn); err != nil {
		return 0, 0, fmt.Errorf("%q: %w", theirs, err)
	}
	_, err = io.WriteString(conn, "done\x00")
	return qpn, psn, err
}
