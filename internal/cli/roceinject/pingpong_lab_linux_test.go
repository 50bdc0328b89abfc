package roceinject_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/rocecap/rocecap/lab"
)

// pingPong is a server of ibv_rc_pingpong that runs in a guest and has been told
// of a queue pair of ours.
type pingPong struct {
	lab      *lab.Lab
	port     lab.Port
	guest    *lab.Peer
	server   *lab.Proc
	qpn, psn int // the server's
}

// startPingPong starts the server, for five messages, and meets it.
func startPingPong(t *testing.T, ourQPN, ourPSN int) *pingPong {
	t.Helper()
	l := lab.Up(t, 1)
	p := &pingPong{lab: l, port: l.Port(t, 1, "br0"), guest: l.Peer(1)}
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Nobody answers for our address; the guest asks before it connects.
	p.guest.MustRun(patience, t, fmt.Sprintf("ip neigh replace %v lladdr %v dev eth0", p.port.IP4, p.port.MAC))
	t.Cleanup(func() { p.guest.MustRun(context.Background(), t, fmt.Sprintf("ip neigh del %v dev eth0", p.port.IP4)) })
	p.server = p.guest.Start(t, "stdbuf -oL ibv_rc_pingpong -d rxe0 -g 1 -n 5")
	if _, err := p.server.WaitFor(regexp.MustCompile(`local address`), time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := l.Do(func() (err error) {
		p.qpn, p.psn, err = meetPingPong(p.guest.IP4, p.port.IP4, ourQPN, ourPSN)
		return err
	}); err != nil {
		t.Fatalf("%v\n%s", err, p.server.Output())
	}
	return p
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
