package roceinject_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/lab"
)

// peerPatience is for one run of a program in a guest, which is slow.
const peerPatience = 2 * time.Minute

// peerLab is a guest, whose programs are one end, and a port for the other.
type peerLab struct {
	lab   *lab.Lab
	port  lab.Port
	guest *lab.Peer
}

func newPeerLab(t *testing.T) *peerLab {
	t.Helper()
	l := lab.Up(t, 1)
	return &peerLab{l, l.Port(t, 1, "br0"), l.Peer(1)}
}

// family is an IP version: our address, and the guest's GID.
type family struct {
	name  string
	index int // of the guest's GID of it
	own   func(lab.Port) netip.Addr
}

var (
	ipv4 = family{"IPv4", 1, func(p lab.Port) netip.Addr { return p.IP4 }}
	ipv6 = family{"IPv6", 2, func(p lab.Port) netip.Addr { return p.IP6 }}
)

// run runs our end in the lab's namespace and returns what it printed.
func (p *peerLab) run(f family, args ...string) (string, error) {
	var out, errs bytes.Buffer
	args = append(args, "-i", p.port.Name, "--ip", f.own(p.port).String(), "--mac", p.port.MAC.String(),
		"--deadline", peerPatience.String(), "--wait", peerPatience.String(), "--timeout", "17") // guests are slow
	err := p.lab.Do(func() error { return roceinject.RunPeer(args, cli.Streams{Out: &out, Err: &errs}) })
	return out.String() + errs.String(), err
}

// asClient runs a program as a server in the guest, and us as its client. It
// returns what both printed.
func (p *peerLab) asClient(t *testing.T, f family, program string, args ...string) (ours, theirs string) {
	t.Helper()
	server := p.guest.Start(t, program)
	defer server.Stop()
	ours, err := p.run(f, append(args, p.guest.IP4.String())...)
	if err != nil && !onlyTheLastAckWasLost(err) {
		t.Fatalf("our client: %v\n%s\nthe guest's %s:\n%s", err, ours, program, server.Output())
	}
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	theirs, err = server.Wait(ctx)
	if err != nil {
		t.Fatalf("the guest's %s: %v\n%s\nour client:\n%s", program, err, theirs, ours)
	}
	return ours, theirs
}

// asServer is asClient with the parts exchanged.
func (p *peerLab) asServer(t *testing.T, f family, program string, args ...string) (ours, theirs string) {
	t.Helper()
	ours, theirs, err := p.asServerThatMayFail(t, f, program, args...)
	if err != nil {
		t.Fatalf("our server: %v\n%s\nthe guest's %s:\n%s", err, ours, program, theirs)
	}
	return ours, theirs
}

// asServerThatMayFail is asServer, but for what to do when our side fails.
func (p *peerLab) asServerThatMayFail(t *testing.T, f family, program string, args ...string) (ours, theirs string, failed error) {
	t.Helper()
	wait := meanwhile(func() (string, error) { return p.run(f, args...) })
	p.awaitListener(t)
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	theirs, err := p.guest.Run(ctx, program+" 10.77.0.1")
	ours, failed = wait()
	if err != nil {
		t.Fatalf("the guest's %s: %v\n%s\nour server: %v\n%s", program, err, theirs, failed, ours)
	}
	return ours, theirs, failed
}

// meanwhile runs one side while the other one does something else; wait returns
// what it has printed.
func meanwhile(run func() (string, error)) (wait func() (out string, err error)) {
	var out string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = run()
	}()
	return func() (string, error) {
		<-done
		return out, err
	}
}

// onlyTheLastAckWasLost is how an end fails that has sent and received all when
// the last acknowledgement is lost: the other end has gone by then, and nobody can
// send it again.
func onlyTheLastAckWasLost(err error) bool {
	return err != nil && strings.Contains(err.Error(), "99 messages sent and 100 received: failed status 12")
}

// awaitListener waits until somebody in the namespace listens on TCP port 18515.
func (p *peerLab) awaitListener(t *testing.T) {
	t.Helper()
	listening := regexp.MustCompile(`:4853 0+:0000 0A `)
	end := time.Now().Add(peerPatience)
	for {
		var tables []byte
		if err := p.lab.Do(func() error {
			for _, name := range []string{"tcp", "tcp6"} {
				table, err := os.ReadFile("/proc/thread-self/net/" + name)
				if err != nil {
					return err
				}
				tables = append(tables, table...)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if listening.Match(tables) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("our server does not listen")
		}
	}
}

// bothRoles runs a test of each role.
func (p *peerLab) bothRoles(t *testing.T, f family, program string, args []string, check func(t *testing.T, ours, theirs string)) {
	t.Run("client", func(t *testing.T) {
		ours, theirs := p.asClient(t, f, program, args...)
		check(t, ours, theirs)
	})
	t.Run("server", func(t *testing.T) {
		ours, theirs := p.asServer(t, f, program, args...)
		check(t, ours, theirs)
	})
}

// TestLabPeerPlaysPingPong plays each ping-pong with the original, whose -c and
// ours check what comes back.
func TestLabPeerPlaysPingPong(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []struct {
		mode   string
		family family
		mtu    int
		size   int
	}{
		{"rc", ipv4, 256, 4096},
		{"rc", ipv6, 512, 4096},
		{"rc", ipv4, 1024, 4097},
		{"rc", ipv6, 2048, 20000},
		{"rc", ipv4, 4096, 1},
		{"rc", ipv6, 4096, 65536},
		{"uc", ipv4, 256, 4096},
		{"uc", ipv6, 4096, 4095},
		{"ud", ipv4, 0, 1024},
		{"ud", ipv6, 0, 4000},
		{"srq", ipv4, 1024, 4096},
		{"srq", ipv6, 4096, 4096},
	} {
		t.Run(fmt.Sprintf("%s/%s/MTU%d", test.mode, test.family.name, test.mtu), func(t *testing.T) {
			const iterations = 20
			flags := fmt.Sprintf(" -n %d -s %d -c", iterations, test.size)
			if test.mtu > 0 {
				flags += fmt.Sprintf(" -m %d", test.mtu)
			}
			program := fmt.Sprintf("ibv_%s_pingpong -d rxe0 -g %d%s", test.mode, test.family.index, flags)
			args := append([]string{"pingpong", test.mode}, strings.Fields(flags)...)
			p.bothRoles(t, test.family, program, args, func(t *testing.T, ours, theirs string) {
				checkPingPong(t, test.size, iterations, ours, theirs)
			})
		})
	}
}

var pingPongNumbers = regexp.MustCompile(`0x[0-9a-f]{6}|\d+\.\d\d`)

// checkPingPong wants both ends to have printed the same lines, but for the
// times, and each the addresses of the other.
func checkPingPong(t *testing.T, size, iterations int, ours, theirs string) {
	t.Helper()
	a, b := strings.Split(strings.TrimSpace(ours), "\n"), strings.Split(strings.TrimSpace(theirs), "\n")
	if len(a) != len(b) {
		t.Fatalf("ours:\n%s\ntheirs:\n%s", ours, theirs)
	}
	half := len(a)/2 - 1
	for i := range a {
		shape := func(line string) string {
			line, _, _ = strings.Cut(pingPongNumbers.ReplaceAllString(line, "#"), "GID")
			return strings.TrimSpace(line)
		}
		if shape(a[i]) != shape(b[i]) {
			t.Errorf("ours:   %s\ntheirs: %s", a[i], b[i])
		}
		if i < half { // local addresses, then as many remote ones
			mine, his := pingPongNumbers.FindAllString(a[i], 2), pingPongNumbers.FindAllString(b[half+i], 2)
			if fmt.Sprint(mine) != fmt.Sprint(his) {
				t.Errorf("we said %v, the guest heard %v", mine, his)
			}
		}
	}
	if want := fmt.Sprintf("%d bytes in ", 2*size*iterations); !strings.Contains(ours, want) {
		t.Errorf("no %q in\n%s", want, ours)
	}
	if strings.Contains(theirs, "invalid data") {
		t.Errorf("the guest found wrong data:\n%s", theirs)
	}
}

// TestLabPeerSurvivesLoss plays over a network that loses, repeats and reorders
// the guest's packets, and loses ours. Every message still comes back as it was
// sent.
func TestLabPeerSurvivesLoss(t *testing.T) {
	p := newPeerLab(t)
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	// TCP is spared: it is not what is tested, and slow to recover.
	p.guest.MustRun(ctx, t, "tc qdisc add dev eth0 root handle 1: prio && "+
		"tc qdisc add dev eth0 parent 1:3 handle 30: netem loss 5% duplicate 3% delay 2ms reorder 25% && "+
		"tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:3")
	t.Cleanup(func() { p.guest.MustRun(context.Background(), t, "tc qdisc del dev eth0 root") })
	flags := "-n 100 -s 10000 -m 1024 -c"
	args := append([]string{
		"pingpong", "rc", "--fault", "{match: {direction: forward}, probability: 0.05, drop: true}", "--seed", "1", "--linger", "3s",
	}, strings.Fields(flags)...)
	program := "ibv_rc_pingpong -d rxe0 -g 1 " + flags
	t.Run("client", func(t *testing.T) {
		ours, theirs := p.asClient(t, ipv4, program, args...)
		if strings.Contains(ours, "100 iters") { // else the last acknowledgement was lost
			checkPingPong(t, 10000, 100, ours, theirs)
		}
	})
	t.Run("server", func(t *testing.T) {
		ours, theirs, err := p.asServerThatMayFail(t, ipv4, program, args...)
		switch {
		case onlyTheLastAckWasLost(err):
			if strings.Contains(theirs, "invalid data") {
				t.Errorf("the guest found wrong data:\n%s", theirs)
			}
		case err != nil:
			t.Fatalf("our server: %v\n%s\nthe guest's:\n%s", err, ours, theirs)
		default:
			checkPingPong(t, 10000, 100, ours, theirs)
		}
	})
}

// perftestCase is one of perftest's tests, between addresses of a family.
type perftestCase struct {
	verb, kind string
	family     family
	flags      string // of both ends
}

func (c perftestCase) String() string {
	return fmt.Sprintf("%s_%s/%s/%s", c.verb, c.kind, c.family.name, strings.ReplaceAll(c.flags, " ", ""))
}

// commands are the guest's program, with flags of its own, and our arguments; both
// get more flags.
func (c perftestCase) commands(own, more string) (program string, args []string) {
	flags := c.flags + " " + more
	return fmt.Sprintf("ib_%s_%s -d rxe0 %s -F %s", c.verb, c.kind, own, flags),
		append([]string{"perftest", c.verb, c.kind}, strings.Fields(flags)...)
}

// TestLabPeerRunsPerftest runs each test with the original, and compares the
// tables that both print.
func TestLabPeerRunsPerftest(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []perftestCase{
		{"send", "bw", ipv4, "-m 4096"},
		{"write", "bw", ipv6, "-m 256 -s 5000"},
		{"read", "bw", ipv4, "-m 1024"},
		{"atomic", "bw", ipv6, ""},
		{"send", "lat", ipv6, "-m 512"},
		{"write", "lat", ipv4, "-m 2048 -s 3000"},
		{"read", "lat", ipv6, "-s 4096"},
		{"atomic", "lat", ipv4, ""},
		{"atomic", "lat", ipv6, "-A CMP_AND_SWAP"},
		{"write", "bw", ipv4, "-c UC -s 4096"},
		{"send", "lat", ipv6, "-c UC"},
		{"send", "lat", ipv4, "-c UD"},
		{"send", "bw", ipv6, "-c UD -s 1024"},
		{"send", "bw", ipv4, "-b -q 2 -s 8192"},
	} {
		t.Run(test.String(), func(t *testing.T) {
			program, args := test.commands(fmt.Sprintf("-x %d", test.family.index), "-n 20")
			p.bothRoles(t, test.family, program, args, checkPerftest)
		})
	}
}

// checkPerftest compares the lines that do not depend on the time or on the
// machine.
func checkPerftest(t *testing.T, ours, theirs string) {
	t.Helper()
	fixed := regexp.MustCompile(`(?m)^ (Connection type : \w+|Mtu             : .*|Number of qps   : \d+|#bytes.*|\d+ +\d+ )`)
	a, b := fixed.FindAllString(ours, -1), fixed.FindAllString(theirs, -1)
	if fmt.Sprint(a) != fmt.Sprint(b) && !oneMeasures(a, b) {
		t.Errorf("ours:\n%s\ntheirs:\n%s", ours, theirs)
	}
	address := regexp.MustCompile(`(local|remote) address: LID 0000 (.*)`)
	heard := map[string]bool{}
	for _, m := range address.FindAllStringSubmatch(theirs, -1) {
		heard[m[1]+m[2]] = true
	}
	found := address.FindAllStringSubmatch(ours, -1)
	for _, m := range found {
		other := map[string]string{"local": "remote", "remote": "local"}[m[1]]
		if !heard[other+m[2]] {
			t.Errorf("our %s address %s is not the guest's %s one:\n%s", m[1], m[2], other, theirs)
		}
	}
	if len(found) == 0 {
		t.Errorf("no addresses in\n%s", ours)
	}
}

// oneMeasures: where one side only answers, it prints no table.
func oneMeasures(a, b []string) bool {
	const table = 2 // its head and its line
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(b) == len(a)+table && fmt.Sprint(a) == fmt.Sprint(b[:len(a)])
}

// TestLabPeerRawPlaysByHand plays ibv_rc_pingpong's five messages operation by
// operation, with a queue pair whose numbers were told to it by hand.
func TestLabPeerRawPlaysByHand(t *testing.T) {
	const ourQPN, ourPSN = 0x11, 0x654321
	p := startPingPong(t, ourQPN, ourPSN)
	var out bytes.Buffer
	args := []string{
		"raw", "-i", p.port.Name, "--ip", p.port.IP4.String(), "--mac", p.port.MAC.String(), "--mtu", "1024",
		"--own-qpn", fmt.Sprint(ourQPN), "--own-psn", fmt.Sprint(ourPSN), "--deadline", peerPatience.String(),
		"--qpn", fmt.Sprint(p.qpn), "--psn", fmt.Sprint(p.psn), "--gid", p.guest.IP4.String(),
	}
	const messages = 5
	for range messages {
		args = append(args, "send=zero:4096", "recv")
	}
	if err := p.lab.Do(func() error { return roceinject.RunPeer(args, cli.Streams{Out: &out, Err: &out}) }); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), p.server.Output())
	}
	if n := strings.Count(out.String(), "recv: success, 4096 bytes"); n != messages {
		t.Errorf("%d messages came:\n%s", n, out.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	if text, err := p.server.Wait(ctx); err != nil {
		t.Errorf("the guest's server: %v\n%s", err, text)
	}
}
