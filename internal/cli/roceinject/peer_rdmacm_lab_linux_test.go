package roceinject_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
)

// cmRun is one conversation with a program of librdmacm's in the guest.
type cmRun struct {
	program  string // the original, with what both ends are told
	port     int    // that its server listens on
	bind     string // how its server is told an address, "" if it needs none
	server   string // the flag of a server, if there is one
	client   string // the flags of a client, up to the server's address
	args     []string
	argsOnly []string // that our client alone has
}

// guestAddress is the guest's of our family.
func (p *peerLab) guestAddress(f family) netip.Addr {
	if f.name == ipv6.name {
		return p.guest.IP6
	}
	return p.guest.IP4
}

// runCM is run without the flags of those ends that meet over TCP.
func (p *peerLab) runCM(f family, args ...string) (string, error) {
	var out, errs bytes.Buffer
	args = append(args, "-i", p.port.Name, "--ip", f.own(p.port).String(), "--mac", p.port.MAC.String(),
		"--deadline", peerPatience.String(), "--timeout", "18") // guests are slow
	err := p.lab.Do(func() error { return roceinject.RunPeer(args, cli.Streams{Out: &out, Err: &errs}) })
	return out.String() + errs.String(), err
}

// cmClient runs the program as a server in the guest, and us as its client.
func (p *peerLab) cmClient(t *testing.T, f family, r cmRun) (ours, theirs string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	address := p.guestAddress(f).String()
	program := "stdbuf -oL " + r.program + " " + r.server
	if r.bind != "" {
		program += " " + r.bind + " " + address
	}
	server := p.guest.Start(t, program)
	defer server.Stop()
	p.guest.MustRun(ctx, t, fmt.Sprintf("until rdma resource show cm_id | grep -q 'state LISTEN.*:%d '; do sleep 0.1; done", r.port))
	ours, err := p.runCM(f, append(append(r.args, r.argsOnly...), address)...)
	if err != nil {
		t.Fatalf("our client: %v\n%s\nthe guest's %s:\n%s", err, ours, program, server.Output())
	}
	theirs, err = server.Wait(ctx)
	if err != nil {
		t.Fatalf("the guest's %s: %v\n%s\nour client:\n%s", program, err, theirs, ours)
	}
	return ours, theirs
}

// cmServer is cmClient with the parts exchanged.
func (p *peerLab) cmServer(t *testing.T, f family, r cmRun) (ours, theirs string) {
	t.Helper()
	wait := meanwhile(func() (string, error) { return p.runCM(f, r.args...) })
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	own := f.own(p.port).String()
	// Our device answers pings as soon as it is open, and listens then.
	p.guest.MustRun(ctx, t, "until ping -c 1 -W 1 "+own+"; do :; done")
	theirs, err := p.guest.Run(ctx, r.program+" "+r.client+" "+own)
	ours, failed := wait()
	if err != nil || failed != nil {
		t.Fatalf("the guest's %s: %v\n%s\nour server: %v\n%s", r.program, err, theirs, failed, ours)
	}
	return ours, theirs
}

// cmRoles runs a test of each role.
func (p *peerLab) cmRoles(t *testing.T, f family, r cmRun, check func(t *testing.T, client, server string)) {
	t.Run("client", func(t *testing.T) {
		ours, theirs := p.cmClient(t, f, r)
		check(t, ours, theirs)
	})
	t.Run("server", func(t *testing.T) {
		ours, theirs := p.cmServer(t, f, r)
		check(t, theirs, ours)
	})
}

// impair does something to what the guest sends, until the test ends.
func (p *peerLab) impair(t *testing.T, how string) {
	t.Helper()
	p.guest.MustRun(t.Context(), t, "tc qdisc add dev eth0 root netem "+how)
	t.Cleanup(func() { p.guest.MustRun(context.Background(), t, "tc qdisc del dev eth0 root") })
}

// impairments are netem's, on the guest's side.
var impairments = map[string]string{
	"loss": "loss 5%", "duplication": "duplicate 5%", "reordering": "delay 3ms reorder 75% 25%",
}

// rpingRun is rping with pings of a size.
func rpingRun(count, size int) cmRun {
	flags := fmt.Sprintf("-v -V -C %d -S %d", count, size)
	return cmRun{
		program: "rping " + flags, port: 7174, server: "-s", bind: "-a", client: "-c -a",
		args: append([]string{"rping"}, strings.Fields(flags)...),
	}
}

// checkRping wants both ends to have seen the same texts, in full. The client
// compares them itself, whoever it is.
func checkRping(count, size int) func(t *testing.T, client, server string) {
	return func(t *testing.T, client, server string) {
		t.Helper()
		sent, got := texts(client, "ping data: "), texts(server, "server ping data: ")
		if len(sent) != count || strings.Join(sent, "\n") != strings.Join(got, "\n") {
			t.Fatalf("the client showed %d pings, the server %d\nclient:\n%.2000s\nserver:\n%.2000s", len(sent), len(got), client, server)
		}
		for i, text := range sent {
			if len(text) != size-1 || !strings.HasPrefix(text, fmt.Sprintf("rdma-ping-%d: ", i)) {
				t.Errorf("ping %d is %d bytes: %.100s", i, len(text), text)
			}
		}
	}
}

// texts are the lines that begin with what, without it.
func texts(out, what string) (list []string) {
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(line, what); ok {
			list = append(list, strings.TrimSuffix(text, "\n"))
		}
	}
	return list
}

// TestLabPeerRping lets rping's text go between the original and us.
func TestLabPeerRping(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []struct {
		family family
		size   int
		mtu    string
	}{
		{ipv4, 64, "256"},
		{ipv6, 1000, "512"},
		{ipv4, 3001, "1024"},
		{ipv6, 20000, "2048"},
		{ipv4, 65535, "4096"},
	} {
		t.Run(fmt.Sprintf("%s/MTU%s", test.family.name, test.mtu), func(t *testing.T) {
			r := rpingRun(5, test.size)
			r.argsOnly = []string{"--mtu", test.mtu}
			p.cmRoles(t, test.family, r, checkRping(5, test.size))
		})
	}
}

// TestLabPeerRpingSurvivesABadNetwork wants each text to come back right in spite
// of what is done to the guest's packets.
func TestLabPeerRpingSurvivesABadNetwork(t *testing.T) {
	p := newPeerLab(t)
	for name, how := range impairments {
		t.Run(name, func(t *testing.T) {
			p.impair(t, how)
			for _, f := range []family{ipv4, ipv6} {
				t.Run(f.name, func(t *testing.T) {
					const count, size = 15, 6000
					r := rpingRun(count, size)
					r.argsOnly = []string{"--mtu", "1024"}
					p.cmRoles(t, f, r, checkRping(count, size))
				})
			}
		})
	}
}

// exchangeRun is ucmatose or udaddy.
func exchangeRun(program string, port, connections, count, size int) cmRun {
	flags := fmt.Sprintf("-c %d -C %d -S %d", connections, count, size)
	return cmRun{
		program: program + " " + flags, port: port, bind: "-b", client: "-s",
		args: append([]string{program}, strings.Fields(flags)...),
	}
}

// The lines of the originals, as they were observed between two guests.
const (
	ucmatoseClient = `cmatose: starting client
cmatose: connecting
receiving data transfers
sending replies
data transfers complete
test complete
return status 0
`
	ucmatoseServer = `cmatose: starting server
initiating data transfers
completing sends
receiving data transfers
data transfers complete
cmatose: disconnecting
disconnected
test complete
return status 0
`
	udaddyClient = `udaddy: starting client
udaddy: connecting
initiating data transfers
receiving data transfers
data transfers complete
test complete
return status 0
`
	udaddyServer = `udaddy: starting server
receiving data transfers
sending replies
data transfers complete
test complete
return status 0
`
)

// wantLines wants each end to have printed the original's lines.
func wantLines(wantClient, wantServer string) func(t *testing.T, client, server string) {
	return func(t *testing.T, client, server string) {
		t.Helper()
		if client != wantClient || server != wantServer {
			t.Errorf("client:\n%s\nserver:\n%s", client, server)
		}
	}
}

// TestLabPeerUcmatose exchanges messages over several connections.
func TestLabPeerUcmatose(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []struct {
		family                   family
		connections, count, size int
		mtu                      string
	}{
		{ipv4, 1, 10, 100, "256"},
		{ipv6, 3, 20, 5000, "1024"},
		{ipv4, 2, 5, 40000, "4096"},
	} {
		t.Run(fmt.Sprintf("%s/%d", test.family.name, test.size), func(t *testing.T) {
			r := exchangeRun("ucmatose", 7471, test.connections, test.count, test.size)
			r.argsOnly = []string{"--mtu", test.mtu}
			p.cmRoles(t, test.family, r, wantLines(ucmatoseClient, ucmatoseServer))
		})
	}
}

// TestLabPeerUcmatoseSurvivesABadNetwork has many messages under way at a time.
func TestLabPeerUcmatoseSurvivesABadNetwork(t *testing.T) {
	p := newPeerLab(t)
	for name, how := range impairments {
		t.Run(name, func(t *testing.T) {
			p.impair(t, how)
			r := exchangeRun("ucmatose", 7471, 2, 30, 6000)
			r.argsOnly = []string{"--mtu", "1024"}
			p.cmRoles(t, ipv4, r, wantLines(ucmatoseClient, ucmatoseServer))
		})
	}
}

// TestLabPeerUdaddy exchanges datagrams whose queue pairs were looked up.
func TestLabPeerUdaddy(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []struct {
		family                   family
		connections, count, size int
	}{
		{ipv4, 1, 10, 100},
		{ipv6, 3, 20, 1000},
		{ipv4, 2, 5, 4000},
	} {
		t.Run(fmt.Sprintf("%s/%d", test.family.name, test.size), func(t *testing.T) {
			r := exchangeRun("udaddy", 7174, test.connections, test.count, test.size)
			p.cmRoles(t, test.family, r, wantLines(udaddyClient, udaddyServer))
		})
	}
}

// TestLabPeerTellsJSON wants the numbers, and nothing else, with --json.
func TestLabPeerTellsJSON(t *testing.T) {
	p := newPeerLab(t)
	for name, r := range map[string]cmRun{
		"rping":    rpingRun(4, 500),
		"ucmatose": exchangeRun("ucmatose", 7471, 2, 2, 500),
		"udaddy":   exchangeRun("udaddy", 7174, 2, 2, 500),
	} {
		t.Run(name, func(t *testing.T) {
			r.args = append(r.args, "--json")
			ours, _ := p.cmClient(t, ipv4, r)
			var got struct {
				Role            string
				Messages, Bytes int
			}
			if err := json.Unmarshal([]byte(ours), &got); err != nil {
				t.Fatalf("%v\n%s", err, ours)
			}
			if got.Role != "client" || got.Messages != 4 || got.Bytes != 2000 {
				t.Errorf("%s", ours)
			}
		})
	}
}

// TestLabPeerIsToldNo asks a guest in which nobody listens.
func TestLabPeerIsToldNo(t *testing.T) {
	p := newPeerLab(t)
	for _, mode := range []string{"rping", "ucmatose", "udaddy"} {
		out, err := p.runCM(ipv4, mode, p.guest.IP4.String(), "--port", "999")
		if err == nil || !strings.Contains(err.Error(), "the peer ") {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
	}
}
