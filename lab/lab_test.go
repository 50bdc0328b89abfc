//go:build linux

package lab

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
	t.Cleanup(cancel)
	return ctx
}

func TestLabGuestsHaveBothDevicesAndTheAddressesThatPeerTells(t *testing.T) {
	l := Up(t, 2)
	for i := 1; i <= 2; i++ {
		p := l.Peer(i)
		out := p.MustRun(patience(t), t, "rdma link; ip address show dev eth0")
		for _, want := range []string{
			"link rxe0/1 state ACTIVE", "link siw0/1 state ACTIVE", p.MAC.String(), p.IP4.String(), p.IP6.String(),
		} {
			if !strings.Contains(out, want) {
				t.Errorf("guest %d does not tell of %q:\n%s", i, want, out)
			}
		}
	}
}

func TestLabRunTellsOutputAndExitCode(t *testing.T) {
	p := Up(t, 1).Peer(1)
	out, err := p.Run(patience(t), `printf 'ü\0no newline'; echo error >&2; exit 7`)
	if want := "ü\x00no newlineerror\n"; out != want {
		t.Errorf("output %q, want %q", out, want)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("err = %v, want exit code 7", err)
	}
}

// ibv_rc_pingpong prints its queue pair and waits; WaitFor must see that.
func TestLabWaitForSeesALineOfAProgramThatWaits(t *testing.T) {
	proc := Up(t, 1).Peer(1).Start(t, "ibv_rc_pingpong -d rxe0 -g 1")
	if _, err := proc.WaitFor(regexp.MustCompile(`local address:.* QPN (0x[0-9a-f]+),`), shortTimeout); err != nil {
		t.Error(err)
	}
}

func TestLabStopEndsTheCommandInTheGuest(t *testing.T) {
	p := Up(t, 1).Peer(1)
	proc := p.Start(t, "echo started; sleep 4711; echo over")
	if _, err := proc.WaitFor(regexp.MustCompile(`started`), shortTimeout); err != nil {
		t.Fatal(err)
	}
	proc.Stop()
	if out, err := p.Run(patience(t), "pgrep -x sleep"); err == nil {
		t.Errorf("sleep still runs as %s", out)
	}
}

func TestLabRunEndsWithItsContext(t *testing.T) {
	p := Up(t, 1).Peer(1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Run(ctx, "sleep 4711"); err != context.DeadlineExceeded {
		t.Errorf("err = %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestLabFilesGoInAndOut(t *testing.T) {
	p := Up(t, 1).Peer(1)
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	script := "#!/bin/sh\necho runs # " + strings.Repeat("\x00\xff", 100_000) + "\n"
	if err := os.WriteFile(in, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Put(t, in, "/tmp/it's here")
	p.Get(t, "/tmp/it's here", out)
	if got, err := os.ReadFile(out); err != nil || string(got) != script {
		t.Errorf("%d bytes (%v) came back of %d", len(got), err, len(script))
	}
	if got, err := p.Run(patience(t), `test -x "/tmp/it's here"`); err != nil {
		t.Errorf("the mode was not copied: %v %s", err, got)
	}
}

// A socket that was opened in the namespace reaches a guest, which answers.
func TestLabDoOpensSocketsOnTheBridge(t *testing.T) {
	l := Up(t, 1)
	proc := l.Peer(1).Start(t, "echo listening; exec busybox nc -l -p 7777 -e /bin/cat")
	if _, err := proc.WaitFor(regexp.MustCompile(`listening`), shortTimeout); err != nil {
		t.Fatal(err)
	}
	addr := netip.AddrPortFrom(l.Peer(1).IP4, 7777).String()
	var conn net.Conn
	dial := func() (err error) { // nc may not listen yet
		return l.Do(func() error { conn, err = net.DialTimeout("tcp", addr, time.Second); return err })
	}
	err := dial()
	for deadline := time.Now().Add(shortTimeout); err != nil && time.Now().Before(deadline); {
		err = dial()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("echo")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := conn.Read(got); err != nil || string(got) != "echo" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestLabPortIsOnTheBridgeUntilTheTestEnds(t *testing.T) {
	l := Up(t, 1)
	t.Run("inner", func(t *testing.T) {
		port := l.Port(t, 3, mainBridge)
		err := l.Do(func() error {
			ifc, err := net.InterfaceByName(port.Name)
			if err != nil {
				return err
			}
			if ifc.HardwareAddr.String() != port.MAC.String() || ifc.Flags&net.FlagUp == 0 {
				t.Errorf("%s is %v %v, want %v and up", port.Name, ifc.HardwareAddr, ifc.Flags, port.MAC)
			}
			if addrs, err := ifc.Addrs(); err != nil || len(addrs) != 0 {
				t.Errorf("the kernel has addresses on it: %v %v", addrs, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	err := l.Do(func() error { _, err := net.InterfaceByName("port3"); return err })
	if err == nil {
		t.Error("the port is still there after its test")
	}
}

// What is split is apart: the guests do not reach each other until something
// sits between the bridges.
func TestLabAttachPutsAGuestOnAnotherBridge(t *testing.T) {
	l := Up(t, 2)
	ping := "ping -c 1 -W 1 " + l.Peer(2).IP4.String()
	t.Run("apart", func(t *testing.T) {
		l.Peer(2).Attach(t, "br1")
		if out, err := l.Peer(1).Run(patience(t), ping); err == nil {
			t.Errorf("guest 1 reaches guest 2:\n%s", out)
		}
		// Two ports, one on each bridge, and here a bridge in place of the
		// program under test.
		one, two := l.Port(t, 1, "br0"), l.Port(t, 2, "br1")
		ctx := patience(t)
		out, err := run(ctx, l.Command(ctx, "sh", "-c", "ip link add middle type bridge && ip link set middle up && "+
			"ip link set "+one.Name+" master middle && ip link set "+two.Name+" master middle"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Cleanup(func() {
			ctx := context.Background()
			if out, err := run(ctx, l.Command(ctx, "ip", "link", "del", "middle")); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		l.Peer(1).MustRun(patience(t), t, ping)
	})
	l.Peer(1).MustRun(patience(t), t, ping)
}
