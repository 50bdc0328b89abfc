//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
)

const (
	upTimeout    = 6 * time.Minute // QEMU without KVM on a busy machine
	shortTimeout = time.Minute
)

// Lab is a running lab.
type Lab struct {
	script string // peerlab
	netns  string
	peers  []*Peer
}

// Main runs a package's tests and takes down the lab that they started. When
// the caller names a namespace in LAB_NETNS, the lab is the caller's and stays.
//
// The namespace and its owner are told to peerlab, and to Up, by the
// environment. peerlab removes the lab of an owner that was killed.
func Main(m *testing.M) {
	if os.Getenv("LAB_NETNS") != "" {
		os.Exit(m.Run())
	}
	pid := strconv.Itoa(os.Getpid())
	l := &Lab{netns: "rocelab" + pid}
	for name, value := range map[string]string{"LAB_NETNS": l.netns, "LAB_OWNER": pid} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if err := l.down(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// down removes the lab, if a test has started it.
func (l *Lab) down() error {
	if _, err := os.Stat(l.namespaceFile()); err != nil {
		return nil
	}
	script, err := findScript()
	if err != nil {
		return err
	}
	if out, err := exec.Command(script, "down").CombinedOutput(); err != nil {
		return fmt.Errorf("lab: the guests were not stopped: %w\n%s", err, out)
	}
	return nil
}

// findScript finds peerlab from the folder of a package, where its tests run.
func findScript() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "lab", "peerlab"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("lab: no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// Up returns a lab in which at least n guests run. The first test that asks
// waits for them to start; they stay for the next.
func Up(t testing.TB, n int) *Lab {
	t.Helper()
	if os.Getenv("ROCE_LAB") != "1" {
		t.Skip("SKIPPED: the lab's guests are slow to start; make test-lab, or ROCE_LAB=1, runs the tests that need them")
	}
	netns := os.Getenv("LAB_NETNS")
	if netns == "" {
		t.Fatal("lab: the package's TestMain has to be lab.Main")
	}
	script, err := findScript()
	if err != nil {
		t.Fatal(err)
	}
	l := &Lab{script: script, netns: netns}
	if out, err := l.peerlab(shortTimeout, "check"); err != nil {
		testneed.Missing(t, "lab", strings.TrimSpace(out))
	}
	if out, err := l.peerlab(upTimeout, "up", strconv.Itoa(n)); err != nil {
		t.Fatalf("lab: %v\n%s", err, out)
	}
	for i := 1; i <= n; i++ {
		l.peers = append(l.peers, newPeer(l, i))
	}
	return l
}

// peerlab runs the script to its end and returns what it printed.
func (l *Lab) peerlab(patience time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return run(ctx, l.command(ctx, args...))
}

// command prepares a run of the script. When the context ends first, the script
// is killed with its children, and by that what it runs in a guest.
func (l *Lab) command(ctx context.Context, args ...string) *exec.Cmd {
	return killable(exec.CommandContext(ctx, l.script, args...))
}

func (l *Lab) mustPeerlab(t testing.TB, args ...string) {
	t.Helper()
	if out, err := l.peerlab(shortTimeout, args...); err != nil {
		t.Fatalf("lab: peerlab %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func run(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// Peer returns guest i, counted from 1.
func (l *Lab) Peer(i int) *Peer { return l.peers[i-1] }

// Port is a network interface in the lab's namespace for a program under test.
// The kernel has no address on it and never answers: IP4 and IP6 are for the
// program to use.
type Port struct {
	Name     string
	MAC      net.HardwareAddr
	IP4, IP6 netip.Addr
}

// Port adds an interface, number n from 1 to 90, that is on the bridge until the
// test ends.
func (l *Lab) Port(t testing.TB, n int, bridge string) Port {
	t.Helper()
	l.mustPeerlab(t, "port", strconv.Itoa(n), bridge)
	t.Cleanup(func() { l.mustPeerlab(t, "unport", strconv.Itoa(n)) })
	return Port{
		Name: "port" + strconv.Itoa(n),
		MAC:  net.HardwareAddr{0x52, 0x54, 0, 0x77, 1, byte(n)},
		IP4:  netip.AddrFrom4([4]byte{10, 77, 0, byte(100 + n)}),
		IP6:  netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x77, 13: 1, 15: byte(n)}),
	}
}

// Command prepares a program to run in the lab's namespace. When the context
// ends first it is killed with its children.
func (l *Lab) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return killable(exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", l.netns, name}, args...)...))
}
